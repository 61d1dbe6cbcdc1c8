"""What the stub answers to statements: its own row of `system.local`, prepared reads and writes, nothing else.

The statements that it understands are those that the load makes (`load.table`): INSERT, SELECT and UPDATE of a table
of blobs, with counters as `bigint` and row numbers as `int`.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping
from ipaddress import ip_address

from . import notation
from .notation import Answer, Column, Opcode, Type, answer

VOID = answer(Opcode.RESULT, notation.integer(notation.VOID))
VERSION = "3.11.0"
"""A series without virtual tables, so that drivers ask less."""
_INSERT = re.compile(r"INSERT INTO (\w+)\.(\w+) \(([^)]*)\)", re.IGNORECASE)
_SELECT = re.compile(r"SELECT (.+?) FROM (\w+)\.(\w+)(?: WHERE (.*))?", re.IGNORECASE)
_UPDATE = re.compile(r"UPDATE (\w+)\.(\w+) SET (.+?) WHERE (.*)", re.IGNORECASE)
_BOUND = re.compile(r"(\w+) (?:=|>|\+) \?|(\w+) = \w+ \+ \?")


def local_row(address: str) -> Mapping[Column, bytes]:
    """Return the row of `system.local`."""
    here = ip_address(address).packed
    one = uuid.UUID(int=1).bytes
    texts = {
        "key": "local",
        "cluster_name": "capmodel stub",
        "data_center": "dc1",
        "rack": "rack1",
        "release_version": VERSION,
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
    }
    row = {Column(name, Type.VARCHAR): text.encode() for name, text in texts.items()}
    row |= {Column(name, Type.INET): here for name in ("broadcast_address", "listen_address", "rpc_address")}
    row |= {Column(name, Type.UUID): one for name in ("host_id", "schema_version")}
    return row | {Column("tokens", Type.SET): notation.text_set(["0"])}


def query_answer(cql: str, tables: Mapping[tuple[str, str], Mapping[Column, bytes]]) -> Answer:
    """Return the answer to a statement that was not prepared: a row of a table that there is, or nothing."""
    found = _SELECT.match(cql)
    if found is None:
        return VOID
    table = (found[2].lower(), found[3].lower())
    row = tables.get(table)
    if row is None:
        return answer(Opcode.RESULT, notation.rows_result(table, [Column("key", Type.VARCHAR)], []))
    names = [name.strip() for name in found[1].split(",")]
    columns = [column for column in row if names == ["*"] or column.name in names]
    return answer(Opcode.RESULT, notation.rows_result(table, columns, [[row[column] for column in columns]]))


class PreparedStatement:
    """A statement that the stub was given, with its answers made beforehand."""

    def __init__(self, cql: str, cell: bytes) -> None:
        """Make the answers.

        Args:
            cql: the statement.
            cell: value of each column of the one row that a read returns.
        """
        self.id = hashlib.md5(cql.encode(), usedforsecurity=False).digest()
        table, bound, returned = _parts(cql)
        columns = [_column(name) for name in returned]
        keys = [place for place, name in enumerate(bound) if name == "key"]
        body = notation.prepared_result(self.id, table, [_column(name) for name in bound], keys, columns)
        self.prepared = answer(Opcode.RESULT, body)
        row = [[cell] * len(columns)]
        self.full = answer(Opcode.RESULT, notation.rows_result(table, columns, row)) if columns else VOID
        self.bare = answer(Opcode.RESULT, notation.bare_rows_result(len(columns), row)) if columns else VOID


def _parts(cql: str) -> tuple[tuple[str, str], list[str], list[str]]:
    """Return table, names of bound values, and names of returned columns."""
    if insert := _INSERT.match(cql):
        return (insert[1], insert[2]), _words(insert[3]), []
    if select := _SELECT.match(cql):
        return (select[2], select[3]), _bound(select[4] or ""), _words(select[1])
    if update := _UPDATE.match(cql):
        return (update[1], update[2]), _bound(f"{update[3]}, {update[4]}"), []
    return ("none", "none"), [], []


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _bound(text: str) -> list[str]:
    return [first or second for first, second in _BOUND.findall(text)]


def _column(name: str) -> Column:
    kinds = {"number": Type.INT, "n": Type.BIGINT}
    return Column(name, kinds.get(name, Type.BLOB))
