"""The nodes' own counters, by their virtual tables: what they did over a run, each node asked itself.

Which tables there are is found at run time (Cassandra has them since 4.0, each version more). Of a table, the columns
that only grow are taken; a name is `table.key.column`. Settings are read once. A node that does not answer is left
out, and a counter that fell (the node was restarted) counts from nothing.

Source: the classes of `org.apache.cassandra.db.virtual`, for which column counts and which is a present value.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...model.errors import RunError
from ...model.measurement import Fact
from .console import Console, FoundNode, Row

KEYSPACE = "system_views"
TABLES = f"SELECT keyspace_name, table_name FROM system_virtual_schema.tables WHERE keyspace_name = '{KEYSPACE}'"
WANTED: Mapping[str, tuple[str, ...]] = {
    "thread_pools": ("name",),
    "coordinator_read_latency": ("keyspace_name", "table_name"),
    "coordinator_write_latency": ("keyspace_name", "table_name"),
    "coordinator_scan_latency": ("keyspace_name", "table_name"),
    "local_read_latency": ("keyspace_name", "table_name"),
    "local_write_latency": ("keyspace_name", "table_name"),
    "local_scan_latency": ("keyspace_name", "table_name"),
    "internode_inbound": ("address",),
    "internode_outbound": ("address",),
    "caches": ("name",),
}
"""Tables that count, with the columns that name their rows."""
_PRESENT = ("active", "pending", "using", "entry", "capacity", "size", "recent", "scheduled")
"""Beginnings of columns that are present values although their names end as counts do."""
_GROWING = ("count", "bytes", "nanos", "completed_tasks", "blocked_tasks_all_time", "attempts", "recovered")
"""Ends of columns that only grow."""
SETTINGS = (
    "cluster_name",
    "commitlog_sync",
    "concurrent_reads",
    "concurrent_writes",
    "disk_access_mode",
    "dynamic_snitch",
    "endpoint_snitch",
    "hinted_handoff_enabled",
    "memtable_allocation_type",
    "native_transport_max_threads",
    "num_tokens",
    "partitioner",
    "read_request_timeout",
    "write_request_timeout",
)
"""Settings that change what a request does or costs; none of them can hold a secret."""


@dataclass(frozen=True)
class Sweep:
    """The counters of all nodes at one time."""

    at_s: float
    counters: Mapping[str, Mapping[str, float]]
    """By address, then by name."""


def sweep(console: Console, tables: Iterable[str] | None = None) -> Sweep:
    """Ask every node that is up for its counters.

    Args:
        console: asks the nodes.
        tables: those wanted, which are known to be there; all that there are when not given.
    """
    began_s = time.monotonic()
    counters = {node.address: dict(_counters(console, node, tables)) for node in console.nodes if node.up}
    return Sweep((began_s + time.monotonic()) / 2, {name: found for name, found in counters.items() if found})


def _counters(console: Console, node: FoundNode, tables: Iterable[str] | None) -> Iterator[tuple[str, float]]:
    try:
        for table in sorted(_found(console, node) if tables is None else tables):
            for row in console.ask(f"SELECT * FROM {KEYSPACE}.{table}", node.address):
                yield from _growing(table, row)
    except RunError:
        return  # it has no virtual tables, or went away


def _found(console: Console, node: FoundNode) -> set[str]:
    return {str(row["table_name"]) for row in console.ask(TABLES, node.address)} & set(WANTED)


def _growing(table: str, row: Row) -> Iterator[tuple[str, float]]:
    keys = WANTED[table]
    name = ".".join(str(row[key]) for key in keys if key in row)
    for column, value in row.items():
        if column not in keys and isinstance(value, int | float) and is_growing(column):
            yield f"{table}.{name}.{column}", float(value)


def is_growing(column: str) -> bool:
    """Return whether a column of a virtual table only grows.

    >>> is_growing("sent_count"), is_growing("pending_count"), is_growing("p99th_ms")
    (True, False, False)
    """
    return column.endswith(_GROWING) and not column.startswith(_PRESENT)


def differences(before: Sweep, after: Sweep) -> dict[str, dict[str, float]]:
    """Return how much each counter grew, by address; those that did not are left out."""
    grown = {
        address: {
            name: value - start if value >= (start := before.counters.get(address, {}).get(name, 0.0)) else value
            for name, value in counters.items()
        }
        for address, counters in after.counters.items()
    }
    return {address: {name: value for name, value in found.items() if value} for address, found in grown.items()}


def messages(grown: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return the internode messages by sender and receiver, from the senders' counters."""
    found: dict[str, dict[str, float]] = {}
    for sender, counters in grown.items():
        for name, value in counters.items():
            table, _, rest = name.partition(".")
            if table == "internode_outbound" and rest.endswith(".sent_count"):
                found.setdefault(sender, {})[rest.removesuffix(".sent_count")] = value
    return found


def settings(console: Console, node: FoundNode) -> dict[str, Fact]:
    """Return the settings of a node that matter, as far as it tells them."""
    try:
        rows = console.ask(f"SELECT name, value FROM {KEYSPACE}.settings", node.address)
    except RunError:
        return {}
    return {str(row["name"]): str(row["value"]) for row in rows if row["name"] in SETTINGS}
