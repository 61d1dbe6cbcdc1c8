"""The generator's test of itself: its ceiling and its latency floor against a stub that takes nearly no time.

One process of the load and the stub, each on processors of its own where there are two or more. A figure is void when
the stub was busy for more than `MOST_BUSY` of the time: then it was the stub's ceiling and not the generator's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import TracebackType

from ...model.errors import RunError
from ...model.measured_metrics import metrics_of
from ...model.measurement import Measurement
from ...model.metrics import LatencyKind
from ...model.scenario import Scenario
from ...model.scenario_file import load_scenario
from ..load.backends import backend_of
from ..load.ceiling import Ceiling, machine_words, versions_of
from ..load.conduct import Reader
from ..load.console import Console
from ..load.interruption import Interruption, interruptions
from ..load.look import show_nothing
from ..load.opening import at_rate
from ..load.outcome import measurement_of
from ..load.plan import LoadPlan
from ..load.processes import Processes
from ..load.record import SiteFacts
from ..load.run import conducted, console_on, in_flight_of, jobs_of
from ..load.schema import table_of
from ..load.session import Approach
from ..load.worker import Backend
from .running import StubCounts, read_counts, running_stub

MOST_BUSY = 0.8
IN_FLIGHT = (1, 32, 128, 256)
"""Closed loads; the first one gives the floor, the best of the others the ceiling."""
SHARES = (0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85)
"""Open loads, as shares of the closed ceiling; the first one that is not kept is the last one tried."""
MOST_LAG_S = 0.002
"""Send lag at p99 beyond which starts are not kept."""
LEAST_KEPT = 0.98
WARM_UP_S = 0.5
CHANGES = (
    "cluster.nodes=1",
    "cluster.replication.factor=1",
    "clients.routing=round-robin",
    "clients.arrivals=poisson",
    "workload.partitions=100000",
)


@dataclass(frozen=True)
class Step:
    """One load on the stub."""

    in_flight: int | None
    """None for an open load."""
    asked_per_s: float | None
    """None for a closed one."""
    rate_per_s: float
    p50_s: float
    p99_s: float
    cpu_per_operation_s: float
    send_lag_p99_s: float | None
    stub: StubCounts

    @property
    def void(self) -> bool:
        """Whether it may have been the stub that ended it."""
        return self.stub.busy_ratio > MOST_BUSY

    @property
    def kept(self) -> bool:
        """Whether an open load kept to its starts."""
        asked, lag_s = self.asked_per_s, self.send_lag_p99_s
        return asked is not None and lag_s is not None and lag_s <= MOST_LAG_S and self.rate_per_s >= LEAST_KEPT * asked


@dataclass(frozen=True)
class SelfTest:
    """What a self-test found."""

    ceiling: Ceiling
    steps: tuple[Step, ...]


def self_test(backend: str, step_s: float = 3.0, show: Callable[[Step], None] = lambda step: None) -> SelfTest:
    """Test one process of the load with a backend against a stub.

    Args:
        backend: its name.
        step_s: measured time of each load.
        show: takes each step when it is done.

    Raises:
        RunError: all figures are void, or the driver is not installed.
    """
    cores = sorted(os.sched_getaffinity(0))
    with running_stub(cores[-1]) as stub, _only_on(cores[:-1] or cores), console_on(stub.access) as console:
        bench = Bench(backend_of(backend, stub.access, Approach()), console, step_s)
        with bench:
            steps = list(_steps(bench, show))
    return SelfTest(_ceiling(bench.backend, steps), tuple(steps))


def _steps(bench: Bench, show: Callable[[Step], None]) -> Iterator[Step]:
    best_per_s = 0.0
    for in_flight in IN_FLIGHT:
        step = bench.step(load_scenario("default", [*CHANGES, f"clients.in_flight={in_flight}"]))
        best_per_s = max(best_per_s, step.rate_per_s)
        show(step)
        yield step
    for share in SHARES:
        step = bench.step(at_rate(load_scenario("default", CHANGES), share * best_per_s))
        show(step)
        yield step
        if not step.kept:
            return


class Bench:
    """One process of the load before a stub; a context that leaves none behind."""

    def __init__(self, backend: Backend, console: Console, step_s: float) -> None:
        self.backend = backend
        self._console = console
        self._plan = LoadPlan(duration_s=step_s, warm_up_s=WARM_UP_S)
        self._crew: Processes | None = None

    def __enter__(self) -> Bench:
        self._stack = ExitStack()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def step(self, scenario: Scenario) -> Step:
        """Put a load on the stub."""
        table = table_of(scenario, self._plan, {})
        jobs = jobs_of(scenario, self._plan, self.backend, table, table, in_flight_of(scenario, self._plan))
        if self._crew is None:
            self._crew = self._stack.enter_context(Processes(jobs))
        else:
            self._crew.again(jobs)
        with interruptions() as interruption:
            return self._measured(scenario, self._crew, interruption)

    def _measured(self, scenario: Scenario, crew: Processes, interruption: Interruption) -> Step:
        before = read_counts(self._console)
        record = conducted(crew, self._plan, Reader(), show_nothing, interruption, None, ())
        stub = read_counts(self._console).since(before)
        if interruption.asked:
            raise KeyboardInterrupt
        return step_of(scenario, measurement_of(scenario, self._plan, record, SiteFacts()), stub)


def step_of(scenario: Scenario, measured: Measurement, stub: StubCounts) -> Step:
    """Return a measurement as a step."""
    metrics = metrics_of(measured, LatencyKind.SERVICE)
    latency, client = metrics.latency_s.get("read"), measured.client
    if latency is None or latency.p50 is None or latency.p99 is None or client is None:
        raise RunError("nothing was answered by the stub")
    lag = client.send_lag_s
    return Step(
        in_flight=scenario.clients.in_flight,
        asked_per_s=scenario.clients.rate,
        rate_per_s=metrics.throughput_per_s.value or 0.0,
        p50_s=latency.p50.value or 0.0,
        p99_s=latency.p99.value or 0.0,
        cpu_per_operation_s=float(client.facts.get("cpu_per_operation_s", 0.0)),
        send_lag_p99_s=lag.p99.value if lag is not None and lag.p99 is not None else None,
        stub=stub,
    )


def _ceiling(backend: Backend, steps: Sequence[Step]) -> Ceiling:
    closed = [step for step in steps if step.in_flight is not None and not step.void]
    if not closed:
        raise RunError(f"every figure is void: the stub was busy more than {MOST_BUSY:.0%} of the time")
    best = max(closed, key=lambda step: step.rate_per_s)
    return Ceiling(
        backend=backend.facts.name,
        versions=dict(versions_of(backend.facts)),
        machine=machine_words(),
        closed_per_s=best.rate_per_s,
        open_per_s=max((step.rate_per_s for step in steps if step.kept and not step.void), default=None),
        floor_s=steps[0].p50_s,
        cpu_per_operation_s=best.cpu_per_operation_s,
        stub_busy_ratio=max(step.stub.busy_ratio for step in steps),
    )


@contextmanager
def _only_on(cores: Sequence[int]) -> Iterator[None]:
    """Keep this process, and what it starts meanwhile, on some processors."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(cores))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
