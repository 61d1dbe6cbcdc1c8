"""`capmodel validate`: a calibration against runs it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

EPILOG = """Examples:

  capmodel validate mine.yaml measurements/

  capmodel validate mine.yaml runs.csv --where rf=3 --plot errors.svg

  capmodel validate default measurements/ --split small-to-large

  capmodel validate mine.yaml lab/ --anchored
"""


def validate(
    calibration: Annotated[str, typer.Argument(help="A calibration file; with --split, what is known before.")],
    files: Annotated[
        list[Path], typer.Argument(metavar="MEASUREMENT…", help="Measurement files, folders of them, tables of runs.")
    ],
    where: Annotated[
        list[str] | None, typer.Option(metavar="CONDITION", help="Predict such runs only, as in nodes>2 or cl=QUORUM.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="leave-one-out, leave-structure-out, small-to-large, or a condition of the runs to fit to."),
    ] = None,
    anchored: Annotated[
        bool, typer.Option("--anchored", help="Take the speed of each layout from its runs at RF 1, token-aware.")
    ] = False,
    solver: Annotated[str, typer.Option(help="simulate or mva.")] = "simulate",
    plot: Annotated[Path | None, typer.Option(help="Write predicted over measured figures as an SVG picture.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Predict runs and set the measured figures beside the predictions, with their errors and intervals."""
    import json as json_module

    from ..model.document import write_whole
    from ..report.validation_plot import validation_svg
    from ..report.validation_text import validation_text

    summary = _summary(calibration, files, where or [], split, anchored, solver, seed)
    if plot is not None:
        write_whole(validation_svg(summary["cells"]), plot)
    typer.echo(json_module.dumps(summary, indent=2, ensure_ascii=False) if json_ else validation_text(summary))


def _summary(
    calibration: str,
    files: list[Path],
    where: list[str],
    split: str | None,
    anchored: bool,
    solver: str,
    seed: int,
) -> dict[str, Any]:
    """Return what a validation found, in plain types; what was refused goes to standard error."""
    from ..calibrate.anchors import anchored as at_their_speed
    from ..calibrate.factors import chosen
    from ..calibrate.run_files import read_runs
    from ..calibrate.splits import splitter, validate_split
    from ..calibrate.validate import unseen_runs
    from ..calibrate.validate import validate as validate_runs
    from ..calibrate.validation_summary import validation_summary
    from ..model.calibration_file import load_calibration
    from ..report.calibration_text import refusals
    from .progress import stages

    _check(solver, split, anchored)
    known = load_calibration(calibration)
    runs, refused = read_runs(files)
    for line in refusals([{"name": one.name, "reasons": one.reasons} for one in refused]):
        typer.echo(f"capmodel: refused: {line}", err=True)
    runs = chosen(runs, where)
    on_hosts = at_their_speed(known, unseen_runs(known, runs)) if anchored else None
    runs = runs if on_hosts is None else on_hosts.runs
    with stages() as progress:
        if split is None:
            found = validate_runs(known, runs, solver, seed, progress)
        else:
            found = validate_split(runs, known, splitter(split), solver, seed, progress)
    speeds = {} if on_hosts is None else {"speeds": dict(on_hosts.speeds)}
    return validation_summary(found) | speeds


def _check(solver: str, split: str | None, anchored: bool) -> None:
    from ..model.errors import InputError, Problem

    if solver not in ("simulate", "mva"):
        raise InputError([Problem("--solver", solver, "simulate or mva")])
    if anchored and split is not None:
        raise InputError([Problem("--anchored", True, "without --split: the anchors are held out themselves")])
