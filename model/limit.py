"""The limit: the resource whose being 10 % larger raises throughput most (open load: capacity).

DESIGN.md, section 3.6. Below an elasticity of `SHARED`, or with a second within a tenth, the limit is shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .demands import complete
from .graph import COORDINATOR, Resource
from .network import Floats, Network
from .offered import expected_visits
from .perturbation import HOTTEST, IN_FLIGHT, LARGER, Members
from .roles import cases_of
from .study import Study

SHARED = 0.2
"""Elasticity below which no resource is the limit by itself."""
TIE = 0.9
"""A second resource with this share of the first's elasticity ties with it."""
UNEVEN = 1.05
"""Load of the hottest node over the mean above which its share can be the limit."""

WORDS = {
    "CPU": "CPU",
    "replica CPU": "replica CPU",
    "coordinator CPU": "coordinator CPU",
    "data disk": "disk reads",
    "commit-log disk": "commit log",
    "network": "network",
    "client CPU": "client CPU",
    "native transport": "stage pool (native transport)",
    "read stage": "stage pool (reads)",
    "mutation stage": "stage pool (writes)",
    IN_FLIGHT: "in flight",
    HOTTEST: "hottest node's share",
}
"""How each resource is called in an answer."""


@dataclass(frozen=True)
class Limit:
    """What limits, with how much 1 % more of it would bring in per cent."""

    station: str
    """A key of `WORDS`, or `shared`."""
    elasticity: float
    words: str
    ranking: tuple[tuple[str, float], ...]
    """All candidates, largest elasticity first."""


def find_limit(members: Members, throughput: Floats, study: Study, values: Mapping[str, float]) -> Limit:
    """Return the limit from the throughputs of an ensemble's members, [members] (open load: capacities)."""
    nominal = float(throughput[members.blocks["nominal"]][0])
    raised = throughput[members.blocks["limits"]]
    gains = np.maximum(np.log(raised / nominal) / np.log(LARGER), 0.0)
    elasticity = dict(zip(members.blocks.limits, gains.tolist(), strict=True))
    hottest = elasticity.pop(HOTTEST, 0.0)
    if study.largest_share > UNEVEN and hottest > TIE * elasticity.get("CPU", 0.0):
        elasticity[HOTTEST] = elasticity.pop("CPU")
    elif "CPU" in elasticity:
        elasticity[_cpu_part(study.network, values)] = elasticity.pop("CPU")
    ranking = tuple(sorted(elasticity.items(), key=lambda item: -item[1]))
    return _worded(ranking)


def _worded(ranking: tuple[tuple[str, float], ...]) -> Limit:
    first, most = ranking[0]
    tied = [name for name, elasticity in ranking if elasticity >= TIE * most]
    if most >= SHARED and len(tied) == 1:
        return Limit(first, most, WORDS[first], ranking)
    named = [name for name, elasticity in ranking if elasticity >= 0.5 * most and elasticity > 0.01]
    words = f"shared: {', '.join(WORDS[name] for name in named)}" if named else "shared: delays alone"
    return Limit("shared", most, words, ranking)


def _cpu_part(network: Network, values: Mapping[str, float]) -> str:
    """Return whether coordinators or replicas have the larger part of the CPU work."""
    full = complete(values)
    base, _ = network.demands.evaluate(full)
    own = {name: value if name.startswith("replica_") else 0.0 for name, value in full.items()}
    replica_base, _ = network.demands.evaluate(own)
    coordinator = replica = 0.0
    for case in cases_of(network):
        for expected in expected_visits(network.graphs[case.graph], case.probability):
            visit = expected.visit
            if visit.resource is not Resource.CPU:
                continue
            at_replica = base if visit.role != COORDINATOR else replica_base
            replica += expected.count * at_replica[visit.demand]
            coordinator += expected.count * (base - at_replica)[visit.demand]
    return "coordinator CPU" if coordinator > replica else "replica CPU"
