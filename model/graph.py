"""The request graph: what a request does, said once, in nine constructs.

A graph names stations by a resource and a role (the client, the coordinator, the j-th replica asked);
which node plays a role is bound per request. Every solver interprets these graphs: the simulation exactly,
mean-value analysis by the approximation stated in `mva.py`, the bounds by their total demands.

Source: DESIGN.md, section 2; fork-join with early departure ("k of n, the rest goes on") as in partial
fork-join queues (Joshi, Liu and Soljanin 2014), second phases as in Franks et al. (LQN, 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

CLIENT, COORDINATOR, REPLICA = 0, 1, 2
"""Roles: the client machine, the coordinator, and the first replica; replica j has role REPLICA + j."""


class Resource(IntEnum):
    """What a node or a client machine has; a resource of a unit is a station or a pool."""

    CLIENT_CPU = 0
    CPU = 1
    DISK = 2
    COMMIT_LOG = 3
    NIC_OUT = 4
    NIC_IN = 5
    NATIVE_TRANSPORT = 6
    READ_STAGE = 7
    MUTATION_STAGE = 8


@dataclass(frozen=True)
class Visit:
    """Queue at a station and be served there for a demand (a row of the network's demand table)."""

    resource: Resource
    role: int
    demand: int


@dataclass(frozen=True)
class Delay:
    """Wait without queueing."""

    delay_s: float


@dataclass(frozen=True)
class Link:
    """Travel from the unit of one role to that of another: a delay by distance, nothing within a node."""

    sender: int
    receiver: int
    counts: bool = True
    """Whether it is a message of its own, or the way of one that another branch has counted."""


@dataclass(frozen=True)
class Series:
    """Do one after the other."""

    parts: tuple[Graph, ...]


@dataclass(frozen=True)
class Choice:
    """Do `then` with a probability, otherwise `otherwise`."""

    probability: float
    then: Graph
    otherwise: Graph = Series(())


@dataclass(frozen=True)
class Fork:
    """Do all branches at once and go on when `needed` of them have ended; the rest goes on by itself."""

    needed: int
    branches: tuple[Graph, ...]


@dataclass(frozen=True)
class After:
    """As a branch of a fork: wait for the speculation threshold, then do `body` unless the fork has joined.

    The threshold is the `percentile` of the fork's own duration when given, otherwise `delay_s`.
    """

    body: Graph
    delay_s: float = 0.0
    percentile: float | None = None


@dataclass(frozen=True)
class Hold:
    """Do `body` holding one permit of a pool; wait for it in line."""

    resource: Resource
    role: int
    body: Graph


@dataclass(frozen=True)
class Detach:
    """Start `body` and go on at once; nobody waits for it."""

    body: Graph


@dataclass(frozen=True)
class Timeout:
    """Do `body`; when it has not ended in time the request is answered with an error and `body` goes on."""

    limit_s: float
    body: Graph


Graph = Visit | Delay | Link | Series | Choice | Fork | After | Hold | Detach | Timeout


def series(*parts: Graph | None) -> Graph:
    """Return the parts one after the other, nested series flattened and None left out."""
    flat: list[Graph] = []
    for part in parts:
        if isinstance(part, Series):
            flat.extend(part.parts)
        elif part is not None:
            flat.append(part)
    return flat[0] if len(flat) == 1 else Series(tuple(flat))
