"""A fit as plain maps and lists: what was determined, what not, how well the runs are met, what was refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .discrepancy import is_level
from .factors import described
from .fit import Fit
from .identifiability import Finding, findings

POOR = 0.25
"""Median error on its own runs from which a fit is not good. Source: the study's own model has 4 to 6 %; constant
demands, which it rejects, 22 to 29 % (lab-fidelity.md, sections 6 and 10)."""
AT_BOUND = 0.01
"""Distance of a logarithm from its bound at which it lies there."""


def fit_summary(fit: Fit, told: tuple[Finding, ...] | None = None) -> dict[str, Any]:
    """Return a fit in plain types.

    Args:
        fit: the fit.
        told: what its runs do not tell; found out when not given.
    """
    unknown = findings(fit) if told is None else told
    return {
        "runs": list(_runs(fit)),
        "errors": errors_of(fit),
        "parameters": list(_parameters(fit)),
        "discrepancy": {name: round(value, 4) for name, value in fit.discrepancy.items()},
        "not_told": [str(finding) for finding in unknown],
        "refused": [{"name": one.name, "reasons": list(one.reasons)} for one in fit.refused],
        "doubts": list(doubts(fit)),
    }


def errors_of(fit: Fit) -> dict[str, float]:
    """Return errors of throughput and CPU time on the fit's own runs, and as predicted without them."""
    level = is_level(fit.forward.observations)
    own = np.abs(np.expm1(-fit.posterior.residuals[level]))
    without = np.abs(np.expm1(-fit.left_out.residual[level]))
    if not own.size:
        return {"n": 0}
    return {
        "n": int(own.size),
        "median": float(np.median(own)),
        "p90": float(np.quantile(own, 0.9)),
        "left_out_median": float(np.median(without)),
        "left_out_p90": float(np.quantile(without, 0.9)),
    }


def _runs(fit: Fit) -> Iterator[dict[str, Any]]:
    residuals, without = fit.posterior.residuals, fit.left_out.residual
    for index, one in enumerate(fit.forward.observations):
        if one.is_shape:
            continue
        run = fit.runs[one.run]
        yield {
            "run": described(run),
            "what": one.what,
            "measured": math.exp(one.log_value),
            "fitted_error": math.expm1(-residuals[index]),
            "left_out_error": math.expm1(-without[index]),
            "noise": one.noise,
            "repeats": run.repeats,
            "weight": run.weight,
            "reasons": list(run.reasons),
        }


def _parameters(fit: Fit) -> Iterator[dict[str, Any]]:
    for index, name in enumerate(fit.prior.names):
        error, before = float(fit.posterior.std_err[index]), float(fit.prior.spread[index])
        yield {
            "name": name,
            "value": math.exp(fit.optimum.logs[index]),
            "relative_std_err": error,
            "told_by_runs": 1 - (error / before) ** 2,
        }


def doubts(fit: Fit) -> Iterator[str]:
    """Yield why a fit is not good, if it is not."""
    if not fit.optimum.converged:
        yield f"the fit had not converged after {fit.optimum.evaluations} solutions; this is the best so far"
    errors = errors_of(fit)
    if not errors["n"]:
        yield "no run has a throughput or a CPU time that tells of demands"
    elif errors["median"] > POOR:
        missed = f"the model misses its own runs by {errors['median']:.0%} in the median"
        yield f"{missed}: something that it lacks decides them"
    low, high = fit.prior.bounds()
    logs = fit.optimum.logs
    for index, name in enumerate(fit.prior.names):
        if min(logs[index] - low[index], high[index] - logs[index]) < AT_BOUND:
            yield f"{name} lies at the end of the range that is looked at"
