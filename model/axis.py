"""Axes: the values of a scenario's key that a question goes through, as words of the command line.

>>> axis_values("--nodes", "3..9..3")
('3', '6', '9')
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .errors import InputError, Problem
from .scenario import Scenario
from .scenario_file import load_scenario

MOST_VALUES = 400
RIGHT = "a range such as 3..24 or 3..24..3, or values such as 3,6,12"
_RANGE = re.compile(r"(\d+)\.\.(\d+)(?:\.\.(\d+))?")


def axis_values(option: str, text: str) -> tuple[str, ...]:
    """Return the values of a range of whole numbers, or of a list with commas.

    Raises:
        InputError: a text that is neither, or too many values.
    """
    found = _RANGE.fullmatch(text)
    if found is None:
        values = tuple(value.strip() for value in text.split(","))
        if ".." in text or not all(values):
            raise InputError([Problem(option, text, RIGHT)])
    else:
        step = int(found[3] or 1)
        if step < 1 or int(found[1]) > int(found[2]):
            raise InputError([Problem(option, text, RIGHT)])
        values = tuple(str(value) for value in range(int(found[1]), int(found[2]) + 1, step))
    if len(values) > MOST_VALUES:
        raise InputError([Problem(option, f"{len(values)} values", f"at most {MOST_VALUES}")])
    return values


def along(scenario: str, changes: Sequence[str], key: str, values: Sequence[str]) -> tuple[tuple[str, Scenario], ...]:
    """Return the scenario with each value of a key, the value first.

    Raises:
        ScenarioError: a value that the key or the rest of the scenario does not allow.
    """
    return tuple((value, load_scenario(scenario, [*changes, f"{key}={value}"])) for value in values)
