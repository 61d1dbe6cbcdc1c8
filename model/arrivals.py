"""When the requests of an open load are meant to start: constant, Poisson or in bursts, at a rate that may change.

A process of unit rate is drawn and its times are stretched by the inverse of the cumulative rate, so that every kind
follows every course. Bursts arrive as a Poisson process and hold a geometric number of requests, as the simulation
has them.

Source: for the change of time see `rate_course`; batch Poisson arrivals: L. Kleinrock, Queueing Systems, volume 1,
section 4.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .rate_course import Floats, RateCourse

Kind = Literal["poisson", "constant", "bursts"]
BLOCK = 4096
"""Starts drawn at once."""


@dataclass(frozen=True)
class Arrivals:
    """An arrival process."""

    course: RateCourse
    kind: Kind = "poisson"
    burst_size: int = 10
    """Mean number of requests in a burst."""

    def dealt(self, parts: int) -> Arrivals:
        """Return one of so many processes that together make this one."""
        return Arrivals(self.course.times(1 / parts), self.kind, self.burst_size)

    def starts_s(self, rng: np.random.Generator, phase: float = 0.5) -> Iterator[float]:
        """Yield intended starts in seconds, ascending, until the course ends in a rate of 0.

        Args:
            rng: gaps and burst sizes are drawn from it.
            phase: place of the first start within a gap of a constant load, 0 to 1.
        """
        reached = phase - 1.0 if self.kind == "constant" else 0.0
        while True:
            count = reached + self._block(rng)
            reached = float(count[-1])
            times_s = self.course.when_s(count)
            yield from times_s[np.isfinite(times_s)].tolist()
            if not np.isfinite(times_s[-1]):
                return

    def _block(self, rng: np.random.Generator) -> Floats:
        """Return the next starts of the process of unit rate, counted from the last one, [starts]."""
        if self.kind == "constant":
            return np.arange(1.0, BLOCK + 1.0)
        if self.kind == "poisson":
            return np.cumsum(rng.standard_exponential(BLOCK))
        at = np.cumsum(rng.standard_exponential(BLOCK)) * self.burst_size
        return np.repeat(at, rng.geometric(1.0 / self.burst_size, BLOCK))
