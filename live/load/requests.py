"""The stream of requests of one process: which operation, on which row, with which values.

Operations and keys are drawn in blocks, so that a request costs the load little. A stream is the same for the same
seed. Reads of absent keys ask for partitions beyond those that exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...model.workload import Workload
from .carried import MANY_PARTITIONS, Carried
from .keys import draw_partitions, key_of
from .session import Session, Statement, Values
from .table import LoadTable, RowPool

READ, WRITE, BATCH = "read", "write", "batch"
BLOCK = 1024
"""Requests drawn at a time; a block takes about a tenth of a millisecond."""


@dataclass(frozen=True)
class Batches:
    """Writes that are sent as batches of rows of one partition."""

    share: float = 0.0
    """Share of the writes."""
    rows: int = 10


@dataclass(frozen=True)
class Ask:
    """One kind of request: what the mix holds."""

    operation: str
    """Name in the measurement."""
    share: float
    statement: Statement
    absent: bool
    """Whether it asks for keys that do not exist."""
    rows: int = 1
    """Rows of one request."""
    only_keys: bool = False
    """Whether a row is bound by its names alone."""


class Request(NamedTuple):
    """A request ready to be sent."""

    operation: str
    handle: Any
    values: Values
    finds: bool
    """Whether a row is expected in the answer."""


def mix_of(
    workload: Workload, reads: LoadTable, writes: LoadTable, batches: Batches, carried: Sequence[Carried] = ()
) -> tuple[Ask, ...]:
    """Return the kinds of requests of a workload; those with no share are left out.

    Args:
        workload: its operations with their shares.
        reads: what is read.
        writes: what is written.
        batches: writes in batches of one partition.
        carried: shares of the operations that are carried out in another way.
    """
    asks = _plain(workload, reads, writes, batches)
    for one in carried:
        if (operation := workload.operations.get(one.operation)) is not None:
            table = writes.of_counters() if one.needs_counters else reads if one.operation == READ else writes
            statement = one.statement(table, operation.consistency)
            asks.append(Ask(one.kind, operation.share * one.share, statement, False, one.rows, table.counters))
    left = {name: 1 - sum(one.share for one in carried if one.operation == name) for name in (READ, WRITE)}
    for place, ask in enumerate(asks):
        if ask.operation in (READ, WRITE, BATCH):
            share = left[READ if ask.operation == READ else WRITE]
            asks[place] = replace(ask, share=ask.share * share)
    return tuple(ask for ask in asks if ask.share > 1e-12)


def _plain(workload: Workload, reads: LoadTable, writes: LoadTable, batches: Batches) -> list[Ask]:
    asks = []
    for name, operation in workload.operations.items():
        level = operation.consistency
        if name == READ:
            statement = Statement(reads.read_cql(), level)
            asks.append(Ask(READ, operation.share * (1 - workload.absent_keys), statement, False))
            asks.append(Ask(READ, operation.share * workload.absent_keys, statement, True))
        else:
            asks.append(Ask(WRITE, operation.share * (1 - batches.share), Statement(writes.write_cql(), level), False))
            batch = Statement(writes.write_cql(), level, batch=True)
            asks.append(Ask(BATCH, operation.share * batches.share, batch, False, batches.rows))
    return asks


def request_stream(
    mix: Sequence[Ask], session: Session, table: LoadTable, workload: Workload, rng: np.random.Generator
) -> Iterator[Request]:
    """Yield requests without end.

    Args:
        mix: kinds of requests with their shares.
        session: prepares their statements.
        table: shape of the rows.
        workload: partitions and their popularity.
        rng: operations and keys are drawn from it.
    """
    handles = [session.prepare(ask.statement) for ask in mix]
    binders = [_binder(ask, table, workload) for ask in mix]
    shares = np.array([ask.share for ask in mix])
    while True:
        kinds = rng.choice(len(mix), size=BLOCK, p=shares / shares.sum()).tolist()
        partitions = draw_partitions(workload, rng, BLOCK).tolist()
        numbers = rng.integers(table.rows_per_partition, size=BLOCK).tolist()
        for kind, partition, number in zip(kinds, partitions, numbers, strict=True):
            ask = mix[kind]
            yield Request(ask.operation, handles[kind], binders[kind](partition, number), _finds(ask))


def _finds(ask: Ask) -> bool:
    return ask.operation == READ and not ask.absent


def _binder(ask: Ask, table: LoadTable, workload: Workload) -> Callable[[int, int], Values]:
    if ask.operation == READ:
        beyond = workload.partitions if ask.absent else 0
        return lambda partition, number: table.row_key(partition + beyond, number)
    if ask.operation == "range":
        return lambda partition, number: (key_of(partition),)
    row = table.row_key if ask.only_keys or ask.operation == "delete" else row_binder(table)
    if not ask.statement.batch:
        return row
    rows, partitions = table.rows_per_partition, workload.partitions
    if ask.operation in MANY_PARTITIONS:
        return lambda partition, number: tuple(row((partition + each) % partitions, number) for each in range(ask.rows))
    return lambda partition, number: tuple(row(partition, (number + each) % rows) for each in range(ask.rows))


def row_binder(table: LoadTable) -> Callable[[int, int], Values]:
    """Return the function that binds a whole row: its names, then its values."""
    pool = RowPool(table)
    return lambda partition, number: table.row_key(partition, number) + pool.values(partition, number)
