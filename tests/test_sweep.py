"""Sweeps: rows are predictions, whatever the number of processes; nothing is done twice, nothing is lost."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from capmodel.cli.app import app
from capmodel.model.calibration_file import load_calibration
from capmodel.model.errors import InputError
from capmodel.model.findings import Options
from capmodel.model.predict import predict
from capmodel.model.scenario_file import load_scenario
from capmodel.model.sweep_file import by_key, load_sweep
from capmodel.scenarios.sweep import sweep

TEXT = """format_version: 1
name: mine
set: [cluster.allocation=even, cluster.num_tokens=1]
axes: {cluster.nodes: [3, 4], clients.in_flight: [16, 64]}
samples: {count: 2, ranges: {workload.cache_hit: [0.6, 1.0], workload.columns: [1, 20]}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.yaml"
    path.write_text(TEXT)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_point_is_there_once_and_is_the_prediction(file: Path, tmp_path: Path) -> None:
    asked, output = load_sweep(file), tmp_path / "points.csv"
    assert sweep(asked, file, output, processes=1) == 8
    found = rows(output)
    assert [tuple(row[key] for key in asked.keys) for row in found] == [
        tuple(by_key(point).values()) for point in asked.points()
    ]
    scenario = load_scenario("default", [*asked.changes, *asked.points()[3]])
    alone = predict(scenario, load_calibration("default"), Options(solver="mva", neighbours=False))
    assert float(found[3]["throughput_per_s"]) == pytest.approx(alone.throughput_per_s.value, rel=1e-5)
    assert found[3]["limit"] == alone.limit.station


def test_samples_fill_their_ranges(file: Path) -> None:
    """Latin hypercube: one sample in each of `count` slices of every range."""
    path = file.with_name("many.yaml")
    path.write_text(TEXT.replace("count: 2", "count: 40"))
    drawn = [by_key(point) for point in load_sweep(path).points()[:40]]
    slices = sorted(int((float(one["workload.cache_hit"]) - 0.6) / 0.01) for one in drawn)
    assert slices == list(range(40))
    columns = np.array([int(one["workload.columns"]) for one in drawn])
    assert columns.min() == 1 and columns.max() == 20


def test_processes_change_nothing_and_a_second_call_does_what_is_missing(file: Path, tmp_path: Path) -> None:
    asked, one, two = load_sweep(file), tmp_path / "one.csv", tmp_path / "two.csv"
    sweep(asked, file, one, processes=1)
    sweep(asked, file, two, processes=2)
    assert one.read_bytes() == two.read_bytes()
    whole = two.read_text()
    lines = whole.splitlines(keepends=True)
    two.write_text("".join(lines[:4]) + lines[5] + lines[6][:10])
    assert sweep(asked, file, two, processes=1) == 4
    assert two.read_text() == whole
    assert sweep(asked, file, two, processes=1) == 0


def test_a_point_that_is_no_scenario_says_why_in_its_row(tmp_path: Path) -> None:
    path, output = tmp_path / "sweep.yaml", tmp_path / "points.csv"
    path.write_text("format_version: 1\nset: [cluster.replication.factor=3]\naxes: {cluster.nodes: [3, 2]}\n")
    sweep(load_sweep(path), path, output, processes=1)
    first, second = rows(output)
    assert first["throughput_per_s"] and not first["problem"]
    assert not second["throughput_per_s"] and "replication" in second["problem"]


def test_an_output_of_another_sweep_is_left_alone(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.csv"
    output.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="an output of this sweep"):
        sweep(load_sweep(file), file, output)
    assert output.read_text() == "a,b\n1,2\n"


def test_a_lost_process_loses_nothing(file: Path, tmp_path: Path) -> None:
    asked, whole, broken = load_sweep(file), tmp_path / "whole.csv", tmp_path / "broken.csv"
    sweep(asked, file, whole, processes=1)
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        children = [child.pid for child in multiprocessing.active_children() if child.pid]
        if not killed and children:
            killed.append(children[0])
            os.kill(children[0], signal.SIGKILL)

    sweep(asked, file, broken, processes=2, told=kill_one)
    assert killed
    assert broken.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("axes: {}", "points in all"),
        ("axes: {cluster.nodez: [3]}", "did you mean nodes"),
        ("axes: {cluster.nodes: [3]}\nsamples: {count: 0, ranges: {a: [0, 1]}}", "1"),
        ("samples: {count: 2, ranges: {workload.cache_hit: [1.0, 0.5]}}", "lower end"),
        ("axes: {cluster.nodes: [3]}\nsamples: {count: 2, ranges: {cluster.nodes: [3, 5]}}", "no axes"),
        ("solver: guess\naxes: {cluster.nodes: [3]}", "mva"),
    ],
)
def test_what_is_no_sweep_is_refused_in_words(text: str, right: str, tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(f"format_version: 1\n{text}\n")
    with pytest.raises(InputError, match=right):
        load_sweep(path)


def test_the_command(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "points.csv"
    result = CliRunner().invoke(app, ["sweep", str(file), "-o", str(output), "--processes", "1"])
    assert result.exit_code == 0, result.output
    assert "8 points in" in result.output and len(rows(output)) == 8
