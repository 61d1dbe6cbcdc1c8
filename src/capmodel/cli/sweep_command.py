"""`capmodel sweep`: many predictions from one file, to one table."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

  capmodel sweep sweep.yaml -o points.csv

  capmodel sweep sweep.yaml -o points.csv --processes 4   (goes on where it was interrupted)
"""


def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A sweep: scenario, axes, samples.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV of the points; what it holds is not done again.")],
    processes: Annotated[int | None, typer.Option(min=1, help="Processes; one for each processor.")] = None,
) -> None:
    """Predict every point of a sweep; a second call does only what is missing."""
    from ..model.sweep_file import load_sweep
    from ..scenarios.sweep import sweep as run_sweep
    from .load_run import check_place

    asked = load_sweep(file)
    check_place(output)
    began_s = time.monotonic()
    shown = sys.stderr.isatty()

    def told(done: int, total: int) -> None:
        if shown:
            left_s = (time.monotonic() - began_s) / max(1, done) * (total - done)
            sys.stderr.write(f"\r\033[K{done:,} of {total:,} points, about {left_s:,.0f} s left ")
            sys.stderr.flush()

    try:
        count = run_sweep(asked, file, output, processes, told)
    finally:
        if shown:
            sys.stderr.write("\r\033[K")
    seconds = time.monotonic() - began_s
    typer.echo(f"{count:,} points in {seconds:,.1f} s; {output} has all {len(asked.points()):,}")
