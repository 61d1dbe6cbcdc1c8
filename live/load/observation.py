"""Watching a cluster without any load of ours: what its own counters say of some minutes.

Two sweeps of the virtual tables give the rates per operation and table, as coordinators count them, internode
messages, thread pools and caches. Latencies are those that coordinators tell at the end; they are no client's, and
of a decaying window, and cannot be added over nodes, so they stand with each node.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version

from ...model.errors import RunError
from ...model.measurement import Fact, Measurement, NodeFacts, OperationMeasured, Tool, Verdict
from .conduct import Reader
from .console import Console, FoundNode
from .counters import KEYSPACE, differences
from .interruption import Interruption
from .interval import Interval
from .look import Look, Show
from .memory_session import FACTS
from .node_outcome import cluster_facts, node_facts
from .node_probe import NodeProbe
from .record import Reading, RunRecord
from .run import site_facts

OPERATIONS = {
    "coordinator_read_latency": "read",
    "coordinator_write_latency": "write",
    "coordinator_scan_latency": "scan",
}
"""What each virtual table counts."""
SYSTEM = ("system", "dse_", "solr_")
"""Beginnings of the keyspaces that a cluster keeps for itself."""
_LOOK_S = 1.0
LATENCY_COLUMNS = {"p50th_ms": "p50_s", "p99th_ms": "p99_s", "max_ms": "max_s"}
"""Columns by what they hold: Cassandra 4.0 to 5.0 multiply microseconds by a millionth, so the columns named after
milliseconds hold seconds: under a load whose clients saw 160 ms at p50 and 230 to 400 ms at p99, Cassandra 5.0.6
told 0.152 and 0.455."""
TOOL = "capmodel observe"


def observe(
    console: Console, duration_s: float, interruption: Interruption, show: Show, probe: NodeProbe | None = None
) -> Measurement:
    """Return what a cluster did in a time.

    Raises:
        RunError: its nodes have no virtual tables.
    """
    reader = Reader(console, probe)
    site = site_facts(console, probe)
    before, started_at = reader.read(), datetime.now(UTC).replace(microsecond=0)
    _wait(duration_s, interruption, show)
    after = reader.read()
    if before.sweep is None or after.sweep is None or not after.sweep.counters:
        raise RunError("no node tells its counters; virtual tables are there from Cassandra 4.0 on")
    record = _record(before, after, interruption.asked)
    told = {node.address: dict(latencies(console, node)) for node in console.nodes if node.up}
    return Measurement(
        name="observation",
        tool=Tool(name=TOOL, version=version("capmodel")),
        started_at=started_at,
        duration_s=after.sweep.at_s - before.sweep.at_s,
        ended=record.ended,
        operations=operations_of(differences(before.sweep, after.sweep)),
        nodes=tuple(_with_latencies(node, told.get(node.name, {})) for node in node_facts(record, site)),
        cluster=cluster_facts(replace(record, measured=[]), site),
        verdict=Verdict(reasons=("no load of ours: nothing to judge",)),
        notes=("counted by coordinators; latencies are theirs, of a decaying window, and stand with each node",),
    )


def _wait(duration_s: float, interruption: Interruption, show: Show) -> None:
    end_s = time.monotonic() + duration_s
    while (left_s := end_s - time.monotonic()) > 0 and not interruption.asked:
        show(Look("observing", duration_s - left_s, duration_s))
        time.sleep(min(_LOOK_S, left_s))


def _record(before: Reading, after: Reading, early: bool) -> RunRecord:
    whole = Interval(0, before.at_s, after.at_s, {}, {})
    return RunRecord([], [whole], [], "early" if early else "planned", None, FACTS, span=(before, after))


def operations_of(grown: Mapping[str, Mapping[str, float]]) -> dict[str, OperationMeasured]:
    """Return the requests by operation and table, of all coordinators together; those of the system are left out."""
    found: dict[str, int] = {}
    for counters in grown.values():
        for name, value in counters.items():
            table, _, rest = name.partition(".")
            place, _, column = rest.rpartition(".")
            if table in OPERATIONS and column == "count" and not place.startswith(SYSTEM):
                key = f"{OPERATIONS[table]} {place}"
                found[key] = found.get(key, 0) + round(value)
    return {name: OperationMeasured(requests=requests) for name, requests in sorted(found.items())}


def latencies(console: Console, node: FoundNode) -> Iterator[tuple[str, float]]:
    """Yield the latencies that a coordinator tells, in seconds, of tables that were asked for."""
    for table, operation in OPERATIONS.items():
        try:
            rows = console.ask(f"SELECT * FROM {KEYSPACE}.{table}", node.address)
        except RunError:
            return  # it has no virtual tables, or went away
        for row in rows:
            if row.get("count") and not str(row["keyspace_name"]).startswith(SYSTEM):
                for column, name in LATENCY_COLUMNS.items():
                    if column in row:
                        yield f"{operation} {row['keyspace_name']}.{row['table_name']} {name}", float(row[column])


def _with_latencies(node: NodeFacts, told: Mapping[str, float]) -> NodeFacts:
    facts: dict[str, Fact] = {**node.facts, **told}
    return node.model_copy(update={"facts": facts})
