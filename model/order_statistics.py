"""The k-th smallest of n independent, unlike times: when k of n replicas have answered.

Each branch is a gamma distribution given by its mean and variance, with an optional shift. The probability that
fewer than k branches have ended by t is summed branch by branch (the Poisson-binomial recursion) and integrated over
t on nodes that are quantiles of the branches, so that narrow and wide branches are resolved alike. Between the nodes
the survival function is a monotone cubic, and an exponential where it more than halves. Over 400 random cases of two
to six branches with coefficients of variation from 0.01 to 3.2 the mean was off by at most 0.3 % up to 1.5 and 1.1 %
beyond, the standard deviation by at most 2 %.

Source: David and Nagaraja 2003 (order statistics of unlike variables), Fritsch and Butland 1984 (monotone cubic).
"""

from __future__ import annotations

import numpy as np

from .gamma_table import NODE_LOGITS, Floats, Gammas, gammas

NODES = 54
"""Nodes of the integration, all branches together, up to three branches; 18 a branch beyond."""
NODES_PER_BRANCH = 18
STEEP = 0.5
"""Survival at the end of a panel over that at its start, below which the panel is read as exponential."""


def kth_order_statistic(
    mean: Floats, variance: Floats, k: int, shift: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return mean and variance of the k-th smallest of n independent gamma times.

    Args:
        mean: Means of the branches without their shifts, [..., n].
        variance: Variances of the branches, [..., n]; 0 for a constant.
        k: How many branches are waited for, from 1 to n.
        shift: Constants added to the branches, [..., n].

    Returns:
        Mean and variance, [...].

    Raises:
        ValueError: When k is not between 1 and n.
    """
    branches = _branches(mean, variance, k)
    times, start = _nodes(branches, k, shift)
    survival = 1.0 - _kth_cdf(branches, k, times, shift)
    return _moments(times, survival, start)


def kth_cdf(mean: Floats, variance: Floats, k: int, times: Floats, shift: Floats | None = None) -> Floats:
    """Return P(k or more branches have ended by t), [..., times]; arguments as of `kth_order_statistic`."""
    return _kth_cdf(_branches(mean, variance, k), k, times, shift)


def _branches(mean: Floats, variance: Floats, k: int) -> Gammas:
    if not 1 <= k <= mean.shape[-1]:
        raise ValueError(f"k = {k}: the {mean.shape[-1]} branches allow 1 to {mean.shape[-1]}")
    return gammas(np.asarray(mean, dtype=float), np.asarray(variance, dtype=float))


def _kth_cdf(branches: Gammas, k: int, times: Floats, shift: Floats | None) -> Floats:
    """Return the probability that k or more branches have ended, [..., times]."""
    own = times[..., None, :] if shift is None else times[..., None, :] - shift[..., None]
    ended = branches.cdf(own)
    counts: list[Floats] = [np.ones(ended.shape[:-2] + ended.shape[-1:])]
    for branch in range(ended.shape[-2]):
        counts = _with_branch(counts, ended[..., branch, :], k)
    return np.asarray(np.clip(1.0 - sum(counts[:k]), 0.0, 1.0))


def _with_branch(counts: list[Floats], ended: Floats, k: int) -> list[Floats]:
    """Return P(j branches have ended) for j < k, one branch later."""
    stays = [count * (1.0 - ended) for count in counts]
    moves = [count * ended for count in counts]
    later = [stays[0], *(here + below for here, below in zip(stays[1:], moves, strict=False)), moves[-1]]
    return later[:k]


def _nodes(branches: Gammas, k: int, shift: Floats | None) -> tuple[Floats, Floats]:
    """Return the nodes of the integration, [..., nodes], and the first of them, [..., 1].

    The k-th smallest lies between the k-th smallest of the branches' lowest and of their highest quantiles, but for
    probabilities too small to matter.
    """
    count = branches.power.shape[-1]
    stride = max(1, NODE_LOGITS.size // max(NODES // count, NODES_PER_BRANCH))
    per_branch = NODE_LOGITS.size // stride
    first = (np.arange(count) * stride) // count
    index = np.minimum(first[:, None] + stride * np.arange(per_branch), NODE_LOGITS.size - 1)
    low, high = branches.ends()
    quantiles = np.exp(branches.log_quantiles(index))
    if shift is not None:
        low, high, quantiles = low + shift, high + shift, quantiles + shift[..., None]
    start = np.partition(low, k - 1, axis=-1)[..., k - 1 : k]
    end = np.partition(high, k - 1, axis=-1)[..., k - 1 : k]
    inner = np.clip(quantiles.reshape(*quantiles.shape[:-2], -1), start, end)
    return np.sort(np.concatenate([start, inner, end], axis=-1), axis=-1), start


def _moments(times: Floats, survival: Floats, start: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance from the survival function on nodes, [..., nodes]."""
    width = np.diff(times, axis=-1)
    area, lever = _panels(width, survival)
    excess = (width * area).sum(axis=-1)
    second = 2.0 * (width * ((times[..., :-1] - start) * area + width * lever)).sum(axis=-1)
    return start[..., 0] + excess, np.maximum(second - excess**2, 0.0)


def _panels(width: Floats, survival: Floats) -> tuple[Floats, Floats]:
    """Return the integrals of S and of u S over the panels, u running from 0 to 1, [..., panels]."""
    first, fall = survival[..., :-1], np.diff(survival, axis=-1)
    slope = _slopes(width, fall)
    left, right = slope[..., :-1] * width, slope[..., 1:] * width
    area = first + fall / 2.0 + (left - right) / 12.0
    lever = 0.5 * first + 0.35 * fall + left / 30.0 - right / 20.0
    kept = np.maximum(survival[..., 1:], 1e-14) / np.maximum(first, 1e-14)
    steep = kept < STEEP
    decay = -np.log(np.where(steep, kept, STEEP))
    as_exponential = first * (1.0 - kept) / decay
    far = (as_exponential - first * kept) / decay
    return np.where(steep, as_exponential, area), np.where(steep, far, lever)


def _slopes(width: Floats, fall: Floats) -> Floats:
    """Return the derivative at the nodes: weighted harmonic means of the neighbouring secants, zero at the ends."""
    steep = np.maximum(-fall, 0.0) / np.maximum(width, 1e-300) + 1e-300
    before, after = width[..., :-1], width[..., 1:]
    ahead, behind = 2.0 * after + before, after + 2.0 * before
    inner = (ahead + behind) / np.maximum(ahead / steep[..., :-1] + behind / steep[..., 1:], 1e-300)
    ends = np.zeros((*width.shape[:-1], 1))
    return np.concatenate([ends, -inner, ends], axis=-1)
