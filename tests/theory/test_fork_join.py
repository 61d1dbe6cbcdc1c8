"""Forks against theory: two of two on M/M/1, order statistics of exponentials, of unlike branches, of constants.

Source: Nelson and Tantawi 1988 (2-of-2: (12 - rho) / 8 of the M/M/1 response); David and Nagaraja 2003 (order
statistics: the k-th of n exponentials has mean sum over i < k of 1 / (n - i)).
"""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.model.ensemble import ensemble
from capmodel.model.graph import Fork
from capmodel.model.mva import solve


def kth_of_exponentials(needed, branches):
    """Return the mean of the k-th order statistic of exponentials of mean 1."""
    return sum(1 / (branches - i) for i in range(needed))


def forked(tiny, needed, means_s, servers, rate_per_s, variation=1.0):
    """Return an open network that forks over a station per branch."""
    builder = tiny(len(means_s))
    for node in range(len(means_s)):
        builder.station(servers, nodes=(node,))
    branches = tuple(builder.visit(mean_s, node, variation=variation) for node, mean_s in enumerate(means_s))
    return builder.build(Fork(needed, branches), rate_per_s=rate_per_s)


@pytest.mark.parametrize("utilisation", [0.3, 0.7])
def test_two_of_two_is_that_of_nelson_and_tantawi(tiny, observe, agrees, utilisation):
    seen = observe(forked(tiny, 2, [1.0, 1.0], 1, utilisation), requests=8_000)
    expected_s = (12 - utilisation) / 8 / (1 - utilisation)
    assert agrees(seen.mean_s, expected_s)
    assert not agrees(seen.mean_s, 1.5 / (1 - utilisation))  # independent branches: harmonic number of two


@pytest.mark.parametrize(("needed", "branches"), [(1, 3), (2, 3), (3, 3), (2, 5)])
def test_order_statistics_of_exponentials_without_queues(tiny, observe, agrees, needed, branches):
    seen = observe(forked(tiny, needed, [1.0] * branches, 60, 1.0), requests=3_000)
    expected_s = kth_of_exponentials(needed, branches)
    assert agrees(seen.mean_s, expected_s)
    assert not agrees(seen.mean_s, 1.1 * expected_s)


def test_the_faster_of_two_unlike_exponentials(tiny, observe, agrees):
    """Minimum: rate 1 + 1/3; maximum: both means minus the minimum's."""
    least_s = 1 / (1 / 1.0 + 1 / 3.0)
    fastest = observe(forked(tiny, 1, [1.0, 3.0], 80, 1.0), requests=3_000)
    slowest = observe(forked(tiny, 2, [1.0, 3.0], 80, 1.0), requests=3_000)
    assert agrees(fastest.mean_s, least_s)
    assert not agrees(fastest.mean_s, 1.1 * least_s)
    assert agrees(slowest.mean_s, 4.0 - least_s)
    assert not agrees(slowest.mean_s, kth_of_exponentials(2, 2) * 2.0)


def test_what_is_not_waited_for_is_done_all_the_same(tiny, observe, agrees):
    seen = observe(forked(tiny, 1, [1.0, 3.0], 80, 1.0), requests=3_000)
    assert agrees(seen.busy[:, 1], 3.0)
    assert not agrees(seen.busy[:, 1], 1 / (1 / 1.0 + 1 / 3.0))


@pytest.mark.parametrize(("needed", "branches"), [(1, 3), (2, 3), (3, 3), (2, 5)])
def test_mean_value_analysis_of_forks_without_queues(tiny, needed, branches):
    solution = solve(ensemble(forked(tiny, needed, [1.0] * branches, 60, 1.0), {}))
    assert solution.response_s[0] == pytest.approx(kth_of_exponentials(needed, branches), rel=0.01)


def test_mean_value_analysis_of_unlike_constants(tiny):
    network = forked(tiny, 2, [1.0, 3.0, 2.0], 60, 0.001, variation=0.0)
    assert solve(ensemble(network, {})).response_s[0] == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.9])
def test_mean_value_analysis_takes_queues_for_independent(tiny, utilisation):
    """Its two of two on M/M/1 is 3/2 R, above the exact (12 - rho) / 8 R by rho / (12 - rho): at most a tenth."""
    response_s = solve(ensemble(forked(tiny, 2, [1.0, 1.0], 1, utilisation), {})).response_s[0]
    assert response_s == pytest.approx(1.5 / (1 - utilisation), rel=0.02)
    assert np.abs(response_s / ((12 - utilisation) / 8 / (1 - utilisation)) - 1) < 0.1
