"""The workload of a scenario: operation mix, consistency levels, row shape, key popularity."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from .units import Bytes
from .value import Value

MAX_PARTITIONS = 10**15
"""More partitions than any table holds; above it a number is taken for a slip of the pen."""
_MAX_CELLS = 2 * 10**9
"""Cells of one partition that Cassandra allows. Source: its documentation, "Limitations"."""
_MAX_VALUE_BYTES = 2.0**31
"""Bytes of one value that Cassandra allows. Source: the same."""

class ConsistencyLevel(StrEnum):
    """How many replicas must answer, by the names CQL uses."""

    ANY = "ANY"
    ONE = "ONE"
    TWO = "TWO"
    THREE = "THREE"
    QUORUM = "QUORUM"
    ALL = "ALL"
    LOCAL_ONE = "LOCAL_ONE"
    LOCAL_QUORUM = "LOCAL_QUORUM"
    EACH_QUORUM = "EACH_QUORUM"


class Operation(Value):
    """One kind of operation in the mix."""

    share: float = Field(gt=0, le=1)
    """Share of all operations."""
    consistency: ConsistencyLevel = ConsistencyLevel.LOCAL_QUORUM
    """Consistency level."""


class Popularity(Value):
    """Which partitions are asked for."""

    kind: Literal["uniform", "zipf", "hot_set", "latest"] = "uniform"
    """Uniform, Zipf by rank, a hot set with a share of requests, or Zipf by age (latest)."""
    exponent: float = Field(default=0.99, gt=0, lt=5)
    """Exponent of `zipf` and `latest`."""
    hot_partitions: int = Field(default=1, ge=1, le=MAX_PARTITIONS)
    """Partitions in the hot set."""
    hot_share: float = Field(default=0.5, gt=0, le=1)
    """Share of requests that go to the hot set."""


class Workload(Value):
    """What is asked of the cluster."""

    operations: dict[Literal["read", "write"], Operation] = Field(
        default={"read": Operation(share=0.5), "write": Operation(share=0.5)}
    )
    """Operation mix; the shares add up to 1."""
    columns: int = Field(default=5, ge=1, le=_MAX_CELLS)
    """Columns read or written by one operation."""
    column_size: Bytes = Field(default=34.0, gt=0, le=_MAX_VALUE_BYTES)
    """Bytes of one column's value."""
    partitions: int = Field(default=10_000_000, ge=1, le=MAX_PARTITIONS)
    """Number of partitions."""
    rows_per_partition: int = Field(default=1, ge=1, le=_MAX_CELLS)
    """Rows in a partition."""
    popularity: Popularity = Popularity()
    """Which partitions are asked for."""
    absent_keys: float = Field(default=0.0, ge=0, le=1)
    """Share of reads for keys that do not exist."""
    cache_hit: float | None = Field(default=None, ge=0, le=1)
    """Share of reads served from memory; derived from RAM and data when not given."""

    @property
    def row_bytes(self) -> float:
        """Bytes of payload in one operation."""
        return self.columns * self.column_size
