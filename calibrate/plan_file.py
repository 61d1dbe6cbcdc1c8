"""A design as a plan of runs, for `load run` to go through."""

from __future__ import annotations

import yaml

from ..model.run_plan import PlannedRun, RunPlan
from ..model.scenario_file import dump_scenario
from .design import Choice, Design


def plan_of(found: Design) -> RunPlan:
    """Return the plan of a design."""
    return RunPlan(
        question=found.question,
        std_err_now=found.std_err_now,
        candidates=found.looked_at,
        runs=tuple(_planned(number, choice) for number, choice in enumerate(found.choices, 1)),
    )


def _planned(number: int, choice: Choice) -> PlannedRun:
    expected = choice.expected_per_s
    return PlannedRun(
        name=f"run-{number}",
        words=choice.candidate.words,
        scenario=yaml.safe_load(dump_scenario(choice.candidate.scenario, differences=True)) or {},
        expected_per_s=None if expected != expected else expected,
        std_err_after=choice.std_err,
    )


def scenario_files(found: Design) -> dict[str, str]:
    """Return the text of a scenario file for each run, by file name."""
    return {
        f"{run.name}.yaml": dump_scenario(run.loaded(), differences=True) for run in plan_of(found).runs
    }
