"""A small CQL prompt on a lab, and single statements: for looking at a cluster, not for loading it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...model.errors import RunError
from .cassandra_yaml import NATIVE_PORT
from .record import Lab, NodeRecord

if TYPE_CHECKING:
    from cassandra.cluster import Session

Execute = Callable[[str], "Rows"]
"""Runs one statement."""


@dataclass(frozen=True)
class Rows:
    """What a statement returns."""

    names: tuple[str, ...]
    """Names of the columns; none for a statement that returns nothing."""
    rows: tuple[tuple[Any, ...], ...]
    """Values, a tuple per row."""


@contextmanager
def connection(lab: Lab, node: NodeRecord) -> Iterator[Execute]:
    """Connect to one node, and to no other.

    Raises:
        RunError: the driver is not installed, or the node does not answer.
    """
    if not node.running:
        raise RunError(f"{node.name} does not run")
    with _session(node.plan.address) as session:
        yield lambda statement: _execute(session, statement)


@contextmanager
def _session(address: str) -> Iterator[Session]:
    try:
        from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
        from cassandra.policies import WhiteListRoundRobinPolicy
    except ImportError as error:
        raise RunError("`lab cql` needs the driver: pip install 'capmodel[live]'") from error
    profile = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([address]), request_timeout=60)
    cluster = Cluster(
        [address], port=NATIVE_PORT, protocol_version=5, execution_profiles={EXEC_PROFILE_DEFAULT: profile}
    )
    try:
        yield cluster.connect()
    except NoHostAvailable as error:
        raise RunError(f"{address}:{NATIVE_PORT} does not answer: {error}") from error
    finally:
        cluster.shutdown()


def _execute(session: Session, statement: str) -> Rows:
    from cassandra import DriverException, RequestExecutionException
    from cassandra.protocol import ErrorMessage

    try:
        result = session.execute(statement)
    except (DriverException, RequestExecutionException, ErrorMessage) as error:
        raise RunError(f"{statement}: {error}") from error
    return Rows(tuple(result.column_names or ()), tuple(tuple(row) for row in result))


def prompt(execute: Execute, lines: Iterator[str]) -> Iterator[str]:
    """Yield what there is to print for statements typed line by line, each ended by a semicolon.

    A statement that fails says so, and the prompt goes on; `exit` or `quit` ends it.
    """
    for statement in statements(lines):
        if statement.lower() in ("exit", "quit"):
            return
        try:
            yield table(execute(statement))
        except RunError as error:
            yield f"error: {error}"


def statements(lines: Iterator[str]) -> Iterator[str]:
    """Yield statements from lines; one may span several, and ends with a semicolon.

    >>> list(statements(iter(["SELECT *", "FROM t;", "exit"])))
    ['SELECT * FROM t', 'exit']
    """
    begun: list[str] = []
    for line in lines:
        begun.append(line.strip())
        text = " ".join(begun).strip()
        if text.endswith(";") or text.lower() in ("exit", "quit"):
            yield text.rstrip("; ")
            begun = []
    if text := " ".join(begun).strip():
        yield text


def table(rows: Rows) -> str:
    """Return rows as aligned text.

    >>> print(table(Rows(("key", "n"), (("a", 1), ("bb", 22)))))
    key | n
    a   | 1
    bb  | 22
    """
    if not rows.names:
        return "done"
    cells = [rows.names, *(tuple(map(str, row)) for row in rows.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(_line(row, widths) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
