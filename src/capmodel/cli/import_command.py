"""`capmodel import`: what other tools measured, to measurement files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..live.imports.reading import Reading
    from ..model.measurement import Measurement

EPILOG = """Examples:

  capmodel import stress.log

  capmodel import stress.log --scenario juho-2-nodes -o measurements/

  capmodel import --set throughput=64488 --set in_flight=50 --scenario juho-1-node -o run.json
"""


def import_(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE…", help="Output of cassandra-stress and others.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Figures from prose, as throughput=64488.")
    ] = None,
    scenario: Annotated[str | None, typer.Option(help="What was measured: a shipped scenario, or a file.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for one run; folder for several, one file each.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the measurements as JSON, in a list.")] = False,
) -> None:
    """Read the output of other tools, recognised by content; every number keeps its file and line."""
    from ..live.imports import prose
    from ..live.imports.importing import read_file, with_scenario
    from ..model.errors import InputError, Problem
    from ..model.scenario_file import load_scenario

    if not files and not set_:
        raise InputError([Problem("FILE", None, "a file, or figures with --set")])
    known = load_scenario(scenario) if scenario else None
    readings = [(path, read_file(path)) for path in files or ()]
    if set_:
        readings.append((Path("by-hand"), prose.read(set_)))
    runs = [(path, with_scenario(run, known)) for path, reading in readings for run in reading.runs]
    if output is not None:
        _write(runs, output)
    typer.echo(_as_json([run for _, run in runs]) if json_ else "\n\n".join(_text(*one) for one in readings))


def _write(runs: list[tuple[Path, Measurement]], output: Path) -> None:
    from ..model.errors import InputError
    from ..model.measurement_file import write_measurement

    if len(runs) == 1 and not output.is_dir():
        write_measurement(runs[0][1], output)
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{output}: a folder is needed for {len(runs)} runs: {error.strerror}") from None
    for number, (path, run) in enumerate(runs, 1):
        write_measurement(run, output / f"{number:03}-{path.stem}-{run.name}.json")


def _as_json(runs: list[Measurement]) -> str:
    import json

    from ..model.measurement_file import dump_measurement

    return json.dumps([json.loads(dump_measurement(run)) for run in runs], indent=1, ensure_ascii=False)


def _text(path: Path, reading: Reading) -> str:
    from ..report.import_text import import_text

    return import_text(
        str(path), reading.kind, reading.runs, [(u.line.number, u.line.text, u.reason) for u in reading.unread]
    )
