"""When rates are flat, when a run drifts: how often both are said of steady series, and of series that are not."""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.live.load.buckets import Tally, tally
from capmodel.live.load.interval import Interval
from capmodel.live.load.spread import effective_number
from capmodel.live.load.steadiness import drift, is_flat, standstill_s
from capmodel.live.load.verdict import Judged, verdict_of

RUNS = 400


def series(rng: np.random.Generator, length: int, correlation: float, spread: float = 0.05) -> np.ndarray:
    """Return rates about 1000 that follow each other as an AR(1) process."""
    noise = rng.normal(size=length + 50)
    for at in range(1, noise.size):
        noise[at] = correlation * noise[at - 1] + np.sqrt(1 - correlation**2) * noise[at]
    return 1000 * (1 + spread * noise[50:])


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_steady_series_hardly_ever_drift(correlation: float) -> None:
    rng = np.random.default_rng(1)
    said = sum(drift(list(series(rng, 40, correlation))) is not None for _ in range(RUNS))
    assert said <= 4, "one in a hundred at most"


@pytest.mark.parametrize("change", [-0.3, 0.3])
def test_a_trend_is_found_with_its_size(change: float) -> None:
    """Negative control of the check above: halves that differ by 30 %."""
    rng = np.random.default_rng(2)
    trend = 1 + change * (np.arange(40) - 19.5) / 20
    found = [drift(list(series(rng, 40, 0.3) * trend)) for _ in range(RUNS)]
    told = [one for one in found if one is not None]
    assert len(told) > 0.98 * RUNS
    assert float(np.mean(told)) == pytest.approx(change, abs=0.03)


def test_a_step_makes_a_run_not_steady() -> None:
    """As when a neighbour wakes up: 7200/s, then 4300/s. It shows as a drift or as a rate that is hardly known."""
    rng = np.random.default_rng(3)
    step = np.where(np.arange(40) < 15, 1.4, 0.85)
    stepped = [kind(series(rng, 40, 0.3, 0.1) * step) for _ in range(100)]
    even = [kind(series(rng, 40, 0.3, 0.1)) for _ in range(100)]
    assert stepped.count("not-steady") > 95
    assert even.count("valid") > 90, "negative control"


def kind(rates_per_s: np.ndarray) -> str:
    """Return the verdict on intervals of a tenth of a second with these rates."""
    answered = {"read": tally([0.001])}
    intervals = [
        Interval(number, number / 1e1, (number + 1) / 1e1, {"read": replace_count(answered["read"], rate / 10)}, {})
        for number, rate in enumerate(rates_per_s)
    ]
    return verdict_of(Judged(intervals, 0.1)).kind


def replace_count(counted: Tally, count: float) -> Tally:
    return Tally(counted.index, np.array([round(count)]))


def test_small_trends_are_let_pass() -> None:
    assert drift([1000 + number for number in range(40)]) is None


def test_growth_is_not_flat_and_flat_series_are() -> None:
    """Growth of 5 % a second, as of a node whose compiler still works; stretches are 2 s."""
    rng = np.random.default_rng(4)
    growth = 1 + 0.05 * 0.25 * np.arange(16)
    flat = [is_flat(list(series(rng, 16, 0.2, 0.03)), 0.25) for _ in range(RUNS)]
    growing = [is_flat(list(series(rng, 16, 0.2, 0.03) * growth), 0.25) for _ in range(RUNS)]
    assert sum(flat) > 0.85 * RUNS
    assert sum(growing) < 0.02 * RUNS


def test_nothing_is_flat_too_soon() -> None:
    assert not is_flat([1000.0] * 15, 0.25)
    assert is_flat([1000.0] * 16, 0.25)
    assert not is_flat([0.0] * 16, 0.25)


def test_a_standstill_is_told_when_it_lasts() -> None:
    assert standstill_s([1000.0] * 10 + [0.0] * 4, 0.25) == 1.0
    assert standstill_s([1000.0] * 10 + [0.0], 0.25) == 0.0


def latencies(rng: np.random.Generator, correlation: float, intervals: int = 40, each: int = 100) -> list[np.ndarray]:
    """Return latencies whose level goes up and down from interval to interval."""
    levels = series(rng, intervals, correlation, 0.3 if correlation else 0.0) / 1000
    return [level * rng.gamma(4.0, 0.001, each) for level in np.maximum(levels, 0.05)]


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_the_effective_number_gives_intervals_that_hold(correlation: float) -> None:
    """The mean of 200 runs lies within ±1.64 σ / √n_eff in 90 %, by the binomial region; n itself does not do."""
    rng = np.random.default_rng(5)
    held = naive = 0
    for _ in range(200):
        parts = latencies(rng, correlation)
        values = np.concatenate(parts)
        number = effective_number([tally(part) for part in parts])
        assert number is not None
        off = abs(values.mean() - 0.004)
        held += off < 1.645 * values.std() / np.sqrt(number)
        naive += off < 1.645 * values.std() / np.sqrt(values.size)
    assert held >= 170
    assert naive < 120 or not correlation, "negative control: counting every request is far too narrow"


def test_an_effective_number_is_at_most_the_number() -> None:
    rng = np.random.default_rng(6)
    parts = [tally(rng.exponential(0.001, 50)) for _ in range(20)]
    number = effective_number(parts)
    assert number is not None and 50 < number <= 1000
    assert effective_number(parts[:5]) is None
