"""How the writes and reads of a workload are carried out: the plain way, or as one of Cassandra's other operations.

| Kind | For | Is |
|---|---|---|
| `insert` | write | the plain write of a row |
| `delete` | write | a row deleted by its key |
| `ttl` | write | a row that expires |
| `lwt` | write | a lightweight transaction: INSERT … IF NOT EXISTS |
| `unlogged-batch`, `logged-batch` | write | rows of as many partitions in one batch |
| `counter` | write | one added to every counter of a row; a new row begins at 0 |
| `counter-batch` | write | the same for several rows of one partition, in one counter batch |
| `range` | read | rows from a place in the ring on, page by page |

Source: CQL documentation, "Data manipulation"; `model.versions` has what these cost a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...model.errors import InputError, Problem
from ...model.workload import ConsistencyLevel
from .session import BatchType, Statement
from .table import LoadTable

COUNTERS = ("counter", "counter-batch")
MANY_PARTITIONS = ("unlogged-batch", "logged-batch")
KINDS = {"write": ("insert", "delete", "ttl", "lwt", *MANY_PARTITIONS, *COUNTERS), "read": ("select", "range")}
"""By the operation of the workload; the first of each is the plain way."""
BATCHES: dict[str, BatchType] = {
    "unlogged-batch": "unlogged", "logged-batch": "logged", "counter-batch": "counter"
}  # fmt: skip
TTL_S = 3600
ROWS, PAGE_ROWS = 10, 100
"""Rows of a batch and of a page, when not given."""
RIGHT = "OPERATION=KIND[:ROWS[/PAGE]][@SHARE], such as write=counter, read=range:1000/100@10%"


@dataclass(frozen=True)
class Carried:
    """A share of an operation that is carried out in another way."""

    operation: Literal["read", "write"]
    kind: str
    share: float = 1.0
    """Share of the operation."""
    rows: int = ROWS
    """Rows of a batch or of a range."""
    page_rows: int = PAGE_ROWS

    def __post_init__(self) -> None:
        if self.operation not in KINDS or self.kind not in KINDS[self.operation][1:]:
            known = ", ".join(f"{name}={kind}" for name, kinds in KINDS.items() for kind in kinds[1:])
            raise InputError([Problem("--as", f"{self.operation}={self.kind}", f"one of {known}")])
        if not 0 < self.share <= 1 or self.rows < 1 or self.page_rows < 1:
            raise InputError([Problem("--as", f"{self.rows}/{self.page_rows}@{self.share}", RIGHT)])

    @property
    def needs_counters(self) -> bool:
        """Whether it goes to a table of counters."""
        return self.kind in COUNTERS

    @property
    def takes_away(self) -> bool:
        """Whether rows are gone after it, at once or later."""
        return self.kind in ("delete", "ttl")

    def statement(self, table: LoadTable, level: ConsistencyLevel) -> Statement:
        """Return what is prepared."""
        if self.kind == "range":
            return Statement(table.range_cql(self.rows), level, page_rows=self.page_rows)
        if self.kind == "delete":
            return Statement(table.delete_cql(), level)
        if self.needs_counters:
            cql = table.count_cql()
        else:
            endings = {"ttl": f" USING TTL {TTL_S}", "lwt": " IF NOT EXISTS"}
            cql = table.write_cql() + endings.get(self.kind, "")
        batch_type = BATCHES.get(self.kind)
        conditional = self.kind == "lwt"
        if batch_type is None:
            return Statement(cql, level, conditional=conditional)
        return Statement(cql, level, batch=True, batch_type=batch_type)


def parse_carried(text: str) -> Carried:
    """Return what a text says.

    >>> parse_carried("read=range:1000/50@10%")
    Carried(operation='read', kind='range', share=0.1, rows=1000, page_rows=50)

    Raises:
        InputError: a text that says nothing of the kind.
    """
    operation, _, rest = text.partition("=")
    body, _, share = rest.partition("@")
    kind, _, sizes = body.partition(":")
    rows, _, page = sizes.partition("/")
    try:
        part = float(share.removesuffix("%")) / (100 if share.endswith("%") else 1) if share else 1.0
        return Carried(operation, kind, part, int(rows or ROWS), int(page or PAGE_ROWS))  # type: ignore[arg-type]
    except ValueError:
        raise InputError([Problem("--as", text, RIGHT)]) from None


def check_shares(carried: tuple[Carried, ...]) -> None:
    """Refuse shares of an operation that add up to more than all of it.

    Raises:
        InputError: they do.
    """
    for name in KINDS:
        total = sum(one.share for one in carried if one.operation == name)
        if total > 1 + 1e-9:
            raise InputError([Problem("--as", f"{name} {total:g}", "shares of an operation that add up to at most 1")])
