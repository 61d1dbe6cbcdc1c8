"""Which replicas a coordinator asks and for which of them it waits, by consistency level and datacenter.

Replicas are named by position in the order in which roles are dealt: the coordinator's datacenter first, then
the others in the cluster's order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .graph import Fork, Graph
from .routing import Required


@dataclass(frozen=True)
class AnswerPlan:
    """Groups of replicas of which so many must answer; every group must be satisfied."""

    groups: tuple[tuple[int, tuple[int, ...]], ...]
    """(needed, positions that are asked) of each group."""
    beside: tuple[int, ...]
    """Positions that get the message but for which nobody waits."""
    spare: tuple[int, ...]
    """Positions not asked, nearest first: for speculation and background contact."""

    @property
    def asked(self) -> tuple[int, ...]:
        """Positions that are asked and waited for."""
        return tuple(position for _, positions in self.groups for position in positions)


def positions_by_datacenter(factors: dict[str, int], local: str) -> dict[str, tuple[int, ...]]:
    """Return the positions of the replicas of each datacenter, the local one first."""
    positions: dict[str, tuple[int, ...]] = {}
    start = 0
    for name in [*([local] if local in factors else []), *(other for other in factors if other != local)]:
        positions[name] = tuple(range(start, start + factors[name]))
        start += factors[name]
    return positions


def plan_answers(required: Required, factors: dict[str, int], local: str, *, write: bool) -> AnswerPlan:
    """Return the plan of a read (asks as many as needed) or a write (asks all)."""
    by_datacenter = positions_by_datacenter(factors, local)
    everyone = tuple(position for positions in by_datacenter.values() for position in positions)
    if required.per_datacenter:
        pools = [(needed, by_datacenter[name]) for name, needed in required.per_datacenter.items()]
    else:
        pools = [(required.total, everyone)]
    pools = [(min(needed, len(pool)), pool) for needed, pool in pools if needed]
    groups = tuple((needed, pool if write else pool[:needed]) for needed, pool in pools)
    asked = {position for _, positions in groups for position in positions}
    rest = tuple(position for position in everyone if position not in asked)
    candidates = {position for _, pool in pools for position in pool}
    spare = tuple(position for position in rest if position in candidates)
    return AnswerPlan(groups, rest if write else (), () if write else spare)


def wait_for(
    plan: AnswerPlan,
    inline: int | None,
    rest: Graph,
    branch: Callable[[int], Graph],
    speculation: tuple[Graph, ...] = (),
) -> Graph:
    """Return the wait for the answers that a plan needs.

    Args:
        plan: who is asked and how many must answer.
        inline: position whose CPU work the coordinator has already done, or None.
        rest: what that position still does (disk, commit log, its stage).
        branch: the graph of the replica at a position.
        speculation: further branches of a plan with one group.
    """

    def work(position: int) -> Graph:
        return rest if position == inline else branch(position)

    groups = tuple(
        Fork(needed, (*(work(position) for position in _first(positions, inline)), *speculation))
        for needed, positions in plan.groups
    )
    return _joined(groups)


def _first(positions: tuple[int, ...], inline: int | None) -> tuple[int, ...]:
    """Return the positions with the one done in line in front."""
    return tuple(sorted(positions, key=lambda position: position != inline))


def _joined(forks: tuple[Fork, ...]) -> Graph:
    if len(forks) > 1:
        return Fork(len(forks), tuple(_joined((fork,)) for fork in forks))
    (fork,) = forks
    return fork.branches[0] if len(fork.branches) == 1 else fork
