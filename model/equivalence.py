"""Whether two figures are the same within a margin: two one-sided tests on the logarithm of their ratio.

"No significant difference" says only that none was shown; a short run never shows one. Equivalence is shown when both
tests at 5 % reject, which is when the 90 % interval of the ratio lies within [1 / (1 + margin), 1 + margin].

Source: D. J. Schuirmann, A comparison of the two one-sided tests procedure and the power approach for assessing the
equivalence of average bioavailability, J. Pharmacokinetics and Biopharmaceutics 15 (1987).
"""

from __future__ import annotations

import math
from typing import Literal

from .estimate import Z
from .metrics import Quantity

Equivalence = Literal["same", "differs", "cannot tell"]


def equivalence(ratio: Quantity | None, margin: float) -> Equivalence:
    """Return whether a ratio with its 90 % interval is 1 within a relative margin.

    >>> equivalence(Quantity(value=1.0, low=0.99, high=1.01), 0.03)
    'same'
    >>> equivalence(Quantity(value=0.9, low=0.88, high=0.92), 0.03)
    'differs'
    """
    if ratio is None or ratio.low is None or ratio.high is None:
        return "cannot tell"
    least, most = 1 / (1 + margin), 1 + margin
    if least <= ratio.low and ratio.high <= most:
        return "same"
    return "differs" if ratio.high < least or ratio.low > most else "cannot tell"


def needed_ratio(ratio: Quantity | None, margin: float) -> float | None:
    """Return how many times longer both runs would have to be to show that equal figures are the same.

    None when nothing is known of the error; at most 1 when they are long enough. Twice the z value leaves a chance of
    nine in ten for figures that are equal (Schuirmann 1987, power at a difference of 0).
    """
    if ratio is None or ratio.log_std_err is None:
        return None
    return (2 * Z * ratio.log_std_err / math.log1p(margin)) ** 2
