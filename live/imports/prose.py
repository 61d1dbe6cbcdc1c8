"""Figures from prose, given by hand: `throughput=64488`, `p99=12ms`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model.errors import InputError, MeasurementError, Problem
from ...model.measurement import ALL
from ...model.metrics import LatencyKind, LatencyStatistic
from ...model.units import parse_duration, parse_rate
from .lines import Line
from .reading import Reading
from .run_recorder import RunRecorder, operation_name

NAME = "figures given by hand"
LATENCIES = ("mean", "p50", "p95", "p99", "p999")
COUNTS = {
    "in_flight": "client.facts.in_flight",
    "rf": "client.facts.replication_factor",
    "columns": "client.facts.columns",
    "nodes": "cluster.nodes",
    "processes": "client.processes",
}
WORDS = ("operation", "source", "version")
KNOWN = ("throughput", *LATENCIES, "duration", *COUNTS, *WORDS)


def read(pairs: Sequence[str]) -> Reading:
    """Return the run that `key=value` pairs describe; a pair's place is its number.

    Raises:
        MeasurementError: a pair that cannot be read, with what would be right, or no throughput.
    """
    lines = [Line(number, text) for number, text in enumerate(pairs, 1)]
    given = {line.text.partition("=")[0].strip(): line for line in lines}
    problems = [_unknown(line) for line in lines if line.text.partition("=")[0].strip() not in KNOWN]
    if "throughput" not in given:
        problems.append(Problem("--set", None, "throughput=NUMBER among them"))
    if problems:
        raise MeasurementError(problems)
    run = RunRecorder("--set", "by hand", LatencyKind.UNKNOWN, LatencyStatistic.UNKNOWN, _word(given, "source"))
    operation = operation_name(_word(given, "operation"))
    for key, line in given.items():
        _record(run, key, line, operation)
    return Reading(NAME, (run.finish("by-hand"),), ())


def _record(run: RunRecorder, key: str, line: Line, operation: str) -> None:
    text = line.text.partition("=")[2].strip()
    if key == "throughput":
        run.quantity("throughput_per_s", _number(key, text, _rate, "64488 or 64488/s"), line, text, "/s")
    elif key in LATENCIES:
        value = _number(key, text, parse_duration, "a time with its unit, such as 12ms")
        run.quantity(f"operations.{operation or ALL}.latency_s.{key}", value, line, text, "s")
    elif key == "duration":
        run.fact("duration_s", _number(key, text, parse_duration, "a time such as 60s"), line, text, "s")
    elif key in COUNTS:
        run.fact(COUNTS[key], int(_number(key, text, int, "a whole number")), line, text)
    elif key == "version":
        run.fact("cluster.version", text, line, text)


def _rate(text: str) -> object:
    return text if text.replace(".", "", 1).isdigit() else parse_rate(text)


def _number(key: str, text: str, parse: Callable[[str], object], right: str) -> float:
    try:
        value = float(str(parse(text)))
    except (InputError, ValueError):
        value = -1.0
    if value <= 0:
        raise MeasurementError([Problem(f"--set {key}", text, right)])
    return value


def _word(given: dict[str, Line], key: str) -> str:
    return given[key].text.partition("=")[2].strip() if key in given else ""


def _unknown(line: Line) -> Problem:
    return Problem("--set", line.text, f"KEY=VALUE with one of {', '.join(KNOWN)}")
