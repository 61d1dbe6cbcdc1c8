"""Keyspace and table of a load: named, made when they are not there, never dropped, never changed when not ours.

A keyspace that is there is used when it has the replication that is wanted, and refused otherwise. A table that is
there is used when it has our mark for the same rows (`table.read_mark`).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping

from ...model.cluster import Table
from ...model.errors import InputError, Problem, RunError
from ...model.scenario import Scenario
from .console import Console, wait_for_agreement
from .plan import LoadPlan
from .table import LoadTable, Mark, read_mark

STRATEGIES = {
    "STCS": "SizeTieredCompactionStrategy",
    "LCS": "LeveledCompactionStrategy",
    "TWCS": "TimeWindowCompactionStrategy",
    "UCS": "UnifiedCompactionStrategy",
}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
"""Names that need no quotes; 48 characters at most. Source: CQL documentation, "Data definition"."""
_MOST_COLUMNS = 10_000
"""More columns than any statement should bind; Cassandra's own limit is 65,535 values."""
KEYSPACE = "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '{}'"
TABLE = "SELECT comment FROM system_schema.tables WHERE keyspace_name = '{}' AND table_name = '{}'"


def table_of(scenario: Scenario, plan: LoadPlan, replication: Mapping[str, str]) -> LoadTable:
    """Return the table that a scenario asks for.

    Raises:
        InputError: a name that is none, or rows that no table should have.
    """
    workload = scenario.workload
    if workload.columns > _MOST_COLUMNS:
        raise InputError([Problem("workload.columns", workload.columns, f"at most {_MOST_COLUMNS} for a load")])
    options = {**table_options(scenario.cluster.table), **plan.table_options}
    keyspace = plan.keyspace or keyspace_name(replication)
    shape = f"c{workload.columns}x{_column_bytes(scenario)}"
    rows = f"_r{workload.rows_per_partition}" if workload.rows_per_partition > 1 else ""
    name = plan.table or shape + rows + _suffix(options)
    for option, given in (("--keyspace", keyspace), ("--table", name)):
        if not _NAME.fullmatch(given):
            raise InputError([Problem(option, given, "small letters, digits and _, at most 48, a letter first")])
    return LoadTable(keyspace, name, workload.columns, _column_bytes(scenario), workload.rows_per_partition, options)


def _column_bytes(scenario: Scenario) -> int:
    return max(1, round(scenario.workload.column_size))


def keyspace_name(replication: Mapping[str, str]) -> str:
    """Return the name of the keyspace for a replication.

    >>> keyspace_name({"class": "NetworkTopologyStrategy", "dc1": "3"})
    'capmodel_dc1_3'
    """
    parts = [f"{name}_{factor}" for name, factor in replication.items() if name != "class"]
    joined = "_".join(parts).replace("replication_factor", "simple")
    return ("capmodel_" + re.sub(r"[^a-z0-9_]", "_", joined.lower()))[:48]


def table_options(table: Table) -> dict[str, str]:
    """Return the options of a table as CQL text."""
    options = {
        "speculative_retry": f"'{table.speculative_retry}'",
        "compaction": f"{{'class': '{STRATEGIES[table.compaction]}'}}",
    }
    if table.compression_chunk is not None:
        kib = max(1, round(table.compression_chunk / 1024))
        options["compression"] = f"{{'class': 'LZ4Compressor', 'chunk_length_in_kb': {kib}}}"
    return options


def _suffix(options: Mapping[str, str]) -> str:
    """Return what tells tables of unlike options apart; nothing for the usual ones."""
    if options == table_options(Table()):
        return ""
    return f"_{zlib.crc32(json.dumps(options, sort_keys=True).encode()):08x}"


def make_keyspace(console: Console, name: str, replication: Mapping[str, str]) -> None:
    """Make a keyspace when there is none.

    Raises:
        InputError: there is one of another replication.
    """
    rows = console.ask(KEYSPACE.format(name))
    if not rows:
        text = ", ".join(f"'{key}': '{value}'" for key, value in replication.items())
        console.ask(f"CREATE KEYSPACE {name} WITH replication = {{{text}}}")
        wait_for_agreement(console)
        return
    found = dict(rows[0]["replication"])
    found["class"] = found["class"].rpartition(".")[2]
    if found != dict(replication):
        raise InputError(
            f"keyspace {name} is there with replication {_factors(found)}, the scenario wants {_factors(replication)}; "
            "name another (--keyspace)"
        )


def _factors(replication: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in replication.items())


def make_table(console: Console, table: LoadTable) -> Mark:
    """Return the mark of a table, which is made when it is not there; all nodes agree on it then.

    Raises:
        InputError: a table of that name is there and not for this load.
    """
    rows = console.ask(TABLE.format(table.keyspace, table.name))
    if rows:
        return read_mark(rows[0]["comment"] or "", table)
    mark = Mark.of(table)
    console.ask(table.create_cql(mark))
    wait_for_agreement(console)
    if not console.ask(TABLE.format(table.keyspace, table.name)):
        raise RunError(f"{table.full_name} was made and is not there")
    return mark


def mark_loaded(console: Console, table: LoadTable, partitions: int) -> None:
    """Note in the table's mark how many partitions are loaded."""
    console.ask(table.mark_cql(Mark.of(table, partitions)))
    wait_for_agreement(console)
