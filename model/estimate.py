"""A number with its error: the one type for every figure that is computed or measured.

Intervals are two-sided and normal: value ± z · std_err, on a log scale where a figure is positive by
nature (rates, times) and the error is large enough for the difference to show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LEVEL = 0.90
"""Level of every printed interval."""
Z = 1.6448536269514722
"""Standard normal quantile at (1 + LEVEL) / 2."""


@dataclass(frozen=True)
class Interval:
    """A value between two bounds, as printed and as written to JSON."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Return the three numbers under the keys of the published schema."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Estimate:
    """A value, its standard error, and the number of (effective) observations behind it."""

    value: float
    std_err: float
    n: float

    def interval(self) -> Interval:
        """Return the symmetric interval at `LEVEL`.

        >>> Estimate(10.0, 1.0, 100).interval().low < 10.0
        True
        """
        return Interval(self.value, self.value - Z * self.std_err, self.value + Z * self.std_err)

    def positive_interval(self) -> Interval:
        """Return the interval at `LEVEL` of a positive figure: symmetric in the logarithm.

        >>> Estimate(10.0, 20.0, 100).positive_interval().low > 0
        True
        """
        if self.value <= 0 or not math.isfinite(self.std_err):
            return Interval(self.value, 0.0, math.inf)
        factor = math.exp(Z * self.std_err / self.value)
        return Interval(self.value, self.value / factor, self.value * factor)

    @property
    def relative_error(self) -> float:
        """Half-width of the interval at `LEVEL`, as a ratio of the value."""
        return math.inf if self.value == 0 else abs(Z * self.std_err / self.value)
