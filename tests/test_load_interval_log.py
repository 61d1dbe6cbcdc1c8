"""The interval log, read back by the reader of the hdrhistogram package, which shares nothing with the writer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from capmodel.live.load.interval import Interval
from capmodel.live.load.interval_log import write_interval_log
from capmodel.live.load.memory_session import MemoryCluster
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.run import rehearse
from capmodel.model.errors import InputError
from capmodel.model.measurement import Measurement
from capmodel.model.scenario_file import load_scenario

STARTED_AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture(scope="module")
def measured() -> tuple[Measurement, list[Interval]]:
    changes = ["cluster.nodes=1", "cluster.replication.factor=1", "clients.routing=round-robin", "clients.in_flight=8"]
    kept: list[Interval] = []
    plan = LoadPlan(duration_s=1.0, warm_up_s=0.2)
    return rehearse(load_scenario("default", changes), MemoryCluster(), plan, kept.extend), kept


def read_back(path: Path, tag: str) -> tuple[HdrHistogram, int, float]:
    """Return the sum of all intervals of a tag, their number, and the start of the log."""
    only = path.with_suffix(".one")
    lines = path.read_text().splitlines(keepends=True)
    only.write_text("".join(line for line in lines if not line.startswith("Tag=") or line.startswith(f"Tag={tag},")))
    whole = HdrHistogram(1, 3_600_000_000, 3)
    reader = HistogramLogReader(str(only), whole)
    count = 0
    while reader.add_next_interval_histogram(whole):
        count += 1
    reader.input_file.close()
    return whole, count, reader.get_start_time_sec()


@pytest.mark.parametrize("operation", ["read", "write"])
def test_another_reader_finds_the_same_histogram(
    measured: tuple[Measurement, list[Interval]], tmp_path: Path, operation: str
) -> None:
    measurement, intervals = measured
    path = tmp_path / "run.hlog"
    write_interval_log(intervals, STARTED_AT, path)
    whole, count, start_s = read_back(path, operation)
    assert whole.encode().decode() == measurement.operations[operation].histograms[0].encoded
    assert (count, start_s) == (len(intervals), STARTED_AT.timestamp())


def test_a_missing_line_is_found(measured: tuple[Measurement, list[Interval]], tmp_path: Path) -> None:
    """Negative control of the check above."""
    measurement, intervals = measured
    path = tmp_path / "run.hlog"
    write_interval_log(intervals[:-1], STARTED_AT, path)
    whole, _, _ = read_back(path, "read")
    assert whole.encode().decode() != measurement.operations["read"].histograms[0].encoded


def test_times_follow_each_other(measured: tuple[Measurement, list[Interval]], tmp_path: Path) -> None:
    path = tmp_path / "run.hlog"
    write_interval_log(measured[1], STARTED_AT, path)
    found = re.findall(r"^Tag=read,([\d.]+),([\d.]+),", path.read_text(), re.MULTILINE)
    spans = [(float(begin), float(length)) for begin, length in found]
    assert spans[0][0] == 0.0
    for (begin, length), (following, _) in pairwise(spans):
        assert begin + length == pytest.approx(following, abs=2e-3)


def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none/run.hlog.*cannot be written"):
        write_interval_log([], None, tmp_path / "none" / "run.hlog")
