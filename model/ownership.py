"""How much of the data and of the load each node has.

The largest share decides when the cluster is full or saturated, not the mean.
Primary shares add up to 1, replicated ones to RF, as in the "Owns" column of `nodetool status`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cluster import Replication
from .errors import Problem, ScenarioError
from .placement import Placement
from .replication import replica_sets
from .ring import Ring
from .tally import tally
from .topology import Node

Floats = NDArray[np.float64]
_ROUNDING_PERCENT = 0.06
"""Largest rounding error of one percentage that `nodetool status` prints with one decimal."""


@dataclass(frozen=True, eq=False)
class Ownership:
    """The part of the ring that each node holds."""

    primary: Floats
    """Share whose first token is the node's, [nodes]; adds up to 1."""
    replicated: Floats
    """Share of which the node has a replica, [nodes]; adds up to RF."""

    @property
    def largest(self) -> float:
        """The largest replicated share."""
        return float(self.replicated.max())

    @property
    def imbalance(self) -> float:
        """Largest replicated share over the mean."""
        return self.largest / float(self.replicated.mean())


def ownership_of(ring: Ring, nodes: tuple[Node, ...], replication: Replication) -> Ownership:
    """Return the ownership of each node; `nodes` as the snitch sees them."""
    widths = ring.shares()
    sets = replica_sets(ring, nodes, replication)
    return Ownership(
        primary=tally(ring.owner, widths, len(nodes)),
        replicated=_shares(sets, widths, len(nodes)),
    )


def load_share(placement: Placement, nodes: int) -> Floats:
    """Return the share of requests for whose key each node is a replica, [nodes]; adds up to RF."""
    return _shares(placement.replicas, placement.weight, nodes)


def _shares(sets: NDArray[np.intp], weight: Floats, nodes: int) -> Floats:
    return tally(sets, weight[:, None], nodes)


def check_ownership(percentages: Sequence[float], replication_factor: int) -> None:
    """Refuse reported ownership that does not add up.

    Args:
        percentages: ownership of each node in percent, as `nodetool status KEYSPACE` prints it.
        replication_factor: RF of that keyspace, summed over the datacenters listed.

    Raises:
        ScenarioError: a percentage outside 0 … 100, or a sum that is not 100 % × RF.
    """
    problems = [
        Problem(f"ownership[{node}]", percent, "between 0 and 100 %")
        for node, percent in enumerate(percentages)
        if not 0 <= percent <= 100 + _ROUNDING_PERCENT
    ]
    total, expected = sum(percentages), 100.0 * replication_factor
    if not abs(total - expected) <= _ROUNDING_PERCENT * len(percentages):
        right = f"{expected:g} %, that is 100 % × RF {replication_factor}, as the sum over all nodes"
        problems.append(Problem("ownership", f"{total:.1f} %", right))
    if problems:
        raise ScenarioError(problems)
