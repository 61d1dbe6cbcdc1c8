"""Comparison: how often it finds a difference that is none, that it finds one that is, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from capmodel.model.compare import compare, difference_of
from capmodel.model.errors import InputError
from capmodel.model.estimate import Estimate
from capmodel.model.histogram import histogram_of, latency_of
from capmodel.model.measurement import Measurement
from capmodel.model.metrics import Latency, LatencyKind, Metrics, Quantity


def figure(value: float, std_err: float) -> Quantity:
    return Quantity.of(Estimate(value, std_err, 100).positive_interval())


def metrics(value: float, kind: str = "service", statistic: str = "over-requests") -> Metrics:
    latency = Latency(kind=kind, statistic=statistic, p50=figure(1e-3 * value / 100, 2e-5))
    return Metrics(
        throughput_per_s=figure(value, 2.0), latency_s={"read": latency}, utilisation={"CPU of node1": 0.5}
    )


def test_the_probability_is_that_of_the_normal_distribution() -> None:
    """Errors of 3 % and 4 % make one of 5 %; a ratio of exp(0.05 * 1.95996) lies at the 5 % level exactly."""
    a, b = figure(100.0, 3.0), figure(100.0 * math.exp(0.05 * 1.959964), 4.0 * math.exp(0.05 * 1.959964))
    assert difference_of("x", a, b).p_value == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(
    ("sigmas", "significance"),
    [
        (0.0, "no significant difference"),
        (1.60, "no significant difference"),
        (1.70, "significant at 90 %"),
        (1.99, "significant at 95 %"),
        (-1.99, "significant at 95 %"),
    ],
)
def test_significance_is_two_sided(sigmas: float, significance: str) -> None:
    ratio = math.exp(0.05 * sigmas)
    assert difference_of("x", figure(100.0, 3.0), figure(100.0 * ratio, 4.0 * ratio)).significance == significance


def test_the_ratio_carries_both_errors() -> None:
    found = difference_of("x", figure(100.0, 3.0), figure(200.0, 8.0))
    assert found.difference == pytest.approx(100.0)
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(2.0)
    assert found.ratio.log_std_err == pytest.approx(0.05)


def test_a_thing_compared_with_itself_does_not_differ() -> None:
    found = compare(metrics(100.0), metrics(100.0))
    assert found.words == "no significant difference in 2 metrics"
    assert all(one.difference == 0 for one in found.differences)


def test_a_difference_is_named_with_its_size() -> None:
    assert "throughput_per_s +20.0 %" in compare(metrics(100.0), metrics(120.0)).words


def test_without_an_error_nothing_can_be_told() -> None:
    bare = Metrics(throughput_per_s=Quantity(value=90.0))
    found = compare(metrics(100.0), bare)
    assert [one.significance for one in found.differences] == ["cannot tell"]
    assert found.words.startswith("cannot tell")
    assert found.only_in_a == ("latency_s.read.p50", "utilisation.CPU of node1")


def test_a_figure_of_zero_has_no_ratio() -> None:
    found = difference_of("errors.timeout", Quantity(value=0.0), Quantity(value=0.1))
    assert (found.ratio, found.significance) == (None, "cannot tell")


@pytest.mark.parametrize(
    ("kind", "statistic", "words"),
    [
        ("response", "over-requests", "service time over requests beside response time over requests"),
        ("unknown", "over-requests", "service time over requests beside unknown time"),
        ("service", "over-interval-means", "beside service time over interval means"),
    ],
)
def test_unlike_latencies_are_refused_in_words(kind: str, statistic: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        compare(metrics(100.0), metrics(100.0, kind, statistic))


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(InputError, match="no metric in common"):
        compare(Metrics(), metrics(100.0))


def test_of_several_kinds_the_one_that_both_have_is_compared() -> None:
    service, response = histogram_of([1e-3] * 100), histogram_of([5e-3] * 100)
    by_kind = {"service": service, "response": response}
    histograms = [{"kind": kind, "encoded": one.encoded} for kind, one in by_kind.items()]
    both = Measurement.model_validate({"operations": {"read": {"histograms": histograms}}})
    found = compare(both, Metrics(latency_s={"read": latency_of(service, LatencyKind.SERVICE)}))
    assert {one.ratio.value for one in found.differences if one.ratio} == {1.0}
    with pytest.raises(InputError, match="unlike"):
        compare(both, metrics(100.0, kind="unknown"))


RUNS = 1_000


def found_share(shift_a: float, shift_b: float, claimed: float) -> float:
    """Return how often two rates with errors of 3 % differ at the 90 % level, when `claimed` of the error is told."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(RUNS):
        a, b = 100.0 * np.exp(rng.normal([shift_a, shift_b], 0.03))
        one = difference_of("x", figure(float(a), claimed * 0.03 * a), figure(float(b), claimed * 0.03 * b))
        found += one.p_value is not None and one.p_value < 0.10
    return found / RUNS


MARGIN = 4 * math.sqrt(0.1 * 0.9 / RUNS)


def test_no_difference_is_called_one_as_rarely_as_stated() -> None:
    assert abs(found_share(0.0, 0.0, 1.0) - 0.10) < MARGIN


def test_errors_told_too_small_fail_that_check() -> None:
    """Negative control."""
    assert found_share(0.0, 0.0, 0.5) > 0.10 + MARGIN


def test_a_difference_of_three_standard_errors_is_found() -> None:
    """Its power at the 90 % level is 1 - Phi(1.645 - 3) = 0.912."""
    assert abs(found_share(0.0, 3 * 0.03 * math.sqrt(2), 1.0) - 0.912) < 4 * math.sqrt(0.912 * 0.088 / RUNS)
