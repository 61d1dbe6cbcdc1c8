"""What was read from another tool's output, as text: a line a run, then every line that was not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.measured_metrics import metrics_of
from ..model.measurement import Measurement
from ..model.units import format_duration, format_rate

WIDEST = 100
"""Characters of an unread line that are shown."""


def import_text(file: str, kind: str, runs: Sequence[Measurement], unread: Sequence[tuple[int, str, str]]) -> str:
    """Return what was read from a file.

    Args:
        file: its name.
        kind: the kind recognised.
        runs: one measurement a run.
        unread: number, text and reason of each line not read.
    """
    return "\n".join(
        [f"{file}: {kind}, {len(runs)} runs, {len(unread)} lines not read", *_runs(runs), *_unread(unread)]
    )


def _runs(runs: Sequence[Measurement]) -> Iterator[str]:
    for run in runs:
        metrics = metrics_of(run)
        rate = metrics.throughput_per_s.value
        yield f"  {run.title or run.name}: {'no rate' if rate is None else format_rate(rate)}"
        for operation, latency in metrics.latency_s.items():
            figures = ", ".join(f"{name} {format_duration(found.value or 0)}" for name, found in latency.present())
            yield f"    {operation}, {latency.kind.value}, {latency.statistic.value}: {figures}"
        yield from (f"    {note}" for note in run.notes)


def _unread(unread: Sequence[tuple[int, str, str]]) -> Iterator[str]:
    if unread:
        yield "  Not read:"
    for number, text, reason in unread:
        yield f"    {number}: {text[:WIDEST]}   ({reason})"
