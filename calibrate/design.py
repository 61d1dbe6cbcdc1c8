"""Which runs to make next: those that narrow the interval of an answer most.

The answer is the logarithm of a throughput, or of the ratio of two cluster sizes. Its variance by the parameters is
g' S g, with g its derivatives and S their covariance; runs are chosen one after the other, each the one that lowers
it most (greedy c-optimal design). Starts have unknown speeds of their own, so that a run on a size of cluster that is
already among the runs tells more than its figure.

Source: F. Pukelsheim, Optimal Design of Experiments (1993), chapter 2 (c-optimality).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..model.calibration import Calibration
from ..model.errors import ScenarioError
from ..model.growth import resolved_clients, with_nodes
from ..model.metrics import Metrics
from ..model.network import Floats
from ..model.scenario import Scenario, resolved_in_flight
from .candidates import Candidate, grid
from .forward import ForwardModel
from .information import information_of, variance_along, with_run
from .observation import THROUGHPUT, Observation
from .parameters import Prior, prior_of, profile_values
from .run import Run
from .starts import START_SPREAD

Question = Literal["throughput", "add-node"]
QUESTIONS: tuple[Question, ...] = ("throughput", "add-node")
LOADS = (4, 32, 128)
"""Requests in flight a node of the candidates: few, some, many."""
FORM = 0.1
"""Standard deviation of a run around the model where a calibration does not state it. Source: lab study, `calibrate`
on its own cells: 8 to 10 % beyond noise."""


@dataclass(frozen=True)
class Choice:
    """A run of the plan, and the answer's standard error once it has been made."""

    candidate: Candidate
    std_err: float
    expected_per_s: float


@dataclass(frozen=True)
class Design:
    """A plan of runs for a question."""

    question: Question
    scenario: Scenario
    std_err_now: float
    """Standard error of the logarithm of the answer by the parameters, before any run."""
    choices: tuple[Choice, ...]
    looked_at: int
    """Candidates that were looked at."""


def design(
    scenario: Scenario,
    profile: Calibration,
    question: Question = "add-node",
    runs: int = 10,
    most_nodes: int = 2,
    loads: Sequence[int] = LOADS,
) -> Design:
    """Choose runs that narrow the interval of an answer.

    Args:
        scenario: what the question is about.
        profile: a calibration, or the profile to start from.
        question: `throughput`, or `add-node`: the gain of one node more.
        runs: how many runs can be made.
        most_nodes: nodes that can be had for them.
        loads: requests in flight a node that candidates have.

    Raises:
        ScenarioError: no node can be added to the scenario's cluster.
    """
    known = _known(scenario, profile)
    candidates = grid(scenario, most_nodes, loads)
    return _Choosing(scenario, profile, question, known, candidates).choose(runs)


def _known(scenario: Scenario, profile: Calibration) -> Prior:
    """Return what is known of the parameters that the question touches: by the calibration where it states errors.

    A profile (no discrepancy stated) is only a beginning: what a fit would start from holds instead.
    """
    touched = ForwardModel([Run("", scenario, Metrics())], profile_values(profile), ()).touched
    prior = prior_of(profile, touched)
    return prior if profile.discrepancy is None else _of_calibration(prior, profile)


def _of_calibration(prior: Prior, calibration: Calibration) -> Prior:
    covariance = np.array(prior.covariance)
    fitted = [i for i, name in enumerate(prior.names) if calibration.parameters.get(name, None) is not None]
    spread = np.array([_relative(calibration, prior.names[i]) for i in fitted])
    covariance[fitted, :] = 0.0
    covariance[:, fitted] = 0.0
    covariance[np.ix_(fitted, fitted)] = np.outer(spread, spread) * _correlations(prior, fitted, calibration)
    return Prior(prior.names, prior.log_median, covariance)


def _relative(calibration: Calibration, name: str) -> float:
    parameter = calibration.parameters[name]
    return parameter.std_err / parameter.value if parameter.value > 0 else 0.0


def _correlations(prior: Prior, fitted: Sequence[int], calibration: Calibration) -> Floats:
    matrix = np.eye(len(fitted))
    known = calibration.correlation
    if known is not None:
        position = {name: i for i, name in enumerate(known.names)}
        both = [(k, position[prior.names[i]]) for k, i in enumerate(fitted) if prior.names[i] in position]
        rows, columns = [k for k, _ in both], [i for _, i in both]
        matrix[np.ix_(rows, rows)] = np.array(known.matrix)[np.ix_(columns, columns)]
    return matrix


class _Choosing:
    """Chooses runs one after the other."""

    def __init__(
        self,
        scenario: Scenario,
        profile: Calibration,
        question: Question,
        known: Prior,
        candidates: Sequence[Candidate],
    ) -> None:
        self._scenario, self._question, self._candidates = scenario, question, candidates
        values = profile_values(profile)
        form = profile.discrepancy
        spread = FORM if form is None else max(math.sqrt(max(form.throughput**2 - START_SPREAD**2, 0.0)), FORM / 2)
        scenarios = [candidate.scenario for candidate in candidates]
        self._told = information_of(scenarios, values, known.names, spread)
        self._rows = _with_starts(self._told.rows, scenarios, float(np.hypot(spread, FORM)))
        starts = self._rows[0].shape[1] - len(known.names) if self._rows else 0
        size = len(known.names)
        self._covariance = np.zeros((size + starts, size + starts))
        self._covariance[:size, :size] = known.covariance
        self._covariance[size:, size:] = START_SPREAD**2 * np.eye(starts)
        self._gradient = np.concatenate([_gradient(scenario, question, values, known), np.zeros(starts)])

    def choose(self, runs: int) -> Design:
        """Return the plan."""
        covariance, choices = self._covariance, []
        left = list(range(len(self._candidates)))
        now = variance_along(covariance, self._gradient)
        for _ in range(min(runs, len(left))):
            after = {i: variance_along(with_run(covariance, self._rows[i]), self._gradient) for i in left}
            best = min(after, key=lambda i: (after[i], i))
            covariance = with_run(covariance, self._rows[best])
            left.remove(best)
            rate = float(self._told.expected_per_s[best])
            choices.append(Choice(self._candidates[best], math.sqrt(max(after[best], 0.0)), rate))
        return Design(self._question, self._scenario, math.sqrt(now), tuple(choices), len(self._candidates))


def _with_starts(rows: Sequence[Floats], scenarios: Sequence[Scenario], spread: float) -> tuple[Floats, ...]:
    """Add to each candidate's derivatives those by the speed of its start, one for each number of nodes."""
    counts = sorted({scenario.cluster.node_count for scenario in scenarios})
    extended = []
    for own, scenario in zip(rows, scenarios, strict=True):
        start = np.zeros((len(own), len(counts)))
        start[:, counts.index(scenario.cluster.node_count)] = np.where(np.arange(len(own)) == 0, 1.0, -1.0) / spread
        extended.append(np.hstack([own, start]))
    return tuple(extended)


def _gradient(scenario: Scenario, question: Question, values: dict[str, float], known: Prior) -> Floats:
    """Return the derivatives of the answer's logarithm by those of the parameters, [parameters]."""
    asked = [_closed(scenario)]
    if question == "add-node":
        larger = with_nodes(asked[0], 1)
        if larger is None:
            raise ScenarioError("no node can be added to this cluster")
        asked.append(larger)
    seen = [Observation(i, THROUGHPUT, "", 0.0, 0.0, 0.0) for i in range(len(asked))]
    forward = ForwardModel([Run(str(i), one, Metrics()) for i, one in enumerate(asked)], values, seen)
    _, jacobian = forward.with_jacobian(np.log([values[name] for name in known.names]), known.names)
    return np.asarray(jacobian[-1] - jacobian[0] if question == "add-node" else jacobian[0])


def _closed(scenario: Scenario) -> Scenario:
    """Return the scenario with a closed load; for an open one as many in flight as saturate it."""
    resolved = resolved_clients(scenario)
    if resolved_in_flight(resolved) is not None:
        return resolved
    many = LOADS[-1] * resolved.cluster.node_count
    clients = resolved.clients.model_copy(update={"rate": None, "in_flight": many, "in_flight_per_node": None})
    return resolved.model_copy(update={"clients": clients})
