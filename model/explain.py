"""Where the time goes: each term of the mean response time and its share, by mean-value analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .answer import Analysed
from .ensemble import taken
from .graph import CLIENT, Choice, Fork, Graph, Hold, Link, Resource, Series, Timeout, Visit
from .mva import Solving
from .response import Responding

NAMES = {
    Resource.CLIENT_CPU: "client CPU",
    Resource.CPU: "coordinator CPU",
    Resource.NIC_OUT: "network",
    Resource.NIC_IN: "network",
    Resource.DISK: "disk reads",
    Resource.COMMIT_LOG: "commit log",
}


LEAST_SHARE = 0.0005
"""Share of the mean below which a term is left out."""


@dataclass(frozen=True)
class Term:
    """One term of the mean response time over all operations."""

    name: str
    seconds: float
    share: float


def explain(analysed: Analysed) -> tuple[Term, ...]:
    """Return the terms of the mean response time in the order in which a request meets them."""
    nominal = taken(analysed.members.ensemble, np.zeros(1, dtype=np.int64))
    throughput = analysed.solution.throughput_per_s[:1]
    responding = Solving(nominal).responding(throughput)
    seconds: dict[str, float] = {}
    for number, case in enumerate(nominal.rings[0].cases):
        responding.evaluate(number)
        for name, part_s in _terms(responding, nominal.network.graphs[case.graph]):
            seconds[name] = seconds.get(name, 0.0) + case.probability * part_s
    total = sum(seconds.values())
    return tuple(Term(name, part_s, part_s / total) for name, part_s in seconds.items() if part_s > LEAST_SHARE * total)


def _terms(responding: Responding, graph: Graph) -> Iterator[tuple[str, float]]:
    match graph:
        case Series(parts):
            for part in parts:
                yield from _terms(responding, part)
        case Hold(resource, role, body):
            yield (
                f"waiting for a permit ({resource.name.lower().replace('_', ' ')})",
                responding.pool_wait_s(resource, role),
            )
            yield from _terms(responding, body)
        case Timeout(_, body):
            yield from _terms(responding, body)
        case Choice(probability, then, otherwise):
            for share, part in ((probability, then), (1 - probability, otherwise)):
                yield from ((name, share * part_s) for name, part_s in _terms(responding, part))
        case Visit(resource, role):
            wait_s, service_s = responding.visit_s(graph)
            name = NAMES[resource] if role <= 1 or resource is not Resource.CPU else "replica CPU"
            yield f"{name}: service", service_s
            yield f"{name}: queueing", wait_s
        case Link(sender, receiver):
            end = "between client and coordinator" if CLIENT in (sender, receiver) else "between nodes"
            yield f"network {end}", float(responding.moments(graph).mean_s[0])
        case Fork(needed, branches):
            name = f"waiting for {needed} of {len(branches)} replicas"
            yield name, float(responding.moments(graph).mean_s[0])
        case _:
            yield "other", float(responding.moments(graph).mean_s[0])
