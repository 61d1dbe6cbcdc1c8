"""HDR interval logs, versions 1.2 and 1.3, tagged or not, as NoSQLBench, YCSB, Latte and this package write them.

A line holds the start of its interval, its length, its largest value and the histogram; the histograms of a tag are
added over the file. Writers count in nanoseconds, microseconds or milliseconds and none says which; the largest value
is printed in milliseconds, so the ratio of the largest value counted to the one printed tells the unit.

Source: org.HdrHistogram.HistogramLogWriter (log format 1.3; 1.2 has no base time).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...model.errors import MeasurementError
from ...model.histogram import Histogram, HistogramRecorder
from ...model.measurement import ALL, Measurement
from ...model.metrics import LatencyKind, LatencyStatistic
from .lines import Line
from .reading import Reading, Unread
from .run_recorder import RunRecorder

NAME = "HDR interval log"
_HEADER = re.compile(r"#\[Histogram log format version 1\.[23]\]|^\"?StartTimestamp\"?,\"?\w+")
_ENTRY = re.compile(r"(?:Tag=([^,]*),)?(\d+(?:\.\d+)?),(\d+(?:\.\d+)?),(\d+(?:\.\d+)?),([A-Za-z0-9+/]+={0,2})")
_SECOND = re.compile(r"Tag=(?:[^,]*\.(?:service|wait)|send-lag),")
SECOND_KIND = "another kind of latency of requests that are counted already"
UNITS = {"ns": 1e6, "us": 1e3, "ms": 1.0}
"""Values counted for one millisecond."""


@dataclass
class _Tag:
    """What the lines of one tag add up to."""

    first: Line
    unit: str
    recorder: HistogramRecorder = field(default_factory=HistogramRecorder)
    began_s: float = math.inf
    ended_s: float = 0.0
    lines: int = 0


def recognises(lines: Sequence[Line]) -> bool:
    """Whether a header of such a log stands in the first lines."""
    return any(_HEADER.search(line.text) for line in lines[:20])


def read(lines: Sequence[Line], file: str) -> Reading:
    """Return the run of a log, an operation for each tag."""
    tags: dict[str, _Tag] = {}
    unread = []
    for line in lines:
        if line.text.startswith("#") or _HEADER.search(line.text):
            continue
        problem = SECOND_KIND if _SECOND.match(line.text) else _add(tags, line)
        if problem:
            unread.append(Unread(line, problem))
    filled = {name: tag for name, tag in tags.items() if tag.lines}
    return Reading(NAME, (_run(filled, file),) if filled else (), tuple(unread))


def _add(tags: dict[str, _Tag], line: Line) -> str:
    """Add a line to what its tag has; return what is wrong with it."""
    entry = _ENTRY.fullmatch(line.text)
    if entry is None or not line.finished:
        return "no interval with a histogram" if line.finished else "the file ends within this line"
    name, began_s, length_s, printed_ms = entry[1] or ALL, float(entry[2]), float(entry[3]), float(entry[4])
    try:
        lower, upper, counts = Histogram(entry[5]).buckets
    except MeasurementError as error:
        return str(error)
    unit = _unit(float(upper[-1]) * 1e6, printed_ms) if len(counts) else None
    if len(counts) and unit is None:
        return f"a largest value of {printed_ms:g} ms fits no unit that the histogram can be counted in"
    tag = tags.setdefault(name, _Tag(line, unit or ""))
    if unit is not None and tag.unit not in ("", unit):
        return f"counted in {unit}, other lines of the tag in {tag.unit}"
    tag.unit = tag.unit or unit or ""
    if unit is not None:
        tag.recorder.record((lower + upper) / 2 * 1e3 / UNITS[unit], counts)
    tag.began_s, tag.ended_s = min(tag.began_s, began_s), max(tag.ended_s, began_s + length_s)
    tag.lines += 1
    return ""


def _unit(largest: float, printed_ms: float) -> str | None:
    """Return the unit in which a histogram is counted, None where no unit gives the printed value.

    >>> _unit(2_097_151.0, 2.097)
    'ns'
    """
    if printed_ms <= 0:
        return None
    ratios = {unit: abs(math.log(largest / printed_ms / per_ms)) for unit, per_ms in UNITS.items()}
    nearest = min(ratios, key=lambda unit: ratios[unit])
    return nearest if ratios[nearest] < math.log(2) else None


def _run(tags: dict[str, _Tag], file: str) -> Measurement:
    run = RunRecorder(file, "HDR interval log", LatencyKind.UNKNOWN, LatencyStatistic.OVER_REQUESTS)
    began_s, ended_s = min(tag.began_s for tag in tags.values()), max(tag.ended_s for tag in tags.values())
    last = max((tag.first for tag in tags.values()), key=lambda line: line.number)
    run.fact("duration_s", ended_s - began_s, last, "", "s", "from the first interval's start to the last one's end")
    for name, tag in tags.items():
        how = f"{tag.lines} intervals added, counted in {tag.unit}"
        run.histogram(ALL if name == ALL else name.replace(".", "-").lower(), tag.recorder.finish(), tag.first, how)
    return run.finish("run-1")
