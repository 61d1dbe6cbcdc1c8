"""The token ring: which node holds which token, and how wide the ranges are.

Tokens are those of the Murmur3 partitioner, -2^63 … 2^63 - 1. A range ends at its token and starts after the
one before, wrapping around; keys are hashed evenly, so a range's width is its share of the keys.
Source: Apache Cassandra documentation, "Dynamo" (consistent hashing using a token ring).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .allocation import Draft, allocate, allocate_new
from .cluster import Allocation
from .errors import Problem, ScenarioError
from .topology import Node

_TOKENS = 2.0**64
"""Tokens of the Murmur3 partitioner."""


@dataclass(frozen=True, eq=False)
class Ring:
    """A ring; range i is (tokens[i-1], tokens[i]], and `owner[i]` holds token i."""

    tokens: NDArray[np.int64]
    """Tokens in ascending order, [ranges]."""
    owner: NDArray[np.intp]
    """Index of the node that holds each token, [ranges]."""

    def shares(self) -> NDArray[np.float64]:
        """Return the width of every range as a share of the ring, [ranges]; they add up to 1."""
        if self.tokens.size == 1:
            return np.ones(1)
        unsigned = self.tokens.view(np.uint64)
        widths: NDArray[np.float64] = (unsigned - np.roll(unsigned, 1)) / _TOKENS
        return widths


def _ring(tokens: NDArray[np.int64], owner: NDArray[np.intp]) -> Ring:
    order = np.argsort(tokens, kind="stable")
    return Ring(np.ascontiguousarray(tokens[order]), owner[order])


def given_ring(tokens_per_node: Sequence[Sequence[int]]) -> Ring:
    """Return the ring of a real cluster from the tokens of each node.

    Raises:
        ScenarioError: a node without tokens, a token outside the Murmur3 range, or one held twice.
    """
    problems = _problems(tokens_per_node)
    if problems:
        raise ScenarioError(problems)
    owner = np.repeat(np.arange(len(tokens_per_node)), [len(tokens) for tokens in tokens_per_node])
    return _ring(np.array([token for tokens in tokens_per_node for token in tokens], dtype=np.int64), owner)


def _problems(tokens_per_node: Sequence[Sequence[int]]) -> list[Problem]:
    problems: list[Problem] = []
    holder: dict[int, int] = {}
    for node, tokens in enumerate(tokens_per_node):
        key = f"cluster.tokens[{node}]"
        if not tokens:
            problems.append(Problem(key, list(tokens), "at least one token a node"))
        for token in tokens:
            if not -(2**63) <= token < 2**63:
                problems.append(Problem(key, token, "a Murmur3 token, -2^63 … 2^63 - 1"))
            if token in holder:
                problems.append(Problem(key, token, f"another token: node {holder[token]} holds this one"))
            holder[token] = node
    return problems


def draw_ring(
    nodes: tuple[Node, ...],
    allocation: Allocation,
    replication_factor: Mapping[str, int],
    rng: np.random.Generator,
) -> Ring:
    """Draw a ring for new nodes that join one after the other.

    Args:
        nodes: the nodes, each with its number of tokens.
        allocation: how tokens are chosen.
        replication_factor: RF per datacenter, or under the key "" for a ring that ignores datacenters;
            only the replication-aware allocation looks at its values.
        rng: where random tokens come from.
    """
    draft = allocate(nodes, allocation, replication_factor, rng)
    return _ring(draft.tokens, draft.owner)


def add_node(
    ring: Ring,
    nodes: tuple[Node, ...],
    allocation: Allocation,
    replication_factor: Mapping[str, int],
    rng: np.random.Generator,
) -> Ring:
    """Return the ring after the last of `nodes` has joined; the other nodes keep their tokens.

    Even tokens stay where they are: the new node halves the widest ranges of its datacenter.
    """
    old = Draft(ring.tokens, ring.owner)
    tokens = allocate_new(old, nodes, allocation, replication_factor, rng)
    owner = np.full(tokens.size, nodes[-1].index, dtype=np.intp)
    return _ring(np.concatenate([ring.tokens, tokens]), np.concatenate([ring.owner, owner]))


def remove_node(ring: Ring, index: int) -> Ring:
    """Return the ring without a node; the others keep their tokens, and indices above it shift down."""
    kept = ring.owner != index
    owner = ring.owner[kept]
    return Ring(ring.tokens[kept], owner - (owner > index))
