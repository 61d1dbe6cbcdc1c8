"""Leading a run from its start to its end: warm-up, readings around the measured time, early ends, lost processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

from .console import Console
from .counters import sweep
from .course import Course, Phase
from .gathering import Gathering
from .interruption import Interruption
from .interval import Interval
from .look import Show, look_at
from .node_probe import NodeProbe
from .plan import LoadPlan
from .processes import Heard, Left
from .record import Reading
from .session import BackendFacts


class Crew(Protocol):
    """Those who send the load: processes, or their stand-ins."""

    facts: BackendFacts | None

    def begin(self) -> float:
        """Start all, and return the time of the start."""

    def stop(self) -> None:
        """Tell all to stop at the end of their interval."""

    def heard(self) -> Iterator[Heard | Left]:
        """Yield what comes, until none is left."""


@dataclass(frozen=True)
class Reader:
    """Reads what nodes say of themselves, and what their machines say of them."""

    console: Console | None = None
    probe: NodeProbe | None = None
    tables: tuple[str, ...] | None = None
    """Virtual tables to read; all that there are when not given."""

    def read(self) -> Reading:
        """Return a reading of now."""
        swept = sweep(self.console, self.tables) if self.console else None
        return Reading(time.monotonic(), swept, self.probe.use() if self.probe else {})

    def cpu_s(self) -> Mapping[str, float]:
        """Return the CPU time of each node so far, where known."""
        used = self.probe.use() if self.probe else {}
        return {name: use.cpu_s for name, use in used.items() if use.cpu_s is not None}


class Conductor:
    """Leads one run."""

    def __init__(
        self,
        crew: Crew,
        plan: LoadPlan,
        reader: Reader,
        show: Show,
        interruption: Interruption,
        when_measured: Callable[[], None],
    ) -> None:
        """Make ready to lead a run.

        Args:
            crew: sends the load.
            plan: for how long.
            reader: reads the nodes before and after the measured time.
            show: takes a look at the run after every interval.
            interruption: whether somebody wants the run to end.
            when_measured: called when the measured time begins.
        """
        self._crew, self._plan, self._reader, self._show = crew, plan, reader, show
        self._interruption, self._when_measured = interruption, when_measured
        self.course = Course(plan)
        self.gathering = Gathering(plan.processes)
        self.readings: list[Reading] = []
        """Before and after the measured time."""
        self.started_at: datetime | None = None
        self.early = False
        self._errors = 0
        self._cores = _Cores(reader)

    def run(self) -> None:
        """Run from start to end."""
        start_s = self._crew.begin()
        if self.course.phase is Phase.MEASURED:
            self._begin_measured(start_s)
        for message in self._crew.heard():
            for interval in self.gathering.take(message):
                self._follow(interval)
            if self._interruption.asked and self.course.phase is not Phase.OVER:
                self.early = True
                self._end()
        if self.course.phase is not Phase.OVER:
            self._end()

    @property
    def ended(self) -> Literal["planned", "early", "failed"]:
        """How it came to an end."""
        if self.early:
            return "early"
        if self.course.stopped_for:
            return "early"
        return "planned" if len(self.gathering.lost) < self._plan.processes else "failed"

    def _follow(self, interval: Interval) -> None:
        before = self.course.phase
        self.course.take(interval)
        self._errors += sum(interval.errors.values())
        if before is not Phase.OVER:
            self._look(interval, before)
        if self.course.phase is before:
            return
        if self.course.phase is Phase.MEASURED:
            self._begin_measured(interval.ended_s)
        else:
            self._end()

    def _begin_measured(self, at_s: float) -> None:
        self._when_measured()
        now_s = time.monotonic()
        self.started_at = datetime.fromtimestamp(time.time() - max(0.0, now_s - at_s), UTC).replace(microsecond=0)
        self.readings.append(self._reader.read())

    def _end(self) -> None:
        self.course.end()
        if self.readings:
            self.readings.append(self._reader.read())
        self._crew.stop()

    def _look(self, interval: Interval, phase: Phase) -> None:
        planned = self._plan.warm_up_s if phase is Phase.WARM_UP else self._plan.duration_s
        done = self.course.elapsed_s
        if phase is Phase.MEASURED and self._plan.operations is not None:
            done, planned = sum(each.answers for each in self.course.measured), self._plan.operations
        self._show(look_at(interval, phase.value, done, planned, self._errors, self._cores.in_use()))


class _Cores:
    """CPU in use by node since it was last asked."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._at_s, self._before = time.monotonic(), reader.cpu_s()

    def in_use(self) -> Mapping[str, float]:
        now_s, now = time.monotonic(), self._reader.cpu_s()
        apart_s = max(now_s - self._at_s, 1e-9)
        found = {name: (used - self._before[name]) / apart_s for name, used in now.items() if name in self._before}
        self._at_s, self._before = now_s, now
        return found
