"""A plan of runs as a file: a list of scenarios with what is expected of each, for `load run` to go through."""

from __future__ import annotations

from typing import Any

import yaml

from ..model.scenario import Scenario
from ..model.scenario_file import dump_scenario
from .design import Choice, Design

FORMAT_VERSION = 1
"""Version of the plan file format."""


def plan_of(found: Design) -> dict[str, Any]:
    """Return a design in plain types."""
    return {
        "format_version": FORMAT_VERSION,
        "question": found.question,
        "std_err_now": found.std_err_now,
        "candidates": found.looked_at,
        "runs": [
            {
                "name": f"run-{number}",
                "words": choice.candidate.words,
                "std_err_after": choice.std_err,
                "expected_per_s": None if choice.expected_per_s != choice.expected_per_s else choice.expected_per_s,
                "scenario": yaml.safe_load(dump_scenario(_named(number, choice))),
            }
            for number, choice in enumerate(found.choices, 1)
        ],
    }


def _named(number: int, choice: Choice) -> Scenario:
    """Return a run's scenario under the run's name."""
    update = {"name": f"run-{number}", "title": choice.candidate.words}
    return choice.candidate.scenario.model_copy(update=update)


def scenario_files(found: Design) -> dict[str, str]:
    """Return the text of a scenario file for each run, by file name."""
    return {
        f"run-{number}.yaml": dump_scenario(_named(number, choice), differences=True)
        for number, choice in enumerate(found.choices, 1)
    }


def dump_plan(found: Design) -> str:
    """Return the plan as YAML text."""
    return yaml.safe_dump(plan_of(found), sort_keys=False, allow_unicode=True, width=110)
