"""Percentiles of mean-value analysis: the response of an operation is a mixture of gamma-distributed cases."""

from __future__ import annotations

import numpy as np

from .distributions import mixture_quantile
from .mva import MvaSolution
from .network import Floats
from .roles import Case


def percentile_s(solution: MvaSolution, cases: tuple[Case, ...], operation: int | None, share: float) -> Floats:
    """Return a percentile of the response time of one operation, or of all with None, [members]."""
    chosen = [i for i, case in enumerate(cases) if operation is None or case.operation == operation]
    weights = solution.probability[:, chosen]
    weights = weights / weights.sum(axis=1, keepdims=True)
    return np.asarray(mixture_quantile(weights, solution.mean_s[:, chosen], solution.variance_s2[:, chosen], share))


def mean_s(solution: MvaSolution, cases: tuple[Case, ...], operation: int) -> Floats:
    """Return the mean response time of an operation, [members]."""
    chosen = [i for i, case in enumerate(cases) if case.operation == operation]
    weights = solution.probability[:, chosen]
    return np.asarray((weights * solution.mean_s[:, chosen]).sum(axis=1) / weights.sum(axis=1))


