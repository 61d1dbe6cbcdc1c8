"""What a reader gives back: runs, and the lines it could not read."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.measurement import Measurement
from .lines import Line


@dataclass(frozen=True)
class Unread:
    """A line that was not read, and why."""

    line: Line
    reason: str


@dataclass(frozen=True)
class Reading:
    """One file, read."""

    kind: str
    """The kind of output that was recognised."""
    runs: tuple[Measurement, ...]
    unread: tuple[Unread, ...]
