"""Output of Ruby's Benchmark.bm around a Cassandra client: label, user, system, total and real seconds.

The comment before each row says how many rows and columns it wrote. An operation is what the client sent: a batched
row is one batch. Rates are rows times columns over real time; one client, so one request in flight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .lines import Line
from .reading import Reading, Unread
from .run_recorder import RunRecorder, operation_name

NAME = "Ruby benchmark"
_HEADER = re.compile(r"user\s+system\s+total\s+real$")
_ROW = re.compile(r"(\S.*?)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+\(\s*(\d+\.\d+)\)$")
_COMMENT = re.compile(r"#\s*(\w+) (\d+) rows(.*?)(?:(\d+) columns each)?$")


def recognises(lines: Sequence[Line]) -> bool:
    """Whether the heading of Benchmark.bm and a row of it stand in a text."""
    return any(_HEADER.match(line.text) for line in lines) and any(_ROW.match(line.text) for line in lines)


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return a run for each row whose comment says what was done."""
    comment: re.Match[str] | None = None
    runs, unread = [], []
    for line in lines:
        row, said = _ROW.match(line.text), _COMMENT.match(line.text)
        if row and comment and float(row[5]) > 0:
            runs.append(_run(row, comment, line, file).finish(f"{operation_name(row[1])}-{comment[2]}-rows"))
        elif not said and not _HEADER.match(line.text):
            unread.append(Unread(line, "a row without a comment that says what it did" if row else "text"))
        comment = said if said else None
    return Reading(NAME, tuple(runs), tuple(unread))


def _run(row: re.Match[str], comment: re.Match[str], line: Line, file: str) -> RunRecorder:
    rows, columns, real_s = int(comment[2]), int(comment[4] or 1), float(row[5])
    batched = "batched by row" in comment[0]
    sent = rows if batched else rows * columns
    run = RunRecorder(file, "Ruby Benchmark", title=row[1])
    run.fact("duration_s", real_s, line, row[5], "s")
    run.quantity("throughput_per_s", sent / real_s, line, row[5], "s", f"derived: {sent} requests / {row[5]} s")
    run.fact("client.cpu_s", float(row[4]), line, row[4], "s")
    facts: dict[str, float | str] = {"rows": rows, "columns": columns, "batched": str(batched), "in_flight": 1}
    for name, value in facts.items():
        run.fact(f"client.facts.{name}", value, line, comment[0], repaired="from the comment before the row")
    return run
