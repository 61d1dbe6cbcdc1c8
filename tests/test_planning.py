"""Plans: the smallest number of nodes that is enough, what decides it, and that a simulation agrees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from capmodel.cli.app import app
from capmodel.model.calibration_file import load_calibration
from capmodel.model.errors import InputError
from capmodel.model.findings import Options
from capmodel.model.machine_file import load_machines
from capmodel.model.planning import Requirement, built, plan
from capmodel.model.predict import find
from capmodel.model.scaling import capacity_of
from capmodel.model.scenario_file import load_scenario

PROFILE = load_calibration("default")
SHAPES = {one.name: one for one in load_machines().machines}
SCENARIO = load_scenario(
    "default", ["cluster.nodes=60", "cluster.replication.factor=3", "cluster.allocation=even", "cluster.num_tokens=1"]
)
BARE = Options(solver="mva", neighbours=False)


def planned(machine: str, wanted: Requirement, scenario=SCENARIO):
    (found,) = plan(scenario, [SHAPES[machine]], PROFILE, wanted, Options(), confirm=0)
    return found


@pytest.mark.parametrize("rate_per_s", [20_000.0, 60_000.0])
def test_one_node_fewer_is_not_enough(rate_per_s: float) -> None:
    """Searched from below, node by node, instead of by halving."""
    wanted = Requirement(rate_per_s, failures=1, most_nodes=60)
    found = planned("middle-nvme", wanted)
    assert found.nodes is not None and found.binds == "load"
    assert found.risk is not None and found.risk <= 0.2
    fewer = find(built(SCENARIO, SHAPES["middle-nvme"], found.nodes - 2, 1.0), PROFILE, BARE, None)
    capacity = capacity_of(fewer)
    low = capacity.value * wanted.utilisation * 2.718281828 ** (-0.8416 * capacity.parts.total)
    assert low < rate_per_s


def test_more_is_needed_for_more() -> None:
    usual = Requirement(30_000.0, failures=1, most_nodes=60)
    nodes = planned("middle-nvme", usual).nodes or 0
    for harder in (
        Requirement(60_000.0, failures=1, most_nodes=60),
        Requirement(30_000.0, failures=3, most_nodes=60),
        Requirement(30_000.0, failures=1, utilisation=0.4, most_nodes=60),
        Requirement(30_000.0, failures=1, confidence=0.99, most_nodes=60),
    ):
        assert (planned("middle-nvme", harder).nodes or 99) > nodes
    assert (planned("large-nvme", usual).nodes or 99) < nodes


def test_data_decides_where_there_is_much_of_it() -> None:
    """2e9 rows of 170 bytes at RF 3, half as much again on disk: 1.39 TiB, of which each node takes half its disks."""
    much = SCENARIO.model_copy(update={"workload": SCENARIO.workload.model_copy(update={"partitions": 20_000_000_000})})
    found = planned("small-nvme", Requirement(100.0, failures=1, most_nodes=60), much)
    rows_bytes = 20e9 * SCENARIO.workload.row_bytes * 1.5 * 3
    assert found.binds == "disk" and found.nodes == -(-rows_bytes // (0.5 * 2**40))


def test_failures_decide_where_there_is_next_to_nothing_to_do() -> None:
    found = planned("middle-nvme", Requirement(10.0, failures=2, most_nodes=60))
    assert (found.nodes, found.binds) == (5, "failures")


def test_what_no_number_carries_is_said_with_its_limit() -> None:
    found = planned("small-nvme", Requirement(1e7, failures=1, most_nodes=12))
    assert found.nodes is None and "12 nodes carry" in found.binds


def test_the_command_ranks_and_confirms() -> None:
    words = ["plan", "--reads", "8000/s", "--writes", "8000/s", "--rf", "3", "--max-nodes", "24", "--json"]
    result = CliRunner().invoke(app, [*words, "--set", "cluster.allocation=even", "--set", "cluster.num_tokens=1"])
    assert result.exit_code == 0, result.output
    plans = json.loads(result.stdout)["plans"]
    usable = [one for one in plans if one["nodes"]]
    assert [one["cores"] for one in usable] == sorted(one["cores"] for one in usable)
    assert all(one["confirmed"]["carries"] for one in usable[:3])


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("machines: []", "1"),
        ("machines: [{name: a, cores: 0, ram: 1GiB, disk_size: 1TiB}]", "1"),
        ("machines: [{name: a, cores: 1, ram: 1GiB, disk_size: 1TiB, price: {per_month: 3}}]", "currency"),
    ],
)
def test_what_is_no_machine_is_refused(text: str, right: str, tmp_path: Path) -> None:
    path = tmp_path / "machines.yaml"
    path.write_text(f"format_version: 1\n{text}\n")
    with pytest.raises(InputError, match=right):
        load_machines(path)


def test_a_rate_is_needed() -> None:
    assert CliRunner().invoke(app, ["plan", "--rf", "3"]).exit_code != 0
