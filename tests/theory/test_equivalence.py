"""Two one-sided tests: how often they call figures the same, against what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from capmodel.model.compare import compare
from capmodel.model.equivalence import equivalence, needed_ratio
from capmodel.model.estimate import Z
from capmodel.model.metrics import Metrics, Quantity

MARGIN = 0.03


def ratio(log_value: float, std_err: float) -> Quantity:
    low, high = (math.exp(log_value + sign * Z * std_err) for sign in (-1, 1))
    return Quantity(value=math.exp(log_value), low=low, high=high)


def share_called(answer: str, truth: float, std_err: float, trials: int = 4000) -> float:
    drawn = np.random.default_rng(5).normal(math.log(truth), std_err, trials)
    return float(np.mean([equivalence(ratio(value, std_err), MARGIN) == answer for value in drawn]))


def test_figures_at_the_margin_are_called_the_same_in_one_of_twenty() -> None:
    """The size of the test at its boundary is 5 % (Schuirmann 1987); four standard errors of 4000 trials are 1.4 %."""
    assert share_called("same", 1 + MARGIN, 0.005) == pytest.approx(0.05, abs=0.014)
    assert share_called("same", 1 + MARGIN / 2, 0.005) > 0.3, "negative control: well inside it is more often"


def test_equal_figures_are_called_the_same_nine_times_in_ten_when_runs_are_long_enough() -> None:
    std_err = math.log1p(MARGIN) / (2 * Z)
    assert needed_ratio(ratio(0.0, std_err), MARGIN) == pytest.approx(1.0)
    assert share_called("same", 1.0, std_err) == pytest.approx(0.9, abs=0.02)
    assert share_called("same", 1.0, 2 * std_err) < 0.1, "negative control: twice the error shows nothing"
    assert needed_ratio(ratio(0.0, 2 * std_err), MARGIN) == pytest.approx(4.0)


def test_figures_far_apart_differ_and_unknown_errors_tell_nothing() -> None:
    assert equivalence(ratio(math.log(1.1), 0.01), MARGIN) == "differs"
    assert equivalence(Quantity(value=1.0), MARGIN) == "cannot tell" and equivalence(None, MARGIN) == "cannot tell"
    assert needed_ratio(None, MARGIN) is None


def metrics(rate: float, std_err: float) -> Metrics:
    return Metrics(throughput_per_s=Quantity(value=rate, low=rate - Z * std_err, high=rate + Z * std_err))


def test_compare_tells_what_is_the_same_and_what_longer_runs_would_take() -> None:
    same = compare(metrics(1000, 2), metrics(1001, 2), MARGIN)
    assert same.differences[0].equivalence == "same" and "same within 0.03: throughput_per_s" in same.words
    loose = compare(metrics(1000, 30), metrics(1001, 30), MARGIN)
    assert loose.differences[0].equivalence == "cannot tell" and "times as long" in loose.words
    assert compare(metrics(1000, 2), metrics(1001, 2)).differences[0].equivalence is None
