"""The walk clockwise from each token until enough distinct nodes are met.

The rule is NetworkTopologyStrategy's within one datacenter: a node in a rack not met yet is taken; a node in
a rack met before is taken only while more replicas than racks are wanted; a node is never taken twice. With a
single rack this is "the next distinct nodes", SimpleStrategy's rule.
Source: Apache Cassandra 3.2 and later, `NetworkTopologyStrategy` (CASSANDRA-10200). Versions before took the
same nodes, but appended those of racks met before once all racks had been met.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.intp]
NOBODY = -1
"""Marks a replica not found yet; no node and no rack has this number."""


@dataclass(frozen=True, eq=False)
class Walk:
    """The nodes met by the walk from every range of one ring."""

    nodes: IntArray
    """Node taken, [ranges, replicas], in the order of the walk."""
    offsets: IntArray
    """Tokens passed before it was taken, [ranges, replicas]; 0 for the range's own token."""


def walk(owner: IntArray, rack: IntArray, factor: int) -> Walk:
    """Walk from every range of a ring.

    Args:
        owner: node that holds each token, [ranges], in token order.
        rack: rack of each node, [nodes].
        factor: replicas wanted; no more than there are distinct owners.
    """
    ranges = owner.size
    found = Walk(_nobody(ranges, factor), _nobody(ranges, factor))
    racks = _nobody(ranges, factor)
    count = np.zeros(ranges, dtype=np.intp)
    repeats_left = np.full(ranges, factor - np.unique(rack[owner]).size)
    active = np.arange(ranges)
    for step in range(ranges):
        here = owner[(active + step) % ranges]
        new_rack = ~(racks[active] == rack[here][:, None]).any(axis=1)
        new_node = ~(found.nodes[active] == here[:, None]).any(axis=1)
        taken = new_rack | (new_node & (repeats_left[active] > 0))
        rows, column = active[taken], count[active[taken]]
        found.nodes[rows, column] = here[taken]
        found.offsets[rows, column] = step
        racks[rows, column] = rack[here[taken]]
        repeats_left[active[taken & ~new_rack]] -= 1
        count[rows] += 1
        active = active[count[active] < factor]
        if active.size == 0:
            break
    return found


def _nobody(ranges: int, factor: int) -> IntArray:
    return np.full((ranges, factor), NOBODY, dtype=np.intp)
