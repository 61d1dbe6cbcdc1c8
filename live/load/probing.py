"""Putting one open load after the other on a cluster: connections and tables are made once, processes stay."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from ...model.measurement import Measurement
from ...model.objective import Objective
from ...model.scenario import Scenario
from .access import Access
from .backends import backend_of, check_backend
from .conduct import Reader
from .console import Console
from .interruption import Interruption, interruptions
from .look import Show, show_nothing
from .maximum import FIRST_PER_S, LONGEST_SEARCH_S, Maximum, Probe, find_maximum
from .memory_session import MemoryCluster
from .node_probe import NodeProbe
from .opening import at_rate
from .outcome import measurement_of
from .plan import LoadPlan
from .processes import Processes
from .record import SiteFacts
from .run import conducted, console_on, in_flight_of, jobs_of, prepare, rehearse, tables_of
from .site import approach_of, check_nodes
from .worker import Job

ShowProbe = Callable[[Probe], None]


class Prober:
    """Measures a scenario at one rate after the other; used within the contexts of `find_max`."""

    def __init__(
        self, scenario: Scenario, plan: LoadPlan, reader: Reader, jobs: Callable[[Scenario, LoadPlan], list[Job]]
    ) -> None:
        self._scenario, self._plan, self._reader, self._jobs = scenario, plan, reader, jobs
        self._crew: Processes | None = None
        self.stack = ExitStack()
        """Holds the processes."""
        self.interruption = Interruption()
        self.contact_points: tuple[str, ...] = ()

    def measure(self, rate_per_s: float, lasts_s: float) -> Measurement:
        """Put a load on the cluster.

        Raises:
            KeyboardInterrupt: somebody wants the search to end.
        """
        scenario, plan = at_rate(self._scenario, rate_per_s), replace(self._plan, duration_s=lasts_s)
        jobs = self._jobs(scenario, plan)
        if self._crew is None:
            self._crew = self.stack.enter_context(Processes(jobs))
        else:
            self._crew.again(jobs)
        record = conducted(
            self._crew, plan, self._reader, show_nothing, self.interruption, None, self.contact_points
        )
        if self.interruption.asked:
            raise KeyboardInterrupt
        return measurement_of(scenario, plan, record, SiteFacts())


def find_max(
    scenario: Scenario,
    access: Access,
    objective: Objective,
    plan: LoadPlan,
    *,
    backend: str = "acsylla",
    probe: NodeProbe | None = None,
    first_per_s: float = FIRST_PER_S,
    limit_s: float = LONGEST_SEARCH_S,
    show: Show = show_nothing,
    show_probe: ShowProbe = lambda probe: None,
) -> Maximum:
    """Return the largest open load that meets an objective on a cluster.

    Raises:
        ScenarioError: the scenario does not fit the cluster.
        RunError: the cluster cannot be reached.
        KeyboardInterrupt: ended by somebody.
    """
    check_backend(backend)
    asked = at_rate(scenario, first_per_s)
    with console_on(access) as console, interruptions() as interruption:
        check_nodes(asked, console.nodes)
        prober = Prober(asked, plan, Reader(None, probe), _jobs_on(console, access, backend))
        prober.interruption, prober.contact_points = interruption, access.contact_points
        chosen = backend_of(backend, access, approach_of(asked, plan, access, console.nodes))
        prepare(console, chosen, tables_of(console, asked, plan)[0], asked, plan, show, interruption)
        with prober.stack:
            return find_maximum(prober.measure, objective, first_per_s, limit_s, plan.warm_up_s or 0.0, show_probe)


def _jobs_on(console: Console, access: Access, backend: str) -> Callable[[Scenario, LoadPlan], list[Job]]:
    def jobs(scenario: Scenario, plan: LoadPlan) -> list[Job]:
        chosen = backend_of(backend, access, approach_of(scenario, plan, access, console.nodes))
        reads, writes = tables_of(console, scenario, plan)
        return jobs_of(scenario, plan, chosen, reads, writes, in_flight_of(scenario, plan))

    return jobs


def find_max_in_memory(
    scenario: Scenario,
    cluster: MemoryCluster,
    objective: Objective,
    plan: LoadPlan,
    first_per_s: float = FIRST_PER_S,
    limit_s: float = LONGEST_SEARCH_S,
    show_probe: ShowProbe = lambda probe: None,
) -> Maximum:
    """Return the largest open load that meets an objective on a cluster in memory, in simulated time."""

    def measure(rate_per_s: float, lasts_s: float) -> Measurement:
        return rehearse(at_rate(scenario, rate_per_s), cluster, replace(plan, duration_s=lasts_s))

    return find_maximum(measure, objective, first_per_s, limit_s, plan.warm_up_s or 0.0, show_probe)
