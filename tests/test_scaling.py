"""Scaling and advice: points are predictions, steps are paired, verdicts are those that theory gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from capmodel.cli.app import app
from capmodel.model.advice import advise
from capmodel.model.axis import along, axis_values
from capmodel.model.calibration_file import load_calibration
from capmodel.model.errors import InputError
from capmodel.model.findings import Options
from capmodel.model.predict import predict
from capmodel.model.scaling import scale
from capmodel.model.scenario_file import load_scenario

PROFILE = load_calibration("default")
BARE = Options(solver="mva", neighbours=False)
FAST = ["cluster.allocation=even", "cluster.num_tokens=1"]


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


class TestAxis:
    @pytest.mark.parametrize(
        ("text", "values"),
        [("3..5", ("3", "4", "5")), ("3..9..3", ("3", "6", "9")), ("3,6", ("3", "6")), ("ONE,ALL", ("ONE", "ALL"))],
    )
    def test_ranges_and_lists(self, text: str, values: tuple[str, ...]) -> None:
        assert axis_values("--nodes", text) == values

    @pytest.mark.parametrize("text", ["", "5..3", "3..", "3..9..0", "1..100000", "3,,4"])
    def test_what_is_neither_is_refused(self, text: str) -> None:
        with pytest.raises(InputError, match="--nodes"):
            axis_values("--nodes", text)


class TestScale:
    def test_a_point_is_the_prediction_of_its_scenario(self) -> None:
        points = along("default", [*FAST, "clients.in_flight=96"], "cluster.nodes", ("3", "6"))
        found = scale(points, PROFILE)
        for point, (_, scenario) in zip(found, points, strict=True):
            alone = predict(scenario, PROFILE, BARE)
            assert point.throughput_per_s is not None
            assert point.throughput_per_s.value == pytest.approx(alone.throughput_per_s.value, rel=1e-9)
            assert alone.limit.words.startswith(point.limit)

    def test_a_step_of_one_node_is_the_gain_that_a_prediction_states(self) -> None:
        """A node that joins takes tokens from others, a new ring is drawn anew: alike where shares are even."""
        points = along("default", ["clients.in_flight=96"], "cluster.nodes", ("5", "6"))
        step = scale(points, PROFILE)[1].step
        stated = predict(points[0][1], PROFILE, Options(solver="mva")).add_node
        assert step is not None and step.at_your_clients is not None and stated is not None
        assert stated.at_your_clients is not None
        assert step.at_your_clients.value == pytest.approx(stated.at_your_clients.value, abs=0.03)
        assert step.capacity.low - 0.05 < stated.capacity.value < step.capacity.high + 0.05

    def test_capacity_grows_with_the_nodes_where_rows_are_spread_evenly(self) -> None:
        """Utilisation law: token-aware at RF 1 and ONE, a node's work is its share, so capacity is proportional."""
        changes = [*FAST, "cluster.replication.factor=1", "clients.in_flight=96", "clients.machines=20"]
        levels = [f"workload.operations.{name}.consistency=ONE" for name in ("read", "write")]
        found = scale(along("default", [*changes, *levels], "cluster.nodes", ("2", "4", "8")), PROFILE)
        per_node = [point.capacity_per_s.value / point.nodes for point in found]
        assert per_node == pytest.approx([per_node[0]] * 3, rel=0.01)

    def test_few_requests_in_flight_gain_nothing_from_a_seventh_node(self) -> None:
        """Asked on the users' list: 32 requests in flight on six nodes, then seven."""
        text = invoke("scale", "--nodes", "6,7", "--set", "clients.in_flight=32", "--json")
        step = json.loads(text)["points"][1]["step"]
        assert step["at_your_clients"]["verdict"] == "no gain expected"

    def test_growing_clients_keep_requests_per_node(self) -> None:
        few = ["scale", "--nodes", "3,6", "--set", "clients.in_flight=12", "--json", "--clients"]
        fixed, growing = (json.loads(invoke(*few, clients))["points"] for clients in ("fixed", "growing"))
        assert fixed[0] == growing[0]
        assert growing[1]["throughput_per_s"]["value"] > 1.3 * fixed[1]["throughput_per_s"]["value"]

    def test_writes_csv_and_a_picture(self, tmp_path: Path) -> None:
        table, picture = tmp_path / "scale.csv", tmp_path / "scale.svg"
        text = invoke("scale", "--axis", "clients.in_flight=8,64", "--csv", str(table), "--plot", str(picture))
        assert "clients.in_flight" in text and len(table.read_text().splitlines()) == 3
        assert picture.read_text().startswith("<svg") and "clients.in_flight" in picture.read_text()

    @pytest.mark.parametrize(
        "arguments", [[], ["--nodes", "3", "--axis", "a=1"], ["--axis", "cluster.nodes"], ["--nodes", "3,x"]]
    )
    def test_contradictions_are_refused(self, arguments: list[str]) -> None:
        assert CliRunner().invoke(app, ["scale", *arguments]).exit_code != 0


class TestAdvise:
    def test_a_gain_is_the_ratio_of_two_predictions(self) -> None:
        scenario = load_scenario("default", [*FAST, "cluster.nodes=4", "cluster.replication.factor=3"])
        found = {one.change.name: one for one in advise(scenario, PROFILE)}
        own = predict(scenario, PROFILE, BARE).throughput_per_s.value
        for name in ("RF one less", "ONE for reads", "twice the cores", "twice the requests in flight"):
            there = predict(found[name].scenario, PROFILE, BARE).throughput_per_s.value
            gain = found[name].gains.at_your_clients
            assert own and there and gain is not None
            assert gain.value == pytest.approx(there / own - 1, abs=1e-6)

    def test_changes_that_do_not_apply_are_left_out(self) -> None:
        scenario = load_scenario("default", [*FAST, "cluster.nodes=3", "cluster.replication.factor=3"])
        names = {one.change.name for one in advise(scenario, PROFILE)}
        assert "RF one more" not in names
        assert "token-aware clients" not in names
        assert {"round robin clients", "one node more", "RF one less"} <= names

    def test_most_gainful_first_and_what_it_gives_up(self) -> None:
        found = json.loads(invoke("advise", "--nodes", "3", "--rf", "2", "--json"))
        gains = [one["at_your_clients"]["value"] for one in found["changes"]]
        assert gains == sorted(gains, reverse=True)
        by_name = {one["change"]: one for one in found["changes"]}
        assert "copy" in by_name["RF one less"]["gives_up"]
        text = invoke("advise", "--nodes", "3", "--rf", "2")
        assert "at your clients" in text and "one node more" in text
