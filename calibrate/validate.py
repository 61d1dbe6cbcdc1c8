"""A calibration against runs it has not seen.

Every figure of every run is predicted with its interval and set beside the measured one. The interval that is judged
holds the prediction's and the run's own noise, because the truth behind a single run is not known either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.calibration import Calibration
from ..model.conditions import outside_words
from ..model.errors import MeasurementError
from ..model.estimate import Z
from ..model.metrics import Quantity
from .bias import Bias, biases
from .coverage import Coverage
from .foretold import Foretold, foretell, foretold_names, measured_figure
from .repeats import combined
from .run import Run, label, log_noise
from .sources import expanded
from .verdicts import Verdict, verdicts

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Cell:
    """One figure of one run, predicted and measured."""

    run: int
    """Position of the run."""
    what: str
    """Dotted name of the figure."""
    predicted: Quantity
    measured: Quantity

    @property
    def log_error(self) -> float:
        """Logarithm of predicted over measured: above 0 is too much."""
        return math.log((self.predicted.value or 1e-300) / (self.measured.value or 1e-300))

    @property
    def noise(self) -> float:
        """Standard error of the logarithm of the measured figure."""
        return log_noise(self.measured)

    @property
    def held(self) -> bool | None:
        """Whether the measured figure lies in the interval, its own noise included; None where there is none."""
        spread = self.predicted.log_std_err
        return None if spread is None else abs(self.log_error) <= Z * math.hypot(spread, self.noise)


@dataclass(frozen=True)
class Summary:
    """All cells of one kind of figure."""

    what: str
    n: int
    median: float
    """Median of the absolute relative error."""
    p90: float
    bias: float
    """Mean relative error: above 0 is too much."""
    noise: float
    """Median noise of the measured figures."""
    coverage: Coverage


@dataclass(frozen=True)
class Validation:
    """What a validation found."""

    calibration: str
    runs: tuple[Run, ...]
    cells: tuple[Cell, ...]
    summaries: tuple[Summary, ...]
    biases: tuple[Bias, ...]
    """Of the throughput, by factor and level."""
    verdicts: tuple[Verdict, ...]
    fitted: int
    """Runs left out because the calibration was fitted to them."""
    warnings: tuple[str, ...]


def validate(
    calibration: Calibration,
    runs: Sequence[Run],
    solver: str = "simulate",
    seed: int = 1,
    progress: Progress | None = None,
) -> Validation:
    """Predict every run that a calibration was not fitted to.

    Raises:
        MeasurementError: no run is left.
    """
    unseen = unseen_runs(calibration, runs)
    cells = combined(unseen)
    if not cells:
        raise MeasurementError(f"no run is left to validate {calibration.name}: it was fitted to all {len(runs)}")
    name, fitted = calibration.name, len(runs) - len(unseen)
    return judged_runs({name: calibration}, [name] * len(cells), cells, solver, seed, progress, fitted)


def unseen_runs(calibration: Calibration, runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the runs that a calibration was not fitted to."""
    rows = (row for parameter in calibration.parameters.values() for row in parameter.rows)
    used = expanded(rows)
    return tuple(run for run in runs if not used & set(run.sources))


def judged_runs(
    calibrations: dict[str, Calibration],
    by: Sequence[str],
    runs: Sequence[Run],
    solver: str,
    seed: int,
    progress: Progress | None,
    fitted: int = 0,
) -> Validation:
    """Predict each run by the calibration that is meant for it.

    Args:
        calibrations: by name.
        by: name of the calibration for each run.
        runs: combined runs.
        solver: `simulate` or `mva`.
        seed: seed of the simulation and the draws.
        progress: told how far it is.
        fitted: runs left out before, for the report.
    """
    foretold: list[Foretold] = []
    for number, (run, name) in enumerate(zip(runs, by, strict=True), 1):
        foretold.append(foretell(calibrations[name], run, solver, seed))
        if progress is not None:
            progress("predicting", number / len(runs))
    cells = tuple(cell for i, run in enumerate(runs) for cell in _cells(i, run, foretold[i]))
    first = next(iter(calibrations.values()))
    return Validation(
        ", ".join(calibrations) if len(calibrations) < 4 else f"{len(calibrations)} fits",
        tuple(runs),
        cells,
        tuple(_summaries(cells)),
        biases(runs, [(cell.run, cell.log_error) for cell in cells if cell.what == "throughput_per_s"]),
        verdicts(runs, foretold, by, gain_spread(first)),
        fitted,
        tuple(dict.fromkeys(w for run, name in zip(runs, by, strict=True) for w in _warnings(calibrations[name], run))),
    )


def gain_spread(calibration: Calibration) -> float:
    """Return the standard deviation of the logarithm of a gain by the model's form."""
    form = calibration.discrepancy
    return 0.0 if form is None else form.gain


def _cells(index: int, run: Run, foretold: Foretold) -> list[Cell]:
    found = [(what, foretold.figure(what), measured_figure(run, what)) for what in foretold_names(run)]
    return [
        Cell(index, what, predicted, measured)
        for what, predicted, measured in found
        if predicted is not None and predicted.value and measured.value
    ]


def _summaries(cells: Sequence[Cell]) -> list[Summary]:
    kinds = dict.fromkeys(kind_of(cell.what) for cell in cells)
    return [_summary(kind, [cell for cell in cells if kind_of(cell.what) == kind]) for kind in kinds]


def kind_of(what: str) -> str:
    """Return the kind of a figure: all operations and all nodes together.

    >>> kind_of("latency_s.read.p50"), kind_of("utilisation.CPU of node 2"), kind_of("throughput_per_s")
    ('p50', 'node CPU', 'throughput')
    """
    if what.startswith("latency_s."):
        return what.rpartition(".")[2]
    return "node CPU" if what.startswith("utilisation.") else "throughput"


def _summary(kind: str, cells: Sequence[Cell]) -> Summary:
    errors = np.expm1([cell.log_error for cell in cells])
    held = [cell.held for cell in cells if cell.held is not None]
    return Summary(
        kind,
        len(cells),
        float(np.median(np.abs(errors))),
        float(np.quantile(np.abs(errors), 0.9)),
        float(errors.mean()),
        float(np.median([cell.noise for cell in cells])),
        Coverage(sum(held), len(held)),
    )


def _warnings(calibration: Calibration, run: Run) -> list[str]:
    outside = "; ".join(outside_words(calibration, run.scenario))
    return [f"outside the fitted range ({outside}): {label(run.scenario)}"] if outside else []
