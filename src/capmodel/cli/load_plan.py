"""What `capmodel load run --plan` does: the runs of a plan that fit the cluster, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from ..live.load.carried import parse_carried
from ..model.errors import InputError, Problem, ScenarioError
from ..model.run_plan import PlannedRun, load_run_plan
from ..model.scenario import Scenario
from .load_run import Driven, asked_of, drive, plan_of

__all__ = ["Driven", "asked_of", "drive_all", "plan_of"]


def drive_all(source: str | None, changes: Sequence[str], what: Driven) -> None:
    """Run a load, or all of a plan on a cluster, each measurement to a file of its name in the folder `what.output`.

    Runs that were measured before, and runs on another number of nodes, are left out and named.

    Raises:
        InputError: the plan cannot be used, or no folder is given.
    """
    if source is None:
        drive(what)
        return
    plan, folder = load_run_plan(source)
    if what.output is None or what.output.is_file():
        raise InputError([Problem("--output", what.output and str(what.output), "a folder for the measurements")])
    what.output.mkdir(parents=True, exist_ok=True)
    scenarios = [run.loaded(folder, changes) for run in plan.runs]
    left_out = [*_driven(plan.runs, scenarios, what, what.output)]
    for words in left_out:
        typer.echo(f"capmodel: left out {words}", err=True)


def _driven(
    runs: Sequence[PlannedRun], scenarios: Sequence[Scenario], what: Driven, output: Path
) -> Iterator[str]:
    """Drive runs, and yield in words which were not."""
    for number, (run, scenario) in enumerate(zip(runs, scenarios, strict=True), 1):
        place = output / f"{run.name}.json"
        if place.exists():
            yield f"{run.name}: it is in {place}"
            continue
        typer.echo(f"capmodel: run {number} of {len(runs)}, {run.name}: {run.words or 'no words'}", err=True)
        carried = tuple(parse_carried(text) for text in run.carried) or what.plan.carried
        try:
            drive(replace(what, scenario=scenario, plan=replace(what.plan, carried=carried), output=place))
        except ScenarioError as error:
            if any(problem.key != "cluster.nodes" for problem in error.problems):
                raise
            yield f"{run.name}: it needs {error.problems[0].value} nodes, {error.problems[0].right}"
