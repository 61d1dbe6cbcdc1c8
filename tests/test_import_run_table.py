"""CSV tables of runs: every figure with its line, rows that say nothing listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from capmodel.live.imports.importing import read_file, read_lines
from capmodel.live.imports.lines import lines_of

PUBLISHED = Path(__file__).parent / "reference" / "published-runs.csv"
HEADER = "id,nodes,rf,consistency,op_mix,client_threads,throughput_ops,p99_ms,notes\n"


def read(text: str):
    return read_lines(tuple(lines_of(text)), "runs.csv")


def test_a_row_is_a_run_with_its_places() -> None:
    reading = read(HEADER + 'A-1,3,2,ONE,read=0.8;insert=0.2,100,29222,13.6,"lat_op=read; x"\n')
    (run,) = reading.runs
    assert run.throughput_per_s is not None and run.throughput_per_s.value == 29222
    assert run.operations["read"].latency_s is not None
    assert run.operations["read"].latency_s.p99.value == pytest.approx(0.0136)
    assert run.client is not None and run.client.facts["in_flight"] == 100
    assert run.cluster is not None and run.cluster.nodes == 3
    assert run.provenance["throughput_per_s.value"].line == 2


def test_rows_that_say_nothing_are_listed() -> None:
    text = HEADER + "A-1,3,2,ONE,read=1,100,,1,\nA-2,3,2,ONE\nA-3,3,2,ONE,read=1,100,500,1,\nA-4,3,2,ONE,read=1,1"
    reading = read(text)
    assert [run.name for run in reading.runs] == ["a-3"]
    assert [(unread.line.number) for unread in reading.unread] == [2, 3, 5]


def test_the_published_runs_are_read_whole() -> None:
    rows = len(PUBLISHED.read_text(encoding="utf-8").splitlines()) - 1
    reading = read_file(PUBLISHED)
    assert len(reading.runs) >= 0.99 * rows
    assert len(reading.runs) + len(reading.unread) == rows
