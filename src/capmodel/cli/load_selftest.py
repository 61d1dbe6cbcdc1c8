"""What `capmodel load selftest` does, once its options are read, and what it prints."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import typer

from ..live.load.backends import check_backend
from ..live.load.ceiling import Ceiling, store_ceiling
from ..live.stub.selftest import Step, self_test
from ..model.units import format_duration, format_rate


def selftest(backend: str, step_s: float, as_json: bool) -> None:
    """Test the generator, store and print what was found."""
    check_backend(backend)
    found = self_test(backend, step_s, _show)
    print(f"stored in {store_ceiling(found.ceiling)}", file=sys.stderr)
    text = found.ceiling.model_dump_json(indent=2) if as_json else "\n".join(_lines(found.ceiling))
    typer.echo(text)


def _show(step: Step) -> None:
    print(step_text(step), file=sys.stderr, flush=True)


def step_text(step: Step) -> str:
    """Return a load on the stub as one line."""
    load = f"{step.in_flight} in flight" if step.in_flight is not None else f"{format_rate(step.asked_per_s or 0)} open"
    words = [f"{load:>14}", f"{format_rate(step.rate_per_s):>9}", f"p50 {format_duration(step.p50_s)}"]
    words += [f"p99 {format_duration(step.p99_s)}", f"{format_duration(step.cpu_per_operation_s)} of CPU an operation"]
    if step.send_lag_p99_s is not None:
        kept = "kept" if step.kept else "not kept"
        words.append(f"send lag p99 {format_duration(step.send_lag_p99_s)} ({kept})")
    words.append(f"stub busy {step.stub.busy_ratio:.0%}")
    return ", ".join(words) + (", void" if step.void else "")


def _lines(ceiling: Ceiling) -> Iterator[str]:
    opened = "none that was tried" if ceiling.open_per_s is None else format_rate(ceiling.open_per_s)
    yield f"Generator   {ceiling.backend} backend, one process, on {ceiling.machine}"
    yield f"Closed      {format_rate(ceiling.closed_per_s)}, {format_duration(ceiling.cpu_per_operation_s)} of CPU each"
    yield f"Open        {opened}, with a send lag of 2 ms or less at p99"
    yield f"Floor       {format_duration(ceiling.floor_s)}, the median latency of one request at a time"
    yield f"Stub        busy {ceiling.stub_busy_ratio:.0%} of the time at most"
