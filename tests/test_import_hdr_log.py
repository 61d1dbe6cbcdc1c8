"""HDR interval logs: units told from the printed largest value, tags apart, truncation listed."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from capmodel.live.imports.importing import read_lines
from capmodel.live.imports.lines import lines_of
from capmodel.live.load.interval_log import log_lines
from capmodel.model.errors import MeasurementError
from capmodel.model.measured_metrics import metrics_of

HEADER = '#[Histogram log format version 1.3]\n#[StartTime: 1700000000.000 (seconds since epoch), x]\n'
LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
PER_MS = {"ns": 1_000_000, "us": 1000, "ms": 1}


def entry(began_s: float, latencies_ms: list[float], unit: str, tag: str = "") -> str:
    """Return a line as HistogramLogWriter writes it."""
    histogram = HdrHistogram(1, 3_600_000 * PER_MS[unit], 3)
    for latency in latencies_ms:
        histogram.record_value(round(latency * PER_MS[unit]))
    largest = histogram.get_max_value() / PER_MS[unit]
    tagged = f"Tag={tag}," if tag else ""
    return f"{tagged}{began_s:.3f},1.000,{largest:.3f},{histogram.encode().decode()}\n"


def read(text: str):
    return read_lines(tuple(lines_of(text)), "run.hlog")


@pytest.mark.parametrize("unit", ["ns", "us", "ms"])
def test_the_unit_is_told_by_the_largest_value(unit: str) -> None:
    text = HEADER + LEGEND + entry(0.0, [10.0] * 90 + [40.0] * 10, unit) + entry(1.0, [10.0] * 100, unit)
    reading = read(text)
    (run,) = reading.runs
    found = metrics_of(run)
    assert found.throughput_per_s.value == pytest.approx(100.0)
    latency = found.latency_s["all"]
    assert latency.p50.value == pytest.approx(0.010, rel=5e-3)
    assert latency.p99.value == pytest.approx(0.040, rel=5e-3)
    assert not reading.unread


def test_tags_are_operations() -> None:
    text = HEADER + LEGEND + entry(0.0, [2.0] * 50, "ns", "read") + entry(0.0, [8.0] * 30, "ns", "cycles.servicetime")
    (run,) = read(text).runs
    assert {name: one.requests for name, one in run.operations.items()} == {"read": 50, "cycles-servicetime": 30}


def test_a_broken_line_is_listed_and_the_rest_is_read() -> None:
    whole = entry(0.0, [2.0] * 50, "us")
    text = HEADER + LEGEND + whole + entry(1.0, [2.0] * 50, "us")[:-20]
    reading = read(text)
    assert [unread.line.number for unread in reading.unread] == [5]
    assert reading.runs[0].operations["all"].requests == 50


def test_a_value_that_fits_no_unit_is_not_read() -> None:
    line = entry(0.0, [2.0] * 50, "us").split(",")
    line[2] = "77.000"
    with pytest.raises(MeasurementError):
        read(HEADER + LEGEND + ",".join(line))


def test_our_own_log_is_read() -> None:
    """Round trip: what a load writes, with the kinds of latency beside the requests left out."""
    lines = "\n".join(log_lines([], datetime(2026, 1, 1, tzinfo=UTC))) + "\n"
    text = lines + entry(0.0, [5.0] * 20, "us", "write") + entry(0.0, [4.0] * 20, "us", "write.service")
    reading = read(text)
    assert {name: one.requests for name, one in reading.runs[0].operations.items()} == {"write": 20}
    assert len(reading.unread) == 1


@pytest.mark.parametrize("share", np.linspace(0.05, 0.95, 19))
def test_truncation_invents_nothing(share: float) -> None:
    text = HEADER + LEGEND + "".join(entry(float(i), [3.0] * 10, "ns") for i in range(5))
    whole = read(text).runs[0].operations["all"].requests or 0
    try:
        cut = read(text[: int(len(text) * share)]).runs[0].operations["all"].requests or 0
    except MeasurementError:
        return
    assert cut <= whole and cut % 10 == 0
