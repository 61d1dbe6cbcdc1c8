"""What `capmodel load run --plan` does: the runs of a plan that fit the cluster, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import typer

from ..live.load.carried import parse_carried
from ..model.errors import InputError, Problem, ScenarioError
from ..model.run_plan import PlannedRun, load_run_plan
from .load_run import Driven, drive


def drive_plan(file: Path, what: Driven) -> None:
    """Run all of a plan on a cluster, each measurement to a file of the run's name in the folder `what.output`.

    Runs that were measured before, and runs on another number of nodes, are left out and named.

    Raises:
        InputError: the plan cannot be used, or no folder is given.
    """
    plan = load_run_plan(file)
    if what.output is None or what.output.is_file():
        raise InputError([Problem("--output", what.output and str(what.output), "a folder for the measurements")])
    what.output.mkdir(parents=True, exist_ok=True)
    left_out = [*_driven(plan.runs, file.parent, what, what.output)]
    for words in left_out:
        typer.echo(f"capmodel: left out {words}", err=True)


def _driven(runs: tuple[PlannedRun, ...], folder: Path, what: Driven, output: Path) -> Iterator[str]:
    """Drive runs, and yield in words which were not."""
    for number, run in enumerate(runs, 1):
        place = output / f"{run.name}.json"
        if place.exists():
            yield f"{run.name}: it is in {place}"
            continue
        typer.echo(f"capmodel: run {number} of {len(runs)}, {run.name}: {run.words or 'no words'}", err=True)
        carried = tuple(parse_carried(text) for text in run.carried) or what.plan.carried
        try:
            drive(replace(what, scenario=run.loaded(folder), plan=replace(what.plan, carried=carried), output=place))
        except ScenarioError as error:
            if any(problem.key != "cluster.nodes" for problem in error.problems):
                raise
            yield f"{run.name}: it needs {error.problems[0].value} nodes, {error.problems[0].right}"
