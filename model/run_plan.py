"""A plan of runs: scenarios to be measured one after the other, with what is expected of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, model_validator

from .document import Document, parse_document, read_document, upgraded, validated
from .errors import InputError, Problem
from .scenario import Scenario
from .scenario_file import parse_scenario, with_overrides
from .shipped import did_you_mean, shipped_content, shipped_names
from .value import Value

FORMAT_VERSION = 1
"""Version of the plan file format."""
FOLDER = ("scenarios", "plans")
"""Of the shipped plans."""


class PlannedRun(Value):
    """One run of a plan."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Of the run and of the file of its measurement."""
    words: str = ""
    """What it is there for."""
    scenario: dict[str, Any] = Field(default={})
    """Keys of a scenario, laid over the default or over what it extends."""
    carried: tuple[str, ...] = Field(default=(), alias="as")
    """Other ways to carry operations out, as `load run --as` reads them."""
    expected_per_s: float | None = None
    std_err_after: float | None = None
    """Standard error of the logarithm of the answer once this run and those before it are known."""

    def loaded(self, folder: Path | None = None, changes: Sequence[str] = ()) -> Scenario:
        """Return the scenario of the run, with overrides (`key=value`) laid over it.

        Args:
            folder: where files that it extends are found.
            changes: overrides.

        Raises:
            ScenarioError: all problems of the scenario.
        """
        named = {"title": self.words, **self.scenario, "name": self.name}
        found = parse_scenario(yaml.safe_dump(named, allow_unicode=True), f"run {self.name}", folder)
        return with_overrides(found, changes) if changes else found


class RunPlan(Value):
    """A plan of runs."""

    format_version: int = Field(default=FORMAT_VERSION, ge=FORMAT_VERSION, le=FORMAT_VERSION)
    name: str = ""
    title: str = ""
    question: str | None = None
    """What the runs are to answer, where they were chosen for it."""
    std_err_now: float | None = None
    candidates: int | None = None
    """Runs that were looked at to choose these."""
    runs: tuple[PlannedRun, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _differently_named(self) -> RunPlan:
        names = [run.name for run in self.runs]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"runs of different names; twice there are {', '.join(twice)}")
        return self


def load_run_plan(source: str) -> tuple[RunPlan, Path | None]:
    """Return a shipped plan by its name or the plan of a file, and the folder that its scenarios start from.

    Raises:
        InputError: a file that is no plan, with all its problems, those of its scenarios included.
    """
    content = shipped_content(source, *FOLDER)
    if content is None and not Path(source).suffix and not Path(source).exists():
        right = f"no shipped plan and no file{did_you_mean(source, shipped_names(*FOLDER))}"
        raise InputError([Problem("", None, right, source)])
    path = Path(source)
    document = read_document(path, InputError) if content is None else _shipped(source, content)
    plan = validated(RunPlan, upgraded(document, {}, FORMAT_VERSION, InputError), InputError)
    folder = path.parent if content is None else None
    problems: list[Problem] = []
    for run in plan.runs:
        try:
            run.loaded(folder)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return plan, folder


def _shipped(name: str, content: bytes) -> Document:
    return parse_document(content.decode(), f"{name}.yaml (shipped)", InputError)


def dump_run_plan(plan: RunPlan) -> str:
    """Return a plan as YAML text."""
    return yaml.safe_dump(plain_run_plan(plan), sort_keys=False, allow_unicode=True, width=110)


def plain_run_plan(plan: RunPlan) -> Mapping[str, Any]:
    """Return a plan in plain types."""
    return plan.model_dump(by_alias=True, exclude_defaults=True) | {"format_version": FORMAT_VERSION}
