"""One node more and one node less: both gains, each with its interval.

Gains are paired: the same draws of the profile and the same rings (with a node's tokens added or taken away) on
both sides, the same seed in the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .answer import Analysed, Answer, Figure, analyse, answer
from .gain import Gain, gain, threshold
from .growth import rings_with_nodes, with_nodes
from .network import Floats
from .objective import Objective
from .paired import analysed_gain, capacity_ratio, client_ratio
from .perturbation import members_of
from .placement import place
from .ring import Ring
from .scenario import Scenario
from .simulation.run import Budget, Progress
from .study import Study, arranged
from .topology import nodes_of
from .uncertainty import parts_of_log


@dataclass(frozen=True)
class Questioned:
    """What is asked of a study and its neighbours alike."""

    values: Mapping[str, float]
    moved: Mapping[str, float]
    draws: Mapping[str, Floats]
    discrepancy: Mapping[str, float]
    solver: str
    seed: int
    budget: Budget
    objectives: Sequence[Objective] = ()
    progress: Progress | None = None

    def analyse(self, study: Study) -> Analysed:
        """Return the mean-value analysis of a study's members."""
        return analyse(members_of(study, self.values, self.moved, self.draws), self.objectives)

    def alike(self, own: Answer) -> Questioned:
        """Return the same questions with as many requests as an answer took, so that errors pair up."""
        if own.simulated is None:
            return self
        return replace(self, budget=replace(self.budget, requests=own.simulated.requests))

    def answer(self, study: Study, analysed: Analysed) -> Answer:
        """Return the solver's answer for a study."""
        solver = self.solver if self.solver == "simulate" else "mva"
        return answer(
            study, self.values, analysed, solver, self.seed, self.budget, self.progress, self.discrepancy
        )


@dataclass(frozen=True)
class Neighbour:
    """A cluster with one node more or less, beside the cluster itself."""

    change: int
    at_your_clients: Gain | None
    """None when an open load cannot be carried by both."""
    capacity: Gain
    threshold: float
    analysed: Analysed
    log_gains: Mapping[str, Floats]
    """Logarithms of the gains of every paired member, [paired members]."""


def neighbour(
    base: Study, analysed: Analysed, own: Answer | None, change: int, asked: Questioned
) -> Neighbour | None:
    """Return the gains of `change` nodes more; None where the cluster cannot have them."""
    scenario = with_nodes(base.scenario, change)
    if scenario is None:
        return None
    rng = np.random.default_rng([asked.seed, abs(change), int(change > 0)])
    rings = rings_with_nodes(base.rings, base.scenario, scenario, rng)
    study = _study(scenario, rings, asked, rng)
    other = asked.analyse(study)
    bar, form = threshold(len(base.nodes)), asked.discrepancy.get("gain", 0.0)
    logs = {"capacity": capacity_ratio(other, analysed)}
    clients = None
    if own is not None and other.stable:
        logs["at_your_clients"] = client_ratio(other, analysed)
        there = asked.alike(own).answer(study, other) if asked.solver == "simulate" else None
        clients = _client_gain(logs["at_your_clients"], other, own, there, bar, form, loss=change < 0)
    capacity = analysed_gain(other, logs["capacity"], bar, form, loss=change < 0)
    return Neighbour(change, clients, capacity, bar, other, logs)


def _study(scenario: Scenario, rings: list[Ring], asked: Questioned, rng: np.random.Generator) -> Study:
    placements = [place(scenario, nodes_of(scenario), ring, rng) for ring in rings]
    return arranged(scenario, asked.values, rings, placements)


def _client_gain(
    logs: Floats, other: Analysed, own: Answer, there: Answer | None, bar: float, form: float, *, loss: bool
) -> Gain:
    """Return the gain, centred on the simulation when there is one."""
    if there is None:
        return analysed_gain(other, logs, bar, form, loss=loss)
    ours, theirs = _served(own, other), _served(there, other)
    sampling = float(np.hypot(ours.parts.sampling, theirs.parts.sampling))
    parts = parts_of_log(other.members.blocks.without_limits(), logs, sampling, form)
    sign = -1.0 if other.is_open else 1.0
    return gain(sign * float(np.log(theirs.value / ours.value)), parts, bar, loss=loss)


def _served(answer_: Answer, analysed: Analysed) -> Figure:
    """Return what a client notices: throughput of a closed load, p99 over all operations of an open one."""
    if not analysed.is_open:
        return answer_.throughput_per_s
    tails = [statistics["p99"] for statistics in answer_.latency_s.values()]
    return max(tails, key=lambda figure: figure.value)
