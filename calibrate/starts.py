"""Starts: what differs from one start of a cluster to the next, and is the same for all runs in between.

Two starts of the same nodes differ by about 10 % in speed (compilation, memory layout, the host's own drift). All runs
of one start share that factor, so that many runs in one start do not make it known. A fit gives every start a factor
of its own, log-normal around 1; a prediction is about a start not yet made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.network import Floats
from .observation import CPU, THROUGHPUT, Observation
from .repeats import scenario_key
from .run import Run

START_SPREAD = 0.10
"""Standard deviation of the logarithm of a start's speed. Source: lab-fidelity.md, section 3: boot 2 against boot 1
+18, +19, +29 and +10 %, boot 3 +13 %; its section 8: about 10 % (1 sigma)."""


def start_of(run: Run) -> str:
    """Return the name of a run's start: as stated, otherwise one for each number of nodes."""
    return run.facts.get("start") or f"{run.scenario.cluster.node_count} nodes"


def within_start(run: Run) -> str:
    """Return a text that is the same for runs of the same scenario in the same start."""
    return f"{start_of(run)} {scenario_key(run)}"


def starts_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the starts of runs in order of first appearance."""
    return tuple(dict.fromkeys(start_of(run) for run in runs))


def start_design(runs: Sequence[Run], observations: Sequence[Observation]) -> Floats:
    """Return how each start's speed moves each observation, [observations, starts].

    A faster start has a higher throughput and a lower CPU time per operation; shapes of latencies do not change.
    """
    names = starts_of(runs)
    design = np.zeros((len(observations), len(names)))
    for row, one in enumerate(observations):
        sign = {THROUGHPUT: 1.0, CPU: -1.0}.get(one.what, 0.0)
        design[row, names.index(start_of(runs[one.run]))] = sign
    return design
