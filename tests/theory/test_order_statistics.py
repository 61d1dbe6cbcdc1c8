"""The k-th of n unlike branches against harmonic numbers, inclusion and exclusion, scipy's integration, Monte Carlo."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from capmodel.model.distributions import gamma_quantile, mixture_quantile
from capmodel.model.gamma_table import gammas
from capmodel.model.order_statistics import kth_cdf, kth_order_statistic

EVERY_K_OF_N = [(k, n) for n in range(1, 7) for k in range(1, n + 1)]


def harmonic(n: int, power: int = 1) -> float:
    """Return the sum of 1 / i^power up to n."""
    return sum(i**-power for i in range(1, n + 1))


def mean_of_unlike_exponentials(rates: Sequence[float], k: int) -> float:
    """Return the mean of the k-th smallest from the means of the least of every subset.

    E X_(k) = sum over j > n - k of (-1)^(j-n+k-1) C(j-1, n-k) times the sum of 1 / (sum of rates) over the subsets
    of size j.

    Source: the maximum-minimums identity, carried over to every k.
    """
    n = len(rates)
    return sum(
        (-1) ** (j - n + k - 1) * comb(j - 1, n - k) * sum(1 / sum(some) for some in combinations(rates, j))
        for j in range(n - k + 1, n + 1)
    )


def one(mean: Sequence[float], variance: Sequence[float], k: int) -> tuple[float, float]:
    """Return mean and variance of a single draw."""
    got_mean, got_variance = kth_order_statistic(np.array(mean), np.array(variance), k)
    return float(got_mean), float(got_variance)


@pytest.mark.parametrize(("k", "n"), EVERY_K_OF_N)
def test_like_exponentials_follow_harmonic_numbers(k: int, n: int) -> None:
    mean, variance = one([2.0] * n, [4.0] * n, k)
    assert mean == pytest.approx(2.0 * (harmonic(n) - harmonic(n - k)), rel=0.004)
    assert variance == pytest.approx(4.0 * (harmonic(n, 2) - harmonic(n - k, 2)), rel=0.02)


@pytest.mark.parametrize(("k", "n"), [(k, n) for k, n in EVERY_K_OF_N if n > 1])
def test_unlike_exponentials_follow_inclusion_and_exclusion(k: int, n: int) -> None:
    rng = np.random.default_rng(100 * n + k)
    for means in 10.0 ** rng.uniform(-1, 1, (8, n)):
        assert one(means, means**2, k)[0] == pytest.approx(mean_of_unlike_exponentials(1 / means, k), rel=0.004)


def test_harmonic_numbers_are_wrong_for_unlike_branches() -> None:
    """Negative control: the same check refuses the formula for like branches."""
    means = np.array([0.2, 1.0, 1.8])
    like = means.mean() * (harmonic(3) - harmonic(1))
    exact = mean_of_unlike_exponentials(1 / means, 2)
    assert like != pytest.approx(exact, rel=0.05)
    assert one(means, means**2, 2)[0] != pytest.approx(like, rel=0.05)


@pytest.mark.parametrize("case", range(12))
def test_unlike_gammas_against_monte_carlo(case: int) -> None:
    rng = np.random.default_rng(case)
    n = int(rng.integers(2, 7))
    k = int(rng.integers(1, n + 1))
    mean, ratio, shift = rng.uniform(0.5, 3, n), rng.uniform(0.05, 1.5, n), rng.uniform(0, 2, n)
    drawn = shift + rng.gamma(ratio**-2.0, mean * ratio**2, (200_000, n))
    kth = np.sort(drawn, axis=1)[:, k - 1]
    got_mean, got_variance = kth_order_statistic(mean, (mean * ratio) ** 2, k, shift)
    error = kth.std() / np.sqrt(kth.size)
    assert abs(got_mean - kth.mean()) < 4 * error + 0.005 * kth.mean()
    assert np.sqrt(got_variance) == pytest.approx(kth.std(), rel=0.03)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_against_quadrature_of_the_exact_survival(k: int) -> None:
    mean, variance = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.5, 20.0])

    def survival(t: float) -> float:
        ended = stats.gamma.cdf(t, mean**2 / variance, scale=variance / mean)
        fewer = [np.prod(1 - ended)]
        fewer.append(sum(ended[i] * np.prod(np.delete(1 - ended, i)) for i in range(3)))
        fewer.append(sum((1 - ended[i]) * np.prod(np.delete(ended, i)) for i in range(3)))
        return float(sum(fewer[:k]))

    exact, _ = integrate.quad(survival, 0, 150, limit=500, points=[0.5, 1.0, 2.0, 3.0, 10.0])
    assert one(mean, variance, k)[0] == pytest.approx(exact, rel=0.005)
    times = np.linspace(0.2, 8.0, 7)
    got = kth_cdf(mean, variance, k, times)
    assert got == pytest.approx([1 - survival(t) for t in times], abs=2e-3)


def test_constants_are_ranked() -> None:
    times = [5.0, 1.0, 3.0]
    for k, expected in ((1, 1.0), (2, 3.0), (3, 5.0)):
        mean, variance = one(times, [0.0] * 3, k)
        assert mean == pytest.approx(expected, rel=1e-4)
        assert variance < 1e-6


def test_a_constant_beside_an_exponential() -> None:
    """E min(c, X) = m (1 - exp(-c/m)) and E max(c, X) = c + m exp(-c/m)."""
    for constant in (0.1, 1.0, 3.0):
        first, last = one([constant, 1.0], [0.0, 1.0], 1)[0], one([constant, 1.0], [0.0, 1.0], 2)[0]
        assert first == pytest.approx(1 - np.exp(-constant), rel=0.005)
        assert last == pytest.approx(constant + np.exp(-constant), rel=0.005)


def test_one_branch_is_itself() -> None:
    mean, variance = one([3.0], [2.0], 1)
    assert mean == pytest.approx(3.0, rel=0.003)
    assert variance == pytest.approx(2.0, rel=0.02)


def test_first_and_last_bracket_the_branches_and_draws_are_independent() -> None:
    rng = np.random.default_rng(3)
    mean = rng.uniform(1, 2, (5, 7, 3))
    kths = [kth_order_statistic(mean, 0.5 * mean**2, k)[0] for k in (1, 2, 3)]
    assert (kths[0] < mean.min(axis=-1)).all() and (kths[2] > mean.max(axis=-1)).all()
    assert (kths[0] < kths[1]).all() and (kths[1] < kths[2]).all()
    assert kths[1][2, 4] == one(mean[2, 4], 0.5 * mean[2, 4] ** 2, 2)[0]


def test_sum_over_k_is_sum_over_branches() -> None:
    """The sorted times have the sum of the unsorted ones."""
    rng = np.random.default_rng(4)
    mean, variance = rng.uniform(0.5, 4, (50, 4)), rng.uniform(0.1, 3, (50, 4))
    total = sum(kth_order_statistic(mean, variance, k)[0] for k in range(1, 5))
    assert total == pytest.approx(mean.sum(axis=-1), rel=0.005)


def test_a_shift_of_all_branches_moves_the_mean_only() -> None:
    mean, variance = np.array([1.0, 2.0]), np.array([1.0, 0.5])
    plain = kth_order_statistic(mean, variance, 2)
    moved = kth_order_statistic(mean, variance, 2, np.array([10.0, 10.0]))
    assert moved[0] == pytest.approx(plain[0] + 10.0, rel=1e-4)
    assert moved[1] == pytest.approx(plain[1], rel=1e-3)


@pytest.mark.parametrize("k", [0, 4])
def test_refuses_a_k_out_of_range(k: int) -> None:
    with pytest.raises(ValueError, match="allow 1 to 3"):
        kth_order_statistic(np.ones(3), np.ones(3), k)


def test_the_table_is_the_gamma_distribution() -> None:
    shape = np.exp(np.linspace(np.log(0.02), np.log(1e5), 60))
    p = np.linspace(0.001, 0.999, 97)
    times = stats.gamma.ppf(p, shape[:, None], scale=1 / shape[:, None])
    assert np.abs(gammas(np.ones(60), 1 / shape).cdf(times) - p).max() < 7e-4


def test_the_table_is_worth_having() -> None:
    """About two fifths of the time of the exact function, on as many points as one fork takes."""
    rng = np.random.default_rng(6)
    mean, times = rng.uniform(0.5, 2, (250, 3)), rng.exponential(size=(250, 3, 54))
    table, shape = gammas(mean, 0.5 * mean**2), np.full(times.shape, 2.0)
    assert least_s(lambda: table.cdf(times)) < 0.8 * least_s(lambda: special.gammainc(shape, times))


def least_s(call: Callable[[], object]) -> float:
    """Return the least of ten durations."""
    took_s = []
    for _ in range(10):
        started_s = time.perf_counter()
        call()
        took_s.append(time.perf_counter() - started_s)
    return min(took_s)


def test_gamma_quantile_is_the_inverse() -> None:
    mean, variance = np.array([1.0, 5.0, 0.2]), np.array([0.5, 60.0, 0.0004])
    for p in (0.01, 0.5, 0.99, 0.999):
        got = gamma_quantile(mean, variance, p)
        assert stats.gamma.cdf(got, mean**2 / variance, scale=variance / mean) == pytest.approx(p, rel=1e-9)
    assert float(gamma_quantile(3.0, 0.0, 0.99)) == pytest.approx(3.0, rel=1e-4)


@pytest.mark.parametrize("p", [0.5, 0.95, 0.99, 0.999])
def test_mixture_quantile_solves_the_mixture(p: float) -> None:
    rng = np.random.default_rng(5)
    weights, means = rng.dirichlet(np.ones(3), 20), 10.0 ** rng.uniform(-1, 1, (20, 3))
    variances = (means * rng.uniform(0.1, 2.0, (20, 3))) ** 2
    got = mixture_quantile(weights, means, variances, p)
    for weight, mean, variance, value in zip(weights, means, variances, got, strict=True):
        shape, scale = mean**2 / variance, variance / mean
        exact = optimize.brentq(lambda t: (weight * stats.gamma.cdf(t, shape, scale=scale)).sum() - p, 0, 1e4)  # noqa: B023
        assert value == pytest.approx(exact, rel=0.006)


def test_mixture_quantile_of_one_part_and_of_an_empty_part() -> None:
    weights, means = np.array([1.0, 0.0]), np.array([2.0, 50.0])
    got = mixture_quantile(weights, means, means**2, 0.99)
    assert float(got) == pytest.approx(2.0 * np.log(100), rel=0.003)
