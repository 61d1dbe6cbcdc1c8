"""The one exception tree of the package.

::

    CapmodelError                 something the user can act on; one line at the terminal
    ├── InputError                bad input: exit code 2
    │   ├── ScenarioError         a scenario file, a key or a contradiction between keys
    │   ├── CalibrationError      a calibration (profile) file
    │   └── MeasurementError      a measurement file
    ├── RunError                  a run that failed: exit code 1
    └── ObjectiveMissed           an objective the prediction does not meet: exit code 3

Anything else that escapes is a defect of this package and stays a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input file."""

    key: str
    """Dotted path of the key, such as `cluster.replication.factor`; empty for the file as a whole."""
    value: object
    """What stands there."""
    right: str
    """What would be right, in words."""
    file: str | None = None
    """Name of the file, or None when the value came from the command line."""
    line: int | None = None
    """Line in the file, counted from 1, where known."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        named = f"{self.key} = {self.value!r}" if self.key else ""
        return ": ".join(part for part in (place, named, self.right) if part)


class CapmodelError(Exception):
    """Report something the user can act on."""

    exit_code = 1


class InputError(CapmodelError):
    """Refuse bad input, with all the problems found."""

    exit_code = 2

    def __init__(self, problems: str | Sequence[Problem]) -> None:
        self.problems: tuple[Problem, ...] = () if isinstance(problems, str) else tuple(problems)
        super().__init__(problems if isinstance(problems, str) else "\n".join(map(str, problems)))


class ScenarioError(InputError):
    """Refuse a scenario."""


class CalibrationError(InputError):
    """Refuse a calibration."""


class MeasurementError(InputError):
    """Refuse a measurement."""


class RunError(CapmodelError):
    """Report a run that failed."""

    exit_code = 1


class ObjectiveMissed(CapmodelError):
    """Report an objective that a prediction does not meet."""

    exit_code = 3
