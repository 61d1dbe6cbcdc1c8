"""Table, keyspace and mark: what is made, what is used again, what is left alone, on a pretended cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from capmodel.live.load.access import Access
from capmodel.live.load.console import SCHEMA_VERSION, FoundNode, Row, wait_for_agreement
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.requests import Batches, mix_of, request_stream
from capmodel.live.load.schema import keyspace_name, make_keyspace, make_table, mark_loaded, table_of
from capmodel.live.load.session import Done, Statement, Values
from capmodel.live.load.site import approach_of, check_nodes, replication_of
from capmodel.live.load.table import LoadTable, Mark, RowPool
from capmodel.live.load.worker import Fill
from capmodel.model.errors import InputError, RunError, ScenarioError
from capmodel.model.scenario import Scenario
from capmodel.model.scenario_file import load_scenario

RF_2 = {"class": "NetworkTopologyStrategy", "dc1": "2"}
FORBIDDEN = re.compile(r"\b(DROP|TRUNCATE|DELETE)\b", re.IGNORECASE)


class PretendedCluster:
    """Keeps keyspaces and comments of tables as Cassandra's schema tables do."""

    def __init__(self, versions: Sequence[Sequence[str]] = (("a", "a"),)) -> None:
        self.nodes = [FoundNode("10.0.0.1", "dc1"), FoundNode("10.0.0.2", "dc1")]
        self.keyspaces: dict[str, dict[str, str]] = {}
        self.tables: dict[str, str] = {}
        self.asked: list[str] = []
        self._versions = list(versions)

    def ask(self, cql: str, address: str | None = None) -> Sequence[Row]:
        self.asked.append(cql)
        if cql == SCHEMA_VERSION:
            version = self._versions[0][[node.address for node in self.nodes].index(str(address))]
            if address == self.nodes[-1].address and len(self._versions) > 1:
                self._versions.pop(0)
            return [{"schema_version": version}]
        if match := re.match(r"SELECT replication .* keyspace_name = '(\w+)'", cql):
            return [{"replication": self.keyspaces[match[1]]}] if match[1] in self.keyspaces else []
        if match := re.match(r"SELECT comment .* = '(\w+)' AND table_name = '(\w+)'", cql):
            name = f"{match[1]}.{match[2]}"
            return [{"comment": self.tables[name]}] if name in self.tables else []
        if match := re.match(r"CREATE KEYSPACE (\w+) WITH replication = \{(.*)\}", cql):
            self.keyspaces[match[1]] = dict(re.findall(r"'(\w+)': '(\w+)'", match[2]))
        if match := re.match(r"(?:CREATE|ALTER) TABLE ([\w.]+).*comment = '(.*)'$", cql):
            self.tables[match[1]] = match[2].replace("''", "'")
        return []


@pytest.fixture
def cluster() -> PretendedCluster:
    return PretendedCluster()


def scenario(*changes: str) -> Scenario:
    return load_scenario("default", ["cluster.nodes=2", "cluster.replication.factor=2", *changes])


def table(*changes: str, **plan: Any) -> LoadTable:
    return table_of(scenario(*changes), LoadPlan(**plan), RF_2)


def test_a_table_is_made_with_a_mark_and_found_again(cluster: PretendedCluster) -> None:
    wanted = table()
    assert make_table(cluster, wanted).loaded == 0
    mark_loaded(cluster, wanted, 500)
    made = sum(cql.startswith("CREATE TABLE") for cql in cluster.asked)
    assert (make_table(cluster, wanted).loaded, made) == (500, 1)


@pytest.mark.parametrize("comment", ["", "the customers of the shop", '{"made_by": "somebody else"}', "[1]", "null"])
def test_a_table_of_somebody_else_is_left_alone(cluster: PretendedCluster, comment: str) -> None:
    wanted = table()
    cluster.tables[wanted.full_name] = comment
    with pytest.raises(InputError, match="was not made by capmodel; it is left alone"):
        make_table(cluster, wanted)
    assert all(cql.startswith("SELECT") for cql in cluster.asked)


def test_a_table_of_ours_for_other_rows_is_refused(cluster: PretendedCluster) -> None:
    make_table(cluster, table(table="mine"))
    with pytest.raises(InputError, match=r"made for other rows \(columns 5 not 9\)"):
        make_table(cluster, table("workload.columns=9", table="mine"))


def test_nothing_is_ever_dropped(cluster: PretendedCluster) -> None:
    make_keyspace(cluster, "k", RF_2)
    make_table(cluster, table())
    mark_loaded(cluster, table(), 10)
    assert not [cql for cql in cluster.asked if FORBIDDEN.search(cql)]
    assert FORBIDDEN.search("drop table k.t"), "negative control"


def test_a_keyspace_of_another_replication_is_refused(cluster: PretendedCluster) -> None:
    cluster.keyspaces["k"] = {"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "2"}
    make_keyspace(cluster, "k", RF_2)
    with pytest.raises(InputError, match=r"dc1 2, the scenario wants .* dc1 3"):
        make_keyspace(cluster, "k", {**RF_2, "dc1": "3"})
    assert not any(cql.startswith("CREATE") for cql in cluster.asked)


def test_agreement_is_waited_for() -> None:
    cluster = PretendedCluster([("a", "b"), ("a", "b"), ("b", "b")])
    waits: list[float] = []
    wait_for_agreement(cluster, sleep=waits.append)
    assert len(waits) == 2
    with pytest.raises(RunError, match=r"do not agree .* \(a: 10.0.0.1; b: 10.0.0.2\)"):
        wait_for_agreement(PretendedCluster([("a", "b")]), limit_s=0.0, sleep=waits.append)


def test_unlike_tables_have_unlike_names() -> None:
    names = [
        table().name,
        table("workload.columns=6").name,
        table("workload.column_size=35").name,
        table("workload.rows_per_partition=3").name,
        table("cluster.table.compaction=LCS").name,
        table(table_options={"compaction": "{'class': 'UnifiedCompactionStrategy'}"}).name,
    ]
    assert names[0] == "c5x34" and len(set(names)) == len(names)
    assert len({keyspace_name(RF_2), keyspace_name({**RF_2, "dc1": "3"}), keyspace_name({**RF_2, "dc2": "2"})}) == 3


@pytest.mark.parametrize("name", ["", "T", "1t", "t;drop table x", "a" * 49])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="small letters"):
        table_of(scenario(), LoadPlan(table=name or "-"), RF_2)


def test_options_of_the_scenario_are_those_of_the_table() -> None:
    made = table("cluster.table.speculative_retry=NONE", "cluster.table.compression_chunk=4KiB").create_cql
    cql = made(Mark.of(table()))
    assert "speculative_retry = 'NONE'" in cql and "'chunk_length_in_kb': 4" in cql


def test_rows_are_the_same_for_the_same_seed_and_do_not_repeat_nearby() -> None:
    first, again = RowPool(table()), RowPool(table())
    rows = [first.values(partition) for partition in range(1_000)]
    assert rows == [again.values(partition) for partition in range(1_000)]
    assert len(set(rows)) == 1_000
    assert {len(cell) for row in rows for cell in row} == {34}


def test_replication_follows_the_datacenters_that_are_there() -> None:
    nodes = [FoundNode("10.0.0.1", "east"), FoundNode("10.0.0.2", "east"), FoundNode("10.0.0.3", "west")]
    one = scenario("cluster.nodes=3", "cluster.replication.factor=1").cluster
    assert replication_of(one, nodes) == {"class": "NetworkTopologyStrategy", "east": "1", "west": "1"}
    with pytest.raises(ScenarioError, match="west has 1 nodes"):
        replication_of(scenario("cluster.nodes=3").cluster, nodes)
    with pytest.raises(ScenarioError, match=r"set cluster\.nodes=3"):
        check_nodes(scenario(), nodes)


def test_coordinators_are_numbered_by_address() -> None:
    nodes = PretendedCluster().nodes
    access = Access(("10.0.0.2",))
    chosen = approach_of(scenario("clients.coordinators=[1]"), LoadPlan(), access, nodes)
    assert chosen.coordinators == ("10.0.0.2",)
    named = approach_of(scenario(), LoadPlan(coordinators=("10.0.0.1",)), access, nodes)
    assert (named.coordinators, named.datacenter) == (("10.0.0.1",), None)
    with pytest.raises(ScenarioError, match="nodes of the cluster"):
        approach_of(scenario(), LoadPlan(coordinators=("10.9.9.9",)), access, nodes)
    with pytest.raises(ScenarioError, match="one of dc1"):
        approach_of(scenario(), LoadPlan(), Access(("10.0.0.2",), datacenter="dc7"), nodes)


class DeafSession:
    """Prepares and sends nothing."""

    def prepare(self, statement: Statement) -> Statement:
        return statement

    def send(self, handle: Statement, values: Values, done: Done) -> None:
        raise NotImplementedError


def test_every_row_of_every_partition_is_loaded_once() -> None:
    wide = table("workload.rows_per_partition=3")
    parts = [Fill(wide, 10, 17, processes=2).requests(DeafSession(), part) for part in range(2)]
    keys = [request.values[:2] for part in parts for request in part]
    assert sorted(keys) == [wide.row_key(partition, row) for partition in range(10, 17) for row in range(3)]


def test_absent_keys_lie_beyond_those_that_exist() -> None:
    import numpy as np

    absent = scenario("workload.absent_keys=0.5", "workload.partitions=100").workload
    mix = mix_of(absent, table(), table(), Batches())
    stream = request_stream(mix, DeafSession(), table(), absent, np.random.default_rng(1))
    seen = [next(stream) for _ in range(4_000)]
    asked = [request for request in seen if request.operation == "read"]
    reads = [(request.finds, int.from_bytes(request.values[0], "big")) for request in asked]
    assert all((partition < 100) == finds for finds, partition in reads)
    assert abs(np.mean([finds for finds, _ in reads]) - 0.5) < 4 * np.sqrt(0.25 / len(reads))


def test_a_batch_holds_rows_of_one_partition() -> None:
    import numpy as np

    wide = table("workload.rows_per_partition=20")
    workload = scenario("workload.rows_per_partition=20").workload
    mix = mix_of(workload, wide, wide, Batches(share=1.0, rows=4))
    stream = request_stream(mix, DeafSession(), wide, workload, np.random.default_rng(1))
    batch = next(request for request in stream if request.operation == "batch")
    assert len(batch.values) == 4
    assert len({row[0] for row in batch.values}) == 1 and len({row[1] for row in batch.values}) == 4
