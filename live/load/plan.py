"""How a scenario is measured: for how long, from how many processes, on which table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...model.errors import InputError, Problem
from ...model.rate_course import RateCourse
from .carried import Carried, check_shares
from .requests import Batches
from .stopping import Precision, StopConditions

INTERVALS = 40
"""Intervals of the measured time: enough for a standard error that knows of autocorrelation."""
SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S = 0.1, 1.0
_USUAL_S = 10.0
MOST_PROCESSES = 256


@dataclass(frozen=True)
class LoadPlan:
    """How a scenario is measured."""

    duration_s: float | None = _USUAL_S
    """Measured time; None when `operations` ends it."""
    operations: int | None = None
    """Requests after which the measured time ends."""
    warm_up_s: float | None = None
    """Time before it; None waits until the rates are flat."""
    processes: int = 1
    seed: int = 1
    """Of operations, keys and values."""
    interval_s: float | None = None
    """Length of an interval; a fortieth of the duration, 0.1 s to 1 s, when not given."""
    timeout_s: float = 12.0
    """After which a request counts as failed."""
    batches: Batches = field(default_factory=Batches)
    keyspace: str | None = None
    """Named after the replication when not given."""
    table: str | None = None
    """Named after the shape of the rows when not given."""
    separate_writes: bool = False
    """Whether writes go to a table of their own, so that reads find what was loaded and nothing newer."""
    table_options: Mapping[str, str] = field(default_factory=dict)
    """More options of the table, as CQL text."""
    coordinators: tuple[str, ...] = ()
    """Addresses that the clients talk to, in place of the scenario's numbers."""
    idle_s: float = 0.0
    """Time without load before the warm-up, in which the nodes' own traffic is counted."""
    course: RateCourse | None = None
    """How the rate of an open load changes over the measured time; its first rate holds during the warm-up."""
    stop: StopConditions = field(default_factory=StopConditions)
    """When the run is given up."""
    precision: Precision | None = None
    """Ends the run when it is reached; `duration_s` is then the longest measured time."""
    carried: tuple[Carried, ...] = ()
    """Shares of writes and reads that are carried out in another way."""
    fill_in_flight: int = 128
    """Requests in flight while the table is loaded."""

    def __post_init__(self) -> None:
        problems = [Problem(name, value, right) for name, value, right, fine in self._rules() if not fine]
        if problems:
            raise InputError(problems)
        check_shares(self.carried)

    def _rules(self) -> tuple[tuple[str, object, str, bool], ...]:
        ends = (self.duration_s, self.operations)
        length_s, warm_up_s = self.interval_s, self.warm_up_s
        return (
            ("duration", ends, "a duration or a number of operations, one of them", ends.count(None) == 1),
            ("duration", self.duration_s, "a time above 0", self.duration_s is None or self.duration_s > 0),
            ("operations", self.operations, "a number above 0", self.operations is None or self.operations > 0),
            ("warm-up", warm_up_s, "a time, 0 or more, or auto", warm_up_s is None or warm_up_s >= 0),
            ("course", "warm-up auto", "a warm-up that is a time", self.course is None or warm_up_s is not None),
            ("processes", self.processes, f"1 to {MOST_PROCESSES}", 1 <= self.processes <= MOST_PROCESSES),
            ("interval", length_s, "0.01 s or more", length_s is None or length_s >= 0.01),
            ("precision", self.operations, "a duration, its limit", self.precision is None or self.operations is None),
            ("timeout", self.timeout_s, "a time above 0", self.timeout_s > 0),
            ("batch-share", self.batches.share, "a share from 0 to 1", 0 <= self.batches.share <= 1),
            ("batch-rows", self.batches.rows, "1 row or more", self.batches.rows >= 1),
            ("seed", self.seed, "0 or more", self.seed >= 0),
        )

    @property
    def writes_apart(self) -> bool:
        """Whether writes go to a table of their own: as told, or because they take away what reads are to find."""
        return self.separate_writes or any(one.takes_away for one in self.carried)

    def on(
        self,
        keyspace: str | None,
        table: str | None,
        separate_writes: bool,
        table_options: Mapping[str, str],
        batch_share: float,
        batch_rows: int,
    ) -> LoadPlan:
        """Return the same plan on another table, with other writes."""
        return replace(
            self,
            keyspace=keyspace,
            table=table,
            separate_writes=separate_writes,
            table_options=table_options,
            batches=Batches(batch_share, batch_rows),
        )

    @property
    def grid_s(self) -> float:
        """Length of an interval."""
        if self.interval_s is not None:
            return self.interval_s
        planned_s = _USUAL_S if self.duration_s is None or self.precision is not None else self.duration_s
        return min(max(planned_s / INTERVALS, SHORTEST_INTERVAL_S), LONGEST_INTERVAL_S)
