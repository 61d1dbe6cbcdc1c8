"""A load from beginning to end: table, warm-up, measured time, readings of the nodes, measurement.

`run_load` drives a real cluster, `run_in_memory` one in memory in real time, `rehearse` one in memory in simulated
time; all three by the same loops, recorder and course.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ...model.errors import InputError, Problem, RunError, ScenarioError
from ...model.measurement import Measurement
from ...model.scenario import Scenario, resolved_in_flight
from .access import Access
from .backends import EXTRA, backend_of, check_backend
from .ceiling import known_ceiling
from .conduct import Conductor, Crew, Reader
from .console import Console
from .counters import settings
from .filling import fill
from .host_watch import HostWatch, on_this_host
from .interruption import Interruption, interruptions
from .interval import Interval
from .look import Look, Show, show_nothing
from .memory_session import FACTS, MemoryBackend, MemoryCluster
from .node_probe import NodeProbe
from .opening import MOST_IN_FLIGHT, opening_of
from .outcome import measurement_of
from .plan import LoadPlan
from .processes import Processes
from .record import Reading, RunRecord, SiteFacts
from .rehearsal import Rehearsal
from .requests import READ, mix_of
from .schema import make_keyspace, make_table, mark_loaded, table_of
from .session import BackendFacts
from .site import approach_of, check_nodes, in_memory_approach, replication_of
from .table import LoadTable
from .worker import Backend, Job, Mix

Keep = Callable[[Sequence[Interval]], None]
"""Takes the intervals of the measured time, for other forms of output."""


def keep_nothing(intervals: Sequence[Interval]) -> None:
    """Keep nothing."""


def run_load(
    scenario: Scenario,
    access: Access,
    plan: LoadPlan | None = None,
    *,
    backend: str = "acsylla",
    probe: NodeProbe | None = None,
    show: Show = show_nothing,
    keep: Keep = keep_nothing,
) -> Measurement:
    """Drive a cluster as a scenario says, and return what was measured.

    Args:
        scenario: the cluster and its workload; its clients make a closed load, or with a rate an open one.
        access: how to reach the cluster.
        plan: for how long, from how many processes, on which table.
        backend: `acsylla` or `python`.
        probe: reads CPU time and disk operations of nodes, where that can be read.
        show: takes a look at the run after every interval.
        keep: takes the intervals of the measured time.

    Raises:
        ScenarioError: the scenario does not fit the cluster.
        InputError: a table or keyspace of that name is there and not ours.
        RunError: the cluster cannot be reached, or the table cannot be loaded.
        KeyboardInterrupt: ended by somebody before anything was measured.
    """
    plan = plan or LoadPlan()
    check_backend(backend)
    in_flight = in_flight_of(scenario, plan)
    with console_on(access) as console, interruptions() as interruption:
        check_nodes(scenario, console.nodes)
        chosen = backend_of(backend, access, approach_of(scenario, plan, access, console.nodes))
        reads, writes = tables_of(console, scenario, plan)
        prepare(console, chosen, reads, scenario, plan, show, interruption)
        jobs = jobs_of(scenario, plan, chosen, reads, writes, in_flight)
        reader = Reader(console, probe)
        idle = _idle(reader, plan, show)
        site = site_facts(console, probe)
        with Processes(jobs) as crew:
            record = conducted(crew, plan, reader, show, interruption, idle, access.contact_points)
    keep(record.measured)
    return measurement_of(scenario, plan, record, site)


def console_on(access: Access) -> AbstractContextManager[Console]:
    """Return a console on a cluster, which is opened on entry.

    Raises:
        RunError: the Python driver is not installed.
    """
    try:
        from .cassandra_connection import console
    except ImportError as error:
        raise RunError(f"a load on a cluster needs the Python driver ({error.name}): {EXTRA}") from error
    return console(access)


def run_in_memory(
    scenario: Scenario,
    cluster: MemoryCluster,
    plan: LoadPlan | None = None,
    *,
    show: Show = show_nothing,
    keep: Keep = keep_nothing,
) -> Measurement:
    """Drive clusters in memory, one for each process, in real time."""
    plan = plan or LoadPlan()
    in_memory_approach(scenario)
    table = table_of(scenario, plan, {})
    jobs = jobs_of(scenario, plan, MemoryBackend(cluster, plan.seed), table, table, in_flight_of(scenario, plan))
    with interruptions() as interruption, Processes(jobs) as crew:
        record = conducted(crew, plan, Reader(), show, interruption, None, ())
    keep(record.measured)
    return measurement_of(scenario, plan, record, SiteFacts())


def rehearse(
    scenario: Scenario, cluster: MemoryCluster, plan: LoadPlan | None = None, keep: Keep = keep_nothing
) -> Measurement:
    """Drive one cluster in memory in simulated time: the same bytes for the same seed."""
    plan = plan or LoadPlan()
    in_memory_approach(scenario)
    table = table_of(scenario, plan, {})
    jobs = jobs_of(scenario, plan, MemoryBackend(cluster), table, table, in_flight_of(scenario, plan))
    crew = Rehearsal(tuple(jobs), cluster, plan.seed)
    record = conducted(crew, plan, Reader(), show_nothing, Interruption(), None, ())
    keep(record.measured)
    return measurement_of(scenario, plan, record, SiteFacts()).model_copy(update={"started_at": None})


def in_flight_of(scenario: Scenario, plan: LoadPlan) -> int:
    """Return the requests in flight over all processes; of an open load, their limit.

    Raises:
        ScenarioError: a course of rates without a rate.
        InputError: more processes than requests in flight.
    """
    in_flight = resolved_in_flight(scenario)
    if in_flight is None:
        in_flight = scenario.clients.max_in_flight or MOST_IN_FLIGHT
    elif plan.course is not None:
        right = "clients.rate: a course of rates is an open load"
        raise ScenarioError([Problem("clients.in_flight", in_flight, right)])
    if in_flight < plan.processes:
        raise InputError([Problem("--processes", plan.processes, f"at most the {in_flight} requests in flight")])
    return in_flight


def tables_of(console: Console, scenario: Scenario, plan: LoadPlan) -> tuple[LoadTable, LoadTable]:
    """Return the tables for reads and for writes, which are one unless they are to be apart."""
    reads = table_of(scenario, plan, replication_of(scenario.cluster, console.nodes))
    return reads, reads.with_name(f"{reads.name[:46]}_w") if plan.writes_apart else reads


def prepare(
    console: Console,
    backend: Backend,
    reads: LoadTable,
    scenario: Scenario,
    plan: LoadPlan,
    show: Show,
    interruption: Interruption,
) -> None:
    """Make keyspace and tables, and load what is read."""
    make_keyspace(console, reads.keyspace, replication_of(scenario.cluster, console.nodes))
    loaded = make_table(console, reads).loaded
    if plan.writes_apart:
        make_table(console, tables_of(console, scenario, plan)[1])
    if any(one.needs_counters for one in plan.carried):
        make_table(console, tables_of(console, scenario, plan)[1].of_counters())
    partitions = scenario.workload.partitions
    if READ in scenario.workload.operations and loaded < partitions:
        fill(backend, reads, loaded, partitions, plan, show, interruption)
        mark_loaded(console, reads, partitions)


def jobs_of(
    scenario: Scenario, plan: LoadPlan, backend: Backend, reads: LoadTable, writes: LoadTable, in_flight: int
) -> list[Job]:
    """Return what each process does; the requests in flight are dealt out."""
    asks = mix_of(scenario.workload, reads, writes, plan.batches, plan.carried)
    work = Mix(asks, reads, scenario.workload, scenario.clients.think_time, plan.seed)
    each, more = divmod(in_flight, plan.processes)
    return [
        Job(part, backend, work, each + (part < more), plan.grid_s, opening_of(scenario, plan, part))
        for part in range(plan.processes)
    ]


def _idle(reader: Reader, plan: LoadPlan, show: Show) -> tuple[Reading, Reading] | None:
    """Return readings around a time without load."""
    if plan.idle_s <= 0:
        return None
    before = reader.read()
    show(Look("idle", 0.0, plan.idle_s))
    time.sleep(plan.idle_s)
    return before, reader.read()


def site_facts(console: Console, probe: NodeProbe | None) -> SiteFacts:
    """Return the cluster as it is found."""
    nodes = tuple(console.nodes)
    return SiteFacts(
        nodes=nodes,
        settings={node.address: settings(console, node) for node in nodes if node.up},
        surroundings=probe.surroundings() if probe else {},
        caps=probe.caps() if probe else {},
    )


def conducted(
    crew: Crew,
    plan: LoadPlan,
    reader: Reader,
    show: Show,
    interruption: Interruption,
    idle: tuple[Reading, Reading] | None,
    contact_points: Sequence[str],
) -> RunRecord:
    """Run, and return what the run has left behind."""
    host: list[HostWatch] = []
    conductor = Conductor(crew, plan, reader, show, interruption, lambda: host.append(HostWatch()))
    conductor.run()
    if interruption.asked and not conductor.course.measured:
        raise KeyboardInterrupt
    return RunRecord(
        warm_up=conductor.course.warm_up,
        measured=conductor.course.measured,
        after=conductor.course.after,
        ended=conductor.ended,
        started_at=conductor.started_at,
        backend=crew.facts or BackendFacts("unknown", FACTS.processors, {}),
        never_flat=conductor.course.never_flat,
        lost=conductor.gathering.lost,
        host_idle_ratio=host[0].idle_ratio() if host and on_this_host(contact_points) else None,
        idle=idle,
        stopped_for=conductor.course.stopped_for,
        ceiling=known_ceiling(crew.facts) if crew.facts else None,
        span=(conductor.readings[0], conductor.readings[1]) if len(conductor.readings) == 2 else None,
    )
