"""Loading the table: every row of every partition, at ALL, so that no replica is read empty."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.errors import RunError
from .gathering import Gathering
from .interruption import Interruption
from .interval import Interval
from .look import Show, look_at
from .plan import LoadPlan
from .processes import Processes
from .table import LoadTable
from .worker import Backend, Fill, Job

INTERVAL_S = 0.25
PATIENCE_S = 15.0
"""Time in which nothing but errors came, after which loading is given up."""


def fill(
    backend: Backend, table: LoadTable, first: int, last: int, plan: LoadPlan, show: Show, interruption: Interruption
) -> None:
    """Load the partitions from `first` to before `last`.

    Raises:
        RunError: rows cannot be written.
        KeyboardInterrupt: somebody wants it to end.
    """
    work = Fill(table, first, last, plan.processes)
    in_flight = max(1, plan.fill_in_flight // plan.processes)
    jobs = [Job(part, backend, work, in_flight, INTERVAL_S) for part in range(plan.processes)]
    with Processes(jobs) as crew:
        crew.begin()
        gathering, progress = Gathering(plan.processes), _Progress(table, last - first, show)
        for message in crew.heard():
            for interval in gathering.take(message):
                progress.take(interval)
            if interruption.asked:
                raise KeyboardInterrupt
    progress.check_whole()


class _Progress:
    def __init__(self, table: LoadTable, partitions: int, show: Show) -> None:
        self._table, self._partitions, self._show = table, partitions, show
        self._rows, self._errors = 0, 0
        self._vain_since_s: float | None = None

    def take(self, interval: Interval) -> None:
        self._rows += interval.answers
        self._errors += sum(interval.errors.values())
        self._check_progress(interval)
        done = self._rows / self._table.rows_per_partition
        self._show(look_at(interval, "loading", done, self._partitions, self._errors, {}))

    def _check_progress(self, interval: Interval) -> None:
        """Give up when nothing but errors comes for a while."""
        if interval.answers or not interval.errors:
            self._vain_since_s = None
            return
        self._vain_since_s = interval.began_s if self._vain_since_s is None else self._vain_since_s
        if interval.ended_s - self._vain_since_s > PATIENCE_S:
            raise RunError(f"{self._table.full_name} cannot be loaded: {_names(list(interval.errors))}")

    def check_whole(self) -> None:
        """Refuse to go on with a table that is not whole."""
        wanted = self._partitions * self._table.rows_per_partition
        if self._rows < wanted:
            raise RunError(f"{self._table.full_name} is loaded only in part: {self._rows} of {wanted} rows")


def _names(kinds: Sequence[str]) -> str:
    return ", ".join(sorted(kinds))
