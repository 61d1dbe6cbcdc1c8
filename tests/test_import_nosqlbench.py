"""Interval statistics of NoSQLBench: counts add up to a rate, percentiles of intervals stay what they are."""

from __future__ import annotations

import pytest

from capmodel.live.imports.importing import read_lines
from capmodel.live.imports.lines import lines_of
from capmodel.live.imports.nosqlbench_stats import LEGEND
from capmodel.model.errors import MeasurementError

SESSION = "#logging stats for session mine\n#[Histogram log format version 1.0]\n"
HEADER = SESSION + "#[TimeUnit: NANOSECONDS]\n" + LEGEND + "\n"


def row(tag: str, began_s: float, count: int, p50_ms: float, p99_ms: float, largest_ms: float = 90.0) -> str:
    middle, high, top = (round(value * 1e6) for value in (p50_ms, p99_ms, largest_ms))
    cells = [began_s, 1.0, count, 1000, middle, middle, middle, high, high, high, high, high, high, top]
    return f"Tag={tag}," + ",".join(str(cell) for cell in cells) + "\n"


def read(text: str):
    return read_lines(tuple(lines_of(text)), "stats.csv")


def test_counts_add_up_to_a_rate() -> None:
    text = HEADER + "".join(row("main.cycles", float(i), 5000 + i, 4.0 + i, 20.0) for i in range(5))
    text += row("main.delay", 0.0, 3, 1.0, 2.0)
    (run,) = read(text).runs
    assert run.throughput_per_s is not None and run.throughput_per_s.value == pytest.approx(25010 / 5)
    assert run.client is not None
    assert run.client.facts["main-cycles_p50_median_of_intervals_s"] == pytest.approx(0.006)
    assert run.client.facts["main-cycles_p99_median_of_intervals_s"] == pytest.approx(0.020)
    assert "all" not in run.operations, "no percentile of the run is made of those of its intervals"


def test_percentiles_of_early_versions_are_not_read() -> None:
    text = HEADER + row("main.cycles", 0.0, 500, 8.0, 8.0) + row("main.cycles", 1.0, 500, 8.0, 8.0)
    (run,) = read(text).runs
    assert run.throughput_per_s is not None and run.throughput_per_s.value == 500
    assert any("early versions" in note for note in run.notes)
    assert run.client is not None and not any("p99" in name for name in run.client.facts)


def test_without_a_unit_there_are_no_latencies() -> None:
    text = HEADER.replace("#[TimeUnit: NANOSECONDS]\n", "") + row("main.cycles", 0.0, 500, 4.0, 8.0)
    (run,) = read(text).runs
    assert any("unit" in note for note in run.notes)


def test_broken_rows_are_listed() -> None:
    good = row("main.cycles", 0.0, 500, 4.0, 8.0)
    reading = read(HEADER + good + "Tag=main.cycles,1.0,oops\n" + good[:-3])
    assert [unread.line.number for unread in reading.unread] == [6, 7]
    with pytest.raises(MeasurementError):
        read(HEADER)
