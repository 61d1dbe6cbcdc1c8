"""The run as a tagged HDR interval log, the format in which histogram tools exchange runs.

A line is an interval of one operation: tag, start and length in seconds since the start of the measured time, the
greatest latency in milliseconds, and the histogram of latencies in microseconds in its compressed form.

Source: G. Tene, HistogramLogWriter of HdrHistogram, log format version 1.3 (1.2 with tags).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from ...model.errors import InputError, Problem
from .buckets import Tally, histogram
from .interval import Interval

HEADER = (
    "#[Logged by capmodel load run]",
    "#[Histogram log format version 1.3]",
    "#[Latencies in microseconds: by operation from send to answer, of an open load from intended start to answer;"
    " NAME.service is from send to answer, NAME.wait from intended start to send, send-lag the load's own]",
)
LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


def write_interval_log(intervals: Sequence[Interval], started_at: datetime | None, path: Path) -> None:
    """Write the intervals of a run.

    Raises:
        InputError: a place that cannot be written to.
    """
    try:
        path.write_text("".join(f"{line}\n" for line in log_lines(intervals, started_at)), encoding="ascii")
    except OSError as error:
        raise InputError([Problem("", None, f"cannot be written: {error.strerror}", str(path))]) from error


def log_lines(intervals: Sequence[Interval], started_at: datetime | None) -> Iterator[str]:
    """Yield the lines of the log."""
    start_s = started_at.timestamp() if started_at else 0.0
    yield from HEADER
    yield f"#[StartTime: {start_s:.3f} (seconds since epoch), {started_at or 'simulated'}]"
    yield f"#[BaseTime: {start_s:.3f} (seconds since epoch)]"
    yield LEGEND
    zero_s = intervals[0].began_s if intervals else 0.0
    for interval in intervals:
        for tag, latencies in _tagged(interval):
            yield _line(tag, latencies, interval.began_s - zero_s, interval.length_s)


def _tagged(interval: Interval) -> Iterator[tuple[str, Tally]]:
    yield from interval.told.items()
    if interval.starts is not None:
        yield from ((f"{name}.service", counted) for name, counted in interval.latencies.items())
        yield from ((f"{name}.wait", counted) for name, counted in interval.starts.waits.items())
        yield "send-lag", interval.starts.send_lag


def _line(operation: str, latencies: Tally, begin_s: float, length_s: float) -> str:
    greatest_ms = (latencies.quantile_s(1.0) or 0.0) * 1e3
    return f"Tag={operation},{begin_s:.3f},{length_s:.3f},{greatest_ms:.3f},{histogram(latencies).encoded}"
