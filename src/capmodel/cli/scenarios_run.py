"""`capmodel scenarios run`: predictions beside published figures, with the role of each figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..scenarios.published import Beside

EPILOG = """Examples:

  capmodel scenarios run juho-2-nodes

  capmodel scenarios run all --solver mva --json
"""
HEADINGS = ("scenario", "figure", "published", "predicted", "90 % interval", "error", "role of the published figure")


def run(
    scenario: Annotated[str, typer.Argument(metavar="NAME|all", help="A shipped scenario with published figures.")],
    profile: Annotated[
        str | None, typer.Option(help="A profile or calibration file instead of the one that goes with the figures.")
    ] = None,
    solver: Annotated[str, typer.Option(help="mva or simulate.")] = "simulate",
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same seed gives the same bytes.")] = 1,
    requests: Annotated[int | None, typer.Option(min=1, help="Simulate exactly so many requests.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Set predictions beside published figures.

    Each figure is shown with its role: one that determined a parameter tests nothing when it comes out.
    """
    import json
    from dataclasses import replace

    from ..model.errors import InputError, Problem
    from ..scenarios.published import set_beside
    from .prediction_options import prediction_options

    if solver == "bounds":
        raise InputError([Problem("--solver", solver, "mva or simulate: a bound has no error")])
    options = prediction_options(solver, seed, None, requests, None, (), False)
    found = set_beside(scenario, replace(options, neighbours=False), profile)
    document = [beside.as_dict() for beside in found]
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False) if json_ else beside_text(found))


def beside_text(found: Sequence[Beside]) -> str:
    """Return predictions beside published figures as a table, and where the figures come from."""
    rows = [HEADINGS, *(_row(beside) for beside in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    sources = dict.fromkeys(f"{beside.published.scenario}: {beside.published.source}" for beside in found)
    return "\n".join([*lines, "", *sources])


def _row(beside: Beside) -> tuple[str, ...]:
    given = beside.published
    ends = beside.low is None or beside.high is None
    interval = "" if ends else f"[{_number(beside.low)}, {_number(beside.high)}]"
    return (
        given.scenario, given.figure, _number(given.value), _number(beside.predicted), interval,
        f"{beside.error:+.1%}", given.role,
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
