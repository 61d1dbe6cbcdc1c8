"""A scenario made ready to be asked: its network on a middling ring, and the bindings of other ring draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .compile import binding_of, compile_network, is_drawn, ring_of
from .network import Binding, Network
from .ownership import load_share
from .placement import Placement, place
from .ring import Ring
from .scenario import Scenario
from .topology import Node, nodes_of

RING_DRAWS = 20
"""Rings over which a result is averaged when the scenario does not give the tokens."""


@dataclass(frozen=True)
class Study:
    """A scenario with its rings; the first ring is the one whose largest load share is the median."""

    scenario: Scenario
    nodes: tuple[Node, ...]
    rings: tuple[Ring, ...]
    placement: Placement
    network: Network
    bindings: tuple[Binding, ...]

    @property
    def largest_share(self) -> float:
        """Share of replica work that falls on the hottest node, relative to the mean."""
        share = load_share(self.placement, len(self.nodes))
        return float(share.max() / share.mean())


def draw_rings(scenario: Scenario, rng: np.random.Generator) -> list[Ring]:
    """Return `RING_DRAWS` rings of a scenario, or the one it gives."""
    nodes = nodes_of(scenario)
    return [ring_of(scenario, nodes, rng) for _ in range(RING_DRAWS if is_drawn(scenario) else 1)]


def study(
    scenario: Scenario, values: Mapping[str, float], rings: Sequence[Ring], rng: np.random.Generator
) -> Study:
    """Compile a scenario on its rings; the order of the rings is kept but for the median, which comes first."""
    nodes = nodes_of(scenario)
    placements = [place(scenario, nodes, ring, rng) for ring in rings]
    largest = [float(load_share(placement, len(nodes)).max()) for placement in placements]
    middle = int(np.argsort(largest, kind="stable")[len(largest) // 2])
    order = [middle, *(index for index in range(len(rings)) if index != middle)]
    return arranged(scenario, values, [rings[index] for index in order], [placements[index] for index in order])


def arranged(
    scenario: Scenario, values: Mapping[str, float], rings: Sequence[Ring], placements: Sequence[Placement]
) -> Study:
    """Compile a scenario on rings whose order is given (so that two studies can be compared ring by ring)."""
    network = compile_network(scenario, values, placements[0])
    bindings = tuple(binding_of(scenario, placement) for placement in placements)
    return Study(scenario, nodes_of(scenario), tuple(rings), placements[0], network, bindings)
