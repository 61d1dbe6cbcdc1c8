"""Counting by bucket: the same histogram as the classic recorder gives, sums exact, quantiles from their buckets."""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.live.load.buckets import NOTHING, added, bucket_index, bucket_us, histogram, tally
from capmodel.model.histogram import histogram_of, merged


@pytest.fixture
def latencies_s() -> np.ndarray:
    rng = np.random.default_rng(1)
    every_range = 10 ** rng.uniform(-6, 3.5, 5_000)
    return np.concatenate([every_range, np.arange(3_000) * 1e-6, [2047e-6, 2048e-6, 4095e-6, 4096e-6, 3600.0]])


def test_a_tally_encodes_to_the_same_bytes_as_the_classic_recorder(latencies_s: np.ndarray) -> None:
    assert histogram(tally(latencies_s)).encoded == histogram_of(latencies_s).encoded


def test_a_value_in_another_bucket_is_found(latencies_s: np.ndarray) -> None:
    """Negative control of the check above."""
    moved = latencies_s.copy()
    moved[0] *= 1.01
    assert histogram(tally(moved)).encoded != histogram_of(latencies_s).encoded


def test_every_value_lies_in_its_bucket() -> None:
    values = np.concatenate([np.arange(10_000), np.random.default_rng(2).integers(3_600_000_000, size=10_000)])
    lowest, width = bucket_us(bucket_index(values))
    assert np.all(lowest <= values) and np.all(values < lowest + width)
    assert np.all(width <= np.maximum(1, values / 1_000))


def test_parts_add_up_exactly(latencies_s: np.ndarray) -> None:
    parts = np.array_split(latencies_s, 7)
    whole = added(tally(part) for part in parts)
    assert histogram(whole).encoded == merged(histogram_of(part) for part in parts).encoded
    assert whole.n == latencies_s.size


def test_latencies_above_an_hour_are_counted_apart() -> None:
    counted = tally([0.001, 3_601.0])
    assert (counted.n, counted.above_range, counted.quantile_s(1.0)) == (2, 1, None)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 1.0])
def test_quantiles_are_those_of_the_exchange_form(latencies_s: np.ndarray, share: float) -> None:
    assert tally(latencies_s).quantile_s(share) == histogram_of(latencies_s).quantile_s(share)


def test_nothing_has_no_figures() -> None:
    assert (NOTHING.n, NOTHING.quantile_s(0.5), NOTHING.mean_s(), added([]).n) == (0, None, None, 0)
