"""Distribution and quantile functions of the gamma distribution by table: fast enough for every fixed-point step.

A gamma distribution of shape a and scale s is read in the coordinate w = (x / (a s))^r, r = min(1/3, a), which makes
it nearly normal for large shapes (Wilson and Hilferty 1931) and nearly uniform for small ones. Each row of the table
is one shape; between rows and columns interpolation is linear. Above the largest tabled shape (6e3) the last row
stands for the normal limit. Below the smallest (8e-3) the smallest holds: a coefficient of variation above 11 is read
as 11. Against the exact functions probabilities are off by less than 7e-4 (1e-3 for shapes below 0.011).

The table is shipped beside this module, so that an analysis need not load the functions it is made with; `tabulate`
makes it, and a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

ROWS = 181
ROW_STEP = 0.075
"""Step of the logarithm of the shape from row to row; the fiftieth is at 1/3, where the coordinate changes."""
SMALLEST_SHAPE = float(np.exp(-50 * ROW_STEP) / 3.0)
LARGEST_SHAPE = 1e10
"""Shape that stands for a constant."""
COLUMNS = 512
TOUCHING_SHAPE = float(np.exp(31 * ROW_STEP) / 3.0)
"""Shape of the row from which on the first column lies above zero; the eighty-first."""
EDGE = 3.0 * TOUCHING_SHAPE**0.5 * (1.0 - 1.0 / (9.0 * TOUCHING_SHAPE))
"""Reach of a row either way, in standard deviations of the normal approximation: 5.36."""
SHIPPED = "gamma_table.npz"
"""The table as a file."""
TINY_S = 1e-300
"""Least positive time: keeps logarithms finite."""


@dataclass(frozen=True)
class Gammas:
    """Gamma distributions of given means and variances, prepared for the table; arrays of one shape, [...]."""

    log_mean: Floats
    power: Floats
    row: NDArray[np.intp]
    """Row of the table at or below the shape."""
    above: Floats
    """Share of the next row."""
    low: Floats
    """Coordinate of the first column."""
    columns_per_unit: Floats

    def cdf(self, times_s: Floats) -> Floats:
        """Return P(T <= t), [..., times]; the times are broadcast against [..., times]."""
        return self.cdf_at_log(np.log(np.maximum(times_s, TINY_S)))

    def cdf_at_log(self, log_times: Floats) -> Floats:
        """Return P(T <= t) at logarithms of times, [..., times]."""
        table = _table().probability
        coordinate = np.exp(self.power[..., None] * (log_times - self.log_mean[..., None]))
        column = (coordinate - self.low[..., None]) * self.columns_per_unit[..., None]
        np.clip(column, 0.0, COLUMNS - 1 - 1e-9, out=column)
        left = column.astype(np.intp)
        column -= left
        left += self.row[..., None] * COLUMNS
        below = _between(table, left, column)
        left += COLUMNS
        return np.asarray(below + self.above[..., None] * (_between(table, left, column) - below))

    def log_quantiles(self, nodes: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the times at the probabilities `NODE_LOGITS[nodes]`, [..., nodes]."""
        rows, row = _table().node_position, self.row[..., None]
        position = rows[row, nodes]
        position = position + self.above[..., None] * (rows[row + 1, nodes] - position)
        coordinate = self.low[..., None] + position / self.columns_per_unit[..., None]
        return np.asarray(self.log_mean[..., None] + np.log(np.maximum(coordinate, TINY_S)) / self.power[..., None])

    def log_quantile(self, p: float) -> Floats:
        """Return the logarithm of the time at a probability, [...], between the tabled ones at most 5 % off."""
        logit = np.log(p / (1.0 - p))
        node = int(np.clip(np.searchsorted(NODE_LOGITS, logit), 1, NODE_LOGITS.size - 1))
        below, above = np.moveaxis(self.log_quantiles(np.array([node - 1, node])), -1, 0)
        share = (logit - NODE_LOGITS[node - 1]) / (NODE_LOGITS[node] - NODE_LOGITS[node - 1])
        return np.asarray(below + share * (above - below))

    def ends(self) -> tuple[Floats, Floats]:
        """Return the times at the lowest and the highest probability of `NODE_LOGITS`, [...]."""
        logs = self.log_quantiles(np.array([0, NODE_LOGITS.size - 1]))
        return np.exp(logs[..., 0]), np.exp(logs[..., 1])


def _node_logits() -> Floats:
    spread = np.sinh(np.linspace(-2.0, 2.0, 121)) / np.sinh(2.0)
    return np.asarray(np.where(spread < 0.0, 10.0 * spread, 11.5 * spread))


NODE_LOGITS = _node_logits()
"""Logits of the probabilities whose quantiles are tabled: from 5e-5 to 1 - 1e-5, densest in the middle."""


def gammas(mean_s: Floats, variance_s2: Floats) -> Gammas:
    """Return the gamma distributions of these means and variances, ready for the table."""
    mean = np.maximum(mean_s, TINY_S)
    ratio = np.sqrt(np.maximum(variance_s2, 0.0)) / mean
    shape = np.clip(np.maximum(ratio, 1.0 / np.sqrt(LARGEST_SHAPE)) ** -2, SMALLEST_SHAPE, LARGEST_SHAPE)
    place = np.minimum(np.log(shape / SMALLEST_SHAPE) / ROW_STEP, ROWS - 1.0)
    row = np.minimum(place.astype(np.intp), ROWS - 2)
    low, high = _edges(shape)
    return Gammas(np.log(mean), _power(shape), row, place - row, low, (COLUMNS - 1) / (high - low))


def _between(values: Floats, left: NDArray[np.intp], share: Floats) -> Floats:
    """Return values between `values[left]` and its right neighbour."""
    here = values.take(left, mode="clip")
    return np.asarray(here + share * (values.take(left + 1, mode="clip") - here))


def _power(shape: Floats) -> Floats:
    return np.minimum(shape, 1.0 / 3.0)


def _edges(shape: Floats) -> tuple[Floats, Floats]:
    """Return the coordinates of the first and the last column: beyond them lies less than 1e-7."""
    cube_root_shape = np.maximum(shape, 1.0 / 3.0)
    centre, spread = 1.0 - 1.0 / (9.0 * cube_root_shape), EDGE / (3.0 * np.sqrt(cube_root_shape))
    power = _power(shape)
    high = ((centre + spread) ** 3 * cube_root_shape / shape) ** power
    return np.maximum(centre - spread, 0.0), high


@dataclass(frozen=True)
class _Table:
    probability: Floats
    """[rows * columns]"""
    node_position: Floats
    """[rows, nodes]: column, with fraction, of each tabled quantile."""


@cache
def _table() -> _Table:
    shipped = resources.files(__package__ or "").joinpath(SHIPPED)
    with resources.as_file(shipped) as path, np.load(path) as held:
        return _Table(held["probability"].astype(float).ravel(), held["node_position"].astype(float))


def tabulate() -> dict[str, Floats]:
    """Return the arrays of the shipped table, [rows, columns] and [rows, nodes], from the exact functions."""
    from scipy import special  # takes longer to load than an analysis to run

    shape = SMALLEST_SHAPE * np.exp(ROW_STEP * np.arange(ROWS))[:, None]
    low, high = _edges(shape)
    coordinate = low + (high - low) * np.linspace(0.0, 1.0, COLUMNS)
    probability = special.gammainc(shape, shape * coordinate ** (1.0 / _power(shape)))
    nodes = (special.gammaincinv(shape, special.expit(NODE_LOGITS)) / shape) ** _power(shape)
    position = (nodes - low) / (high - low) * (COLUMNS - 1)
    return {"probability": probability.astype(np.float32), "node_position": position.astype(np.float32)}
