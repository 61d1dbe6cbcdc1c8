"""What an interval is made of: parameters, ring draws, sampling, the form of the model.

Each part is a relative standard deviation; they are independent and add up in squares. Parameters and rings come
from members of an ensemble, read on the logarithm and centred on the answer (DESIGN.md, section 3.6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .estimate import LEVEL, Interval, Z
from .network import Floats
from .perturbation import Blocks

LEAST_DRAWS = 20
"""Draws from which quantiles say more than a standard deviation."""


@dataclass(frozen=True)
class Parts:
    """Relative standard deviations of an answer by cause."""

    parameters: float = 0.0
    rings: float = 0.0
    sampling: float = 0.0
    model: float = 0.0

    @property
    def total(self) -> float:
        """All causes together."""
        return math.sqrt(self.parameters**2 + self.rings**2 + self.sampling**2 + self.model**2)

    def around(self, value: float) -> Interval:
        """Return the interval of a positive value, symmetric in the logarithm."""
        if value <= 0 or not math.isfinite(value) or not math.isfinite(self.total):
            return Interval(value, 0.0, math.inf)
        factor = math.exp(Z * self.total)
        return Interval(value, value / factor, value * factor)

    def as_dict(self) -> dict[str, float]:
        """Return the parts under their names."""
        return {
            "parameters": self.parameters,
            "rings": self.rings,
            "sampling": self.sampling,
            "model": self.model,
        }


def parts_of(blocks: Blocks, metric: Floats, sampling: float = 0.0, model: float = 0.0) -> Parts:
    """Return the parts of a positive metric of an ensemble, [members]."""
    return parts_of_log(blocks, np.log(np.maximum(metric, 1e-300)), sampling, model)


def parts_of_log(blocks: Blocks, metric: Floats, sampling: float = 0.0, model: float = 0.0) -> Parts:
    """Return the parts of a metric given by its logarithm, [members]."""
    draws = metric[blocks["draws"]]
    rings = np.concatenate([metric[blocks["nominal"]], metric[blocks["rings"]]])
    return Parts(
        _spread(draws),
        float(rings.std(ddof=1)) if rings.size > 1 else 0.0,
        sampling,
        model,
    )


def over_rings(blocks: Blocks, log_metric: Floats) -> float:
    """Return how far the mean over all ring draws lies from the nominal ring, of a metric given by its logarithm."""
    rings = np.concatenate([log_metric[blocks["nominal"]], log_metric[blocks["rings"]]])
    return float(rings.mean() - rings[0])


def _spread(draws: Floats) -> float:
    """Return the standard deviation that the central 90 % of the draws have: draws far out do not widen it."""
    if draws.size < LEAST_DRAWS:
        return float(draws.std(ddof=1)) if draws.size > 1 else 0.0
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(high - low) / (2 * Z)


def weights(blocks: Blocks, metrics: Mapping[str, Floats]) -> list[tuple[str, float]]:
    """Return the inputs by how much moving each changes the answer, most first.

    The change of an answer is the sum of the changes of the logarithms of its metrics, each [members].
    """
    block, nominal = blocks["inputs"], blocks["nominal"]
    change = sum(np.abs(np.log(metric[block]) - np.log(metric[nominal])) for metric in metrics.values())
    ranked = sorted(zip(blocks.inputs, np.asarray(change).tolist(), strict=True), key=lambda item: -item[1])
    return [(name, weight) for name, weight in ranked if weight > 0]
