"""Counters of nodes: found at run time, differenced, restarted nodes, messages less those of an idle cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from capmodel.live.load.buckets import tally
from capmodel.live.load.console import FoundNode, Row
from capmodel.live.load.counters import TABLES, Sweep, differences, is_growing, messages, settings, sweep
from capmodel.live.load.interval import Interval
from capmodel.live.load.memory_session import FACTS
from capmodel.live.load.node_outcome import cluster_facts, node_facts, requests_between
from capmodel.live.load.node_probe import NodeSurroundings, NodeUse, grown
from capmodel.live.load.record import Reading, RunRecord, SiteFacts
from capmodel.model.errors import RunError


class PretendedNode:
    """Answers for virtual tables as two nodes of which the second may be away."""

    def __init__(self, tables: Mapping[str, Sequence[Row]], away: bool = False) -> None:
        self.nodes = [FoundNode("10.0.0.1"), FoundNode("10.0.0.2")]
        self._tables, self._away = tables, away

    def ask(self, cql: str, address: str | None = None) -> Sequence[Row]:
        if self._away and address == "10.0.0.2":
            raise RunError("it went away")
        if cql == TABLES:
            return [{"table_name": name} for name in self._tables]
        name = cql.rpartition(".")[2]
        return self._tables[name]


POOL = {"name": "ReadStage", "active_tasks": 3, "active_tasks_limit": 32, "pending_tasks": 1, "completed_tasks": 70}
LINK = {"address": "10.0.0.2", "port": 7000, "dc": "dc1", "sent_count": 9, "pending_count": 5, "using_bytes": 8}
TABLE = {"keyspace_name": "k", "table_name": "t", "count": 40, "p99th_ms": 1.5, "per_second": 7.0}


def test_only_what_grows_is_taken_and_unknown_tables_are_left() -> None:
    tables = {"thread_pools": [POOL], "internode_outbound": [LINK], "local_read_latency": [TABLE], "clients": []}
    found = sweep(PretendedNode(tables)).counters["10.0.0.1"]
    assert found == {
        "thread_pools.ReadStage.completed_tasks": 70.0,
        "internode_outbound.10.0.0.2.sent_count": 9.0,
        "local_read_latency.k.t.count": 40.0,
    }


@pytest.mark.parametrize(
    ("column", "grows"),
    [
        ("completed_tasks", True),
        ("blocked_tasks_all_time", True),
        ("received_bytes", True),
        ("throttled_nanos", True),
        ("hit_count", True),
        ("connection_attempts", True),
        ("entry_count", False),
        ("size_bytes", False),
        ("scheduled_bytes", False),
        ("active_connections", False),
        ("pending_tasks", False),
        ("p50th_ms", False),
        ("port", False),
    ],
)
def test_columns_that_grow_are_told_from_present_values(column: str, grows: bool) -> None:
    assert is_growing(column) is grows


def test_a_node_that_does_not_answer_is_left_out() -> None:
    assert set(sweep(PretendedNode({"thread_pools": [POOL]}, away=True)).counters) == {"10.0.0.1"}


def test_differences_are_over_the_run_and_a_restarted_node_counts_from_nothing() -> None:
    before = Sweep(0.0, {"a": {"x": 10.0, "same": 5.0}, "b": {"x": 100.0}})
    after = Sweep(1.0, {"a": {"x": 17.0, "same": 5.0}, "b": {"x": 30.0}, "c": {"x": 4.0}})
    assert differences(before, after) == {"a": {"x": 7.0}, "b": {"x": 30.0}, "c": {"x": 4.0}}


def test_messages_are_by_sender_and_receiver() -> None:
    outbound = "internode_outbound.b"
    grew = {"a": {f"{outbound}.sent_count": 3.0, f"{outbound}.sent_bytes": 99.0}, "b": {"caches.x.count": 1.0}}
    assert messages(grew) == {"a": {"b": 3.0}}


def test_only_settings_that_matter_are_kept() -> None:
    rows = [{"name": "concurrent_reads", "value": "32"}, {"name": "keystore_password", "value": "hunter2"}]
    found = settings(PretendedNode({"settings": rows}), FoundNode("10.0.0.1"))
    assert found == {"concurrent_reads": "32"}


def link(count: float) -> dict[str, dict[str, float]]:
    return {"10.0.0.1": {"internode_outbound.10.0.0.2.sent_count": count}}


def record(**changes: Any) -> RunRecord:
    """Return a run of 10 s between readings 20 s apart, after an idle window of 5 s."""
    use = [{"10.0.0.1": NodeUse(cpu_s=cpu_s, disk_reads=reads)} for cpu_s, reads in ((1.0, 0), (9.0, 50))]
    span = (Reading(0.0, Sweep(0.0, link(1000)), use[0]), Reading(20.0, Sweep(20.0, link(5000)), use[1]))
    idle = (Reading(-5.0, Sweep(-5.0, link(900))), Reading(0.0, Sweep(0.0, link(1000))))
    measured = [Interval(0, 0.0, 10.0, {}, {})]
    usual: dict[str, Any] = {"warm_up": [], "measured": measured, "after": [], "ended": "planned", "started_at": None}
    return RunRecord(**{**usual, "backend": FACTS, "span": span, "idle": idle, **changes})


def test_messages_of_an_idle_cluster_are_taken_off() -> None:
    """100 in 5 s of idleness are 400 in the 20 s between the sweeps, of 4000 counted."""
    site = SiteFacts(nodes=[FoundNode("10.0.0.1"), FoundNode("10.0.0.2")])
    with_idle, without = cluster_facts(record(), site), cluster_facts(record(idle=None), site)
    assert with_idle is not None and with_idle.messages == {"10.0.0.1": {"10.0.0.2": 3600.0}}
    assert without is not None and without.messages == {"10.0.0.1": {"10.0.0.2": 4000.0}}
    assert with_idle.facts == {"counters_s": 20.0, "counters_requests": 0.0, "idle_window_s": 5.0}


def test_requests_between_the_sweeps_are_reckoned_by_overlap() -> None:
    """100 requests a second; the sweeps lie at 0.25 s of the first second and 0.5 s after the last."""
    seconds = [Interval(at, float(at), at + 1.0, {"read": tally([0.001] * 100)}, {}) for at in range(4)]
    span = (Reading(0.2, Sweep(0.25, {})), Reading(3.4, Sweep(3.5, {})))
    run = record(warm_up=seconds[:1], measured=seconds[1:3], after=seconds[3:], span=span)
    assert requests_between(run) == pytest.approx(325)


def test_cpu_time_is_that_of_the_measured_time() -> None:
    """8 s in the 20 s between the readings are 4 s in the 10 s measured; a node nobody read has none."""
    site = SiteFacts(
        nodes=[FoundNode("10.0.0.1", "dc1"), FoundNode("10.0.0.2")],
        surroundings={"10.0.0.1": NodeSurroundings(cores=0.4, nodes_on_cores=2)},
    )
    first, second = node_facts(record(), site)
    assert (first.cpu_s, first.disk_reads, first.cores, first.nodes_on_cores) == (4.0, 25, 0.4, 2)
    assert (second.cpu_s, second.cores) == (None, None)


def test_nothing_is_known_of_a_restarted_node() -> None:
    assert grown(NodeUse(cpu_s=5.0, disk_reads=10), NodeUse(cpu_s=1.0, disk_reads=12)) == NodeUse(disk_reads=2)
