"""How often intervals hold, and between which bounds that share may lie by chance.

Source: the central region of the binomial distribution, P(K < low) and P(K > high) at most half of what is left each.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import binom

from ..model.estimate import LEVEL

REGION = 0.95
"""Probability of the region of counts that agree with a target."""


@dataclass(frozen=True)
class Coverage:
    """So many of so many intervals held."""

    held: int
    n: int
    level: float = LEVEL

    @property
    def ratio(self) -> float:
        """Share that held; the level itself where nothing was tried."""
        return self.held / self.n if self.n else self.level

    @property
    def region(self) -> tuple[int, int]:
        """Counts between which the number held lies by chance when the level is right."""
        low, high = binom.interval(REGION, self.n, self.level)
        return int(low), int(high)

    @property
    def agrees(self) -> bool:
        """Whether the number held agrees with the level."""
        low, high = self.region
        return low <= self.held <= high

    def words(self) -> str:
        """Return the coverage in words."""
        low, high = self.region
        return f"{self.held} of {self.n} inside ({self.ratio:.0%}; {low} to {high} agree with {self.level:.0%})"
