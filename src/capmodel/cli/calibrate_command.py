"""`capmodel calibrate`: from runs to a calibration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

  capmodel calibrate run-1.json run-2.json -o mine.yaml

  capmodel calibrate measurements/ --where "nodes<=2" -o mine.yaml

  capmodel predict --nodes 6 --profile ./mine.yaml
"""


def calibrate(
    files: Annotated[
        list[Path], typer.Argument(metavar="MEASUREMENT…", help="Measurement files, folders of them, tables of runs.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the calibration.")],
    profile: Annotated[str, typer.Option(help="What is known before: a shipped profile, or a file.")] = "default",
    where: Annotated[
        list[str] | None, typer.Option(metavar="CONDITION", help="Use such runs only, as in nodes<=2 or cl=ONE.")
    ] = None,
    fit: Annotated[
        list[str] | None, typer.Option("--fit", metavar="PARAMETER", help="Fit this station parameter too.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the calibration; the file's when not given.")] = None,
    simulate: Annotated[bool, typer.Option(help="Let the simulation judge the fit.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Fit the demands of nodes to measured runs, and say what the runs do not tell."""
    import json as json_module

    from ..calibrate.factors import chosen
    from ..calibrate.fit import FitOptions
    from ..calibrate.fit import fit as fit_runs
    from ..calibrate.fit_summary import fit_summary
    from ..calibrate.fitted_calibration import calibration_of
    from ..calibrate.measured_runs import mixed_facts
    from ..calibrate.parameters import checked_stations
    from ..calibrate.run_files import read_runs
    from ..model.calibration_file import dump_calibration, load_calibration
    from ..model.document import write_whole
    from ..report.calibration_text import calibration_text
    from .progress import stages

    stations = checked_stations(fit or [])
    prior = load_calibration(profile)
    runs, refused = read_runs(files)
    runs = chosen(runs, where or [])
    for warning in mixed_facts(runs):
        typer.echo(f"capmodel: {warning}", err=True)
    with stages() as progress:
        found = fit_runs(runs, prior, FitOptions(simulate=simulate, seed=seed, stations=stations), refused, progress)
    write_whole(dump_calibration(calibration_of(found, name or output.stem)), output)
    summary = fit_summary(found)
    text = json_module.dumps(summary, indent=2, ensure_ascii=False) if json_ else calibration_text(summary)
    typer.echo(text)
    typer.echo(f"capmodel: wrote {output}", err=True)
