"""What is read from a cluster without a load of ours: a scenario, and some minutes of its own counters."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from capmodel.live.load.capture import capture
from capmodel.live.load.console import FoundNode, Row
from capmodel.live.load.interruption import Interruption
from capmodel.live.load.look import show_nothing
from capmodel.live.load.node_exporter import NodeExporterProbe, machine_use, processors, samples
from capmodel.live.load.node_probe import NodeUse
from capmodel.live.load.observation import observe
from capmodel.model.errors import InputError, RunError
from capmodel.model.scenario import Scenario
from capmodel.model.scenario_file import dump_scenario, load_scenario
from capmodel.model.topology import nodes_of

ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
RACKS = {"10.0.0.1": "b", "10.0.0.2": "a", "10.0.0.3": "b"}
COUNTS = {"coordinator_read_latency": 300, "coordinator_write_latency": 100, "coordinator_scan_latency": 0}


class PretendedCluster:
    """Three nodes in two racks, which count on each time that they are asked; written statements are refused."""

    def __init__(self, virtual: bool = True, sizes: bool = True) -> None:
        self.nodes = [FoundNode(address, "east", RACKS[address], "4.1.3") for address in ADDRESSES]
        self._virtual, self._sizes = virtual, sizes
        self._sweeps = dict.fromkeys(ADDRESSES, 0)

    def ask(self, cql: str, address: str | None = None) -> Sequence[Row]:
        assert cql.startswith("SELECT"), cql
        name = re.search(r"FROM ([\w.]+)", cql)
        assert name is not None
        if name[1].startswith("system_v") and not self._virtual:
            raise RunError("no such keyspace")
        return list(self._rows(name[1], str(address)))

    def _rows(self, name: str, address: str) -> Iterator[dict[str, Any]]:
        if name == "system_virtual_schema.tables":
            self._sweeps[address] += 1
            yield from ({"table_name": table} for table in COUNTS)
        elif name.removeprefix("system_views.") in COUNTS:
            count = COUNTS[name.removeprefix("system_views.")] * max(1, self._sweeps[address])
            yield {"keyspace_name": "shop", "table_name": "t", "count": count, "p99th_ms": 0.004, "per_second": 1.0}
            yield {"keyspace_name": "system", "table_name": "local", "count": 10**6, "p99th_ms": 9.0}
        elif name == "system_views.settings":
            yield {"name": "endpoint_snitch", "value": "org.apache.cassandra.locator.GossipingPropertyFileSnitch"}
            yield {"name": "concurrent_reads", "value": "48"}
            yield {"name": "commitlog_sync_group_window", "value": "0ms"}
            yield {"name": "keystore_password", "value": "hunter2"}
        elif name in ("system.local", "system.peers"):
            yield from self._members(ADDRESSES[:1] if name == "system.local" else ADDRESSES[1:])
        elif name.startswith("system_schema."):
            yield from SCHEMA[name]
        elif name == "system.size_estimates" and self._sizes:
            yield {"mean_partition_size": 200, "partitions_count": 1000}
            yield {"mean_partition_size": 500, "partitions_count": 500}

    def _members(self, addresses: Sequence[str]) -> Iterator[dict[str, Any]]:
        for address in addresses:
            tokens = {str(int(address[-1]) * 1000 + number) for number in range(2)}
            yield {
                "address": address,
                "data_center": "east",
                "rack": RACKS[address],
                "release_version": "4.1.3",
                "tokens": tokens,
            }


SCHEMA: dict[str, list[dict[str, Any]]] = {
    "system_schema.tables": [
        {
            "keyspace_name": "shop",
            "table_name": "t",
            "speculative_retry": "99p",
            "compaction": {"class": "org.apache.cassandra.db.compaction.LeveledCompactionStrategy"},
            "compression": {"chunk_length_in_kb": "32"},
        },
        {"keyspace_name": "system", "table_name": "local"},
    ],
    "system_schema.keyspaces": [
        {"replication": {"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "east": "2"}}
    ],
    "system_schema.columns": [{"kind": "partition_key"}, *[{"kind": "regular"}] * 3],
}


def captured(**cluster: bool) -> Scenario:
    return capture(PretendedCluster(**cluster)).scenario


def test_a_scenario_is_what_the_cluster_says(tmp_path: Any) -> None:
    found = captured()
    assert (found.cluster.version, found.cluster.node_count, found.cluster.num_tokens) == ("4.1", 3, 2)
    assert found.cluster.replication.factor == {"east": 2}
    assert (found.cluster.table.compaction, found.cluster.table.compression_chunk) == ("LCS", 32 * 1024)
    assert found.cluster.settings == {"concurrent_reads": 48}
    shares = {name: operation.share for name, operation in found.workload.operations.items()}
    assert shares == {"read": 0.75, "write": 0.25}
    file = tmp_path / "captured.yaml"
    file.write_text(dump_scenario(found, differences=True))
    assert load_scenario(str(file)).cluster == found.cluster


def test_sizes_are_those_of_all_primary_ranges() -> None:
    """Three nodes with 1000 partitions of 200 bytes and 500 of 500: 4500 of 300 bytes, in three columns."""
    workload = captured().workload
    assert (workload.partitions, workload.columns, workload.column_size) == (4500, 3, 100.0)


def test_tokens_stand_with_their_nodes_and_racks() -> None:
    """Racks are dealt in turn: the node of rack a, then one of b, then the other."""
    found = captured()
    where = [(node.rack, tokens[0] // 1000) for node, tokens in zip(nodes_of(found), found.cluster.tokens, strict=True)]
    assert where == [("rack1", 2), ("rack2", 1), ("rack1", 3)]


def test_what_is_not_known_is_named() -> None:
    assert not any("size" in name for name in capture(PretendedCluster()).missing)
    assert any("column_size" in name for name in capture(PretendedCluster(sizes=False)).missing)


def test_a_table_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"no table shop\.none; it has shop\.t"):
        capture(PretendedCluster(), "shop", "none")


def test_no_secret_is_captured() -> None:
    assert "hunter2" not in dump_scenario(captured())


def test_rates_are_differences_of_two_sweeps() -> None:
    """Each node counts 300 reads and 100 writes more in the second sweep; the system's own are left out."""
    measured = observe(PretendedCluster(), 0.05, Interruption(), show_nothing)
    requests = {name: one.requests for name, one in measured.operations.items()}
    assert requests == {"read shop.t": 900, "write shop.t": 300}
    assert measured.duration_s is not None and measured.duration_s >= 0.05
    assert measured.nodes[0].facts["read shop.t p99_s"] == 0.004
    assert measured.verdict.kind == "not judged"


def test_a_cluster_without_virtual_tables_cannot_be_observed() -> None:
    with pytest.raises(RunError, match=r"from Cassandra 4\.0 on"):
        observe(PretendedCluster(virtual=False), 0.01, Interruption(), show_nothing)


EXPORTED = """# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
node_cpu_seconds_total{cpu="0",mode="idle"} 1000
node_cpu_seconds_total{cpu="0",mode="user"} 10.5
node_cpu_seconds_total{cpu="1",mode="system"} 2.5
node_cpu_seconds_total{cpu="1",mode="iowait"} 7e+01
node_disk_reads_completed_total{device="nvme0n1"} 100
node_disk_reads_completed_total{device="nvme0n1p1"} 99
node_disk_writes_completed_total{device="sda"} 40
node_disk_writes_completed_total{device="dm-0"} 40
"""


def test_an_exporter_tells_work_and_disk_operations_once() -> None:
    found = samples(EXPORTED)
    assert machine_use(found) == NodeUse(cpu_s=13.0, disk_reads=100, disk_writes=40)
    assert processors(found) == 2.0
    assert machine_use(samples("")) == NodeUse()


class Exporter(BaseHTTPRequestHandler):
    """Answers as a node exporter."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(EXPORTED.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_exporters_are_asked_and_missed() -> None:
    with HTTPServer(("127.0.0.1", 0), Exporter) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        assert NodeExporterProbe(["127.0.0.1"], server.server_port).use()["127.0.0.1"].cpu_s == 13.0
    with pytest.raises(RunError, match="no node exporter at"):
        NodeExporterProbe(["127.0.0.1"], 1).use()
