"""The replica sets of a cluster and the share of requests that each receives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .popularity import range_weights
from .replication import replica_sets
from .ring import Ring
from .scenario import Scenario
from .snitch import perceived
from .tally import tally
from .topology import Node


@dataclass(frozen=True, eq=False)
class Placement:
    """The distinct replica sets of a ring; their order is that in which replicas were found."""

    replicas: NDArray[np.intp]
    """Nodes of each set, [sets, replicas]; see `replication.replica_sets` for the columns."""
    weight: NDArray[np.float64]
    """Share of requests for keys of each set, [sets]; they add up to 1."""


def place(scenario: Scenario, nodes: tuple[Node, ...], ring: Ring, rng: np.random.Generator) -> Placement:
    """Return the replica sets of a ring with their shares of the requests; equal sets are merged.

    Args:
        scenario: replication, snitch and key popularity.
        nodes: the scenario's nodes.
        ring: who holds which token.
        rng: where hot partitions lie.
    """
    seen = perceived(nodes, scenario.cluster.snitch)
    sets = replica_sets(ring, seen, scenario.cluster.replication)
    return merged(sets, range_weights(ring, scenario.workload, rng))


def merged(sets: NDArray[np.intp], weight: NDArray[np.float64]) -> Placement:
    """Merge equal rows and add their weights; sets that receive no request are left out."""
    asked = weight > 0
    replicas, row = np.unique(sets[asked], axis=0, return_inverse=True)
    return Placement(replicas, tally(row.ravel(), weight[asked], len(replicas)))
