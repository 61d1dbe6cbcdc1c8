"""What a node's machine says from outside: CPU time, time throttled, disk operations. The lab provides a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ...model.measurement import Fact


@dataclass(frozen=True)
class NodeUse:
    """What a node has used since some time before; None where nothing is known."""

    cpu_s: float | None = None
    throttled_s: float | None = None
    disk_reads: int | None = None
    disk_writes: int | None = None


@dataclass(frozen=True)
class NodeSurroundings:
    """What is fixed about a node's machine."""

    cores: float | None = None
    """Cores it may use: its quota where it has one."""
    nodes_on_cores: int | None = None
    """Nodes that share its cores, itself included."""
    facts: Mapping[str, Fact] = field(default_factory=dict)


class NodeProbe(Protocol):
    """Reads what nodes have used, by address."""

    def use(self) -> Mapping[str, NodeUse]:
        """Return what each node has used so far."""

    def surroundings(self) -> Mapping[str, NodeSurroundings]:
        """Return what is fixed about each node's machine."""

    def caps(self) -> Mapping[str, str]:
        """Return which limits were asked for and whether they bind (`ClusterFacts.caps`)."""


def grown(before: NodeUse, after: NodeUse) -> NodeUse:
    """Return what was used between two readings; nothing is known of a node that was restarted."""

    def between(name: str) -> float | None:
        first, last = getattr(before, name), getattr(after, name)
        return None if first is None or last is None or last < first else last - first

    return NodeUse(**{name: between(name) for name in NodeUse.__dataclass_fields__})  # type: ignore[arg-type]
