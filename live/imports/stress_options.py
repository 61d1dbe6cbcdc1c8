"""What the command line of cassandra-stress says, in the legacy (to 2.0) and the present (from 2.1) options."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model.metrics import LatencyKind
from .lines import Line
from .run_recorder import RunRecorder

COMMAND = re.compile(r"(?:^|[\s/#$>])(?:cassandra-)?stress(?:\.py|d)?\s+(?=\S*[-=]|read|write|mixed|counter|user)")
_FACTS = {
    "in_flight": (r"threads=\s*(\d+)(?![\d,])", r"(?:^|\s)(?:-t|--threads)[ =](\d+)"),
    "requests_asked": (r"(?:^|\s)n=(\d+[kKmM]?)\b", r"(?:^|\s)(?:-n|--num-keys)[ =](\d+)"),
    "replication_factor": (r"replication\([^)]*?factor=(\d+)", r"(?:^|\s)(?:-l|--replication-factor)[ =](\d+)"),
    "consistency": (r"(?:^|\s)cl=(\w+)", r"(?:^|\s)(?:-e|--consistency-level)[ =](\w+)"),
    "columns": (r"-col\b[^-]*?\bn=(?:fixed\()?(\d+)", r"(?:^|\s)(?:-c|--columns)[ =](\d+)"),
    "column_bytes": (r"-col\b[^-]*?\bsize=(?:fixed\()?(\d+)\)?", r"(?:^|\s)(?:-S|--column-size)[ =](\d+)"),
    "operation": (
        r"stress(?:\.py)?\s+(read|write|mixed|counter_write|counter_read|user)\b",
        r"(?:-o|--operation)[ =](\w+)",
    ),
}
_OPEN = re.compile(r"-rate\b[^-]*\bfixed=")
_SUFFIX = {"k": 1_000, "m": 1_000_000}


def facts_of(command_line: str) -> Iterator[tuple[str, str, float | str]]:
    """Yield name, text and value of each thing a command line states."""
    for name, patterns in _FACTS.items():
        found = next((match for pattern in patterns if (match := re.search(pattern, command_line))), None)
        if found:
            yield name, found[1], _value(found[1])


def note_options(recorder: RunRecorder, line: Line) -> None:
    """Keep what a command line says."""
    recorder.command_line = line.text
    for name, text, value in facts_of(line.text):
        recorder.fact(f"client.facts.{name}", value, line, text)
    if _OPEN.search(line.text):
        recorder.kind = LatencyKind.RESPONSE


def _value(text: str) -> float | str:
    found = re.fullmatch(r"(\d+)([kKmM]?)", text)
    return int(found[1]) * _SUFFIX.get(found[2].lower(), 1) if found else text
