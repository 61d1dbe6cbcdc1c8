"""The course of a run: warm-up, measured time, end; decided interval by interval from what all processes report."""

from __future__ import annotations

from enum import StrEnum

from .interval import Interval
from .plan import LoadPlan
from .steadiness import is_flat
from .stopping import PILOT_INTERVALS, Precision

LONGEST_WARM_UP_S = 120.0
"""Cassandra's optimising compiler settles within a minute of uncapped load (evidence/lab-fidelity.md, section 3)."""


class Phase(StrEnum):
    """Where a run is."""

    WARM_UP = "warm-up"
    MEASURED = "measured"
    OVER = "over"


class Course:
    """Follows a run."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        self.phase = Phase.WARM_UP if plan.warm_up_s != 0 else Phase.MEASURED
        self.warm_up: list[Interval] = []
        self.measured: list[Interval] = []
        self.after: list[Interval] = []
        """What came when the measured time was over."""
        self.stopped_for: str | None = None
        """Why a stop condition ended it."""
        self._looked_again_s = 0.0
        self.never_flat = False
        """Whether the warm-up ended although the rates were not flat."""

    def take(self, interval: Interval) -> None:
        """Follow one more interval."""
        if self.phase is Phase.WARM_UP:
            self.warm_up.append(interval)
            if self._warm():
                self.phase = Phase.MEASURED
        elif self.phase is Phase.MEASURED:
            self.measured.append(interval)
            self.stopped_for = self._plan.stop.reason(self.measured)
            if self.stopped_for or self._enough():
                self.phase = Phase.OVER
        else:
            self.after.append(interval)

    def end(self) -> None:
        """End it early."""
        self.phase = Phase.OVER

    @property
    def elapsed_s(self) -> float:
        """Time in the present phase."""
        spent = self.warm_up if self.phase is Phase.WARM_UP else self.measured
        return _span_s(spent)

    def _warm(self) -> bool:
        spent_s = _span_s(self.warm_up)
        if self._plan.warm_up_s is not None:
            return spent_s >= self._plan.warm_up_s - self._plan.grid_s / 2
        if is_flat([interval.rate_per_s for interval in self.warm_up], self._plan.grid_s):
            return True
        self.never_flat = spent_s >= LONGEST_WARM_UP_S
        return self.never_flat

    def _enough(self) -> bool:
        if self._plan.operations is not None:
            return sum(interval.answers for interval in self.measured) >= self._plan.operations
        if self._plan.precision is not None:
            return self._precise(self._plan.precision)
        assert self._plan.duration_s is not None
        return _span_s(self.measured) >= self._plan.duration_s - self._plan.grid_s / 2

    def _precise(self, wanted: Precision) -> bool:
        """Look at the error when the pilot is over, and again when the time that it asked for is."""
        assert self._plan.duration_s is not None
        span_s, half_s = _span_s(self.measured), self._plan.grid_s / 2
        if span_s >= self._plan.duration_s - half_s:
            return True
        if len(self.measured) < PILOT_INTERVALS or span_s < self._looked_again_s - half_s:
            return False
        self._looked_again_s = wanted.wanted_s(self.measured, span_s)
        return self._looked_again_s <= span_s


def _span_s(intervals: list[Interval]) -> float:
    return intervals[-1].ended_s - intervals[0].began_s if intervals else 0.0
