"""Keys follow the laws of popularity that the model assumes, the same ones for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from capmodel.live.load.keys import draw_partitions, key_of, zipf_ranks
from capmodel.model.popularity import partition_share
from capmodel.model.workload import Popularity, Workload

DRAWS = 40_000
LAWS = [
    Popularity(kind="uniform"),
    Popularity(kind="zipf", exponent=0.99),
    Popularity(kind="zipf", exponent=1.0),
    Popularity(kind="zipf", exponent=2.5),
    Popularity(kind="latest", exponent=0.7),
    Popularity(kind="hot_set", hot_partitions=3, hot_share=0.6),
]


def probability(workload: Workload, expected: Workload, seed: int) -> float:
    """Return how probable draws at least so far from the expected shares are."""
    drawn = draw_partitions(workload, np.random.default_rng(seed), DRAWS)
    ranks = np.arange(1, workload.partitions + 1)
    shares = partition_share(expected, ranks)
    if workload.popularity.kind == "latest":
        shares = shares[::-1]
    seen = np.bincount(drawn, minlength=workload.partitions)
    assert seen.size == workload.partitions
    return float(chisquare(seen, shares / shares.sum() * DRAWS).pvalue)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.kind}-{law.exponent}")
def test_draws_have_the_shares_that_the_model_assumes(law: Popularity) -> None:
    """Of three seeds the median lies above 1 %: by chance one law in 30,000 fails."""
    workload = Workload(partitions=50, popularity=law)
    assert np.median([probability(workload, workload, seed) for seed in range(3)]) > 0.01


@pytest.mark.parametrize(
    ("law", "other"),
    [
        (Popularity(kind="zipf", exponent=0.99), Popularity(kind="zipf", exponent=1.1)),
        (Popularity(kind="uniform"), Popularity(kind="hot_set", hot_partitions=25, hot_share=0.55)),
    ],
)
def test_another_law_is_found(law: Popularity, other: Popularity) -> None:
    """Negative control of the check above."""
    workload = Workload(partitions=50, popularity=law)
    assert probability(workload, workload.model_copy(update={"popularity": other}), 1) < 1e-6


def test_few_partitions_are_all_hot() -> None:
    workload = Workload(partitions=2, popularity=Popularity(kind="hot_set", hot_partitions=5, hot_share=0.5))
    drawn = draw_partitions(workload, np.random.default_rng(1), 1_000)
    assert set(drawn.tolist()) == {0, 1}


@pytest.mark.parametrize("partitions", [1, 10**15])
def test_ranks_stay_in_range(partitions: int) -> None:
    ranks = zipf_ranks(0.99, partitions, np.random.default_rng(1), 10_000)
    assert ranks.size == 10_000 and ranks.min() >= 1 and ranks.max() <= partitions


def test_draws_depend_on_the_seed_alone() -> None:
    workload = Workload(popularity=Popularity(kind="zipf"))
    first, again, other = (draw_partitions(workload, np.random.default_rng(seed), 100) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_keys_are_the_numbers_of_partitions() -> None:
    assert key_of(258) == b"\0\0\0\0\0\0\1\2"
