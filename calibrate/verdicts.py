"""Whether the verdicts about one node more were right, on pairs of runs that differ by one node.

Right: the predicted verdict is what the measured gain says beyond its own noise. A measured gain whose interval holds
the threshold says nothing. `cannot tell` is neither right nor wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..model.gain import CANNOT_TELL, Gain, gain, threshold
from ..model.uncertainty import Parts
from .foretold import Foretold
from .neighbouring import Load, Pair, pairs_of
from .run import Run, log_noise

Judged = Literal["right", "wrong", "cannot tell", "not measurable"]


@dataclass(frozen=True)
class Verdict:
    """A question about one node more, answered twice."""

    pair: Pair
    load: Load
    measured: Gain
    predicted: Gain
    judged: Judged


def verdicts(
    runs: Sequence[Run], foretold: Sequence[Foretold], by: Sequence[str], form: float
) -> tuple[Verdict, ...]:
    """Return the verdicts on all pairs of runs that differ by one node.

    Args:
        runs: the runs.
        foretold: what was predicted for each.
        by: name of the calibration that predicted each; a pair needs one for both.
        form: standard deviation of the logarithm of a gain by the model's form.
    """
    pairs = (pair for pair in pairs_of(runs) if by[pair.smaller] == by[pair.larger])
    return tuple(_verdict(pair, runs, foretold, form) for pair in pairs)


def _verdict(pair: Pair, runs: Sequence[Run], foretold: Sequence[Foretold], form: float) -> Verdict:
    before, after = runs[pair.smaller], runs[pair.larger]
    bar = threshold(before.scenario.cluster.node_count)
    noise = math.hypot(*(log_noise(run.metrics.throughput_per_s) for run in (before, after)))
    measured = gain(math.log(after.throughput_per_s / before.throughput_per_s), Parts(sampling=noise), bar)  # type: ignore[operator]
    predicted = _predicted(foretold[pair.smaller], foretold[pair.larger], form, bar)
    return Verdict(pair, pair.load, measured, predicted, _judged(measured, predicted))


def _predicted(before: Foretold, after: Foretold, form: float, bar: float) -> Gain:
    """Return the predicted gain; both sides have the same draws of the calibration."""
    centre = math.log(_rate(after) / _rate(before))
    drawn = float(np.std(after.log_draws - before.log_draws, ddof=1))
    return gain(centre, Parts(parameters=drawn, model=form), bar)


def _rate(foretold: Foretold) -> float:
    rate = foretold.prediction.throughput_per_s
    return float(rate.value) if rate is not None and rate.value else math.nan


def _judged(measured: Gain, predicted: Gain) -> Judged:
    if measured.verdict == CANNOT_TELL:
        return "not measurable"
    if predicted.verdict == CANNOT_TELL:
        return "cannot tell"
    return "right" if measured.verdict == predicted.verdict else "wrong"
