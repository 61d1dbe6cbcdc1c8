"""Single keys over a scenario: `--set`, positions, every key of a map, and the short options."""

from __future__ import annotations

import pytest

from capmodel.model.errors import Problem, ScenarioError
from capmodel.model.overrides import shorthand_overrides
from capmodel.model.scenario import Scenario, resolved_in_flight
from capmodel.model.scenario_file import load_scenario, with_overrides
from capmodel.model.workload import ConsistencyLevel


def refused(source: str, *overrides: str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(source, overrides)
    return caught.value


def refusal(source: str, *overrides: str) -> str:
    return str(refused(source, *overrides))


def problems(source: str, *overrides: str) -> dict[str, Problem]:
    return {problem.key: problem for problem in refused(source, *overrides).problems}


class TestOverrides:
    @pytest.mark.parametrize(
        ("override", "read"),
        [
            ("cluster.nodes=4", lambda s: s.cluster.nodes == 4),
            ("hardware.ram=64GiB", lambda s: s.hardware.ram == 64 * 2**30),
            ("cluster.replication.factor={dc1: 2}", lambda s: s.cluster.replication.factor == {"dc1": 2}),
            ("cluster.settings.concurrent_reads=64", lambda s: s.cluster.settings == {"concurrent_reads": 64}),
            ("clients.coordinators=[0, 1]", lambda s: s.clients.coordinators == (0, 1)),
            ("workload.operations.*.consistency=ONE", lambda s: _levels(s) == {ConsistencyLevel.ONE}),
            ("title=a = b", lambda s: s.title == "a = b"),
            ("hardware.cpu_quota={cores: 1}", lambda s: s.hardware.cpu_quota.cores == 1),
        ],
    )
    def test_any_key_can_be_set(self, override: str, read: object) -> None:
        assert read(load_scenario("default", [override]))  # type: ignore[operator]

    def test_positions_count_from_zero(self) -> None:
        scenario = load_scenario("two-datacenters", ["cluster.groups[1].nodes=5", "cluster.groups.0.racks=1"])
        assert [(group.nodes, group.racks) for group in scenario.cluster.groups] == [(3, 1), (5, 3)]
        assert "the list has 2" in refusal("two-datacenters", "cluster.groups[2].nodes=5")

    def test_problems_name_the_option(self) -> None:
        assert problems("default", "cluster.nods=4")["cluster.nods"].file == "--set"
        short = shorthand_overrides(nodes=0)
        assert problems("default", *short)["cluster.nodes"].file == "--nodes"

    @pytest.mark.parametrize("text", ["", "=", "cluster.nodes", "=4", "...=4", "a" + ".b" * 10 + "=1", "a=[1", "a=*b"])
    def test_what_is_no_key_and_value_is_refused(self, text: str) -> None:
        assert refusal("default", text).startswith("--set")

    def test_all_malformed_ones_are_reported(self) -> None:
        assert len(refusal("default", "a", "b", "c=[").splitlines()) == 3

    def test_the_same_rules_hold_over_a_scenario_at_hand(self) -> None:
        base = load_scenario("two-datacenters")
        changed = with_overrides(base, ["clients.rate=100"])
        assert changed.clients.rate == 100 and changed.clients.in_flight is None
        assert with_overrides(base, []) == base
        with pytest.raises(ScenarioError):
            with_overrides(base, ["cluster.nodes=6"])  # its factors name a datacenter that is gone

    @pytest.mark.parametrize(
        ("options", "read"),
        [
            ({"nodes": 4, "rf": 2}, lambda s: (s.cluster.nodes, s.cluster.replication.factor) == (4, 2)),
            ({"cl": "one"}, lambda s: _levels(s) == {ConsistencyLevel.ONE}),
            ({"read_ratio": 0.9}, lambda s: [o.share for o in s.workload.operations.values()] == [0.9, 0.1]),
            ({"read_ratio": 1}, lambda s: set(s.workload.operations) == {"read"}),
            ({"read_ratio": 0, "cl": "ALL"}, lambda s: set(s.workload.operations) == {"write"}),
            ({"in_flight": 5}, lambda s: resolved_in_flight(s) == 5),
            ({"rate": 5.5}, lambda s: resolved_in_flight(s) is None and s.clients.rate == 5.5),
            ({"routing": "round-robin", "cores": 2}, lambda s: s.hardware.cores == 2),
        ],
    )
    def test_short_options_stand_for_keys(self, options: dict[str, object], read: object) -> None:
        assert read(load_scenario("default", shorthand_overrides(**options)))  # type: ignore[operator, arg-type]

    def test_nodes_replace_groups(self) -> None:
        scenario = load_scenario("two-datacenters", [*shorthand_overrides(nodes=4, rf=3), "clients.datacenter=dc1"])
        assert scenario.cluster.nodes == 4 and not scenario.cluster.groups

    @pytest.mark.parametrize("ratio", [-0.1, 1.1, float("nan")])
    def test_a_share_of_reads_is_a_share(self, ratio: float) -> None:
        with pytest.raises(ScenarioError, match="between 0 and 1"):
            shorthand_overrides(read_ratio=ratio)


def _levels(scenario: Scenario) -> set[ConsistencyLevel]:
    return {operation.consistency for operation in scenario.workload.operations.values()}
