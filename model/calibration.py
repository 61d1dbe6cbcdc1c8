"""A calibration: parameters with their errors, sources and ranges of validity (a profile is a shipped one).

Parameters that are positive are drawn log-normally: the value is the median, `std_err` over the value the standard
deviation of the logarithm, as in `Estimate.positive_interval`. Correlations are those of the logarithms (a Gaussian
copula).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StringConstraints, model_validator

from .errors import CalibrationError, Problem
from .value import Value

FORMAT_VERSION = 1
"""Version of the calibration file format written by this package."""
ROUNDING = 1e-9
"""How far a correlation matrix may be from a proper one by rounding."""

ParameterName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class Parameter(Value):
    """A number with its error, and where it comes from."""

    value: float
    """Best estimate, in the unit the name ends with."""
    std_err: float = Field(ge=0)
    """Standard error."""
    unit: str
    """Unit in words, such as `s` or `1`."""
    source: str
    """Where it was measured or published."""
    rows: tuple[str, ...] = ()
    """Ids of the rows of evidence it was fitted to."""
    valid: str | dict[str, tuple[float, float]] = ""
    """Where it holds: in words, or a low and a high end by key."""


class Correlation(Value):
    """Correlations of the logarithms of some parameters."""

    names: tuple[ParameterName, ...]
    """Parameters, in the order of rows and columns."""
    matrix: tuple[tuple[float, ...], ...]
    """[names, names]"""

    @model_validator(mode="after")
    def _proper(self) -> Correlation:
        size = len(self.names)
        if len(set(self.names)) != size:
            raise ValueError("each name once")
        if len(self.matrix) != size or any(len(row) != size for row in self.matrix):
            raise ValueError(f"a matrix of {size} by {size}, as there are {size} names")
        matrix = np.array(self.matrix).reshape(size, size)
        if not np.allclose(matrix, matrix.T, atol=ROUNDING) or not np.allclose(np.diag(matrix), 1, atol=ROUNDING):
            raise ValueError("a symmetric matrix with ones on its diagonal")
        if size and np.linalg.eigvalsh(matrix).min() < -ROUNDING * size:
            raise ValueError("a matrix that correlations can have (no negative eigenvalue)")
        return self


class Discrepancy(Value):
    """Relative standard deviation of measurements around the model at its best parameters."""

    throughput: float = Field(default=0.0, ge=0)
    p50: float = Field(default=0.0, ge=0)
    p99: float = Field(default=0.0, ge=0)
    gain: float = Field(default=0.0, ge=0)
    """Of the ratio between two sizes of a cluster, in which much of the error of each cancels."""


class Calibration(Value):
    """Demands and their like, as fitted or published; version 1 of the calibration file."""

    format_version: int = Field(default=FORMAT_VERSION, ge=FORMAT_VERSION, le=FORMAT_VERSION)
    """Version of the file format."""
    name: str
    """Short name."""
    title: str = ""
    """One line that says what it is."""
    good_for: str
    """What it may be used for, in words."""
    cassandra_version: str
    """Version whose demands these are."""
    reference: str = ""
    """Hardware of the reference core, in words."""
    parameters: dict[ParameterName, Parameter] = Field(min_length=1)
    """Parameters by name."""
    correlation: Correlation | None = None
    """Correlations of the parameters' errors; none when not given."""
    discrepancy: Discrepancy | None = None
    """Error of the model's form; not known when not given."""

    @model_validator(mode="after")
    def _correlated_names_exist(self) -> Calibration:
        unknown = set(self.correlation.names if self.correlation else ()) - set(self.parameters)
        if unknown:
            raise ValueError(f"a correlation of parameters that exist, not of {', '.join(sorted(unknown))}")
        return self

    def parameter(self, name: str) -> Parameter:
        """Return a parameter.

        Raises:
            CalibrationError: a parameter the calibration lacks.
        """
        if name not in self.parameters:
            right = f"{self.name} lacks this parameter; it has {', '.join(self.parameters)}"
            raise CalibrationError([Problem(f"parameters.{name}", "(missing)", right)])
        return self.parameters[name]

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
        """Return `n` draws of every parameter by name, each [draws].

        A parameter of value 0 is drawn normally and held at 0 or above; a negative one normally.
        """
        names = sorted(self.parameters)
        scores = rng.standard_normal((n, len(names))) @ self._root(names).T
        return {name: _scaled(self.parameters[name], scores[:, i]) for i, name in enumerate(names)}

    def _root(self, names: list[str]) -> NDArray[np.float64]:
        """Return a matrix whose product with its transpose is the correlation, [names, names]."""
        matrix = np.eye(len(names))
        if self.correlation is not None and self.correlation.names:
            rows = [names.index(name) for name in self.correlation.names]
            matrix[np.ix_(rows, rows)] = self.correlation.matrix
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))

    def outside(self, conditions: Mapping[str, float]) -> tuple[str, ...]:
        """Return, in words, where conditions leave the stated ranges of parameters.

        Args:
            conditions: numbers by the keys that `valid` uses.
        """
        return tuple(
            f"{name} holds for {key} from {low:g} to {high:g}, not {conditions[key]:g}"
            for name, parameter in self.parameters.items()
            if not isinstance(parameter.valid, str)
            for key, (low, high) in parameter.valid.items()
            if key in conditions and not low <= conditions[key] <= high
        )


def _scaled(parameter: Parameter, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return draws of a parameter from standard normal scores."""
    if parameter.value > 0:
        return np.asarray(parameter.value * np.exp(parameter.std_err / parameter.value * scores))
    normal = parameter.value + parameter.std_err * scores
    return np.asarray(np.maximum(normal, 0.0) if parameter.value == 0 else normal)
