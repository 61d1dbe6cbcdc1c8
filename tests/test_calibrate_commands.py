"""`calibrate`, `validate` and `design` at the command line: from measurement files to a prediction, and bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from capmodel.calibrate.forward import ForwardModel
from capmodel.calibrate.observation import THROUGHPUT, Observation
from capmodel.calibrate.parameters import profile_values
from capmodel.calibrate.run import Run
from capmodel.cli.app import app
from capmodel.model.calibration_file import load_calibration
from capmodel.model.measurement import Measurement, OperationMeasured, Verdict
from capmodel.model.measurement_file import write_measurement
from capmodel.model.metrics import Metrics
from capmodel.model.scenario import Scenario

CELLS = ((1, 4), (1, 64), (2, 8), (2, 128), (3, 96))
"""Nodes and requests in flight of the measurements."""
FASTER = 1.5
"""Speed of the measured nodes over the shipped profile's."""


def call(*arguments):
    """Run a command and return its result."""
    return CliRunner().invoke(app, [str(one) for one in arguments])


def scenario(nodes, in_flight):
    """Return a scenario at RF 1, read through all nodes in turn."""
    return Scenario.model_validate(
        {
            "cluster": {"nodes": nodes, "replication": {"factor": 1}, "allocation": "even", "num_tokens": 1},
            "hardware": {"cores": 2},
            "workload": {"operations": {"read": {"share": 1.0, "consistency": "ONE"}}, "cache_hit": 1.0},
            "clients": {"in_flight": in_flight, "routing": "round-robin"},
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of measurements of nodes half as fast again as the default profile, and one that a client limited."""
    place = tmp_path_factory.mktemp("measured")
    scenarios = [scenario(*cell) for cell in CELLS]
    known = profile_values(load_calibration("default"))
    values = {key: value / FASTER if key.endswith("_s") else value for key, value in known.items()}
    seen = [Observation(i, THROUGHPUT, "", 0.0, 0.0, 0.0) for i in range(len(CELLS))]
    model = ForwardModel([Run("", one, Metrics()) for one in scenarios], values, seen)
    for cell, one, log in zip(CELLS, scenarios, model.expected({})[0], strict=True):
        write(place, f"run-{cell[0]}-{cell[1]}", one, np.exp(log))
    write(place, "weak", scenarios[0], 100.0, Verdict(kind="client-limited", reasons=("client at 99 %",)))
    return place


def write(place, name, one, rate, verdict=None):
    """Write a measurement of ten seconds."""
    measured = Measurement(
        name=name,
        scenario=one,
        duration_s=10.0,
        operations={"read": OperationMeasured(requests=round(10 * rate))},
        verdict=verdict or Verdict(kind="valid"),
    )
    write_measurement(measured, place / f"{name}.json")


@pytest.fixture(scope="module")
def calibrated(folder, tmp_path_factory):
    """A calibration from one and two nodes, and what the command printed."""
    output = tmp_path_factory.mktemp("calibrations") / "mine.yaml"
    done = call("calibrate", folder, "--where", "nodes<=2", "-o", output, "--no-simulate", "--json")
    assert done.exit_code == 0, done.output
    return output, json.loads(done.stdout)


def test_runs_are_fitted_and_refused_with_reasons(calibrated):
    _, summary = calibrated
    assert len(summary["runs"]) == 4
    assert summary["errors"]["median"] < 0.03
    assert summary["refused"] == [{"name": "weak", "reasons": ["client-limited: client at 99 %"]}]
    assert summary["not_told"]


def test_the_text_names_errors_parameters_and_what_is_not_told(folder, tmp_path):
    done = call("calibrate", folder, "-o", tmp_path / "c.yaml", "--no-simulate")
    for words in ("median error", "coordinator_read_s", "Not told by these runs", "Refused 1 runs", "client at 99 %"):
        assert words in done.stdout


def test_a_calibration_predicts(calibrated):
    output, _ = calibrated
    asked = ("--nodes", 3, "--rf", 1, "--read-ratio", 1, "--cl", "ONE", "--cores", 2)
    base = ("predict", *asked, "--solver", "mva", "--json")
    ours = json.loads(call(*base, "--profile", output).stdout)
    shipped = json.loads(call(*base).stdout)
    ratio = ours["throughput_per_s"]["value"] / shipped["throughput_per_s"]["value"]
    assert ratio == pytest.approx(FASTER, rel=0.15)
    assert any("outside what the profile was made from" in warning for warning in ours["warnings"])


def test_three_nodes_are_predicted_from_one_and_two(calibrated, folder, tmp_path):
    output, _ = calibrated
    plot = tmp_path / "errors.svg"
    done = call("validate", output, folder, "--solver", "mva", "--plot", plot, "--json")
    found = json.loads(done.stdout)
    (cell,) = found["cells"]
    assert cell["run"].startswith("3n")
    assert abs(cell["error"]) < 0.05
    assert cell["held"]
    assert found["runs_left_out_as_fitted"] == 4
    assert plot.read_text().startswith("<svg")
    assert "refused" in done.stderr


def test_a_split_needs_no_calibration_made_before(folder):
    done = call("validate", "default", folder, "--split", "small-to-large", "--solver", "mva", "--json")
    found = json.loads(done.stdout)
    assert [cell["run"].split()[0] for cell in found["cells"]] == ["3n"]
    text = call("validate", "default", folder, "--split", "leave-one-out", "--solver", "mva").stdout
    assert "throughput      5" in text


def test_a_design_is_a_plan_that_narrows_the_answer(tmp_path):
    plan = tmp_path / "plan.yaml"
    arguments = ("design", "--set", "cluster.nodes=4", "--question", "throughput", "--runs", 3, "--json")
    done = call(*arguments, "-o", plan)
    found = json.loads(done.stdout)
    errors = [found["std_err_now"], *(run["std_err_after"] for run in found["runs"])]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 3
    assert yaml.safe_load(plan.read_text())["runs"][0]["scenario"] == found["runs"][0]["scenario"]


def test_a_design_in_a_folder_is_scenario_files(tmp_path):
    place = tmp_path / "plan"
    assert call("design", "--runs", 2, "--question", "throughput", "-o", place).exit_code == 0
    first = call("scenarios", "check", place / "run-1.yaml")
    assert first.exit_code == 0, first.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("calibrate", "missing.json", "-o", "c.yaml"), "missing.json"),
        (("calibrate", "{folder}", "--where", "nodes", "-o", "c.yaml"), "--where"),
        (("calibrate", "{folder}", "--where", "nodes>9", "-o", "c.yaml"), "no run can be used"),
        (("calibrate", "{folder}", "--fit", "speed", "-o", "c.yaml"), "--fit"),
        (("validate", "{folder}/run-1-4.json", "{folder}"), "parameters"),
        (("validate", "default", "{folder}", "--split", "odd"), "--split"),
        (("validate", "default", "{folder}", "--split", "nodes<=9"), "leaves runs to predict"),
        (("validate", "default", "{folder}", "--solver", "guess"), "--solver"),
        (("design", "--question", "why"), "--question"),
        (("design", "--set", "cluster.nodes=0"), "cluster.nodes"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(arguments, words, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*(one.format(folder=folder) for one in arguments))
    assert done.exit_code == 2, done.output
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


def test_anchors_give_the_speed_of_a_layout(calibrated, tmp_path):
    """Four nodes on a host that makes all work dearer by a quarter: local runs say so, the others follow."""
    output, _ = calibrated
    values = profile_values(load_calibration(output))
    local, remote = (scenario(4, 128).model_dump() for _ in range(2))
    local["clients"]["routing"] = "token-aware"
    cells = [Scenario.model_validate(one) for one in (local, remote)]
    slow = {name: 1.25 * value if name.endswith("_s") else value for name, value in values.items()}
    seen = [Observation(i, THROUGHPUT, "", 0.0, 0.0, 0.0) for i in range(2)]
    logs = ForwardModel([Run("", one, Metrics()) for one in cells], slow, seen).expected({})[0]
    for name, one, log in zip(("local", "remote"), cells, logs, strict=True):
        write(tmp_path, name, one, np.exp(log))
    found = json.loads(call("validate", output, tmp_path, "--anchored", "--solver", "mva", "--json").stdout)
    pure = json.loads(call("validate", output, tmp_path, "--solver", "mva", "--json").stdout)
    assert found["speeds"] == {"4 nodes": pytest.approx(1 / 1.25, rel=0.05)}
    assert [abs(cell["error"]) < 0.05 for cell in found["cells"]] == [True]
    assert all(cell["error"] > 0.15 for cell in pure["cells"])
