"""How much of the work at a station the answer waits for; the rest goes on after it, like an open load."""

from __future__ import annotations

import numpy as np

from .graph import Choice, Detach, Fork, Graph, Hold, Resource, Series, Timeout, Visit
from .network import Floats, Network
from .offered import unit_shares
from .roles import Case


def attended_share(graph: Graph) -> dict[tuple[Resource, int], tuple[float, float]]:
    """Return, by resource and role, visits that the answer waits for and all visits.

    Of a fork that needs k of n branches, k/n of the work is taken to be waited for.
    """
    total: dict[tuple[Resource, int], tuple[float, float]] = {}
    _attend(graph, 1.0, 1.0, total)
    return total


def _attend(graph: Graph, count: float, waited: float, total: dict[tuple[Resource, int], tuple[float, float]]) -> None:
    match graph:
        case Visit(resource, role):
            attended, visits = total.get((resource, role), (0.0, 0.0))
            total[resource, role] = (attended + count * waited, visits + count)
        case Series(parts):
            for part in parts:
                _attend(part, count, waited, total)
        case Choice(probability, then, otherwise):
            _attend(then, count * probability, waited, total)
            _attend(otherwise, count * (1 - probability), waited, total)
        case Fork(needed, branches):
            for branch in branches:
                _attend(branch, count, waited * needed / len(branches), total)
        case Detach(body):
            _attend(body, count, 0.0, total)
        case Hold(_, _, body) | Timeout(_, body):
            _attend(body, count, waited, total)


def attended_ratio(network: Network, cases: tuple[Case, ...]) -> Floats:
    """Return the share of visits at each station that an answer waits for, [stations]."""
    attended, visits = np.zeros(len(network.stations)), np.full(len(network.stations), 1e-300)
    for case in cases:
        for (resource, role), (waited, count) in attended_share(network.graphs[case.graph]).items():
            where = network.station_of[resource]
            share = case.probability * unit_shares(network, case, role)
            used = where >= 0
            np.add.at(attended, where[used], waited * share[used])
            np.add.at(visits, where[used], count * share[used])
    return np.asarray(attended / visits)
