"""`capmodel check`: the whole promise on one machine: small clusters measured, larger ones predicted and measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..calibrate.run import Run
    from ..live.campaign.cells import Cell
    from ..live.campaign.protocol import Protocol
    from ..model.calibration import Calibration

EPILOG = """Examples:

  capmodel check --quick

  capmodel check --directory check-of-today --repeats 3

  capmodel check --directory check-of-today   (goes on where it was interrupted)
"""


def check(
    directory: Annotated[Path, typer.Option(help="Takes measurements, calibration and report; they stay.")] = Path(
        "capmodel-check"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer cells, each measured once.")] = False,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Times each cell is measured: 2, or 1 with --quick.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order of cells and of the simulation.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Measure one and two real nodes, calibrate, predict four and three, measure those: does the model hold here?

    Needs Linux with control groups, two cores, 12 GB of memory free, Java 17 and Maven. Nodes are started and removed.
    """
    import dataclasses
    import json as json_module

    from ..live.campaign.cells import CHECK, QUICK
    from ..live.campaign.protocol import Protocol
    from ..model.document import write_whole
    from ..report.check_text import check_html, check_text

    plan = QUICK if quick else CHECK
    protocol = dataclasses.replace(Protocol(), repeats=repeats or (1 if quick else 2))
    small = _measured(plan.fitted, protocol, directory, seed)
    calibration, fit = _calibrated(small, directory / "calibration.yaml", seed)
    large = _measured(plan.predicted, protocol, directory, seed)
    report = {"fit": fit, **_compared(calibration, large, seed)}
    write_whole(json_module.dumps(report, indent=2, ensure_ascii=False), directory / "report.json")
    write_whole(check_html(report), directory / "report.html")
    typer.echo(json_module.dumps(report, indent=2, ensure_ascii=False) if json_ else check_text(report))
    typer.echo(f"capmodel: measurements/, calibration.yaml, report.json and report.html are in {directory}", err=True)


def _measured(
    cells: Mapping[int, Sequence[Cell]], protocol: Protocol, directory: Path, seed: int
) -> tuple[Run, ...]:
    """Return the runs of cells by number of nodes, measured unless their files are there."""
    from ..calibrate.run_files import read_runs
    from ..live.campaign.campaign import measure_campaign, starts_of
    from ..report.calibration_text import refusals

    def say(text: str) -> None:
        typer.echo(f"capmodel: {text}", err=True)

    starts = starts_of(cells, protocol, seed=seed)
    minutes = sum(protocol.start_s(len(start.cells)) for start in starts) / 60
    sizes = " and ".join(f"{start.nodes}" for start in starts)
    say(f"measures {sum(len(one.cells) for one in starts)} cells on {sizes} nodes, about {minutes:.0f} minutes")
    files = list(measure_campaign(starts, protocol, directory / "measurements", directory / "lab", say))
    runs, refused = read_runs(files)
    for line in refusals([{"name": one.name, "reasons": one.reasons} for one in refused]):
        say(f"refused: {line}")
    return runs


def _calibrated(runs: Sequence[Run], file: Path, seed: int) -> tuple[Calibration, dict[str, Any]]:
    """Return the calibration of runs, written to a file, and the summary of its fit."""
    from ..calibrate.fit import FitOptions, fit
    from ..calibrate.fit_summary import fit_summary
    from ..calibrate.fitted_calibration import calibration_of
    from ..model.calibration_file import dump_calibration, load_calibration
    from ..model.document import write_whole
    from .progress import stages

    with stages() as progress:
        found = fit(runs, load_calibration("default"), FitOptions(seed=seed), (), progress)
    calibration = calibration_of(found, "check")
    write_whole(dump_calibration(calibration), file)
    return calibration, fit_summary(found)


def _compared(calibration: Calibration, runs: Sequence[Run], seed: int) -> dict[str, Any]:
    """Return what was predicted beside what was measured: from small clusters alone, and at each layout's speed."""
    from ..calibrate.anchors import anchored
    from ..calibrate.validate import validate
    from ..calibrate.validation_summary import validation_summary
    from .progress import stages

    on_hosts = anchored(calibration, runs)
    with stages() as progress:
        pure = validate(calibration, runs, "simulate", seed, progress)
        scaled = validate(calibration, on_hosts.runs, "simulate", seed, progress)
    return {
        "pure": validation_summary(pure),
        "anchored": validation_summary(scaled) | {"speeds": dict(on_hosts.speeds)},
    }
