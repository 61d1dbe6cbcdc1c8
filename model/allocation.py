"""How nodes choose their tokens: at random, evenly, or so that replicated ownership becomes even.

Every datacenter is a ring of its own, because its replicas are chosen among its nodes only.

- Random: uniform over the tokens. Source: `num_tokens` without an allocation option.
- Even: slots of equal width, dealt to the nodes in turn, racks alternating; a further datacenter takes the
  same slots moved by a few tokens. Source: the customary calculation of `initial_token`.
- Replication-aware: see `aware.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .aware import aware_tokens
from .cluster import Allocation
from .snitch import datacenter_ids
from .topology import Node, datacenters_of

_DATACENTER_OFFSET = 100
"""Tokens between the even slots of one datacenter and the next, as customary, so that none is held twice."""


@dataclass(frozen=True, eq=False)
class Draft:
    """Tokens in any order."""

    tokens: NDArray[np.int64]
    """Tokens, [ranges]."""
    owner: NDArray[np.intp]
    """Node that holds each, [ranges]."""

    def of(self, nodes: tuple[Node, ...]) -> Draft:
        """Return the tokens of some nodes only, in token order."""
        chosen = np.isin(self.owner, [node.index for node in nodes])
        order = np.argsort(self.tokens[chosen])
        return Draft(self.tokens[chosen][order], self.owner[chosen][order])

    def plus(self, tokens: NDArray[np.int64], node: int) -> Draft:
        """Return the draft with further tokens for one node."""
        owner = np.full(tokens.size, node, dtype=np.intp)
        return Draft(np.concatenate([self.tokens, tokens]), np.concatenate([self.owner, owner]))


def allocate(
    nodes: tuple[Node, ...], allocation: Allocation, factors: Mapping[str, int], rng: np.random.Generator
) -> Draft:
    """Choose tokens for all nodes, which join in order."""
    if allocation is Allocation.EVEN:
        return _even(nodes, factors)
    draft = Draft(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.intp))
    if allocation is Allocation.RANDOM:
        owner = np.repeat([node.index for node in nodes], [node.num_tokens for node in nodes])
        return Draft(random_tokens(owner.size, draft.tokens, rng), owner)
    for count in range(1, len(nodes) + 1):
        tokens = allocate_new(draft, nodes, allocation, factors, rng, count)
        draft = draft.plus(tokens, nodes[count - 1].index)
    return draft


def allocate_new(
    draft: Draft,
    nodes: tuple[Node, ...],
    allocation: Allocation,
    factors: Mapping[str, int],
    rng: np.random.Generator,
    count: int | None = None,
) -> NDArray[np.int64]:
    """Choose the tokens of the last of the first `count` nodes, given those of the others, [tokens]."""
    joined = nodes[:count]
    new = joined[-1]
    if allocation is Allocation.RANDOM:
        return random_tokens(new.num_tokens, draft.tokens, rng)
    peers = tuple(node for node in joined if "" in factors or node.datacenter == new.datacenter)
    if allocation is Allocation.EVEN:
        return _halving(draft.of(peers).tokens, draft.tokens, new.num_tokens)
    factor = factors.get("", factors.get(new.datacenter, 1))
    racks = _rack_count(nodes, new, factors)
    local = draft.of(peers)
    return _unlike(aware_tokens(local.tokens, local.owner, peers, factor, racks, rng), draft.tokens)


def _rack_count(nodes: tuple[Node, ...], new: Node, factors: Mapping[str, int]) -> int:
    if "" in factors:
        return 1
    return len({node.rack for node in nodes if node.datacenter == new.datacenter})


def random_tokens(count: int, taken: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw tokens that nobody holds, uniform over the Murmur3 range, [tokens]."""
    tokens = rng.integers(-(2**63), 2**63 - 1, count, dtype=np.int64)
    return _unlike(tokens, taken)


def _unlike(tokens: NDArray[np.int64], taken: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move tokens that are taken by the smallest step that frees them."""
    used = set(taken.tolist())
    free: list[int] = []
    for token in tokens.tolist():
        while token in used:
            token = token + 1 if token < 2**63 - 1 else -(2**63)
        used.add(token)
        free.append(token)
    return np.array(free, dtype=np.int64)


def _even(nodes: tuple[Node, ...], factors: Mapping[str, int]) -> Draft:
    if "" in factors:
        return _slots(nodes, 0)
    groups = datacenter_ids(nodes)
    drafts = [
        _slots(tuple(node for node in nodes if groups[node.index] == number), number)
        for number in range(len(datacenters_of(nodes)))
    ]
    return Draft(
        np.concatenate([draft.tokens for draft in drafts]), np.concatenate([draft.owner for draft in drafts])
    )


def _slots(nodes: tuple[Node, ...], datacenter: int) -> Draft:
    owner = _dealt(nodes)
    width = 2**64 // owner.size
    start = -(2**63) + datacenter * _DATACENTER_OFFSET
    return Draft(np.array([start + slot * width for slot in range(owner.size)], dtype=np.int64), owner)


def _dealt(nodes: tuple[Node, ...]) -> NDArray[np.intp]:
    """Deal slots to nodes in turn, [slots]; a node with fewer tokens gets its turn less often."""
    turn = [
        ((token + (position + 0.5) / len(nodes)) / node.num_tokens, node.index)
        for position, node in enumerate(_racks_in_turn(nodes))
        for token in range(node.num_tokens)
    ]
    return np.array([index for _, index in sorted(turn)], dtype=np.intp)


def _racks_in_turn(nodes: tuple[Node, ...]) -> list[Node]:
    seats: Counter[str] = Counter()
    seat: list[int] = []
    for node in nodes:
        seat.append(seats[node.rack])
        seats[node.rack] += 1
    return [node for _, node in sorted(zip(seat, nodes, strict=True), key=lambda pair: pair[0])]


def _halving(local: NDArray[np.int64], taken: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Halve the widest range again and again, [tokens]."""
    ends = sorted(local.tolist()) or [-(2**63)]
    tokens: list[int] = []
    for _ in range(count):
        widths = [(end - start) % 2**64 or 2**64 for start, end in zip([ends[-1], *ends], ends, strict=False)]
        widest = int(np.argmax(np.array(widths, dtype=np.float64)))
        tokens.append((ends[widest] - widths[widest] // 2 + 2**63) % 2**64 - 2**63)
        ends = sorted([*ends, tokens[-1]])
    return _unlike(np.array(tokens, dtype=np.int64), taken)
