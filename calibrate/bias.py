"""Bias by factor: whether runs of one level of a factor are predicted too high or too low as a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .factors import FACTORS, factors_of_run
from .run import Run

SIGNIFICANT = 2.0
"""Standard errors from which on a bias is more than chance."""


@dataclass(frozen=True)
class Bias:
    """The mean error of runs that share a level of a factor."""

    factor: str
    level: str
    n: int
    value: float
    """Mean logarithm of predicted over measured."""
    std_err: float
    """Of the mean, from the spread within the level; not a number for a single run."""

    @property
    def is_significant(self) -> bool:
        """Whether it is more than chance."""
        return bool(abs(self.value) > SIGNIFICANT * self.std_err)


def biases(runs: Sequence[Run], errors: Sequence[tuple[int, float]]) -> tuple[Bias, ...]:
    """Return the bias of each level of every factor that has several levels.

    Args:
        runs: the runs.
        errors: position of a run, and the logarithm of predicted over measured.
    """
    return tuple(bias for factor in FACTORS for bias in _of_factor(factor, runs, errors))


def _of_factor(factor: str, runs: Sequence[Run], errors: Sequence[tuple[int, float]]) -> list[Bias]:
    by_level: dict[str, list[float]] = {}
    for index, error in errors:
        by_level.setdefault(factors_of_run(runs[index])[factor], []).append(error)
    if len(by_level) < 2:
        return []
    return [_bias(factor, level, np.array(found)) for level, found in sorted(by_level.items(), key=_by_number)]


def _by_number(item: tuple[str, list[float]]) -> tuple[float, str]:
    try:
        return float(item[0]), ""
    except ValueError:
        return 0.0, item[0]


def _bias(factor: str, level: str, errors: np.ndarray) -> Bias:
    n = errors.size
    spread = float(errors.std(ddof=1)) / n**0.5 if n > 1 else float("nan")
    return Bias(factor, level, n, float(errors.mean()), spread)
