"""A table of load generators side by side, by `/usr/bin/time -v`: a column a tool, rows such as Wall clock time.

The rate is what the commands asked for over the wall clock, start-up included, and is marked as derived. Where the
commands of a text do not all ask for the same number of requests there is no rate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .lines import Line
from .reading import Reading, Unread
from .run_recorder import RunRecorder, operation_name
from .written_numbers import Convention, parse_number

NAME = "table of /usr/bin/time -v by tool"
_CELL = re.compile(r"(\S+?)(?: (s|MB))?")
_ASKED = re.compile(r"(?:\bn=|\bcycles==?|\s-d )(\d+)\b")
ROWS = {
    "Threads": "client.facts.threads",
    "Wall clock time": "duration_s",
    "CPU time (total)": "client.cpu_s",
    "CPU time (user)": "client.facts.cpu_user_s",
    "CPU time (system)": "client.facts.cpu_system_s",
    "Peak memory": "client.facts.peak_memory_mb",
    "Major page faults": "client.facts.major_page_faults",
    "Minor page faults": "client.facts.minor_page_faults",
    "Context switches": "client.facts.context_switches",
}


def recognises(lines: Sequence[Line]) -> bool:
    """Whether a row of wall clock times in columns stands in a text."""
    return any(line.text.startswith("Wall clock time\t") for line in lines)


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return a run for each tool."""
    first = next(index for index, line in enumerate(lines) if line.text.split("\t")[0] in ROWS)
    tools = lines[first - 1].text.split("\t") if first else []
    runs = [RunRecorder(file, tool, title=tool) for tool in tools]
    header = first - 1
    unread = [
        reason
        for index, line in enumerate(lines)
        if index != header and not _ASKED.search(line.text)
        for reason in _row(runs, line)
    ]
    _derive_rates(runs, lines)
    held = [run for run in runs if run.holds_figures]
    return Reading(NAME, tuple(run.finish(operation_name(run.title)) for run in held), tuple(unread))


def _row(runs: list[RunRecorder], line: Line) -> list[Unread]:
    name, *cells = line.text.split("\t")
    if name not in ROWS or len(cells) != len(runs):
        return [Unread(line, "no row with a cell for each tool")]
    if not line.finished and not re.search(r"\d \w+$", line.text):
        cells, runs = cells[:-1], runs[:-1]
        refused = [Unread(line, "the file ends within the last number of this line")]
    else:
        refused = []
    for run, cell in zip(runs, cells, strict=True):
        found = _CELL.fullmatch(cell.strip())
        value = parse_number(found[1], Convention.POINT) if found else None
        if found is None or value is None:
            refused.append(Unread(line, f"{cell!r} is no number"))
        else:
            run.fact(ROWS[name], value, line, cell.strip(), found[2] or "")
    return refused


def _derive_rates(runs: Sequence[RunRecorder], lines: Sequence[Line]) -> None:
    asked = {(int(found[1]), line) for line in lines for found in _ASKED.finditer(line.text)}
    if len({number for number, _ in asked}) != 1:
        return
    number, line = min(asked, key=lambda one: one[1].number)
    for run in runs:
        duration_s = run.value("duration_s")
        if duration_s:
            how = f"derived: {number} requests / wall clock of {duration_s:g} s, start-up included"
            run.quantity("throughput_per_s", number / duration_s, line, str(number), "requests", how)
