"""The table under load: its names, its CQL, its rows, and the mark by which it is known as ours.

One row a partition unless the scenario says otherwise; the key is the partition's number in eight bytes, and each
column holds bytes that do not compress. Names follow from replication and shape, so that scenarios of other shapes
get tables of their own. The mark is a JSON text in the table's comment: what the table was made for, and how many
partitions are loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...model.errors import InputError
from .keys import key_of
from .session import Values

MARK = "capmodel load"
_POOL_ROWS = 4096
"""Different rows; a compression chunk of 16 KiB holds about 90 of them, so that few chunks hold one twice."""
_POOL_BYTES = 16 * 2**20


@dataclass(frozen=True)
class LoadTable:
    """A table of equal rows."""

    keyspace: str
    name: str
    columns: int
    column_bytes: int
    rows_per_partition: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    """Options after WITH, by name, as CQL text."""
    seed: int = 1
    """Of the values in it."""
    counters: bool = False
    """Whether the columns are counters."""

    @property
    def full_name(self) -> str:
        """Keyspace and table."""
        return f"{self.keyspace}.{self.name}"

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns that hold values."""
        return tuple(f"c{number}" for number in range(self.columns))

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the columns that name a row."""
        return ("key", "number") if self.rows_per_partition > 1 else ("key",)

    def create_cql(self, mark: Mark) -> str:
        """Return the statement that makes the table, with its mark."""
        kind = "counter" if self.counters else "blob"
        columns = ", ".join(f"{name} {kind}" for name in self.column_names)
        number = "number int, " if self.rows_per_partition > 1 else ""
        options = {**self.options, "comment": mark.quoted()}
        joined = " AND ".join(f"{name} = {text}" for name, text in options.items())
        names = ", ".join(self.key_names)
        return f"CREATE TABLE {self.full_name} (key blob, {number}{columns}, PRIMARY KEY ({names})) WITH {joined}"

    def mark_cql(self, mark: Mark) -> str:
        """Return the statement that changes the mark."""
        return f"ALTER TABLE {self.full_name} WITH comment = {mark.quoted()}"

    def read_cql(self) -> str:
        """Return the statement that reads one row."""
        where = " AND ".join(f"{name} = ?" for name in self.key_names)
        return f"SELECT {', '.join(self.column_names)} FROM {self.full_name} WHERE {where}"

    def write_cql(self) -> str:
        """Return the statement that writes one row."""
        names = (*self.key_names, *self.column_names)
        return f"INSERT INTO {self.full_name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"

    def count_cql(self) -> str:
        """Return the statement that adds one to every counter of a row."""
        added = ", ".join(f"{name} = {name} + 1" for name in self.column_names)
        return f"UPDATE {self.full_name} SET {added} WHERE {' AND '.join(f'{name} = ?' for name in self.key_names)}"

    def delete_cql(self) -> str:
        """Return the statement that deletes one row."""
        return f"DELETE FROM {self.full_name} WHERE {' AND '.join(f'{name} = ?' for name in self.key_names)}"

    def range_cql(self, rows: int) -> str:
        """Return the statement that reads rows from the token of a partition on."""
        return f"SELECT {', '.join(self.column_names)} FROM {self.full_name} WHERE token(key) >= token(?) LIMIT {rows}"

    def row_key(self, partition: int, number: int) -> Values:
        """Return what names a row."""
        return (key_of(partition), number) if self.rows_per_partition > 1 else (key_of(partition),)

    def with_name(self, name: str) -> LoadTable:
        """Return a table of the same shape with another name."""
        return replace(self, name=name)

    def of_counters(self) -> LoadTable:
        """Return the table of counters that goes with this one."""
        return replace(self, name=f"{self.name[:46]}_n", counters=True)


class RowPool:
    """The values of rows, the same for the same seed; far apart rows may have like values."""

    def __init__(self, table: LoadTable) -> None:
        row_bytes = table.columns * table.column_bytes
        self._rows = max(2, min(_POOL_ROWS, _POOL_BYTES // row_bytes))
        size = table.column_bytes
        data = np.random.default_rng(table.seed).bytes(self._rows * row_bytes)
        cells = [data[start : start + size] for start in range(0, len(data), size)]
        self._values = [tuple(cells[row * table.columns : (row + 1) * table.columns]) for row in range(self._rows)]

    def values(self, partition: int, number: int = 0) -> Values:
        """Return the values of a row."""
        return self._values[(partition + number) % self._rows]


@dataclass(frozen=True)
class Mark:
    """What a table's comment says."""

    shape: Mapping[str, Any]
    """Columns, column_bytes, rows_per_partition, options and seed."""
    loaded: int = 0
    """Partitions that are loaded: those with numbers below."""

    @classmethod
    def of(cls, table: LoadTable, loaded: int = 0) -> Mark:
        """Return the mark of a table."""
        names = ("columns", "column_bytes", "rows_per_partition", "seed")
        counters = {"counters": True} if table.counters else {}
        return cls({name: getattr(table, name) for name in names} | {"options": dict(table.options)} | counters, loaded)

    def quoted(self) -> str:
        """Return the mark as a CQL text."""
        text = json.dumps({"made_by": MARK, **self.shape, "loaded": self.loaded})
        return "'" + text.replace("'", "''") + "'"


def read_mark(comment: str, table: LoadTable) -> Mark:
    """Return the mark in the comment of a table that is there.

    Raises:
        InputError: the table was made by somebody else, or by us for other rows.
    """
    try:
        found = json.loads(comment)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.pop("made_by", None) != MARK:
        raise InputError(
            f"{table.full_name} is there and was not made by capmodel; it is left alone. Name another table (--table)"
        )
    loaded, wanted = int(found.pop("loaded", 0)), Mark.of(table).shape
    if found != wanted:
        unlike = [name for name in wanted if found.get(name) != wanted[name]]
        other = ", ".join(f"{name} {found.get(name)} not {wanted[name]}" for name in unlike)
        raise InputError(f"{table.full_name} was made for other rows ({other}); name another table (--table)")
    return Mark(wanted, loaded)
