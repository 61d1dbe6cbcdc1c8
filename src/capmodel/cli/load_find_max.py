"""What `capmodel load find-max` does, once its options are read, and what it prints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from ..live.load.access import Access
from ..live.load.maximum import Maximum, Probe
from ..live.load.memory_session import MemoryCluster
from ..live.load.plan import LoadPlan
from ..live.load.probing import find_max, find_max_in_memory
from ..model.document import write_whole
from ..model.objective import Objective
from ..model.scenario import Scenario
from ..model.units import format_duration, format_rate
from .load_run import check_place
from .load_view import LoadView


@dataclass(frozen=True)
class Search:
    """What is to be found, and where it goes."""

    scenario: Scenario
    access: Access
    objective: Objective
    plan: LoadPlan
    backend: str
    first_per_s: float
    limit_s: float
    lab_directory: Path | None
    output: Path | None
    as_json: bool


def search(what: Search) -> None:
    """Search, write and print what was found."""
    check_place(what.output)
    view = LoadView()
    try:
        found = _found(what, view)
    finally:
        view.close()
    text = found.model_dump_json(indent=2)
    if what.output is not None:
        write_whole(text + "\n", what.output)
    typer.echo(text if what.as_json else "\n".join(_lines(found)))


def _found(what: Search, view: LoadView) -> Maximum:
    if what.backend == "memory":
        cluster = MemoryCluster(nodes=what.scenario.cluster.node_count)
        return find_max_in_memory(
            what.scenario, cluster, what.objective, what.plan, what.first_per_s, what.limit_s, _show
        )
    from ..live.load.lab_probe import lab_probe

    return find_max(
        what.scenario,
        what.access,
        what.objective,
        what.plan,
        backend=what.backend,
        probe=lab_probe(what.access.contact_points, what.lab_directory),
        first_per_s=what.first_per_s,
        limit_s=what.limit_s,
        show=view.show,
        show_probe=_show,
    )


def _show(probe: Probe) -> None:
    print(probe_text(probe), file=sys.stderr, flush=True)


def probe_text(probe: Probe) -> str:
    """Return a probe as one line."""
    figure = probe.figure_s
    told = "nothing answered" if figure.value is None else format_duration(figure.value)
    if figure.low is not None and figure.high is not None:
        told += f" [{format_duration(figure.low)}, {format_duration(figure.high)}]"
    return f"{format_rate(probe.rate_per_s):>10} for {probe.lasted_s:.0f} s: {told}, {probe.answer}, {probe.verdict}"


def _lines(found: Maximum) -> Iterator[str]:
    rate = found.rate_per_s
    yield f"Objective   {found.objective}, from the intended start"
    if rate.value is None:
        yield f"Largest     none: {rate.reason}"
    elif rate.low is None or rate.high is None:
        yield f"Largest     {format_rate(rate.value)} or more: {rate.reason}"
    else:
        ends = f"[{format_rate(rate.low)}, {format_rate(rate.high)}]"
        yield f"Largest     {format_rate(rate.value)} {ends}, with a confidence of {found.confidence:.0%}"
    yield f"Ended by    {found.ended_by}{': ' if found.reasons else ''}{'; '.join(found.reasons)}"
    yield f"Took        {found.took_s:.0f} s of load in {len(found.probes)} probes"
