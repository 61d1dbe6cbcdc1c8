"""What `capmodel load run` does, once its options are read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from ..live.load.access import Access
from ..live.load.interval import Interval
from ..live.load.interval_log import write_interval_log
from ..live.load.look import Show
from ..live.load.memory_session import MemoryCluster
from ..live.load.opening import at_rate
from ..live.load.plan import LoadPlan
from ..live.load.run import run_in_memory, run_load
from ..model.errors import InputError, Problem
from ..model.measurement import Measurement
from ..model.measurement_file import dump_measurement, write_measurement
from ..model.rate_course import RateCourse
from ..model.scenario import Scenario
from ..model.scenario_file import load_scenario
from ..report.measurement_text import measurement_text
from .load_options import time_of, warm_up_of, words_of
from .load_view import LoadView

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""
FAILED = 1
"""Exit code of a run whose processes were all lost, or that a stop condition ended."""
USUAL_DURATION = "10s"
COURSE_WARM_UP_S = 5.0
"""At the first rate of a course; rates that change are never flat."""


def plan_of(
    duration: str | None,
    operations: int | None,
    warm_up: str,
    processes: int,
    seed: int,
    timeout: str,
    coordinators: str | None,
    idle: str,
    course: RateCourse | None = None,
) -> LoadPlan:
    """Return the plan that the options give."""
    by_count = operations is not None and duration is None
    whole_course = f"{course.lasts_s}s" if course else USUAL_DURATION
    return LoadPlan(
        duration_s=None if by_count else time_of("--duration", duration or whole_course),
        operations=operations,
        warm_up_s=COURSE_WARM_UP_S if course and warm_up == "auto" else warm_up_of(warm_up),
        processes=processes,
        seed=seed,
        timeout_s=time_of("--timeout", timeout),
        coordinators=words_of(coordinators),
        idle_s=time_of("--idle", idle),
        course=course,
    )


def asked_of(scenario: str, changes: Sequence[str] | None, course: RateCourse | None) -> Scenario:
    """Return the scenario that is named, with a load at the mean rate of a course where there is one."""
    loaded = load_scenario(scenario, changes or [])
    return loaded if course is None else at_rate(loaded, course.mean_per_s)


@dataclass(frozen=True)
class Driven:
    """What is to be done, and where its results go."""

    scenario: Scenario
    access: Access
    plan: LoadPlan
    backend: str
    lab_directory: Path | None = None
    output: Path | None = None
    hdr_log: Path | None = None
    as_json: bool = False


def drive(what: Driven) -> None:
    """Run a load, write and print what it measured."""
    for place in (what.output, what.hdr_log):
        check_place(place)
    kept: list[Interval] = []
    view = LoadView()
    try:
        measurement = _measured(what, view.show, kept)
    finally:
        view.close()
    if what.output is not None:
        write_measurement(measurement, what.output)
    if what.hdr_log is not None:
        write_interval_log(kept, measurement.started_at, what.hdr_log)
    typer.echo(dump_measurement(measurement) if what.as_json else measurement_text(measurement), nl=not what.as_json)
    if measurement.ended != "planned":
        given_up = any(note.startswith("stopped:") for note in measurement.notes)
        raise typer.Exit(INTERRUPTED if measurement.ended == "early" and not given_up else FAILED)


def check_place(path: Path | None) -> None:
    """Refuse a place that cannot be written to, before a run that would be lost for it.

    Raises:
        InputError: the folder is not there, or nobody may write into it.
    """
    if path is not None and not os.access(path.parent, os.W_OK):
        raise InputError([Problem("--output", str(path), "a file in a folder that can be written to")])


def _measured(what: Driven, show: Show, kept: list[Interval]) -> Measurement:
    if what.backend == "memory":
        cluster = MemoryCluster(nodes=what.scenario.cluster.node_count)
        return run_in_memory(what.scenario, cluster, what.plan, show=show, keep=kept.extend)
    from ..live.load.lab_probe import lab_probe

    probe = lab_probe(what.access.contact_points, what.lab_directory)
    return run_load(
        what.scenario, what.access, what.plan, backend=what.backend, probe=probe, show=show, keep=kept.extend
    )
