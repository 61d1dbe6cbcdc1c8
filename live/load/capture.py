"""A scenario from a live cluster: what it says of itself, by statements that only read.

Version, nodes by datacenter and rack, tokens, replication, table options, settings and sizes are read; the operation
mix is what coordinators have counted since they were started. Consistency levels, clients and hardware are not to be
had from a cluster: the scenario keeps the defaults there, and `Captured.missing` names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from ...model.cluster import Snitch
from ...model.errors import InputError, RunError
from ...model.scenario import Scenario
from ...model.scenario_file import load_scenario
from ...model.setting_rules import RULES
from .console import Console, Row
from .counters import KEYSPACE
from .observation import OPERATIONS, SYSTEM
from .schema import STRATEGIES

MISSING = ("hardware", "clients", "consistency levels", "workload.popularity", "workload.rows_per_partition")
"""What a cluster does not say."""
_KINDS = {"read": "read", "scan": "read", "write": "write"}


@dataclass(frozen=True)
class Captured:
    """A scenario, and what it could not be told."""

    scenario: Scenario
    missing: tuple[str, ...]


def capture(console: Console, keyspace: str | None = None, table: str | None = None) -> Captured:
    """Return the scenario of a cluster and one of its tables.

    Args:
        console: asks the cluster.
        keyspace: of the table; that of the busiest table when not given.
        table: the busiest of the keyspace when not given.

    Raises:
        InputError: there is no such table, or none of a user.
    """
    counts = dict(_requests(console))
    place = _chosen(_tables(console), counts, keyspace, table)
    rows = sorted(_members(console), key=lambda row: ip_address(str(row["address"])))
    cluster = {
        **_cluster(_dealt(rows)),
        "replication": _replication(console, place[0]),
        "table": _table(console, *place),
        **_settings(console),
    }
    workload, missing = _workload(console, place, counts)
    usual = load_scenario("default").model_dump(exclude_none=True, exclude={"cluster"})
    usual["workload"] |= workload
    names = {"name": "-".join(place), "title": f"Captured from {'.'.join(place)}"}
    return Captured(Scenario.model_validate({**usual, **names, "cluster": cluster}), (*MISSING, *missing))


def _requests(console: Console) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Yield the requests since the nodes were started, by keyspace, table and kind, of all coordinators."""
    found: dict[tuple[str, str, str], float] = {}
    for node in console.nodes:
        for view, operation in OPERATIONS.items() if node.up else ():
            for row in console.ask(f"SELECT keyspace_name, table_name, count FROM {KEYSPACE}.{view}", node.address):
                key = (str(row["keyspace_name"]), str(row["table_name"]), _KINDS[operation])
                found[key] = found.get(key, 0.0) + float(row["count"])
    yield from found.items()


def _tables(console: Console) -> list[tuple[str, str]]:
    rows = console.ask("SELECT keyspace_name, table_name FROM system_schema.tables")
    places = ((str(row["keyspace_name"]), str(row["table_name"])) for row in rows)
    return sorted(place for place in places if not place[0].startswith(SYSTEM))


def _chosen(
    tables: Sequence[tuple[str, str]],
    counts: Mapping[tuple[str, str, str], float],
    keyspace: str | None,
    table: str | None,
) -> tuple[str, str]:
    """Return the table that is asked for, or the busiest of those that could be meant."""
    meant = [place for place in tables if keyspace in (None, place[0]) and table in (None, place[1])]
    if not meant:
        known = ", ".join(".".join(place) for place in tables) or "none of a user"
        raise InputError(f"the cluster has no table {keyspace or '*'}.{table or '*'}; it has {known}")
    return max(meant, key=lambda place: sum(counts.get((*place, kind), 0.0) for kind in ("read", "write")))


def _members(console: Console) -> Iterator[Row]:
    """Yield address, datacenter, rack, version and tokens of each node, told by one of them."""
    first = console.nodes[0].address
    columns = "data_center, rack, release_version, tokens"
    for row in console.ask(f"SELECT rpc_address AS address, {columns} FROM system.local", first):
        yield row
    for row in console.ask(f"SELECT rpc_address AS address, {columns} FROM system.peers", first):
        yield row


def _dealt(rows: Sequence[Row]) -> list[Row]:
    """Return the nodes by datacenter, racks in turn, which is the order in which a scenario numbers them."""
    ordered: list[Row] = []
    for datacenter in sorted({str(row["data_center"]) for row in rows}):
        within = [row for row in rows if row["data_center"] == datacenter]
        names = sorted({str(row["rack"]) for row in within})
        racks = [[row for row in within if row["rack"] == name] for name in names]
        for turn in range(max(map(len, racks))):
            ordered += [rack[turn] for rack in racks if turn < len(rack)]
    return ordered


def _cluster(nodes: Sequence[Row]) -> dict[str, Any]:
    datacenters = dict.fromkeys(str(row["data_center"]) for row in nodes)
    tokens = [sorted(int(token) for token in row["tokens"]) for row in nodes]
    groups = [_group(name, [row for row in nodes if row["data_center"] == name]) for name in datacenters]
    version = _major_minor(str(nodes[0]["release_version"]))
    return {"version": version, "groups": groups, "num_tokens": len(tokens[0]), "tokens": tokens}


def _group(datacenter: str, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "nodes": len(rows),
        "datacenter": datacenter,
        "racks": len({row["rack"] for row in rows}),
        "num_tokens": len(rows[0]["tokens"]),
    }


def _major_minor(version: str) -> str:
    """Return a version as the version table has it.

    >>> _major_minor("4.1.3-SNAPSHOT")
    '4.1'
    """
    return ".".join(version.split("-")[0].split(".")[:2])


def _replication(console: Console, keyspace: str) -> dict[str, Any]:
    query = f"SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '{keyspace}'"
    found = dict(console.ask(query)[0]["replication"])
    strategy = str(found.pop("class")).rpartition(".")[2]
    if strategy == "SimpleStrategy":
        return {"strategy": strategy, "factor": int(found["replication_factor"])}
    return {"strategy": strategy, "factor": {name: int(factor) for name, factor in found.items()}}


def _table(console: Console, keyspace: str, table: str) -> dict[str, Any]:
    where = f"keyspace_name = '{keyspace}' AND table_name = '{table}'"
    row = console.ask(f"SELECT speculative_retry, compaction, compression FROM system_schema.tables WHERE {where}")[0]
    names = {long: short for short, long in STRATEGIES.items()}
    strategy = names.get(str(row["compaction"].get("class", "")).rpartition(".")[2], "STCS")
    options: dict[str, Any] = {"speculative_retry": _retry(str(row["speculative_retry"])), "compaction": strategy}
    if chunk := (row["compression"] or {}).get("chunk_length_in_kb"):
        options["compression_chunk"] = int(chunk) * 1024
    return options


def _retry(told: str) -> str:
    """Return a speculative retry as scenarios have it.

    >>> _retry("NEVER"), _retry("99PERCENTILE"), _retry("50.00ms")
    ('NONE', '99p', '50.00ms')
    """
    upper = told.upper()
    if upper in ("NEVER", "NONE"):
        return "NONE"
    return upper if upper == "ALWAYS" else told.lower().replace("percentile", "p")


def _settings(console: Console) -> dict[str, Any]:
    """Return snitch and settings that the model reads, as the first node tells them."""
    try:
        rows = console.ask(f"SELECT name, value FROM {KEYSPACE}.settings", console.nodes[0].address)
    except RunError:
        return {}
    told = {str(row["name"]): str(row["value"]) for row in rows}
    values = {name: _plain(told[name]) for name in RULES if told.get(name) and not name.endswith("_in_ms")}
    usable = {name: value for name, value in values.items() if not RULES[name](value)}
    changes: dict[str, Any] = {"settings": usable}
    snitch = told.get("endpoint_snitch", "").rpartition(".")[2]
    if snitch in set(Snitch):
        changes["snitch"] = snitch
    if "dynamic_snitch" in told:
        changes["dynamic_snitch"] = told["dynamic_snitch"] == "true"
    return changes


def _plain(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _workload(
    console: Console, place: tuple[str, str], counts: Mapping[tuple[str, str, str], float]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return columns, sizes and operation mix, and what of it is not known."""
    columns = _columns(console, *place)
    changes: dict[str, Any] = {"columns": columns}
    missing = []
    partitions, partition_bytes = _sizes(console, *place)
    if partitions:
        changes |= {"partitions": partitions, "column_size": max(1.0, partition_bytes / columns)}
    else:
        missing.append("workload.partitions, workload.column_size (nothing is flushed yet)")
    shares = {kind: counts.get((*place, kind), 0.0) for kind in ("read", "write")}
    asked = sum(shares.values())
    if asked:
        changes["operations"] = {kind: {"share": count / asked} for kind, count in shares.items() if count}
    else:
        missing.append("workload.operations (nothing was asked since the nodes were started)")
    return changes, tuple(missing)


def _columns(console: Console, keyspace: str, table: str) -> int:
    """Return the number of columns that hold values."""
    where = f"keyspace_name = '{keyspace}' AND table_name = '{table}'"
    rows = console.ask(f"SELECT kind FROM system_schema.columns WHERE {where}")
    return max(1, sum(row["kind"] in ("regular", "static") for row in rows))


def _sizes(console: Console, keyspace: str, table: str) -> tuple[int, float]:
    """Return the number of partitions and their mean size, from each node's estimate for its primary ranges."""
    where = f"keyspace_name = '{keyspace}' AND table_name = '{table}'"
    query = f"SELECT mean_partition_size, partitions_count FROM system.size_estimates WHERE {where}"
    rows = [row for node in console.nodes if node.up for row in console.ask(query, node.address)]
    partitions = sum(int(row["partitions_count"]) for row in rows)
    total_bytes = sum(float(row["mean_partition_size"]) * int(row["partitions_count"]) for row in rows)
    return partitions, total_bytes / partitions if partitions else 0.0
