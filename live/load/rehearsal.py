"""A run in simulated time, in this process: the same parts and reports, on a cluster in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .event_loop import VirtualLoop
from .interval import Interval
from .memory_session import FACTS, MemoryCluster, MemorySession
from .processes import Heard, Left
from .session import BackendFacts
from .worker import Job, assemble


class Rehearsal:
    """Stands in for the processes of a run."""

    def __init__(self, jobs: tuple[Job, ...], cluster: MemoryCluster, seed: int = 1) -> None:
        """Make ready; all parts talk to one cluster.

        Args:
            jobs: what each part does; their backends are not used.
            cluster: what they talk to.
            seed: of the service times.
        """
        self._jobs = jobs
        self._loop = VirtualLoop()
        self._session = MemorySession(self._loop, cluster, np.random.default_rng(seed))
        self._news: list[Heard | Left] = []
        self._stopped = False
        self.facts: BackendFacts | None = FACTS

    def begin(self) -> float:
        """Start all parts."""
        for job in self._jobs:
            boss = _Boss(self._news, job.part, lambda: self._stopped)
            part = assemble(self._loop, self._session, job, boss, whole_process=True)
            part(0.0, lambda number=job.part: self._news.append(Left(number, lost=False))).start()  # type: ignore[misc]
        return 0.0

    def stop(self) -> None:
        """Tell all to stop at the end of their interval."""
        self._stopped = True

    def heard(self) -> Iterator[Heard | Left]:
        """Yield what comes, until no part is left."""
        running = len(self._jobs)
        while running:
            while not self._news:
                self._loop.step()
            message = self._news.pop(0)
            running -= isinstance(message, Left)
            yield message


class _Boss:
    def __init__(self, news: list[Heard | Left], part: int, stopped: Callable[[], bool]) -> None:
        self._news, self._part, self._stopped = news, part, stopped

    def report(self, interval: Interval) -> None:
        self._news.append(Heard(self._part, interval))

    def says_stop(self) -> bool:
        return self._stopped()
