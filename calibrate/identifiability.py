"""What the runs could not tell, in words, and the run that would.

A parameter is determined when its own error is small, open when the runs have hardly narrowed what was known before.
Two parameters cannot be told apart when their errors run against each other: only what they cost together is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.network import Floats
from .candidates import Candidate, variations
from .fit import Fit
from .information import Information, information_of, variance_along, with_run
from .parameters import HOP_RATIO
from .run import label

WELL = 0.15
"""Standard error of a logarithm up to which a parameter is determined: a fifth either way at 90 % is 0.12."""
OPEN_RATIO = 0.6
"""Share of the earlier standard error from which on a parameter is open."""
APART = -0.6
"""Correlation of two errors from which on the two cannot be told apart."""
LOOSE = 0.2
"""Standard error below which nobody needs two parameters to be told apart."""
WORTH = 0.75
"""A run is named when it would bring the standard error to this share or below."""
UNHEARD = 0.03
"""Change of every run by one standard error of the message delays, below which nobody needs to know them."""
MORE_NODES = 1
"""Nodes beyond the largest measured cluster that a named run may have."""


@dataclass(frozen=True)
class Finding:
    """One thing that the runs do not tell."""

    parameters: tuple[str, ...]
    words: str
    remedy: str
    """The run that would tell; empty where none of those looked at does."""

    def __str__(self) -> str:
        return f"{self.words}; {self.remedy}" if self.remedy else self.words


def findings(fit: Fit) -> tuple[Finding, ...]:
    """Return what a fit's runs do not tell."""
    groups = list(_groups(fit))
    if not groups:
        return ()
    candidates, told = _candidates(fit)
    return _joined([_finding(fit, group, candidates, told) for group in groups])


def _joined(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Join parameters that are hardly determined and have the same remedy, the pairs in front."""
    pairs = [one for one in found if len(one.parameters) > 1]
    by_remedy: dict[str, list[str]] = {}
    for one in found:
        if len(one.parameters) == 1:
            by_remedy.setdefault(one.remedy, []).append(one.parameters[0])
    return (*pairs, *(Finding(tuple(names), _hardly(names), remedy) for remedy, names in by_remedy.items()))


def _hardly(names: Sequence[str]) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{', '.join(names)} {verb} hardly determined by these runs"


def determined(fit: Fit) -> tuple[str, ...]:
    """Return the parameters that the runs determine."""
    return tuple(name for name, error in zip(fit.prior.names, fit.posterior.std_err, strict=True) if error <= WELL)


def _groups(fit: Fit) -> Iterator[tuple[int, ...]]:
    """Yield parameters that cannot be told apart, by pairs with the strongest first, then those that are open."""
    error, before = fit.posterior.std_err, fit.prior.spread
    moved = np.abs(fit.optimum.jacobian * error).max(axis=0, initial=0.0)
    paired: set[int] = set()
    for first, second in _against(fit.posterior.covariance, error):
        if first not in paired and second not in paired:
            paired |= {first, second}
            yield first, second
    for index in np.flatnonzero(error > OPEN_RATIO * before):
        unheard = fit.prior.names[index] == HOP_RATIO and moved[index] < UNHEARD
        if int(index) not in paired and not unheard:
            yield (int(index),)


def _against(covariance: Floats, error: Floats) -> list[tuple[int, int]]:
    correlation = covariance / np.outer(error, error)
    found = [
        (float(correlation[i, j]), i, j)
        for i in range(len(error))
        for j in range(i)
        if correlation[i, j] < APART and min(error[i], error[j]) > LOOSE
    ]
    return [(j, i) for _, i, j in sorted(found)]


def _candidates(fit: Fit) -> tuple[tuple[Candidate, ...], Information]:
    most = max(run.scenario.cluster.node_count for run in fit.runs) + MORE_NODES
    candidates = variations([run.scenario for run in fit.runs], most)
    scenarios = [candidate.scenario for candidate in candidates]
    return candidates, information_of(scenarios, fit.values, fit.prior.names, fit.discrepancy["throughput"])


def _finding(fit: Fit, group: tuple[int, ...], candidates: Sequence[Candidate], told: Information) -> Finding:
    names = tuple(fit.prior.names[index] for index in group)
    contrast = np.zeros(len(fit.prior.names))
    contrast[group[0]] = 1.0
    if len(group) == 2:
        contrast[group[1]] = -1.0
        words = f"{names[0]} and {names[1]} cannot be told apart by these runs"
    else:
        words = _hardly(names)
    return Finding(names, words, _remedy(fit, contrast, candidates, told))


def _remedy(fit: Fit, contrast: Floats, candidates: Sequence[Candidate], told: Information) -> str:
    covariance = fit.posterior.covariance
    now = variance_along(covariance, contrast)
    left = [variance_along(with_run(covariance, rows), contrast) / now for rows in told.rows]
    if not left or min(left) ** 0.5 > WORTH:
        return "no single run of those looked at would tell"
    best = int(np.argmin(left))
    verb = "them apart" if np.count_nonzero(contrast) == 2 else "it"
    chosen, share = candidates[best], left[best] ** 0.5
    return f"{chosen.words} would tell {verb} ({label(chosen.scenario)}: error {share:.0%} of now)"

