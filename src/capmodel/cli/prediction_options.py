"""How a prediction is made, from the words of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from ..model.cassandra_yaml import read_cassandra_yaml
from ..model.errors import InputError, Problem
from ..model.findings import SOLVERS, Options
from ..model.objective import Objective
from ..model.simulation.run import Budget
from ..model.stopping import Precision
from ..model.units import parse_duration

MOST_REQUESTS = 5_000_000
"""Requests after which a run with a wanted precision stops all the same: about three minutes."""


def prediction_options(
    solver: str,
    seed: int,
    precision: str | None,
    requests: int | None,
    time_budget: str | None,
    objectives: Sequence[Objective],
    explain: bool,
) -> Options:
    """Return the options of a prediction.

    Raises:
        InputError: an unknown solver, a precision or a time that cannot be read.
    """
    if solver not in SOLVERS:
        raise InputError([Problem("--solver", solver, f"one of {', '.join(SOLVERS)}")])
    return Options(
        solver=solver,
        seed=seed,
        budget=_budget(precision, requests, time_budget),
        objectives=tuple(objectives),
        explain=explain,
    )


def node_overrides(path: Path | None) -> tuple[str, ...]:
    """Return what a node's `cassandra.yaml` says, as overrides; settings that the model does not use are named.

    Raises:
        InputError: a file that is none, or values that are wrong.
    """
    if path is None:
        return ()
    found = read_cassandra_yaml(path)
    if found.unused:
        typer.echo(f"capmodel: {path}: not used: {', '.join(found.unused)}", err=True)
    return found.overrides


def _budget(precision: str | None, requests: int | None, time_budget: str | None) -> Budget:
    wall_clock_s = None if time_budget is None else _positive("--time-budget", time_budget, "a time such as 30s")
    if precision is None and wall_clock_s is None:
        return Budget(requests=requests)
    wanted = Precision() if precision is None else _precision(precision)
    return Budget(wanted, requests, wall_clock_s, MOST_REQUESTS)


def _precision(text: str) -> Precision:
    right = "a ratio such as 0.01 for both, or throughput=0.01,p99=0.03"
    if "=" not in text:
        both = _positive("--precision", text, right)
        return Precision(both, both)
    given = dict(part.strip().partition("=")[::2] for part in text.split(","))
    unknown = sorted(set(given) - {"throughput", "p99"})
    if unknown:
        raise InputError([Problem("--precision", text, right)])
    return Precision(**{name: _positive("--precision", value, right) for name, value in given.items()})


def _positive(option: str, text: str, right: str) -> float:
    try:
        number = float(str(parse_duration(text)))
    except ValueError:
        number = 0.0
    if not number > 0:
        raise InputError([Problem(option, text, right)])
    return number
