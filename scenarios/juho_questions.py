"""The questions Juho Mäkinen left open: more nodes, RF 2, more in flight, rows on disk.

Each is one of his scenarios with a few keys changed, asked of all parameter sets that reproduce his three runs, and
answered in two ways: what his client would get, and what the cluster itself can carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.bounds import capacity_per_s
from ..model.mva import solve
from ..model.network import Floats
from .juho import RUN_2, Finding, ParameterSets, run_of

NEAR = 0.05
"""Relative error of run 2 up to which a set that reproduces runs 1 and 3 is asked; the model's own is not less."""
DISK_ROWS = 10**9
"""Rows of 170 bytes that fit on two 1 TB disks and not in the memory of eight nodes."""


@dataclass(frozen=True)
class Question:
    """A change of the scenario in which both nodes are asked."""

    words: str
    nodes: int
    changes: tuple[str, ...] = ()

    @property
    def overrides(self) -> tuple[str, ...]:
        """The keys that differ."""
        return (f"cluster.nodes={self.nodes}", *self.changes)


@dataclass(frozen=True)
class Reply:
    """What a question gets under one reading."""

    question: Question
    at_his_client_per_s: Floats
    """[sets]"""
    capacity_per_s: Floats
    """[sets]: largest load that the cluster itself can carry."""


def questions() -> tuple[Question, ...]:
    """Return all questions in the order of the table."""
    return tuple(_questions())


def _questions() -> Iterator[Question]:
    two = "cluster.replication.factor=2"
    yield from _sizes("RF 1", range(1, 9))
    yield from _sizes("RF 2, defaults of 0.6", (2, 3, 4, 8), two)
    yield from _sizes("RF 2, defaults of 5.0", (2, 3, 4, 8), two, "cluster.version=5.0")
    yield from _sizes("RF 1, 400 in flight", (1, 2, 4, 8), "clients.in_flight=400")
    rows = ("workload.absent_keys=0", f"workload.partitions={DISK_ROWS}")
    yield from _sizes("RF 1, rows on disk", (1, 2, 4, 8), *rows)


def _sizes(words: str, sizes: Sequence[int] | range, *changes: str) -> Iterator[Question]:
    return (Question(words, nodes, changes) for nodes in sizes)


def reproducing_all(finding: Finding) -> ParameterSets:
    """Return the sets that reproduce runs 1 and 3 and come near run 2."""
    return finding.sets.taken(finding.distance < NEAR)


def reply(question: Question, sets: ParameterSets) -> Reply:
    """Answer a question by mean-value analysis for some sets."""
    rates, capacities = np.zeros(sets.size), np.zeros(sets.size)
    for where, members in run_of(RUN_2, sets, question.overrides).by_variation(sets):
        rates[where], capacities[where] = solve(members).throughput_per_s, capacity_per_s(members)
    return Reply(question, rates, capacities)


def replies(finding: Finding) -> tuple[Reply, ...]:
    """Answer all questions."""
    sets = reproducing_all(finding)
    return tuple(reply(question, sets) for question in questions())
