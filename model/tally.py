"""Sums of amounts by index: shares by node, messages by pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def tally(index: NDArray[np.intp], amount: ArrayLike, size: int) -> NDArray[np.float64]:
    """Add up the amounts of equal indices, [size]; `amount` broadcasts to `index`.

    >>> tally(np.array([0, 2, 2]), 0.5, 3).tolist()
    [0.5, 0.0, 1.0]
    """
    weights = np.broadcast_to(np.asarray(amount, dtype=np.float64), index.shape)
    return np.bincount(index.ravel(), weights.ravel(), minlength=size).astype(np.float64, copy=False)
