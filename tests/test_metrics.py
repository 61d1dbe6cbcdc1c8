"""Figures, and histograms of latencies with their intervals, against order statistics and enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from pydantic import ValidationError

from capmodel.model.errors import MeasurementError
from capmodel.model.estimate import Estimate, Interval
from capmodel.model.histogram import (
    Histogram,
    HistogramRecorder,
    histogram_of,
    latency_of,
    mean,
    merged,
    quantile,
)
from capmodel.model.metrics import SHARES, STATISTICS, Latency, LatencyKind, Metrics, Quantity

RESOLUTION = 1e-3
"""Three significant digits."""


def exponential_s(n: int, seed: int, mean_s: float = 2e-3) -> np.ndarray:
    return np.random.default_rng(seed).exponential(mean_s, n)


def test_a_quantity_holds_its_value_between_its_ends() -> None:
    with pytest.raises(ValidationError, match="low <= value <= high"):
        Quantity(value=1.0, low=2.0, high=3.0)


def test_log_std_err_is_that_of_the_estimate_behind_the_interval() -> None:
    figure = Quantity.of(Estimate(50.0, 4.0, 100).positive_interval())
    assert figure.log_std_err == pytest.approx(4.0 / 50.0)


def test_an_infinite_end_is_not_known() -> None:
    figure = Quantity.of(Interval(1.0, 0.5, math.inf))
    assert figure.high is None
    assert figure.model_dump(mode="json") == {"value": 1.0, "low": 0.5, "high": None}


def test_one_known_end_gives_an_error_too() -> None:
    both = Quantity.of(Estimate(50.0, 4.0, 100).positive_interval())
    assert Quantity(value=50.0, low=both.low).log_std_err == pytest.approx(4.0 / 50.0)


def test_metrics_survive_json() -> None:
    metrics = Metrics(
        throughput_per_s=Quantity(value=10.0, low=9.0, high=11.0, parts={"sampling": 0.06}),
        latency_s={"read": Latency(p50=Quantity(value=1e-3), p999=Quantity.absent("too few"), kind="service")},
        utilisation={"CPU of node1": 0.5},
    )
    assert Metrics.model_validate_json(metrics.model_dump_json()) == metrics


def test_quantiles_are_those_of_the_sample_within_the_resolution() -> None:
    sample_s = exponential_s(20_000, seed=3)
    found = histogram_of(sample_s)
    for share in SHARES.values():
        exact_s = np.sort(sample_s)[math.ceil(share * len(sample_s)) - 1]
        assert found.quantile_s(share) == pytest.approx(exact_s, rel=RESOLUTION, abs=1e-6)


def test_quantiles_are_those_of_the_reference_implementation() -> None:
    found = histogram_of(exponential_s(5_000, seed=4))
    reference = HdrHistogram.decode(found.encoded)
    for share in (0.001, 0.5, 0.9, 0.99, 0.999):
        assert found.quantile_s(share) == pytest.approx(reference.get_value_at_percentile(100 * share) / 1e6)


def test_the_mean_of_whole_microseconds_is_exact() -> None:
    sample_s = np.arange(1, 1_000) * 1e-6
    assert mean(histogram_of(sample_s)).value == pytest.approx(sample_s.mean(), rel=1e-12)


def test_adding_is_exact() -> None:
    parts = [exponential_s(700, seed) for seed in range(3)]
    whole = histogram_of(np.concatenate(parts))
    added = merged(histogram_of(part) for part in parts)
    for one, other in zip(added.buckets, whole.buckets, strict=True):
        assert np.array_equal(one, other)


def test_what_lies_above_an_hour_is_counted_not_clipped() -> None:
    found = histogram_of([1e-3] * 98 + [3_600.0, 3_601.0])
    assert (found.n, found.above_range) == (100, 1)
    assert found.quantile_s(0.99) == pytest.approx(3_600.0, rel=RESOLUTION)
    assert found.quantile_s(1.0) is None
    assert quantile(found, 0.999).value is None
    assert "above an hour" in (mean(found).reason or "")
    assert merged([found, found]).above_range == 2


@pytest.mark.parametrize("latency", [-1e-3, math.nan])
def test_what_is_no_latency_is_refused(latency: float) -> None:
    with pytest.raises(MeasurementError, match="negative or no number"):
        HistogramRecorder().record(latency)


@pytest.mark.parametrize("text", ["", "abc", "AAAA", "HISTFAAAAA", "ü"])
def test_what_is_no_histogram_is_refused(text: str) -> None:
    with pytest.raises(MeasurementError, match="no HDR histogram"):
        _ = Histogram(text).n


def test_a_histogram_of_another_resolution_is_read_and_added() -> None:
    foreign = HdrHistogram(1, 10**6, 2)
    foreign.record_value(12_345, 7)
    read = Histogram(foreign.encode().decode())
    assert read.quantile_s(0.5) == pytest.approx(0.012345, rel=1e-2)
    assert merged([read, histogram_of([1e-3])]).n == 8


def test_too_few_requests_leave_an_end_open() -> None:
    figure = quantile(histogram_of(exponential_s(50, seed=1)), 0.999)
    assert figure.high is None
    assert "too few" in (figure.reason or "")


def test_no_requests_give_no_figure() -> None:
    latency = latency_of(histogram_of([]), LatencyKind.SERVICE)
    assert all(getattr(latency, name).value is None for name in STATISTICS)


def coverage(share: float, n: int, runs: int, effective_n: float | None = None, copies: int = 1) -> float:
    """Return how often the interval of a quantile holds the truth, each latency `copies` times."""
    truth_s, rng = -math.log(1 - share), np.random.default_rng(11)
    held = 0
    for _ in range(runs):
        figure = quantile(histogram_of(np.repeat(rng.exponential(1.0, n), copies)), share, effective_n)
        held += (figure.low or 0.0) * (1 - RESOLUTION) <= truth_s <= (figure.high or math.inf) * (1 + RESOLUTION)
    return held / runs


def binomial_margin(runs: int, level: float = 0.90) -> float:
    return 4 * math.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize(("share", "n"), [(0.5, 200), (0.99, 1_000)])
def test_intervals_of_quantiles_hold_as_often_as_stated(share: float, n: int) -> None:
    found = coverage(share, n, runs=400)
    assert 0.90 - binomial_margin(400) <= found
    assert found <= 0.90 + binomial_margin(400) + 0.03  # ranks are whole: the interval is a little wide


def test_the_effective_number_restores_coverage_of_repeated_requests() -> None:
    assert coverage(0.5, 200, runs=400, copies=9, effective_n=200) >= 0.90 - binomial_margin(400)


def test_without_the_effective_number_coverage_fails() -> None:
    """Negative control: nine copies of each latency are not nine requests."""
    assert coverage(0.5, 200, runs=400, copies=9) < 0.90 - binomial_margin(400)


def test_the_ranks_are_those_of_the_binomial_distribution() -> None:
    """Enumerate: 30 distinct latencies, the median's interval from the cumulated binomial probabilities."""
    n = 30
    figure = quantile(histogram_of(np.arange(1, n + 1) * 1e-6), 0.5)
    cumulated = np.cumsum([math.comb(n, k) / 2**n for k in range(n + 1)])
    low = int(np.argmax(cumulated >= 0.05))
    high = int(np.argmax(cumulated >= 0.95)) + 1
    assert figure.low == pytest.approx(low * 1e-6)
    assert figure.high == pytest.approx(high * 1e-6)
