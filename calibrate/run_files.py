"""Runs from files: measurements, tables of published runs, rows of the lab study; told apart by content."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..model.errors import MeasurementError, Problem
from ..model.measurement_file import load_measurement
from .measured_runs import run_of
from .run import Run
from .study_rows import study_runs
from .suitability import Refused, judged
from .table_runs import is_run_table, table_runs

STUDY_COLUMNS = ("cap_cores", "period_ms", "inflight", "ops_s", "cpu_us_op_total")
"""Columns by which a file of the lab study is known."""


def read_runs(paths: Sequence[Path]) -> tuple[tuple[Run, ...], tuple[Refused, ...]]:
    """Return the usable runs of files and folders, and what was refused with its reasons.

    Raises:
        MeasurementError: a file that is none of the kinds known.
    """
    runs: list[Run] = []
    refused: list[Refused] = []
    for path in _files(paths):
        good, bad = _read(path)
        runs += good
        refused += bad
    return tuple(runs), tuple(refused)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.glob("*.json"))
        else:
            yield path


def _read(path: Path) -> tuple[Sequence[Run], Sequence[Refused]]:
    if path.suffix.lower() != ".csv":
        measurement = load_measurement(path)
        found = judged(run_of(measurement, str(path)), measurement)
        return ([found], []) if isinstance(found, Run) else ([], [found])
    header = _header(path)
    if is_run_table(header):
        return table_runs(path)
    if set(STUDY_COLUMNS) <= set(header):
        return tuple(study_runs(path)), ()
    right = "a table of runs with the columns of published runs, or of the lab study"
    raise MeasurementError([Problem("", ",".join(header)[:60], right, str(path), 1)])


def _header(path: Path) -> list[str]:
    try:
        with path.open(newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError) as error:
        raise MeasurementError([Problem("", None, f"a file that can be read: {error}", str(path))]) from None
