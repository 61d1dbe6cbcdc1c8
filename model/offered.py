"""Work offered to every station by one request: exact sums over graphs, replica sets and coordinators.

A request offers `base · work + wake_up · work / present` seconds to a station, where `work` is the sum over its
visits of seconds per unit of demand. Work after the answer counts like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .graph import (
    CLIENT,
    After,
    Choice,
    Detach,
    Fork,
    Graph,
    Hold,
    Series,
    Timeout,
    Visit,
)
from .network import Floats, Network, Station
from .roles import Case, cases_of


@dataclass(frozen=True)
class ExpectedVisit:
    """A visit of a graph and how often a request makes it."""

    visit: Visit
    count: float


def expected_visits(graph: Graph, count: float = 1.0) -> Iterator[ExpectedVisit]:
    """Yield every visit of a graph with its expected number per request."""
    match graph:
        case Visit():
            yield ExpectedVisit(graph, count)
        case Series(parts):
            for part in parts:
                yield from expected_visits(part, count)
        case Choice(probability, then, otherwise):
            yield from expected_visits(then, count * probability)
            yield from expected_visits(otherwise, count * (1 - probability))
        case Fork(_, branches):
            for branch in branches:
                yield from expected_visits(branch, count)
        case After(body, _, percentile):
            yield from expected_visits(body, count * (0.0 if percentile is None else 1 - percentile))
        case Hold(_, _, body) | Detach(body) | Timeout(_, body):
            yield from expected_visits(body, count)


@dataclass(frozen=True)
class Offered:
    """Work per request, linear in the demand table."""

    work: Floats
    """[stations, rows]: seconds at the station per unit of the demand row."""
    squares: Floats
    """[stations, rows]: square seconds at the station per square unit of the demand row, variation included."""
    visits: Floats
    """[stations]: visits per request."""
    setup_s: Floats
    """[stations]: shared set-up time per request when nothing is shared."""

    def seconds(self, base: Floats, wake_up: Floats, present: Floats | float = np.inf) -> Floats:
        """Return seconds per request at each station, [..., stations], with so many requests present."""
        shared: Floats = (wake_up @ self.work.T + self.setup_s) / present
        return base @ self.work.T + shared


def offered(network: Network, cases: tuple[Case, ...] | None = None) -> Offered:
    """Return the work that one request offers to each station."""
    total = Offered(*(np.zeros((len(network.stations), len(network.demands.variation))) for _ in range(2)),
                    *(np.zeros(len(network.stations)) for _ in range(2)))
    for case in cases_of(network) if cases is None else cases:
        for expected in expected_visits(network.graphs[case.graph]):
            share = case.probability * expected.count * unit_shares(network, case, expected.visit.role)
            _add_visit(network, expected.visit, share, total)
    return total


def unit_shares(network: Network, case: Case, role: int) -> Floats:
    """Return the probability that each unit plays a role, [units]."""
    units = np.zeros(network.station_of.shape[1])
    if role == CLIENT:
        units[: network.load.machines] = 1 / network.load.machines
    else:
        units[: network.nodes] = case.roles[role]
    return units


def _add_visit(network: Network, visit: Visit, share: Floats, total: Offered) -> None:
    used = network.station_of[visit.resource] >= 0
    where, share = network.station_of[visit.resource][used], share[used]
    seconds = network.seconds_per[visit.resource][used]
    spread = 1 + network.demands.variation[visit.demand] ** 2
    np.add.at(total.work[:, visit.demand], where, share * seconds)
    np.add.at(total.squares[:, visit.demand], where, share * seconds**2 * spread)
    np.add.at(total.visits, where, share)
    np.add.at(total.setup_s, where, share * network.setup_s[visit.resource][used])


def capacity(station: Station) -> float:
    """Return the seconds of work a station can do per second; a delay has no limit."""
    if station.servers == 0:
        return np.inf
    return station.quota.cores if station.quota else float(station.servers)


def capacities(network: Network) -> Floats:
    """Return the capacity of each station, [stations]."""
    return np.array([capacity(station) for station in network.stations])


def offered_s(network: Network, values: Mapping[str, float]) -> Floats:
    """Return the least seconds of work per request at each station, [stations]: all sharing at its best."""
    base, wake_up = network.demands.evaluate(dict(values))
    return offered(network).seconds(base, wake_up)


def upper_bound_per_s(network: Network, work_s: Floats) -> float:
    """Return the least over node stations of capacity over work: no load can be larger."""
    own = np.array([station.kind != "client CPU" for station in network.stations])
    with np.errstate(divide="ignore"):
        return float(np.min(np.where(own & (work_s > 0), capacities(network) / work_s, np.inf)))


