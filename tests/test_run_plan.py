"""Plans of runs: files, shipped plans, and what `load run --plan` makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from capmodel.cli.app import app
from capmodel.live.load.carried import parse_carried
from capmodel.model.errors import InputError
from capmodel.model.run_plan import FOLDER, PlannedRun, RunPlan, dump_run_plan, load_run_plan
from capmodel.model.shipped import shipped_names

RUNNER = CliRunner()


@pytest.mark.parametrize("name", shipped_names(*FOLDER))
def test_shipped_plans_are_scenarios_that_a_load_can_run(name: str) -> None:
    plan, _ = load_run_plan(name)
    assert plan.name == name and plan.title
    for run in plan.runs:
        scenario = run.loaded()
        assert scenario.name == run.name and scenario.title == run.words
        for text in run.carried:
            assert parse_carried(text).operation in scenario.workload.operations


def test_juhos_plan_asks_what_his_scenarios_ask() -> None:
    plan, _ = load_run_plan("juho")
    asked = [(run.loaded().cluster.node_count, run.loaded().clients.coordinators) for run in plan.runs]
    assert asked == [(1, ()), (2, ()), (2, (0,))]
    for run in plan.runs:
        scenario = run.loaded()
        assert scenario.clients.in_flight == 50 and scenario.workload.absent_keys == 1.0
        assert set(scenario.workload.operations) == {"read"}


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = PlannedRun.model_validate({"name": "a", "as": ["write=ttl"], "scenario": {"cluster": {"nodes": 2}}})
    plan = RunPlan(name="mine", runs=(run,))
    path = tmp_path / "plan.yaml"
    path.write_text(dump_run_plan(plan))
    assert load_run_plan(str(path))[0] == plan


def test_overrides_are_laid_over_every_run() -> None:
    plan, folder = load_run_plan("coordinators")
    changed = [run.loaded(folder, ["clients.in_flight=7"]) for run in plan.runs]
    assert {one.clients.in_flight for one in changed} == {7}


@pytest.mark.parametrize(
    ("text", "key", "right"),
    [
        ("runs: []", "runs", "1"),
        ("runs: [{name: a}, {name: a}]", "", "different names"),
        ("runs: [{name: a/b}]", "runs.0.name", "form"),
        ("runs: [{name: a, scenario: {cluster: {nodes: -1}}}]", "cluster.nodes", "1"),
        ("runs: [{name: a, scenarios: {}}]", "runs.0.scenarios", "nearest is `scenario`"),
    ],
)
def test_what_is_no_plan_is_refused_with_what_would_be_right(text: str, key: str, right: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(f"format_version: 1\n{text}\n")
    with pytest.raises(InputError) as caught:
        load_run_plan(str(path))
    problem = caught.value.problems[0]
    assert problem.key == key and right in problem.right


def test_an_unknown_plan_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="did you mean coordinators"):
        load_run_plan("coordinator")


def test_load_run_makes_the_runs_of_a_plan_and_goes_on_where_it_was(tmp_path: Path) -> None:
    keys = [{"cluster": {"replication": {"factor": factor}}} for factor in (1, 2, 3)]
    runs = [{"name": f"rf-{number}", "scenario": scenario} for number, scenario in enumerate(keys, 1)]
    path = tmp_path / "mine.yaml"
    path.write_text(dump_run_plan(RunPlan.model_validate({"runs": runs})))
    arguments = ["load", "run", "--backend", "memory", "--plan", str(path), "--set", "workload.partitions=500"]
    arguments += ["--set", "clients.routing=round-robin"]
    arguments += ["--duration", "1s", "--warm-up", "0s", "--output", str(tmp_path / "out")]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "rf-2.json").write_text("{}")
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "left out rf-2: it is in" in result.output
    measured = json.loads((tmp_path / "out" / "rf-3.json").read_text())
    assert measured["scenario"]["cluster"]["replication"]["factor"] == 3
    assert measured["scenario"]["workload"]["partitions"] == 500
    assert (tmp_path / "out" / "rf-2.json").read_text() == "{}"


def test_a_plan_needs_a_folder(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["load", "run", "--backend", "memory", "--plan", "juho"])
    assert result.exit_code != 0
