"""What a live view shows of a run, interval by interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .interval import Interval


@dataclass(frozen=True)
class Look:
    """A run as it stands."""

    phase: str
    """`idle`, `loading`, `warm-up` or `measured`."""
    done: float
    """Seconds, operations, or partitions while loading."""
    planned: float | None
    """Of the same; None where the end is not known."""
    rate_per_s: float = 0.0
    p50_s: float | None = None
    p99_s: float | None = None
    errors: int = 0
    """Since the beginning of the run."""
    in_flight: int = 0
    node_cores: Mapping[str, float] = field(default_factory=dict)
    """CPU in use by node, where known."""


Show = Callable[[Look], None]


def show_nothing(look: Look) -> None:
    """Show nothing."""


def look_at(
    interval: Interval, phase: str, done: float, planned: float | None, errors: int, cores: Mapping[str, float]
) -> Look:
    """Return a look at a run after an interval."""
    latencies = interval.all_latencies
    return Look(
        phase=phase,
        done=done,
        planned=planned,
        rate_per_s=interval.rate_per_s,
        p50_s=latencies.quantile_s(0.5),
        p99_s=latencies.quantile_s(0.99),
        errors=errors,
        in_flight=interval.in_flight,
        node_cores=cores,
    )
