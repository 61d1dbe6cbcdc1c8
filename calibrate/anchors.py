"""Anchors: runs that measure what a layout of nodes on a shared host costs, before anything else is claimed about it.

Nodes that share a machine make each other dearer, by caches, memory and start effects that no model of the cluster
knows; local work rose by 3 to 39 % from one to four nodes. Runs at RF 1 with token-aware clients have local work only:
measured over predicted throughput of these is the speed of the layout, a property of the host. A user whose nodes have
a machine each does not need it.

Source: lab-fidelity.md, section 10: scaled by such cells, four nodes are met within 6 % in the median, not 13 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model.calibration import Calibration
from ..model.clients import Routing
from ..model.errors import InputError
from .forward import ForwardModel
from .observation import THROUGHPUT, observations_of
from .parameters import profile_values
from .repeats import combined
from .run import Run
from .starts import start_of, within_start


@dataclass(frozen=True)
class Anchored:
    """Runs with the speed of their layout, and what was found."""

    runs: tuple[Run, ...]
    """Runs that are no anchors, their cores at the speed of their layout."""
    speeds: Mapping[str, float]
    """Speed by start, relative to the calibration's cores."""


def is_anchor(run: Run) -> bool:
    """Whether a run has local work only: RF 1, every request sent to the node that holds its row."""
    clients, count = run.scenario.clients, run.scenario.cluster.node_count
    local = count == 1 or (clients.routing is Routing.TOKEN_AWARE and not clients.coordinators)
    return local and run.scenario.cluster.replication.factor == 1


def anchored(calibration: Calibration, runs: Sequence[Run]) -> Anchored:
    """Return the runs that are no anchors, at the speed that the anchors of their start show.

    Raises:
        InputError: a start without anchors.
    """
    anchors = combined((run for run in runs if is_anchor(run)), within_start)
    rest = [run for run in runs if not is_anchor(run)]
    speeds = speeds_of(calibration, anchors)
    missing = sorted({start_of(run) for run in rest} - set(speeds))
    if missing:
        raise InputError(f"no run at RF 1 with token-aware clients in: {', '.join(missing)}")
    return Anchored(tuple(_at_speed(run, speeds[start_of(run)]) for run in rest), speeds)


def speeds_of(calibration: Calibration, anchors: Sequence[Run]) -> dict[str, float]:
    """Return measured over predicted throughput of the anchors of each start, as geometric means."""
    seen = [one for one in observations_of(anchors) if one.what == THROUGHPUT]
    if not seen:
        return {}
    expected = ForwardModel(anchors, profile_values(calibration), seen).expected({})[0]
    logs: dict[str, list[float]] = {}
    for one, log in zip(seen, expected, strict=True):
        logs.setdefault(start_of(anchors[one.run]), []).append(one.log_value - float(log))
    return {start: float(np.exp(np.mean(found))) for start, found in logs.items()}


def _at_speed(run: Run, speed: float) -> Run:
    hardware = run.scenario.hardware.model_copy(update={"speed": run.scenario.hardware.speed * speed})
    facts = {**run.facts, "start": start_of(run)}
    return replace(run, scenario=run.scenario.model_copy(update={"hardware": hardware}), facts=facts)
