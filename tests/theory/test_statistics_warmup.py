"""Warm-up against series whose transient is known."""

from __future__ import annotations

import time

import numpy as np
import pytest

from capmodel.model.warmup import warmup_length

SEEDS = range(40)


def noise(seed: int, size: int = 20_000) -> np.ndarray:
    """Return a steady first-order autoregression with mean 0 and standard deviation 1."""
    rng = np.random.default_rng(seed)
    series = np.empty(size)
    series[0] = rng.standard_normal()
    steps = rng.standard_normal(size) * np.sqrt(1 - 0.5**2)
    for i in range(1, size):
        series[i] = 0.5 * series[i - 1] + steps[i]
    return series


STEADY = [noise(seed) for seed in SEEDS]


def test_a_steady_series_keeps_nearly_everything() -> None:
    found = [warmup_length(series) for series in STEADY]
    assert all(one.steady for one in found)
    assert np.mean([one.length for one in found]) < 0.05 * 20_000


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_a_shifted_beginning_is_cut_off(share: float) -> None:
    shifted = int(share * 20_000)
    for series in STEADY:
        found = warmup_length(np.concatenate([series[:shifted] + 3.0, series[shifted:]]))
        assert found.steady
        assert shifted - 10 <= found.length <= min(2.3 * shifted + 1_000, 10_000)


@pytest.mark.parametrize("decay", [100, 500, 1_500])
def test_a_decaying_transient_leaves_little_bias(decay: int) -> None:
    """Less than 0.6 standard errors of the mean, where all of it would be several."""
    transient = 5.0 * np.exp(-np.arange(20_000) / decay)
    cuts = [warmup_length(series + transient).length for series in STEADY]
    rests = [series[cut:].mean() for series, cut in zip(STEADY, cuts, strict=True)]
    assert np.mean([transient[cut:].mean() for cut in cuts]) < 0.6 * np.std(rests)
    assert transient.mean() > 1.5 * np.std([series.mean() for series in STEADY])


def test_a_trend_is_not_steady() -> None:
    trend = np.linspace(0.0, 4.0, 20_000)
    assert not any(warmup_length(series + trend).steady for series in STEADY)


def test_half_of_the_series_is_the_most_that_is_cut() -> None:
    late = np.concatenate([np.full(8_000, 9.0), np.zeros(2_000)]) + STEADY[0][:10_000]
    found = warmup_length(late)
    assert found.length == 5_000
    assert not found.steady


@pytest.mark.parametrize("size", [0, 1, 4, 49])
def test_a_short_series_is_left_alone(size: int) -> None:
    found = warmup_length(np.arange(size, dtype=float))
    assert found.length == 0
    assert not found.steady


def test_constant_series_is_steady() -> None:
    found = warmup_length(np.full(1_000, 7.0))
    assert (found.length, found.steady) == (0, True)


def test_a_million_values_take_less_than_fifty_milliseconds() -> None:
    series = np.random.default_rng(1).exponential(size=1_000_000)
    took_s = []
    for _ in range(5):
        started_s = time.perf_counter()
        warmup_length(series)
        took_s.append(time.perf_counter() - started_s)
    assert min(took_s) < 0.05
