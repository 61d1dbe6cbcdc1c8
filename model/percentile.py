"""Latencies of mean-value analysis: the response of an operation is a mixture of gamma-distributed cases."""

from __future__ import annotations

import numpy as np

from .distributions import mixture_quantile
from .mva import MvaSolution
from .network import Floats
from .roles import Case

SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def latency_s(solution: MvaSolution, cases: tuple[Case, ...], operation: int | None, statistic: str) -> Floats:
    """Return a latency statistic of one operation, or of all with None, [members].

    Args:
        solution: the mean values.
        cases: the cases of the ensemble's rings.
        operation: number of the operation.
        statistic: `mean`, `p50`, `p95`, `p99` or `p999`.
    """
    chosen = [i for i, case in enumerate(cases) if operation is None or case.operation == operation]
    weights = solution.probability[:, chosen]
    weights = weights / weights.sum(axis=1, keepdims=True)
    means = solution.mean_s[:, chosen]
    if statistic == "mean":
        return np.asarray((weights * means).sum(axis=1))
    return np.asarray(mixture_quantile(weights, means, solution.variance_s2[:, chosen], SHARES[statistic]))
