"""Bounds on throughput: the frame in which every other answer lies; upper bounds only.

A load can be no larger than the least over stations of capacity over work, work after the answer included; a closed
population N sends no more than N over the least time of a request (asymptotic bounds, Muntz and Wong 1974;
Denning and Buzen 1978). Balanced-job bounds hold for product-form networks only and are given for a single-class
network of single servers and delays (Zahorjan et al. 1982).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .demands import complete
from .ensemble import Ensemble, ensemble
from .mva import Solving
from .network import Floats, Network
from .offered import capacities


@dataclass(frozen=True)
class Bounds:
    """Upper bounds on throughput."""

    saturation_per_s: float
    """Where the busiest station is always busy, clients' CPUs included."""
    station: str
    """Name of that station."""
    population_per_s: float
    """Requests in flight over the least time of a request; infinite for an open load."""

    @property
    def throughput_per_s(self) -> float:
        """The smaller of both."""
        return min(self.saturation_per_s, self.population_per_s)


def bounds(network: Network, values: Mapping[str, float]) -> Bounds:
    """Return the upper bounds of a network."""
    members = ensemble(network, complete(values))
    per_station = members.rings[0].offered.seconds(members.base[0], members.wake_up[0])
    with np.errstate(divide="ignore"):
        limits = np.where(per_station > 0, capacities(network) / per_station, np.inf)
    first = int(np.argmin(limits))
    population = float(Solving(members).least_critical_per_s()[0])
    return Bounds(float(limits[first]), network.stations[first].name, population)


def balanced_job_bounds(demands_s: Floats, delay_s: float, population: int) -> tuple[float, float]:
    """Return lower and upper bound of a product-form network of single servers and one delay.

    Args:
        demands_s: service demand of each station, [stations].
        delay_s: think time and other delays.
        population: requests in flight.

    Source: Zahorjan, Sevcik, Eager, Galler 1982; for Z > 0 as in Lazowska et al. 1984, table 5.2.
    """
    total, largest = float(demands_s.sum()), float(demands_s.max())
    mean = total / len(demands_s)
    others = population - 1
    low = population / (delay_s + total + others * largest / (1 + delay_s / (population * total)))
    high = population / (delay_s + total + others * mean / (1 + delay_s / total))
    return low, min(1 / largest, high)


def capacity_per_s(members: Ensemble) -> Floats:
    """Return the largest stable load of the cluster itself, [members]: clients' CPUs and their limits left out.

    Demands fall with the number present (wake-up sharing) and rise beyond the knee (contention), so the largest
    rate at which no station overflows is found by bisection. A pool limits to its permits over the holding time of
    an idle system.
    """
    kinds = np.array([station.kind == "client CPU" for station in members.network.stations])
    free = replace(
        members,
        population=np.full(members.size, np.inf),
        rate_per_s=np.ones(members.size),
        speed=np.where(kinds, 1e9, members.speed),
    )
    return Solving(free).largest_rate_per_s()

