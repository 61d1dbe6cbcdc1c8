"""Calibrations: files, their problems, and draws against the log-normal distribution they state."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from capmodel.model.calibration import Calibration, Correlation, Parameter
from capmodel.model.calibration_file import dump_calibration, load_calibration, shipped_profiles
from capmodel.model.errors import CalibrationError

MATRIX = ((1.0, 0.8), (0.8, 1.0))


def calibration(**changed: object) -> Calibration:
    fields: dict[str, object] = {
        "name": "lab",
        "title": "Two parameters",
        "good_for": "tests",
        "cassandra_version": "5.0",
        "reference": "one core at 2.6 GHz",
        "parameters": {
            "replica_read_s": Parameter(value=30e-6, std_err=9e-6, unit="s", source="run 1", rows=("r1", "r2")),
            "message_send_s": Parameter(value=5e-6, std_err=1e-6, unit="s", source="run 2", valid={"nodes": (1, 4)}),
            "idle_cores": Parameter(value=0.0, std_err=0.1, unit="1", source="run 3", valid="low rates"),
        },
        "correlation": Correlation(names=("replica_read_s", "message_send_s"), matrix=MATRIX),
        "discrepancy": {"throughput": 0.05, "p50": 0.1, "p99": 0.2},
    }
    return Calibration.model_validate(fields | changed)


def test_a_file_round_trip_keeps_the_value(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(dump_calibration(calibration()), encoding="utf-8")
    assert load_calibration(tmp_path / "lab.yaml") == calibration()
    assert load_calibration("lab", profiles=tmp_path) == calibration()


def test_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "lab.json"
    path.write_text(calibration().model_dump_json(), encoding="utf-8")
    assert load_calibration(str(path)) == calibration()


def test_a_file_of_version_0_is_read_with_a_wide_error(tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_text("name: old\nparameters: {replica_read_s: 2.0e-5, idle_cores: 0.5}\n", encoding="utf-8")
    read = load_calibration(path)
    assert read.format_version == 1
    assert read.parameter("replica_read_s").std_err == pytest.approx(0.3 * 2e-5)
    assert (read.parameter("replica_read_s").unit, read.parameter("idle_cores").unit) == ("s", "1")


BAD = """format_version: 1
name: bad
good_for: nothing
cassandra_versio: "5.0"
parameters:
  replica_read_s: {value: fast, std_err: -1, unit: s, source: x, rwos: [a]}
  Message: {value: 1, std_err: 0, unit: s, source: x, valid: 3}
correlation: {names: [a, b], matrix: [[1, 2], [2, 1]]}
"""


@pytest.mark.parametrize(
    ("line", "key", "right"),
    [
        (4, "cassandra_versio", "the nearest is `cassandra_version`"),
        (None, "cassandra_version", "this key is needed"),
        (6, "parameters.replica_read_s.value", "a number"),
        (6, "parameters.replica_read_s.std_err", "greater than or equal to 0"),
        (6, "parameters.replica_read_s.rwos", "the nearest is `rows`"),
        (7, "parameters.Message", "text of the form"),
        (7, "parameters.Message.valid", "text, or a map of keys"),
        (8, "correlation", "a matrix that correlations can have"),
    ],
)
def test_all_problems_of_a_file_are_reported_together(tmp_path: Path, line: int | None, key: str, right: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(BAD, encoding="utf-8")
    with pytest.raises(CalibrationError) as caught:
        load_calibration(path)
    problem = {found.key: found for found in caught.value.problems}[key]
    assert right in problem.right
    assert (problem.file, problem.line) == (str(path), line)
    assert len(caught.value.problems) == 8


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a map of keys"),
        ("- 1\n", "a map of keys"),
        ("a: [1\nb: 2\n", "no YAML"),
        ('{"a": }', "no JSON"),
        ("? [1, 2]\n: 3\n", "no YAML"),
        ("format_version: 7\n", "a newer capmodel"),
        ("format_version: true\n", "0 to 1"),
        ("name: x\nparameters: [1]\n", "a document of version 0"),
        ("[" * 20_000, "cannot be read"),
        ("format_version: 1\nname: x\na: &a [*a]\n", "no such key"),
    ],
)
def test_unreadable_files_are_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CalibrationError, match=words):
        load_calibration(path)


def test_bytes_that_are_no_text_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "binary.yaml", tmp_path / "absent.yaml", tmp_path):
        with pytest.raises(CalibrationError, match=r"cannot be read|no such file"):
            load_calibration(path)


def test_an_unknown_profile_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "default.yaml").write_text(dump_calibration(calibration()), encoding="utf-8")
    assert shipped_profiles(tmp_path) == ("default",)
    with pytest.raises(CalibrationError, match="did you mean `default`"):
        load_calibration("defualt", profiles=tmp_path)


def test_every_shipped_profile_loads() -> None:
    for name in shipped_profiles():
        assert load_calibration(name).name


def test_a_missing_parameter_names_those_there_are() -> None:
    with pytest.raises(CalibrationError, match="replica_read_s, message_send_s"):
        calibration().parameter("replica_write_s")


def test_conditions_outside_the_stated_range_are_said() -> None:
    assert calibration().outside({"nodes": 3.0}) == ()
    assert calibration().outside({"nodes": 8.0}) == ("message_send_s holds for nodes from 1 to 4, not 8",)


DRAWS = 20_000


def log_scores(name: str, drawn: dict[str, np.ndarray]) -> np.ndarray:
    parameter = calibration().parameters[name]
    return (np.log(drawn[name]) - math.log(parameter.value)) * parameter.value / parameter.std_err


def test_draws_are_log_normal_with_the_stated_error() -> None:
    drawn = calibration().draw(DRAWS, np.random.default_rng(1))
    for name in ("replica_read_s", "message_send_s"):
        scores = log_scores(name, drawn)
        assert abs(scores.mean()) < 4 / math.sqrt(DRAWS)
        assert abs(scores.std() - 1) < 4 / math.sqrt(2 * DRAWS)
        for quantile, score in ((0.05, -1.6449), (0.95, 1.6449)):  # tables of the normal distribution
            share = float(np.mean(scores <= score))
            assert abs(share - quantile) < 4 * math.sqrt(quantile * (1 - quantile) / DRAWS)


def correlation_error(drawn: dict[str, np.ndarray], truth: float) -> float:
    """Return the error of the correlation of the scores in standard errors of Fisher's z."""
    found = np.corrcoef(log_scores("replica_read_s", drawn), log_scores("message_send_s", drawn))[0, 1]
    return float(abs(np.arctanh(found) - np.arctanh(truth)) * math.sqrt(DRAWS - 3))


def test_draws_honour_the_correlation() -> None:
    assert correlation_error(calibration().draw(DRAWS, np.random.default_rng(2)), 0.8) < 4


def test_draws_without_the_correlation_fail_that_check() -> None:
    """Negative control."""
    assert correlation_error(calibration(correlation=None).draw(DRAWS, np.random.default_rng(2)), 0.8) > 4


def test_a_parameter_at_zero_is_never_drawn_below() -> None:
    drawn = calibration().draw(1_000, np.random.default_rng(3))["idle_cores"]
    assert drawn.min() == 0.0
    assert abs(float(np.mean(drawn > 0)) - 0.5) < 4 * math.sqrt(0.25 / 1_000)


def test_draws_depend_on_the_generator_alone() -> None:
    turned = calibration(parameters=dict(reversed(calibration().parameters.items())))
    first, second = (one.draw(5, np.random.default_rng(4)) for one in (calibration(), turned))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    other = calibration().draw(5, np.random.default_rng(5))
    assert not np.array_equal(first["replica_read_s"], other["replica_read_s"])


def test_a_perfect_correlation_is_drawn() -> None:
    tied = Correlation(names=("replica_read_s", "message_send_s"), matrix=((1.0, 1.0), (1.0, 1.0)))
    drawn = calibration(correlation=tied).draw(50, np.random.default_rng(6))
    assert log_scores("replica_read_s", drawn) == pytest.approx(log_scores("message_send_s", drawn))
