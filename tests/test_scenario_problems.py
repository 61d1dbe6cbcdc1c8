"""Contradictions between keys: each is refused in words, and its nearest neighbour that is right is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from capmodel.model.clients import Clients
from capmodel.model.cluster import Cluster
from capmodel.model.errors import ScenarioError
from capmodel.model.load_rules import least_delay_s
from capmodel.model.scenario import Scenario
from capmodel.model.scenario_file import load_scenario
from capmodel.model.scenario_problems import RULES, problems_of

TWO = "cluster={groups: [{nodes: 3}, {nodes: 2, datacenter: dc2}], replication: {factor: {dc1: 3, dc2: 2}}}"
READS = "workload.operations={read: {share: 1, consistency: %s}}"
WRITES = "workload.operations={write: {share: 1, consistency: %s}}"
RF = "cluster.replication.factor="
RETRY = "cluster.table.speculative_retry"

# overrides that contradict each other; the key that is named; words of what would be right; what mends it
CASES: list[tuple[list[str], str, str, list[str]]] = [
    (["cluster.nodes=3", f"{RF}4"], "cluster.replication.factor", "at most 3", [f"{RF}3"]),
    ([TWO, f"{RF}3"], "cluster.replication.factor", "in datacenter 'dc2'", [f"{RF}2"]),
    ([TWO, f"{RF}{{dc1: 3, dc3: 1}}"], "cluster.replication.factor.dc3", "there is dc1, dc2", [f"{RF}{{dc1: 3}}"]),
    ([f"{RF}{{dc1: 0}}"], "cluster.replication.factor", "at least one replica", [f"{RF}{{dc1: 1}}"]),
    (
        ["cluster.replication={strategy: SimpleStrategy, factor: {dc1: 3}}"],
        "cluster.replication.factor",
        "one number",
        [f"{RF}3"],
    ),
    (
        [TWO, "cluster.replication={strategy: SimpleStrategy, factor: 6}"],
        "cluster.replication.factor",
        "at most 5",
        [f"{RF}5"],
    ),
    (["cluster.nodes=2", "cluster.racks=3"], "cluster.racks", "at most 2", ["cluster.racks=2"]),
    (["cluster.groups=[{nodes: 3}]", "cluster.racks=2"], "cluster.racks", "its own racks", ["cluster.racks=1"]),
    (["cluster.groups=[{nodes: 3}]", "cluster.nodes=3"], "cluster.nodes", "not both", ["cluster.groups=[]"]),
    (["cluster.nodes="], "cluster.nodes", "a number of nodes", ["cluster.nodes=1"]),
    (
        ["cluster.groups=[{nodes: 4096}, {nodes: 4096}]"],
        "cluster.groups",
        "at most 4096",
        ["cluster.groups=[{nodes: 30}, {nodes: 40}]"],
    ),
    ([f"{RF}1", READS % "TWO"], "workload.operations.read.consistency", "needs 2", [f"{RF}2"]),
    ([f"{RF}2", WRITES % "THREE"], "workload.operations.write.consistency", "needs 3", [f"{RF}3"]),
    ([READS % "ANY"], "workload.operations.read.consistency", "writes only", [WRITES % "ANY"]),
    (
        [TWO, f"{RF}{{dc1: 3}}", "clients.datacenter=dc2", READS % "LOCAL_ONE"],
        "workload.operations.read.consistency",
        "0 replicas",
        ["clients.datacenter=dc1"],
    ),
    (
        ["cluster.version=2.2", READS % "EACH_QUORUM"],
        "workload.operations.read.consistency",
        "from 3.0",
        ["cluster.version=3.0"],
    ),
    (
        ["workload.operations={read: {share: 0.5}, write: {share: 0.4}}"],
        "workload.operations",
        "add up to 0.9",
        ["workload.operations={read: {share: 0.6}, write: {share: 0.4}}"],
    ),
    (
        ["workload.operations={read: , write: }"],
        "workload.operations",
        "read, write, or both",
        ["workload.operations={read: {share: 1}}"],
    ),
    (
        ["cluster.num_tokens=1", "cluster.tokens=[[1], [2]]"],
        "cluster.tokens",
        "3 nodes",
        ["cluster.tokens=[[1], [2], [3]]"],
    ),
    (
        ["cluster.num_tokens=1", "cluster.tokens=[[1], [2], [1]]"],
        "cluster.tokens[2]",
        "node 0 holds this one",
        ["cluster.tokens=[[1], [2], [3]]"],
    ),
    (
        ["cluster.num_tokens=1", f"cluster.tokens=[[1], [2], [{2**63}]]"],
        "cluster.tokens[2]",
        "2^63 - 1",
        [f"cluster.tokens=[[1], [2], [{2**63 - 1}]]"],
    ),
    (["cluster.tokens=[[1], [2], [3]]"], "cluster.num_tokens", "1, as many as node 0", ["cluster.num_tokens=1"]),
    (
        ["cluster.ownership=[100, 100, 90]"],
        "cluster.ownership",
        "300 %, that is 100 % × RF 3",
        ["cluster.ownership=[100, 100, 100]"],
    ),
    (["cluster.ownership=[100, 100]"], "cluster.ownership", "3 nodes", ["cluster.ownership=[100, 100, 100]"]),
    (
        [
            "cluster.replication.factor=1",
            "cluster.num_tokens=1",
            "cluster.ownership=[40, 30, 30]",
            f"cluster.tokens=[[{-(2**63)}], [0], [{2**62}]]",
        ],
        "cluster.ownership[1]",
        "50.0 %, as its tokens have it",
        ["cluster.ownership=[25, 50, 25]"],
    ),
    (["clients.coordinators=[0, 3]"], "clients.coordinators", "nodes 0 … 2", ["clients.coordinators=[0, 2]"]),
    (["clients.coordinators=[-1]"], "clients.coordinators", "nodes 0 … 2", ["clients.coordinators=[1]"]),
    (["clients.datacenter=dc9"], "clients.datacenter", "one of dc1", ["clients.datacenter=dc1"]),
    (
        [TWO, "clients={datacenter: dc1, coordinators: [0, 4]}"],
        "clients.coordinators",
        "nodes of dc1",
        ["clients.coordinators=[0, 2]"],
    ),
    (
        ["clients={in_flight: 3, in_flight_per_node: 4}"],
        "clients.in_flight_per_node",
        "give one of",
        ["clients.in_flight_per_node="],
    ),
    (["clients={in_flight: 3, rate: 4}"], "clients.rate", "not with in_flight", ["clients.in_flight="]),
    (["clients.in_flight_per_node="], "clients.in_flight", "one of", ["clients.in_flight=1"]),
    (["clients={rate: 4, think_time: 1s}"], "clients.think_time", "0 with a rate", ["clients.think_time=0"]),
    (["clients={in_flight: 4, max_in_flight: 5}"], "clients.max_in_flight", "only with", ["clients.max_in_flight="]),
    (["clients={rate: 5100/s, max_in_flight: 1}", f"{RF}1"], "clients.rate", "at most 5,000/s", ["clients.rate=4900"]),
    (["hardware={ram: 9GiB, heap: 8GiB, off_heap: 2GiB}"], "hardware.heap", "10 GiB of 9 GiB", ["hardware.ram=10GiB"]),
    (
        ["cluster.groups=[{nodes: 3, hardware: {ram: 4GiB}}]"],
        "cluster.groups[0].hardware.heap",
        "of 4 GiB",
        ["cluster.groups=[{nodes: 3, hardware: {ram: 4GiB, heap: 1GiB}}]"],
    ),
    (
        ["hardware.cpu_quota={cores: 2, cpus: 1}"],
        "hardware.cpu_quota.cores",
        "at most 1",
        ["hardware.cpu_quota.cpus=2"],
    ),
    (["hardware.cpu_quota={cores: 2, cpus: 9}"], "hardware.cpu_quota.cpus", "at most 8", ["hardware.cores=9"]),
    (
        ["hardware={cpu_quota: {cores: 1}, shared: {nodes_per_host: 3, cores: 2}}"],
        "hardware.cpu_quota",
        "not modelled",
        ["hardware.cpu_quota="],
    ),
    *(
        ([f"{RETRY}={rule}"], RETRY, "99p", [f"{RETRY}={near}"])
        for rule, near in (
            ("p99", "99p"),
            ("0p", "0.1p"),
            ("100p", "99.9percentile"),
            ("'50'", "50ms"),
            ("SOMETIMES", "ALWAYS"),
            ("'-5ms'", "5ms"),
            ("MIN(99p,50ms)", "none"),
        )
    ),
    (["cluster.version=6.7"], "cluster.version", "5.0", ["cluster.version=5.0.6"]),
    (["cluster.version=latest"], "cluster.version", "0.6", ["cluster.version=0.6"]),
    (
        ["cluster.version=4.1", "cluster.table.compaction=UCS"],
        "cluster.table.compaction",
        "came with 5.0",
        ["cluster.version=5.0"],
    ),
    (
        ["cluster.table.read_repair_chance=0.1"],
        "cluster.table.read_repair_chance",
        "from 4.0",
        ["cluster.version=3.11"],
    ),
    (
        ["cluster.version=3.11", "cluster.settings.commitlog_sync=group"],
        "cluster.settings.commitlog_sync",
        "came with 4.0",
        ["cluster.version=4.0"],
    ),
    (
        ["cluster.settings.concurrent_read=9"],
        "cluster.settings.concurrent_read",
        "did you mean concurrent_reads?",
        ["cluster.settings={concurrent_reads: 9, concurrent_read: }"],
    ),
    *(
        ([f"cluster.settings.{name}={wrong}"], f"cluster.settings.{name}", "", [f"cluster.settings.{name}={right}"])
        for name, wrong, right in (
            ("concurrent_reads", "many", "32"),
            ("concurrent_writes", "0", "1"),
            ("native_transport_max_threads", "true", "128"),
            ("commitlog_sync", "often", "batch"),
            ("read_request_timeout", "5 parsecs", "5s"),
            ("write_request_timeout_in_ms", "2s", "2000"),
        )
    ),
    (
        ["workload={partitions: 10, popularity: {kind: hot_set, hot_partitions: 11}}"],
        "workload.popularity.hot_partitions",
        "at most 10",
        ["workload.partitions=11"],
    ),
]


@pytest.mark.parametrize(("overrides", "key", "right", "mended"), CASES, ids=[str(case[0])[:60] for case in CASES])
def test_each_contradiction_is_one_problem_and_mends(
    overrides: list[str], key: str, right: str, mended: list[str]
) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario("default", overrides)
    (problem,) = caught.value.problems
    assert problem.key == key and right in problem.right
    load_scenario("default", [*overrides, *mended])


@pytest.mark.parametrize("level", ["ONE", "QUORUM", "LOCAL_QUORUM", "LOCAL_ONE", "EACH_QUORUM", "ALL", "TWO"])
@pytest.mark.parametrize("strategy", ["SimpleStrategy", "NetworkTopologyStrategy"])
def test_levels_that_cassandra_accepts_are_accepted(level: str, strategy: str) -> None:
    replication = f"cluster.replication={{strategy: {strategy}, factor: 2}}"
    scenario = load_scenario("default", [replication, READS % level])
    assert scenario.workload.operations["read"].consistency == level


@pytest.mark.parametrize(
    ("key", "wrong", "right"),
    [
        ("workload.cache_hit", "1.1", "1"),
        ("workload.absent_keys", "-0.1", "0"),
        ("cluster.table.digest_mismatch", "2", "0.5"),
        ("cluster.nodes", "0", "1"),
        ("cluster.nodes", "1000000000", "4096"),
        ("cluster.num_tokens", "0", "1"),
        ("hardware.cores", "1000000", "1024"),
        ("hardware.ram", "1EiB", "1TiB"),
        ("workload.partitions", "1e40", "1000"),
        ("clients.rate", "-5/s", "5/s"),
        ("clients.rate", "1e12/s", "1e6/s"),
        ("hardware.hops.client", "1h", "1s"),
    ],
)
def test_absurd_sizes_are_refused(key: str, wrong: str, right: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario("default", [f"{key}={wrong}"])
    assert {problem.key for problem in caught.value.problems} == {key}
    load_scenario("default", [f"{key}={right}"])


def test_contradictions_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "cluster:\n  nodes: 2\n  version: '9.9'\n  replication: {factor: 3}\n"
        "hardware:\n  heap: 64GiB\n"
        "workload:\n  operations:\n    read: {share: 0.5}\n    write: {share: 0.6}\n"
        "clients:\n  in_flight: 4\n  rate: 5\n"
    )
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    lines = {problem.key: problem.line for problem in caught.value.problems}
    assert lines == {
        "cluster.replication.factor": 4,
        "cluster.version": 3,
        "hardware.heap": 6,
        "workload.operations": 8,
        "clients.rate": 13,
    }


def test_the_least_time_under_way_is_that_of_the_messages() -> None:
    """Two client messages of 100 µs; half of the requests (writes at TWO) wait for a round trip of 2 × 15 µs."""
    mix = "workload.operations={read: {share: 0.5, consistency: ONE}, write: {share: 0.5, consistency: TWO}}"
    scenario = load_scenario("default", [mix])
    assert least_delay_s(scenario) == pytest.approx(200e-6 + 0.5 * 30e-6)
    on_nodes = load_scenario("default", [mix, "clients.placement=on-nodes"])
    assert least_delay_s(on_nodes) == pytest.approx(0.5 * 30e-6)


def test_a_sound_scenario_has_no_problems_and_a_bare_one_is_sound_but_for_its_load() -> None:
    assert problems_of(load_scenario("default")) == []
    bare = Scenario(cluster=Cluster(nodes=3))
    assert [problem.key for problem in problems_of(bare)] == ["clients.in_flight"]
    assert problems_of(bare.model_copy(update={"clients": Clients(in_flight=5)})) == []


def test_a_rule_waits_for_the_keys_it_reads() -> None:
    twice = load_scenario("default").model_copy(update={"cluster": Cluster(nodes=2)})
    assert [problem.key for problem in problems_of(twice)] == ["cluster.replication.factor"]
    assert problems_of(twice, {("cluster", "nodes")}) == []
    assert problems_of(twice, {("hardware", "cores")}) != []


def test_rules_read_keys_that_exist() -> None:
    document = Scenario.model_json_schema()
    for key in {key for rule in RULES for key in rule.reads}:
        section, name, *_ = key.split(".")
        assert name in document["$defs"][section.capitalize()]["properties"]
