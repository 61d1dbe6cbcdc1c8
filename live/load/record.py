"""What a run has left behind, before it becomes a measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ...model.measurement import Fact
from .ceiling import Ceiling
from .console import FoundNode
from .counters import Sweep
from .interval import Interval
from .node_probe import NodeSurroundings, NodeUse
from .session import BackendFacts


@dataclass(frozen=True)
class Reading:
    """What nodes and host said at one time."""

    at_s: float
    sweep: Sweep | None = None
    use: Mapping[str, NodeUse] = field(default_factory=dict)


@dataclass(frozen=True)
class SiteFacts:
    """The cluster as it was found."""

    nodes: Sequence[FoundNode] = ()
    settings: Mapping[str, Mapping[str, Fact]] = field(default_factory=dict)
    """By address."""
    surroundings: Mapping[str, NodeSurroundings] = field(default_factory=dict)
    caps: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunRecord:
    """What a run has left behind."""

    warm_up: Sequence[Interval]
    measured: Sequence[Interval]
    after: Sequence[Interval]
    ended: Literal["planned", "early", "failed"]
    started_at: datetime | None
    """Start of the measured time."""
    backend: BackendFacts
    never_flat: bool = False
    lost: Sequence[tuple[int, float | None]] = ()
    """Processes that were lost, with the time of their last word."""
    host_idle_ratio: float | None = None
    idle: tuple[Reading, Reading] | None = None
    """Readings around a time without load."""
    span: tuple[Reading, Reading] | None = None
    """Readings around the measured time."""
    stopped_for: str | None = None
    """The stop condition that ended it."""
    ceiling: Ceiling | None = None
    """What the generator can do here, where its self-test was made."""
    notes: Sequence[str] = ()
