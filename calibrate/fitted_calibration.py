"""A calibration from a fit: every parameter with its error, the runs behind it, and where it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..model.calibration import Calibration, Correlation, Discrepancy, Parameter
from ..model.conditions import WORDS, conditions_of
from ..model.demands import PARAMETERS
from ..model.scenario import Scenario
from .fit import Fit
from .parameters import EFFECTS_S
from .run import Run
from .sources import shortened

FITTED = "fitted to runs"
"""Beginning of the source of a fitted parameter."""


def calibration_of(fit: Fit, name: str, title: str = "") -> Calibration:
    """Return the calibration of a fit."""
    prior = fit.prior
    fitted = {key: _fitted(fit, key, i) for i, key in enumerate(prior.names)}
    kept = {key: old for key, old in fit.profile.parameters.items() if key not in fitted}
    return Calibration(
        name=name,
        title=title or f"Fitted to {len(fit.runs)} runs",
        good_for=_good_for(fit.runs),
        cassandra_version=_version(fit),
        reference=_reference(fit.runs),
        parameters={key: {**fitted, **kept}[key] for key in PARAMETERS if key in {**fitted, **kept}},
        correlation=_correlation(fit),
        discrepancy=Discrepancy(**{key: fit.discrepancy[key] for key in ("throughput", "p50", "p99", "gain")}),
    )


def _fitted(fit: Fit, name: str, position: int) -> Parameter:
    value = math.exp(fit.optimum.logs[position])
    old = fit.profile.parameters.get(name)
    before = old.source if old is not None else ("lab study, section 6" if name in EFFECTS_S else "the profile")
    return Parameter(
        value=value,
        std_err=value * float(fit.posterior.std_err[position]),
        unit=PARAMETERS[name].unit,
        source=f"{FITTED}; known before from {before}",
        rows=shortened(source for run in fit.runs for source in run.sources),
        valid=_ranges(fit.runs),
    )


def _ranges(runs: Sequence[Run]) -> dict[str, tuple[float, float]]:
    found = [conditions_of(run.scenario) for run in runs]
    columns = {key: [one[key] for one in found if key in one] for key in WORDS}
    return {key: (min(values), max(values)) for key, values in columns.items() if values}


def _good_for(runs: Sequence[Run]) -> str:
    span = {key: f"{low:g} to {high:g}" if low < high else f"{low:g}" for key, (low, high) in _ranges(runs).items()}
    cores = sorted({_cores(run.scenario) for run in runs})
    return (
        f"nodes like those of the runs ({', '.join(cores)}): fitted at {span.get('nodes', '?')} nodes, "
        f"RF {span.get('replication_factor', '?')}, {span.get('in_flight_per_node', '?')} in flight a node, "
        f"rows of {span.get('row_bytes', '?')} bytes in memory"
    )


def _cores(scenario: Scenario) -> str:
    quota = scenario.hardware.cpu_quota
    if quota is not None:
        return f"{quota.cores:g} of a core in periods of {quota.period * 1e3:g} ms"
    return f"{scenario.hardware.cores} cores"


def _reference(runs: Sequence[Run]) -> str:
    named = sorted({run.facts["machine"] for run in runs if "machine" in run.facts})
    shared = sorted({run.facts["nodes on the same cores"] for run in runs if "nodes on the same cores" in run.facts})
    parts = [*named, *(f"{count} nodes on the same cores" for count in shared)]
    return "; ".join(parts) or "a core of the measured nodes"


def _version(fit: Fit) -> str:
    versions = sorted({run.facts.get("version") or run.scenario.cluster.version for run in fit.runs})
    return versions[0] if len(versions) == 1 else ", ".join(versions)


def _correlation(fit: Fit) -> Correlation | None:
    if len(fit.prior.names) < 2:
        return None
    std_err = fit.posterior.std_err
    matrix = fit.posterior.covariance / np.outer(std_err, std_err)
    matrix = np.clip((matrix + matrix.T) / 2, -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    rounded = np.round(matrix, 12)
    return Correlation(names=fit.prior.names, matrix=tuple(tuple(row) for row in rounded.tolist()))
