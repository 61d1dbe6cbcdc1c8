"""Replica sets and coordinators, put together where they behave alike.

What a coordinator does with a request depends on the replica set and, when it is none of the replicas, on its
rack only. So a set needs no more cases than it has replicas and the cluster has racks, however many nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .placement import Placement
from .tally import tally

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
IntArray = NDArray[np.intp]
_PAIRS_AT_ONCE = 200_000
"""Pairs of set and coordinator worked on at once: keeps the arrays below 20 MB."""


@dataclass(frozen=True, eq=False)
class Cases:
    """Replica sets, each with coordinators that treat it alike: one of its replicas, or a rack's other nodes."""

    coordinator: IntArray
    """One of the coordinators, [cases]."""
    replicas: IntArray
    """[cases, replicas]"""
    case: IntArray
    """Case of each pair of a set and one of its coordinators, [pairs]."""
    node: IntArray
    """The coordinator of each pair, [pairs]."""
    chance: Floats
    """Probability of each pair, [pairs]."""
    nodes: int
    """Nodes of the cluster."""
    probability: Floats
    """Sum over the coordinators, [cases]."""

    @property
    def remote(self) -> Bools:
        """Replicas on another node than the coordinator, [cases, replicas]."""
        return np.asarray(self.replicas != self.coordinator[:, None])

    def in_order(self, distance: NDArray[np.int8]) -> Cases:
        """Return the cases with their replicas nearest first; equally near ones keep their order."""
        keys = distance[self.coordinator[:, None], self.replicas]
        order = np.argsort(keys, axis=1, kind="stable")
        return replace(self, replicas=np.take_along_axis(self.replicas, order, axis=1))

    def to_replicas(self, amount: NDArray[np.generic]) -> Floats:
        """Add up messages from coordinators to replicas, [coordinators, replicas' nodes].

        Args:
            amount: messages to each replica given the case, [cases, replicas].
        """
        ways = self.node[:, None] * self.nodes + self.replicas[self.case]
        sent = self.chance[:, None] * np.asarray(amount, dtype=np.float64)[self.case]
        return tally(ways, sent, self.nodes**2).reshape(self.nodes, self.nodes)


def cases_of(placement: Placement, matrix: Floats, rack: IntArray) -> list[Cases]:
    """Return the cases of all sets, some sets at a time.

    Args:
        placement: the sets and their shares of the requests.
        matrix: probability of each coordinator given the set, [sets, nodes].
        rack: rack of each node, [nodes].
    """
    step = max(1, _PAIRS_AT_ONCE // matrix.shape[1])
    blocks = [slice(start, start + step) for start in range(0, len(matrix), step)]
    return [
        _alike(placement.replicas[block], matrix[block] * placement.weight[block, None], rack)
        for block in blocks
    ]


def _alike(replicas: IntArray, chances: Floats, rack: IntArray) -> Cases:
    """Put coordinators together that treat a set alike: those of one rack that are not in it."""
    sets, coordinators = np.nonzero(chances)
    own = replicas[sets] == coordinators[:, None]
    kinds = int(rack.max()) + 1 + replicas.shape[1]
    kind = np.where(own.any(axis=1), kinds - 1 - own.argmax(axis=1), rack[coordinators])
    key = sets * kinds + kind
    first = np.full(len(replicas) * kinds, -1, dtype=np.intp)
    first[key] = np.arange(key.size)
    present = first >= 0
    case = np.cumsum(present)[key] - 1
    first = first[present]
    probability = chances[sets, coordinators]
    return Cases(
        coordinator=coordinators[first],
        replicas=replicas[sets[first]],
        case=case,
        node=coordinators,
        chance=probability,
        nodes=chances.shape[1],
        probability=tally(case, probability, first.size),
    )
