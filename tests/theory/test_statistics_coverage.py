"""Do 90 % intervals hold the truth nine times in ten? Over 400 seeds, with the stopping rule off and on.

The truth is exact: the mean and the quantiles of a first-order autoregression are those of the normal distribution,
the sojourn time of M/M/1 is exponential with rate µ - λ. A share passes inside the central 95 % binomial region
around 0.90. Negative controls: the error of independent values, and stopping at the first lucky moment, must fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import signal, stats

from capmodel.model.batch_means import mean_estimate, rate_estimate, ratio_estimate
from capmodel.model.estimate import LEVEL, Estimate
from capmodel.model.quantiles import quantile_estimates
from capmodel.model.stopping import Precision, next_length, satisfied

SEEDS = 400
LOW, HIGH = stats.binom.ppf([0.025, 0.975], SEEDS, LEVEL) / SEEDS
CHUNK = 20_000


@dataclass
class Sojourns:
    """Sojourn times of M/M/1 with service rate 1, made as they are asked for by Lindley's recursion.

    The unfinished work is a random walk less its running minimum; the walk begins with a stationary waiting time.
    """

    load: float
    rng: np.random.Generator
    made: list[np.ndarray] = field(default_factory=list)
    size: int = 0
    walk: float = 0.0
    least: float = 0.0

    def __post_init__(self) -> None:
        waits = self.rng.random() < self.load
        self.walk = self.rng.exponential(1 / (1 - self.load)) if waits else 0.0

    def first(self, length: int) -> np.ndarray:
        """Return the first `length` values."""
        while self.size < length:
            self._extend(max(CHUNK, length - self.size))
        return np.concatenate(self.made)[:length]

    def _extend(self, count: int) -> None:
        service = self.rng.exponential(size=count)
        gaps = self.rng.exponential(1 / self.load, size=count)
        walk = self.walk + np.concatenate([[0.0], np.cumsum(service - gaps)])
        least = np.minimum(self.least, np.minimum.accumulate(walk))
        self.made.append((walk - least)[:-1] + service)
        self.walk, self.least, self.size = float(walk[-1]), float(least[-1]), self.size + count

    def mean(self) -> float:
        return 1 / (1 - self.load)

    def quantile(self, p: float) -> float:
        return -math.log(1 - p) / (1 - self.load)


@dataclass
class Autoregression:
    """A first-order autoregression with mean 10 and standard deviation 1."""

    correlation: float
    rng: np.random.Generator
    made: np.ndarray = field(default_factory=lambda: np.empty(0))

    def first(self, length: int) -> np.ndarray:
        """Return the first `length` values."""
        if self.made.size < length:
            last = self.made[-1:] - 10 if self.made.size else self.rng.standard_normal(1)
            steps = self.rng.standard_normal(max(CHUNK, length - self.made.size)) * math.sqrt(1 - self.correlation**2)
            more, _ = signal.lfilter([1.0], [1.0, -self.correlation], steps, zi=self.correlation * last)
            self.made = np.concatenate([self.made, 10 + more])
        return self.made[:length]

    def mean(self) -> float:
        return 10.0

    def quantile(self, p: float) -> float:
        return 10.0 + float(stats.norm.ppf(p))


Series = Sojourns | Autoregression
PERCENTILES = (0.5, 0.95, 0.99)


def coverage(estimates: Iterable[Estimate], truth: float) -> float:
    """Return the share of intervals that hold the truth."""
    inside = [interval.low <= truth <= interval.high for interval in (one.interval() for one in estimates)]
    assert len(inside) == SEEDS
    return float(np.mean(inside))


def is_honest(share: float) -> bool:
    """Return whether a share of 400 intervals is one that 90 % intervals would have."""
    return bool(LOW <= share <= HIGH)


def queue(load: float) -> Callable[[int], Series]:
    return lambda seed: Sojourns(load, np.random.default_rng([seed, round(100 * load)]))


def autoregression(correlation: float) -> Callable[[int], Series]:
    return lambda seed: Autoregression(correlation, np.random.default_rng([seed, 1]))


@pytest.mark.parametrize(
    ("make", "length"),
    [(autoregression(0.8), 8_000), (queue(0.5), 16_000), (queue(0.8), 64_000)],
    ids=["autoregression", "half-loaded queue", "four-fifths-loaded queue"],
)
def test_intervals_of_runs_of_fixed_length_are_honest(make: Callable[[int], Series], length: int) -> None:
    means, quantiles = [], []
    for seed in range(SEEDS):
        values = make(seed).first(length)
        means.append(mean_estimate(values))
        quantiles.append(quantile_estimates(values, PERCENTILES))
    series = make(0)
    assert is_honest(coverage(means, series.mean()))
    for number, p in enumerate(PERCENTILES):
        assert is_honest(coverage([one[number] for one in quantiles], series.quantile(p))), p


@pytest.mark.parametrize("make", [autoregression(0.8), queue(0.5)], ids=["autoregression", "queue"])
def test_the_error_of_independent_values_fails(make: Callable[[int], Series]) -> None:
    """Negative control: correlation ignored, for the mean and for the median."""
    means, medians = [], []
    for seed in range(SEEDS):
        values = make(seed).first(8_000)
        means.append(Estimate(values.mean(), values.std() / math.sqrt(values.size), values.size))
        shuffled = np.random.default_rng(seed).permutation(values)
        medians.append(quantile_estimates(shuffled, (0.5,))[0])
    assert coverage(means, make(0).mean()) < LOW - 0.1
    assert coverage(medians, make(0).quantile(0.5)) < LOW - 0.1


def stopped(series: Series, first: int, precision: Precision) -> tuple[Estimate, Estimate, int]:
    """Run the sequential rule with the mean in the place of the throughput; return the estimates at the last look."""
    length = first
    while True:
        values = series.first(length)
        mean, p99 = mean_estimate(values), quantile_estimates(values, (0.99,))[0]
        if satisfied(mean, [p99], precision):
            return mean, p99, length
        length = next_length(length, mean, [p99], precision)


@pytest.mark.parametrize(
    ("make", "precision"),
    [
        (autoregression(0.8), Precision(0.005, 0.005)),
        (queue(0.5), Precision(0.03, 0.07)),
        (queue(0.8), Precision(0.06, 0.15)),
    ],
    ids=["autoregression", "half-loaded queue", "four-fifths-loaded queue"],
)
def test_intervals_of_runs_that_stop_themselves_are_honest(
    make: Callable[[int], Series], precision: Precision
) -> None:
    runs = [stopped(make(seed), 12_000, precision) for seed in range(SEEDS)]
    assert max(mean.relative_error for mean, _, _ in runs) <= precision.throughput
    assert max(p99.relative_error for _, p99, _ in runs) <= precision.p99
    assert np.mean([length > 12_000 for _, _, length in runs]) > 0.9  # the rule had something to decide
    assert is_honest(coverage([mean for mean, _, _ in runs], make(0).mean()))
    assert is_honest(coverage([p99 for _, p99, _ in runs], make(0).quantile(0.99)))


def test_stopping_at_the_first_lucky_moment_fails() -> None:
    """Negative control: a look every 5 %, from a length at which the error is hardly known."""
    stops = []
    for seed in range(SEEDS):
        series, length = queue(0.8)(seed), 300
        while (got := mean_estimate(series.first(length))).relative_error > 0.2:
            length = int(1.05 * length) + 1
        stops.append(got)
    assert coverage(stops, queue(0.8)(0).mean()) < LOW


def bursty_completions(seed: int) -> np.ndarray:
    """Return completion times whose gaps are gamma distributed with squared coefficient of variation 4."""
    return np.cumsum(np.random.default_rng([seed, 2]).gamma(0.25, 4.0 / 50.0, 4_000))


def test_rates_of_bursty_completions_are_honest_and_poisson_errors_are_not() -> None:
    """The variance of a renewal count is c² times its mean, not its mean."""
    runs = [bursty_completions(seed) for seed in range(SEEDS)]
    assert is_honest(coverage([rate_estimate(times) for times in runs], 50.0))
    naive = [(rate_estimate(times).value, times.size) for times in runs]
    assert coverage([Estimate(rate, rate / math.sqrt(n), n) for rate, n in naive], 50.0) < LOW - 0.1


def test_departures_of_a_queue_have_an_honest_rate() -> None:
    """Burke 1956: the departures of M/M/1 are Poisson at the rate of the arrivals."""
    rates = []
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, 3])
        arrivals = np.cumsum(rng.exponential(2.0, 5_000))
        work = np.cumsum(rng.exponential(size=5_000))
        before = np.concatenate([[0.0], work[:-1]])
        departures = work + np.maximum.accumulate(arrivals - before)
        rates.append(rate_estimate(departures[500:]))
    assert is_honest(coverage(rates, 0.5))


def test_ratios_of_correlated_series_are_honest() -> None:
    """Two autocorrelated series of mean 2 and 1 that share most of their noise."""
    ratios = []
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, 4])
        below = 1.0 + Autoregression(0.8, rng).first(6_000) - 10.0
        above = 2.0 * below + 0.5 * rng.standard_normal(6_000) + Autoregression(0.5, rng).first(6_000) - 10.0
        ratios.append(ratio_estimate(above, below))
    assert is_honest(coverage(ratios, 2.0))


def test_growth_between_looks_is_bounded() -> None:
    precision = Precision(0.02, 0.05)
    good, bad = Estimate(100.0, 1.0, 1e3), Estimate(100.0, 50.0, 10)
    unknown = Estimate(1.0, math.inf, 1)
    assert next_length(1_000, good, [Estimate(1.0, 0.0275, 100)], precision) == 1_300
    assert next_length(1_000, bad, [Estimate(1.0, 0.01, 100)], precision) == 4_000
    assert next_length(1_000, good, [unknown], precision) == 4_000
    assert 1_300 < next_length(1_000, good, [Estimate(1.0, 0.045, 100)], precision) < 4_000


def test_every_estimate_must_be_precise() -> None:
    precision = Precision(0.02, 0.05)
    throughput, tail = Estimate(100.0, 1.0, 1e3), Estimate(1.0, 0.02, 1e3)
    assert satisfied(throughput, [tail, tail], precision)
    assert satisfied(throughput, [], precision)
    assert not satisfied(throughput, [tail, Estimate(1.0, 0.04, 1e3)], precision)
    assert not satisfied(Estimate(100.0, 1.5, 1e3), [tail], precision)
    assert not satisfied(throughput, [Estimate(math.nan, math.inf, 0.0)], precision)
