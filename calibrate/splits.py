"""Splits of runs into those a calibration is fitted to and those it has to predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..model.calibration import Calibration
from ..model.errors import InputError, Problem
from .factors import condition
from .fit import FitOptions, fit
from .fitted_calibration import calibration_of
from .forward import structures_of
from .repeats import combined
from .run import Run
from .validate import Progress, Validation, judged_runs

SMALL = 2
"""Nodes up to which `small-to-large` fits."""


@dataclass(frozen=True)
class Split:
    """Positions of the runs that are fitted and of those that are predicted."""

    name: str
    fitted: tuple[int, ...]
    predicted: tuple[int, ...]


Splitter = Callable[[Sequence[Run]], tuple[Split, ...]]


def leave_one_out(runs: Sequence[Run]) -> tuple[Split, ...]:
    """Predict each run by a fit to all others."""
    return tuple(_without(f"without run {i + 1}", (i,), runs) for i in range(len(runs)))


def leave_structure_out(runs: Sequence[Run]) -> tuple[Split, ...]:
    """Predict all runs of one cluster, workload and routing by a fit to all others."""
    structures = structures_of([run.scenario for run in runs])
    return tuple(_without(f"without structure {i + 1}", one.runs, runs) for i, one in enumerate(structures))


def small_to_large(runs: Sequence[Run]) -> tuple[Split, ...]:
    """Fit on one and two nodes, predict the rest."""
    return by_condition(f"nodes<={SMALL}")(runs)


SPLITS: dict[str, Splitter] = {
    "leave-one-out": leave_one_out,
    "leave-structure-out": leave_structure_out,
    "small-to-large": small_to_large,
}
"""Ready splits by name."""


def by_condition(text: str) -> Splitter:
    """Return the split that fits the runs for which a condition such as `cl=ONE` holds, and predicts the rest."""
    holds = condition(text)

    def split(runs: Sequence[Run]) -> tuple[Split, ...]:
        chosen = [holds(run) for run in runs]
        fitted = tuple(i for i, one in enumerate(chosen) if one)
        return (Split(f"fitted where {text}", fitted, tuple(i for i, one in enumerate(chosen) if not one)),)

    return split


def splitter(text: str) -> Splitter:
    """Return a ready split by name, or the split of a condition.

    Raises:
        InputError: neither of them.
    """
    if text in SPLITS:
        return SPLITS[text]
    try:
        return by_condition(text)
    except InputError:
        right = f"one of {', '.join(SPLITS)}, or a condition such as cl=ONE"
        raise InputError([Problem("--split", text, right)]) from None


def validate_split(
    runs: Sequence[Run],
    profile: Calibration,
    split: Splitter,
    solver: str = "mva",
    seed: int = 1,
    progress: Progress | None = None,
) -> Validation:
    """Fit to one part of the runs and predict the other, for every split.

    Raises:
        InputError: a split with an empty part.
    """
    cells = combined(runs)
    splits = split(cells)
    for one in splits:
        if not one.fitted or not one.predicted:
            empty = "fit to" if not one.fitted else "predict"
            raise InputError([Problem("--split", one.name, f"a split that leaves runs to {empty}")])
    options = FitOptions(simulate=solver == "simulate", seed=seed)
    calibrations: dict[str, Calibration] = {}
    for number, one in enumerate(splits, 1):
        found = fit([cells[i] for i in one.fitted], profile, options)
        calibrations[one.name] = calibration_of(found, one.name)
        if progress is not None:
            progress("fitting", number / len(splits))
    order = [(one.name, i) for one in splits for i in one.predicted]
    chosen = [cells[i] for _, i in order]
    return judged_runs(calibrations, [name for name, _ in order], chosen, solver, seed, progress)


def _without(name: str, held_out: tuple[int, ...], runs: Sequence[Run]) -> Split:
    return Split(name, tuple(i for i in range(len(runs)) if i not in held_out), held_out)
