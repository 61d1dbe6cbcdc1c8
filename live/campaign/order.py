"""The order of cells within a start: rounds in random order, the reference cell between them.

Repeats of a cell are a round apart, so that a slow change of the host moves all cells alike and shows in the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...model.scenario import Scenario


def rounds(cells: Sequence[Scenario], repeats: int, rng: np.random.Generator) -> Iterator[Scenario]:
    """Yield every cell `repeats` times, each round in an order of its own."""
    for _ in range(repeats):
        for place in rng.permutation(len(cells)).tolist():
            yield cells[place]


def neighbours(times_s: Sequence[float], rates: Sequence[float], at_s: float) -> tuple[float, ...]:
    """Return the reference rates measured last before and first after a time; one at the edges.

    >>> neighbours([0.0, 10.0, 20.0], [5.0, 6.0, 7.0], 12.0)
    (6.0, 7.0)
    """
    before = [rate for time_s, rate in zip(times_s, rates, strict=True) if time_s <= at_s][-1:]
    after = [rate for time_s, rate in zip(times_s, rates, strict=True) if time_s > at_s][:1]
    return (*before, *after)
