"""Tokens chosen so that replicated ownership becomes even: the replication-aware allocation.

A new node takes its tokens one after the other. For every range of the ring it is worked out what a token in
that range would take over and from whom; the token is put where it takes most from nodes that hold too
much, at the point within the range at which the node gets its fair share.

What a token takes over follows from the walk (`walk.py`): the part of its own range before it, and every
earlier range whose walk passes it before the replica that the new node displaces.

Assumptions: as many racks as replicas make each rack a ring of its own with one replica; with fewer racks
than replicas (where Cassandra refuses to allocate) racks are ignored. Not byte-equal to Cassandra, whose
candidates are the middles of ranges; the spread of ownership is alike.
Source: B. Lambov, "New token allocation algorithm in Cassandra 3.0" (2016); CASSANDRA-7032.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .snitch import rack_ids
from .tally import tally
from .topology import Node
from .walk import walk

Floats = NDArray[np.float64]
_RING = 2.0**64
_JITTER = 0.25
"""Largest shift of the very first tokens from even spacing, in slots either way."""
_EDGE = 0.2
"""Smallest part of a range that is split off, so that no range becomes too small for later nodes."""


@dataclass
class _Newcomer:
    """The ring while a node takes its tokens; ranges as they were before it came."""

    end: Floats
    """Upper end of each range, [ranges], 0 … 1."""
    width: Floats
    """Width of the part of each range after the node's last token in it, [ranges]."""
    loser: NDArray[np.intp]
    """Node that a token of the newcomer displaces from each range, [ranges]."""
    reach: NDArray[np.intp]
    """How many tokens further the newcomer's token may lie and still displace it, [ranges]."""
    until: NDArray[np.intp]
    """Range, counted on beyond the last, up to which a token would take over, [ranges]."""
    open: NDArray[np.bool_]
    """Ranges that the newcomer does not replicate yet, [ranges]."""
    excess: Floats
    """Ownership above the fair share, [nodes]."""
    need: float
    """Ownership the newcomer still lacks."""


def aware_tokens(
    tokens: NDArray[np.int64],
    owner: NDArray[np.intp],
    peers: tuple[Node, ...],
    factor: int,
    racks: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Choose the tokens of the last of `peers`, [tokens].

    Args:
        tokens: tokens of the other peers in order, [ranges].
        owner: who holds them, [ranges].
        peers: nodes of one datacenter that have joined, the newcomer last.
        factor: RF of the datacenter.
        racks: racks the datacenter has once all nodes have joined.
        rng: shifts the first node's tokens.
    """
    new = peers[-1]
    if 1 < racks == factor:
        kept = np.isin(owner, [node.index for node in peers if node.rack == new.rack])
        tokens, owner, factor = tokens[kept], owner[kept], 1
        peers = tuple(node for node in peers if node.rack == new.rack)
    if tokens.size == 0:
        return _as_tokens(_jittered(new.num_tokens, rng))
    rack = np.zeros(new.index + 1, dtype=np.intp)
    if racks > factor:
        rack[[node.index for node in peers]] = rack_ids(peers)
    newcomer = _newcomer(_as_positions(tokens), owner, rack, peers, factor)
    return _as_tokens(np.array([_take(newcomer, left) for left in range(new.num_tokens, 0, -1)]))


def _as_positions(tokens: NDArray[np.int64]) -> Floats:
    positions: Floats = tokens / _RING + 0.5
    return positions


def _as_tokens(positions: Floats) -> NDArray[np.int64]:
    return np.array([int(position % 1.0 * _RING) % 2**64 - 2**63 for position in positions], dtype=np.int64)


def _jittered(count: int, rng: np.random.Generator) -> Floats:
    shifts = rng.uniform(-_JITTER, _JITTER, count)
    positions: Floats = (np.arange(count) + shifts) / count + rng.uniform()
    return positions


def _newcomer(
    end: Floats, owner: NDArray[np.intp], rack: NDArray[np.intp], peers: tuple[Node, ...], factor: int
) -> _Newcomer:
    # While every node replicates everything only the primary ownership can be evened out.
    factor = factor if len(peers) > factor else 1
    width = np.diff(end, prepend=end[-1] - 1.0)
    found = walk(owner, rack if factor > 1 else np.zeros_like(rack), factor)
    column = _displaced(rack[found.nodes] == rack[-1], factor, rack)
    rows = np.arange(owner.size)
    owned = tally(found.nodes, width[:, None], rack.size)
    fair = np.zeros(rack.size)
    fair[[node.index for node in peers]] = [node.num_tokens for node in peers]
    fair *= factor / fair.sum()
    return _Newcomer(
        end=end,
        width=width,
        loser=found.nodes[rows, column],
        reach=found.offsets[rows, column],
        until=rows + 1 + found.offsets[rows, column],
        open=np.ones(owner.size, dtype=np.bool_),
        excess=owned - fair,
        need=float(fair[-1]),
    )


def _displaced(same_rack: NDArray[np.bool_], factor: int, rack: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the replica a newcomer displaces, [ranges]: that of its rack, otherwise the last one."""
    last = np.full(same_rack.shape[0], factor - 1, dtype=np.intp)
    if not rack.any():
        return last
    return np.where(same_rack.any(axis=1), same_rack.argmax(axis=1), last)


def _take(newcomer: _Newcomer, tokens_left: int) -> float:
    """Take one token, and return its position."""
    wanted = newcomer.need / tokens_left
    moving = newcomer.width * newcomer.open
    gain = _passed(newcomer, moving)
    relief = _passed(newcomer, moving * (2 * newcomer.excess[newcomer.loser] - moving))
    part = np.clip((wanted - gain) / newcomer.width, _EDGE, 1 - _EDGE)
    split = part * moving
    relief += split * (2 * newcomer.excess[newcomer.loser] - split)
    score = relief - tokens_left * (gain + split - wanted) ** 2
    best = int(np.argmax(score))
    return _settle(newcomer, best, float(part[best]))


def _passed(newcomer: _Newcomer, amount: Floats) -> Floats:
    """Sum an amount over the earlier ranges that a token in each range would take over, [ranges]."""
    ranges = amount.size
    change = np.zeros(2 * ranges + 1)
    change[1 : ranges + 1] = amount
    total = np.cumsum(change - np.bincount(newcomer.until, amount, 2 * ranges + 1))
    folded: Floats = total[:ranges] + total[ranges : 2 * ranges]
    return folded


def _settle(newcomer: _Newcomer, at: int, part: float) -> float:
    """Put the token at a part of range `at`, move the ownership, and return the position."""
    behind = (at - np.arange(newcomer.width.size)) % newcomer.width.size
    passed = newcomer.open & (behind > 0) & (behind <= newcomer.reach)
    moved = newcomer.width * passed
    if newcomer.open[at]:
        moved[at] = part * newcomer.width[at]
    np.subtract.at(newcomer.excess, newcomer.loser, moved)
    newcomer.need -= float(moved.sum())
    newcomer.open &= ~passed
    newcomer.width[at] *= 1 - part
    return float(newcomer.end[at] - newcomer.width[at])
