"""Sweeps: every point a prediction, over the machine's processors, kept row by row, gone on with where it ended.

A row depends on its point alone, not on the number of processes or their order. A process that dies takes no row
with it: what is missing is done again by new ones.
"""

from __future__ import annotations

import csv
import io
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from pathlib import Path

from ..model.calibration import Calibration
from ..model.calibration_file import load_calibration
from ..model.document import write_whole
from ..model.errors import CapmodelError, InputError, Problem
from ..model.findings import Options
from ..model.metrics import Quantity
from ..model.predict import predict
from ..model.prediction import Prediction
from ..model.scenario_file import load_scenario
from ..model.sweep_file import Overrides, Sweep, by_key, source_of

FIGURES = (
    *("throughput_per_s", "throughput_low", "throughput_high", "p50_s", "p99_s", "p99_low", "p99_high"),
    *("limit", "add_node_at_your_clients", "add_node_capacity", "add_node_verdict", "problem"),
)
"""Columns after the keys; latencies are those of the slowest operation."""
MOST_LOSSES = 3
"""Times that processes may be lost before the sweep gives up."""

Told = Callable[[int, int], None]
"""Takes the points done and all points."""


class SweepLostError(CapmodelError):
    """Processes were lost again and again; what was done is kept."""


def sweep(asked: Sweep, file: Path, output: Path, processes: int | None = None, told: Told | None = None) -> int:
    """Do the points of a sweep that are not in the output yet, and return how many those were.

    Args:
        asked: the sweep.
        file: where it was read; files it names lie beside it.
        output: takes a CSV row for each point.
        processes: how many work; as many as there are processors when not given.
        told: takes progress.

    Raises:
        SweepLostError: processes were lost again and again.
        InputError: the output is of another sweep.
    """
    columns = (*asked.keys, *FIGURES)
    points = asked.points()
    done = _done(output, asked.keys, columns)
    missing = [point for point in points if _key(point) not in done]
    work = partial(row_of, asked, source_of(asked, file))
    with output.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        if stream.tell() == 0:
            writer.writeheader()
        for number, row in enumerate(_rows(work, missing, processes or os.cpu_count() or 1), 1):
            writer.writerow(row)
            stream.flush()
            if told is not None:
                told(len(points) - len(missing) + number, len(points))
    _in_order(output, points, columns)
    return len(missing)


def row_of(asked: Sweep, source: str, point: Overrides) -> dict[str, str]:
    """Return the row of a point; where it is no scenario, with what is wrong in place of figures."""
    row = {**by_key(point)}
    try:
        scenario = load_scenario(source, [*asked.changes, *point])
        options = Options(solver=asked.solver, seed=asked.seed, neighbours=asked.neighbours)
        return row | _figures(predict(scenario, _profile(asked.profile), options))
    except CapmodelError as error:
        return row | {"problem": str(error).splitlines()[0]}


@cache
def _profile(name: str) -> Calibration:
    """Return a profile, read once in each process."""
    return load_calibration(name)


def _figures(found: Prediction) -> dict[str, str]:
    tails, middles = (
        [figure for latency in found.latency_s.values() if (figure := getattr(latency, name)) is not None]
        for name in ("p99", "p50")
    )
    more = found.add_node
    clients = more.at_your_clients if more else None
    return {
        **_three("throughput", found.throughput_per_s or Quantity.absent(""), "throughput_per_s"),
        **_three("p99", max(tails, key=_size, default=Quantity.absent("")), "p99_s"),
        "p50_s": _text(max(middles, key=_size, default=Quantity.absent("")).value),
        "limit": found.limit.station,
        "add_node_at_your_clients": _text(clients.value if clients else None),
        "add_node_capacity": _text(more.capacity.value if more else None),
        "add_node_verdict": clients.verdict if clients else "",
    }


def _three(name: str, figure: Quantity, first: str) -> dict[str, str]:
    return {first: _text(figure.value), f"{name}_low": _text(figure.low), f"{name}_high": _text(figure.high)}


def _size(figure: Quantity) -> float:
    return figure.value or 0.0


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _key(point: Overrides) -> tuple[str, ...]:
    return tuple(by_key(point).values())


def _done(output: Path, keys: Sequence[str], columns: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the points that an output holds in whole rows, and take a broken last row away."""
    if not output.exists() or output.stat().st_size == 0:
        return set()
    text = output.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        output.write_text(whole, encoding="utf-8")
    rows = list(csv.DictReader(whole.splitlines()))
    header = next(csv.reader(whole.splitlines()), [])
    if tuple(header) != tuple(columns):
        raise InputError([Problem("", ",".join(header)[:60], f"an output of this sweep: {','.join(columns)[:60]}…")])
    return {tuple(row[key] for key in keys) for row in rows}


def _rows(
    work: Callable[[Overrides], dict[str, str]], points: Sequence[Overrides], processes: int
) -> Iterator[dict[str, str]]:
    """Yield rows as they are done; points of lost processes are begun again."""
    if processes == 1 or len(points) < 2:
        yield from map(work, points)
        return
    left, losses = dict.fromkeys(points), 0
    while left:
        try:
            with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
                futures = {pool.submit(work, point): point for point in left}
                for future in as_completed(futures):
                    row = future.result()
                    del left[futures[future]]
                    yield row
        except BrokenProcessPool as error:
            losses += 1
            if losses > MOST_LOSSES:
                raise SweepLostError(f"{losses} times a process was lost; {len(left)} points are missing") from error


def _in_order(output: Path, points: Sequence[Overrides], columns: Sequence[str]) -> None:
    """Put the rows into the order of the points, so that files of equal sweeps are equal."""
    with output.open(encoding="utf-8", newline="") as stream:
        rows: Mapping[tuple[str, ...], dict[str, str]] = {
            tuple(row[key] for key in by_key(points[0])): row for row in csv.DictReader(stream)
        }
    ordered = [rows[_key(point)] for point in points if _key(point) in rows]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(ordered)
    write_whole(text.getvalue(), output)
