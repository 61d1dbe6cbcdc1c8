"""One start of a lab: nodes come up, are warmed uncapped, capped, and measured cell by cell beside their twins.

Nodes of one start share what a start brings (compilation, memory layout), so a campaign makes several.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...model.clients import Routing
from ...model.measurement import ClusterFacts, Fact, Measurement
from ...model.scenario import Scenario
from ..lab import caps
from ..lab.layout import STUDIED_CLUSTER
from ..lab.record import Lab
from ..lab.release import Progress
from ..lab.startup import bring_up
from ..lab.teardown import remove_everything
from ..load.conduct import Reader
from ..load.interruption import Interruption, interruptions
from ..load.lab_probe import LabProbe
from ..load.look import show_nothing
from ..load.outcome import measurement_of
from ..load.plan import LoadPlan
from ..load.record import Reading, SiteFacts
from ..load.run import conducted, site_facts
from .company import Company
from .driven import DrivenCluster, on_size
from .order import neighbours, rounds
from .protocol import MOST_DRIFT, TABLE_OPTIONS, Protocol, cell_name

Keep = Callable[[Measurement], None]
"""Takes each measurement as soon as all is known of it."""


@dataclass(frozen=True)
class Start:
    """A start and the cells to be measured in it, all of one number of nodes."""

    name: str
    cells: tuple[Scenario, ...]
    reference: Scenario
    """The cell that is measured again and again, to see whether the host stays the same."""
    seed: int = 1

    @property
    def nodes(self) -> int:
        """Nodes of the cluster."""
        return self.reference.cluster.node_count


@dataclass
class _Reference:
    """Rates of the reference cell by time, and what waits for the next one."""

    times_s: list[float] = field(default_factory=list)
    rates_per_s: list[float] = field(default_factory=list)
    waiting: list[tuple[float, Measurement]] = field(default_factory=list)

    def is_due(self, every_s: float) -> bool:
        return not self.times_s or time.monotonic() - self.times_s[-1] > every_s

    def take(self, rate_per_s: float) -> None:
        self.times_s.append(time.monotonic())
        self.rates_per_s.append(rate_per_s)

    def released(self) -> Iterator[Measurement]:
        """Yield what waited, with the rates around it."""
        for at_s, measurement in self.waiting:
            yield judged_beside(measurement, neighbours(self.times_s, self.rates_per_s, at_s))
        self.waiting = []


def measure_start(start: Start, protocol: Protocol, directory: Path, progress: Progress, keep: Keep) -> None:
    """Bring a lab up, measure the cells of a start on it, and remove it.

    Args:
        start: what is measured.
        protocol: how.
        directory: of the lab.
        progress: takes a line about each step.
        keep: takes each measurement.

    Raises:
        RunError: a node did not start, or another lab is in `directory`.
        KeyboardInterrupt: ended by somebody; what was measured until then has been kept.
    """
    lab = bring_up(protocol.spec(start.nodes), directory, progress, capped=False)
    try:
        with ExitStack() as stack:
            names = dict.fromkeys(node.plan.cluster for node in lab.nodes)
            clusters = {name: stack.enter_context(DrivenCluster(lab, name, protocol.backend)) for name in names}
            with interruptions() as interruption:
                _Measuring(start, protocol, lab, clusters.pop(STUDIED_CLUSTER), [*clusters.values()], interruption).all(
                    progress, keep
                )
    finally:
        remove_everything(directory)


@dataclass
class _Measuring:
    """A start while it is measured."""

    start: Start
    protocol: Protocol
    lab: Lab
    studied: DrivenCluster
    twins: Sequence[DrivenCluster]
    interruption: Interruption
    idle: tuple[Reading, Reading] | None = None
    site: SiteFacts = field(default_factory=SiteFacts)

    def all(self, progress: Progress, keep: Keep) -> None:
        """Warm up, cap, and measure all cells."""
        for cell in _one_each((*self.start.cells, self.start.reference), _tables_of):
            for cluster in (self.studied, *self.twins):
                cluster.prepare(on_size(cell, len(cluster.addresses)), self._plan(1.0))
        self._warm(progress)
        for node in self.lab.nodes:
            caps.cap(self.lab, node)
        self._settle(progress)
        probe = LabProbe(self.lab)
        self.site = site_facts(self.studied.console, probe)
        reader = Reader(self.studied.console, probe)
        before = reader.read()
        time.sleep(self.protocol.idle_s)
        self.idle = (before, reader.read())
        self._cells(progress, keep)

    def _cells(self, progress: Progress, keep: Keep) -> None:
        start, protocol, reference = self.start, self.protocol, _Reference()
        order = list(rounds(start.cells, protocol.repeats, np.random.default_rng(start.seed)))
        try:
            for number, cell in enumerate(order, 1):
                if reference.is_due(protocol.reference_every_s):
                    self._measure_reference(reference, progress)
                    for measurement in reference.released():
                        keep(measurement)
                found = self._measure(cell)
                reference.waiting.append((time.monotonic(), found))
                progress(f"{start.name}, {number} of {len(order)}: {_words(found)}")
                if self.interruption.asked:
                    raise KeyboardInterrupt
            self._measure_reference(reference, progress)
        finally:
            for measurement in reference.released():
                keep(measurement)

    def _measure_reference(self, reference: _Reference, progress: Progress) -> None:
        found = self._measure(self.start.reference)
        reference.take(_rate_per_s(found))
        progress(f"{self.start.name}, reference: {_words(found)}")

    def _measure(self, cell: Scenario, duration_s: float | None = None) -> Measurement:
        """Return the measurement of a cell, all clusters under its load."""
        plan = self._plan(duration_s or self.protocol.cell_s)
        named = cell.model_copy(update={"name": cell_name(cell)})
        crew = self.studied.crew(named, plan)
        reader = Reader(self.studied.console, LabProbe(self.lab))
        with Company(self.twins, named, plan) as company:
            record = conducted(crew, plan, reader, show_nothing, self.interruption, self.idle, self.studied.addresses)
        found = measurement_of(named, plan, record, self.site)
        began_s, ended_s = record.measured[0].began_s, record.measured[-1].ended_s
        facts: dict[str, Fact] = {"start": self.start.name}
        for twin, rate_per_s in company.rates_per_s(began_s, ended_s).items():
            facts[f"{twin}_per_s"] = round(rate_per_s, 1)
        return _with_cluster(found, nodes_on_host=len(self.lab.nodes), more_facts=facts)

    def _plan(self, duration_s: float) -> LoadPlan:
        return LoadPlan(
            duration_s=duration_s,
            warm_up_s=self.protocol.settle_s,
            timeout_s=self.protocol.timeout_s,
            separate_writes=True,
            table_options=TABLE_OPTIONS,
            seed=self.start.seed,
        )

    def _warm(self, progress: Progress) -> None:
        """Load every path of the code, uncapped, until the reference cell is flat."""
        paths = warming_paths(self.start.cells)

        def lap() -> float:
            for path in paths:
                self._measure(path, self.protocol.path_s)
                if self.interruption.asked:
                    raise KeyboardInterrupt
            return _rate_per_s(self._measure(self.start.reference, self.protocol.path_s))

        self._until_flat(lap, f"uncapped, over {len(paths)} paths", progress)

    def _settle(self, progress: Progress) -> None:
        """Load the reference cell, capped, until it is flat: what the caps held up is worked off meanwhile."""
        self._until_flat(lambda: _rate_per_s(self._measure(self.start.reference)), "capped", progress)

    def _until_flat(self, lap: Callable[[], float], words: str, progress: Progress) -> None:
        before = None
        for number in range(1, self.protocol.most_rounds + 1):
            rate = lap()
            progress(f"{self.start.name}, warm-up {number} {words}: reference {rate:,.0f}/s")
            if before is not None and abs(rate / before - 1) < self.protocol.flat_ratio:
                return
            before = rate


def warming_paths(cells: Sequence[Scenario]) -> tuple[Scenario, ...]:
    """Return the cells that warm a start up: one for each operation mix, level and factor, over all nodes.

    Clients that know nothing of tokens take every path: they make nodes coordinate with and without a row of their own.
    """
    update = {"routing": Routing.ROUND_ROBIN, "coordinators": ()}
    blind = [cell.model_copy(update={"clients": cell.clients.model_copy(update=update)}) for cell in cells]
    deep = sorted(blind, key=lambda cell: abs((cell.clients.in_flight or 0) - 32))
    return tuple(_one_each(deep, lambda cell: f"{cell.cluster.replication.factor} {cell.workload.model_dump_json()}"))


def _tables_of(cell: Scenario) -> str:
    """Return a text that is the same for cells on the same tables."""
    return f"{cell.cluster.replication.factor} {sorted(cell.workload.operations)}"


def _one_each(cells: Sequence[Scenario], key: Callable[[Scenario], str]) -> Sequence[Scenario]:
    """Return the first cell of each key."""
    found: dict[str, Scenario] = {}
    for cell in cells:
        found.setdefault(key(cell), cell)
    return tuple(found.values())


def judged_beside(measurement: Measurement, reference_per_s: tuple[float, ...]) -> Measurement:
    """Return a measurement with the rates of the reference cell around it, host-limited when these moved.

    >>> judged_beside(Measurement(), (1000.0, 1200.0)).verdict.kind
    'host-limited'
    """
    found = _with_cluster(measurement, reference_per_s=reference_per_s)
    if len(reference_per_s) < 2 or min(reference_per_s) <= 0:
        return found
    moved = max(reference_per_s) / min(reference_per_s) - 1
    if moved <= MOST_DRIFT:
        return found
    reason = f"the reference cell moved by {moved:.0%} around the run"
    kind = found.verdict.kind if found.verdict.kind in ("client-limited", "overloaded") else "host-limited"
    verdict = found.verdict.model_copy(update={"kind": kind, "reasons": (*found.verdict.reasons, reason)})
    return found.model_copy(update={"verdict": verdict})


def _with_cluster(
    measurement: Measurement, *, more_facts: dict[str, Fact] | None = None, **update: object
) -> Measurement:
    cluster = measurement.cluster or ClusterFacts()
    facts = {**cluster.facts, **(more_facts or {})}
    return measurement.model_copy(update={"cluster": cluster.model_copy(update={**update, "facts": facts})})


def _rate_per_s(measurement: Measurement) -> float:
    requests = sum(one.requests or 0 for one in measurement.operations.values())
    return requests / measurement.duration_s if measurement.duration_s else 0.0


def _words(measurement: Measurement) -> str:
    judged = "" if measurement.verdict.kind == "valid" else f", {measurement.verdict.kind}"
    return f"{measurement.name}, {_rate_per_s(measurement):,.0f}/s{judged}"
