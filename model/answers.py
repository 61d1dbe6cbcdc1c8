"""Which replicas a coordinator asks and for which of them it waits, by consistency level and datacenter.

Replicas are named by position in the order in which roles are dealt: the coordinator's datacenter first, then
the others in the cluster's order.
"""

from __future__ import annotations

from dataclasses import dataclass

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
