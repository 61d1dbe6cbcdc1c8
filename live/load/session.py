"""The seam between the load and whatever carries it: prepare a statement, send a request.

A backend prepares each statement once, and then sends it with values as often as it is told. It answers on the
loop's thread through a callback, several answers in one go where they arrive together, with the time at which the
answer was there, and without retrying anything: a request that failed is the load's to count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ...model.clients import Routing
from ...model.workload import ConsistencyLevel

Values = tuple[Any, ...]
"""What is bound to a statement, in order; a tuple of such tuples for a batch."""
Done = Callable[[float, str | None, int], None]
"""Takes the time of the answer, the kind of error or None, and the number of rows returned."""

BatchType = Literal["unlogged", "logged", "counter"]
ONE_PROCESSOR = 1.0
"""Processors that Python code can keep busy in one process."""


@dataclass(frozen=True)
class Statement:
    """One operation as the backend has to prepare it."""

    cql: str
    consistency: ConsistencyLevel
    batch: bool = False
    """Whether the values of a request are rows that are sent as one batch."""
    batch_type: BatchType = "unlogged"
    conditional: bool = False
    """Whether it is a lightweight transaction, which has a serial consistency level too: SERIAL."""
    page_rows: int | None = None
    """Rows of a page; the answer is there when the last page is. One answer without pages when None."""


class Session(Protocol):
    """A connection to a cluster."""

    def prepare(self, statement: Statement) -> Any:
        """Return a handle for sending; called before the load begins."""

    def send(self, handle: Any, values: Values, done: Done) -> None:
        """Send a request; `done` is called once, on the loop's thread."""


@dataclass(frozen=True)
class Approach:
    """Which nodes a session talks to, and how it picks the coordinator of a request."""

    routing: Routing = Routing.ROUND_ROBIN
    shuffle_replicas: bool = True
    """Token-aware: any replica, or always the first."""
    coordinators: tuple[str, ...] = ()
    """Addresses; all nodes of the datacenter when empty."""
    datacenter: str | None = None
    """The datacenter of the clients; all nodes when None."""
    timeout_s: float = 12.0
    """After which a request counts as failed."""


@dataclass(frozen=True)
class BackendFacts:
    """What a measurement says about the backend."""

    name: str
    processors: float
    """Processors that one process can keep busy."""
    facts: Mapping[str, bool | int | float | str]
    """Versions and settings that matter for its cost."""
