"""Means, rates, ratios and quantiles: exact small cases, limits, invariance and speed. Coverage has its own file."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy import stats

from capmodel.model.batch_means import batch_means, mean_estimate, mean_variance, rate_estimate, ratio_estimate
from capmodel.model.estimate import Z
from capmodel.model.quantiles import quantile_estimate, quantile_estimates

SAMPLE = np.random.default_rng(11).exponential(size=40_000)


def test_values_are_those_of_the_whole_series() -> None:
    assert mean_estimate(SAMPLE).value == pytest.approx(SAMPLE.mean())
    for p in (0.5, 0.95, 0.99):
        assert quantile_estimate(SAMPLE, p).value == pytest.approx(np.quantile(SAMPLE, p, method="hazen"))


def test_error_of_independent_values_is_the_textbook_one() -> None:
    got = mean_estimate(SAMPLE)
    assert got.std_err == pytest.approx(SAMPLE.std() / math.sqrt(SAMPLE.size), rel=0.25)
    assert got.n == pytest.approx(SAMPLE.size, rel=0.45)


def test_effective_sample_size_of_an_autoregression() -> None:
    """n (1 - φ) / (1 + φ) for correlation φ: a ninth at 0.8."""
    sizes = []
    for seed in range(20):
        steps = np.random.default_rng(seed).standard_normal(20_000)
        series = np.zeros(20_000)
        for i in range(1, series.size):
            series[i] = 0.8 * series[i - 1] + steps[i]
        sizes.append(mean_estimate(series).n)
    assert np.median(sizes) == pytest.approx(20_000 / 9, rel=0.2)


def test_students_quantile_is_folded_in() -> None:
    """A handful of values, uncorrelated by construction: z times the error is t times the plain one, squared."""
    means = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    plain = means.std(ddof=1) / math.sqrt(8)
    assert Z * math.sqrt(mean_variance(means)) == pytest.approx(stats.t.ppf(0.95, 7) * plain)


def test_a_remainder_is_left_out_at_the_beginning() -> None:
    series = np.concatenate([np.full(3, 1e9), np.ones(64 * 10)])
    assert batch_means(series) == pytest.approx(np.ones(64))


def test_correlated_batches_widen_the_error() -> None:
    rising, shuffled = np.arange(64.0), np.random.default_rng(2).permutation(64.0 * np.arange(64) / 64.0)
    assert mean_variance(rising) > 3.0 * mean_variance(shuffled)


def test_rate_of_a_clockwork_is_exact() -> None:
    got = rate_estimate(np.arange(0.0, 100.0, 0.01))
    assert got.value == pytest.approx(100.0)
    assert got.std_err < 0.2


def test_ratio_of_proportional_series_is_exact() -> None:
    got = ratio_estimate(3.0 * SAMPLE, SAMPLE)
    assert got.value == pytest.approx(3.0)
    assert got.std_err < 1e-12


def test_ratio_has_the_error_of_the_delta_method() -> None:
    rng = np.random.default_rng(5)
    below, above = rng.uniform(1.0, 3.0, 40_000), rng.uniform(0.0, 1.0, 40_000)
    got = ratio_estimate(above, below)
    variance = 1 / 12 + 0.25**2 * 4 / 12
    assert got.value == pytest.approx(0.25, abs=4 * got.std_err)
    assert got.std_err == pytest.approx(math.sqrt(variance / 40_000) / 2.0, rel=0.3)


@pytest.mark.parametrize("p", [0.5, 0.95, 0.99])
def test_error_of_a_quantile_of_independent_values(p: float) -> None:
    """sqrt(p (1 - p) / n) over the density, which is 1 - p for the exponential distribution; widened by about 5 %."""
    parts = np.random.default_rng(4).exponential(size=(150, 20_000))
    errors = [quantile_estimate(part, p).std_err for part in parts]
    assert np.median(errors) == pytest.approx(1.05 * math.sqrt(p / (1 - p) / 20_000), rel=0.06)


def test_estimates_scale_with_the_unit() -> None:
    for p in (0.5, 0.99, 0.999):
        seconds, milliseconds = quantile_estimate(SAMPLE, p), quantile_estimate(1e3 * SAMPLE, p)
        assert milliseconds.value == pytest.approx(1e3 * seconds.value)
        assert milliseconds.std_err == pytest.approx(1e3 * seconds.std_err)


def test_quantiles_of_the_mirrored_series_mirror() -> None:
    for p in (0.05, 0.2, 0.4):
        low, high = quantile_estimate(-SAMPLE, p), quantile_estimate(SAMPLE, 1 - p)
        assert low.value == pytest.approx(-high.value)
        assert low.std_err == pytest.approx(high.std_err, rel=1e-6)


def test_several_quantiles_are_the_single_ones() -> None:
    assert quantile_estimates(SAMPLE, (0.5, 0.99)) == (quantile_estimate(SAMPLE, 0.5), quantile_estimate(SAMPLE, 0.99))


def test_too_few_values_in_the_tail_say_nothing() -> None:
    got = quantile_estimate(SAMPLE[:1_500], 0.999)
    assert math.isinf(got.std_err)
    assert got.n < 2.0
    assert math.isfinite(quantile_estimate(SAMPLE[:10_000], 0.999).std_err)


def test_one_burst_in_the_tail_says_nothing() -> None:
    """All values beyond the quantile in one batch: one effective observation."""
    series = SAMPLE.copy() % 1.0
    series[5_000:5_500] += 10.0
    assert math.isinf(quantile_estimate(series, 0.99).std_err)


@pytest.mark.parametrize("p", [0.01, 0.5, 0.99])
def test_a_constant_has_no_error(p: float) -> None:
    got = quantile_estimate(np.full(5_000, 4.0), p)
    assert (got.value, got.std_err) == (4.0, 0.0)
    assert mean_estimate(np.full(5_000, 4.0)).std_err == 0.0


def test_ties_at_the_quantile_are_shared_out() -> None:
    """Two values, 30 % and 70 %: the median is the common one and well known."""
    series = (np.random.default_rng(6).random(10_000) < 0.7) * 1.0
    got = quantile_estimate(series, 0.5)
    assert (got.value, got.std_err) == (1.0, 0.0)


def test_nearly_empty_series_have_infinite_errors() -> None:
    empty, one = np.array([]), np.array([2.0])
    nothing = [mean_estimate(empty), rate_estimate(empty), ratio_estimate(empty, empty), quantile_estimate(empty, 0.5)]
    for got in nothing:
        assert math.isnan(got.value)
        assert math.isinf(got.std_err)
    assert mean_estimate(one).value == 2.0
    assert math.isinf(mean_estimate(one).std_err)
    assert quantile_estimate(one, 0.5).value == 2.0
    assert math.isinf(rate_estimate(one).std_err)
    assert rate_estimate(np.array([0.0, 0.5])).value == 2.0


def test_four_quantiles_of_two_hundred_thousand_values_take_less_than_thirty_milliseconds() -> None:
    series = np.random.default_rng(1).exponential(size=200_000)
    took_s = []
    for _ in range(5):
        started_s = time.perf_counter()
        quantile_estimates(series, (0.5, 0.95, 0.99, 0.999))
        took_s.append(time.perf_counter() - started_s)
    assert min(took_s) < 0.03
