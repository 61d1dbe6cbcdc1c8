"""Twin clusters under the same load for as long as the studied one is measured.

They are not measured but for their rates, which tell how alike clusters of one layout are.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import TracebackType

from ...model.scenario import Scenario
from ..load.interval import Interval
from ..load.plan import LoadPlan
from ..load.processes import Heard, Processes
from .driven import DrivenCluster, on_size


class Company:
    """The twins of one cell; a context during which they are under load."""

    def __init__(self, twins: Sequence[DrivenCluster], scenario: Scenario, plan: LoadPlan) -> None:
        self._crews = {twin.name: twin.crew(on_size(scenario, len(twin.addresses)), plan) for twin in twins}
        self._heard: dict[str, list[Interval]] = {name: [] for name in self._crews}
        self._threads = [threading.Thread(target=self._listen, args=item) for item in self._crews.items()]

    def __enter__(self) -> Company:
        for crew in self._crews.values():
            crew.begin()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for crew in self._crews.values():
            crew.stop()
        for thread in self._threads:
            thread.join()

    def _listen(self, name: str, crew: Processes) -> None:
        for message in crew.heard():
            if isinstance(message, Heard):
                self._heard[name].append(message.interval)

    def rates_per_s(self, began_s: float, ended_s: float) -> Mapping[str, float]:
        """Return the mean rate of each twin between two times."""
        return {name: _rate(intervals, began_s, ended_s) for name, intervals in self._heard.items()}


def _rate(intervals: Sequence[Interval], began_s: float, ended_s: float) -> float:
    within = [one for one in intervals if one.began_s >= began_s and one.ended_s <= ended_s]
    span_s = sum(one.length_s for one in within)
    return sum(one.answers for one in within) / span_s if span_s else 0.0
