"""The main question: from a scenario and a profile to a prediction.

Ring draws, a middling ring for the simulation, draws of the profile through mean-value analysis, the limit by
perturbation, one node more and one less, hops in closed form beside the simulated ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from .answer import Analysed
from .bounds import bounds
from .calibration import Calibration, Discrepancy
from .conditions import extrapolation
from .explain import explain
from .findings import Findings, Options
from .growth import resolved_clients
from .hops import HopAnalysis, hop_analysis
from .limit import find_limit
from .neighbours import Neighbour, Questioned, neighbour
from .network import Floats
from .prediction import Prediction
from .publish import publish
from .routing import coordinators_of
from .scenario import Scenario
from .settings import settings_of
from .simulation.run import Progress
from .study import Study, draw_rings, study
from .uncertainty import weights

DRAWS = 80
"""Draws of the profile: the standard deviation of an answer is known to 8 %."""


def predict(
    scenario: Scenario, calibration: Calibration, options: Options | None = None, progress: Progress | None = None
) -> Prediction:
    """Return the prediction for a scenario with the demands of a profile.

    Raises:
        ScenarioError: a scenario that no cluster can have.
    """
    return publish(find(scenario, calibration, options or Options(), progress))


def find(scenario: Scenario, calibration: Calibration, options: Options, progress: Progress | None) -> Findings:
    """Return all that a prediction says."""
    scenario = resolved_clients(scenario)
    values = {name: parameter.value for name, parameter in calibration.parameters.items()}
    key = np.random.SeedSequence([options.seed, 1])
    ring_rng, draw_rng = (np.random.default_rng(child) for child in key.spawn(2))
    base = study(scenario, values, draw_rings(scenario, ring_rng), ring_rng)
    asked = Questioned(
        values,
        _moved(calibration),
        calibration.draw(DRAWS, draw_rng),
        discrepancy_of(calibration, scenario),
        options.solver,
        options.seed,
        options.budget,
        options.objectives,
        progress,
    )
    analysed = asked.analyse(base)
    answer = asked.answer(base, analysed) if analysed.stable else None
    more, less = (
        neighbour(base, analysed, answer, change, asked) if options.neighbours else None for change in (1, -1)
    )
    return Findings(
        scenario,
        calibration,
        options,
        base,
        analysed,
        answer,
        find_limit(analysed.members, _limited(analysed), base, values),
        more,
        less,
        _hops(base),
        _inputs(analysed, more),
        explain(analysed) if options.explain else (),
        bounds(base.network, values).throughput_per_s if options.solver == "bounds" else None,
    )


def _moved(calibration: Calibration) -> dict[str, float]:
    """Return each parameter one standard error up."""
    return {
        name: parameter.value + parameter.std_err
        for name, parameter in calibration.parameters.items()
        if parameter.std_err > 0 and parameter.value > 0
    }


def discrepancy_of(calibration: Calibration, scenario: Scenario) -> Mapping[str, float]:
    """Return the model's own error by figure, more of it outside the measured numbers in flight."""
    form, beyond = calibration.discrepancy or Discrepancy(), extrapolation(calibration, scenario)
    return {name: math.hypot(value, beyond) for name, value in form.model_dump().items()}


def _limited(analysed: Analysed) -> Floats:
    return analysed.largest_stable_per_s if analysed.is_open else analysed.solution.throughput_per_s


def _hops(base: Study) -> HopAnalysis:
    settings = settings_of(base.scenario)
    coordinators = coordinators_of(base.scenario, base.nodes)
    return hop_analysis(base.scenario, base.nodes, base.placement, coordinators, settings.background_contact)


def _inputs(analysed: Analysed, more: Neighbour | None) -> tuple[str, ...]:
    """Return the inputs by their weight in throughput and gains."""
    blocks = analysed.members.blocks
    metrics = {"throughput": blocks.paired(_limited(analysed))}
    if more is not None:
        metrics |= {name: np.exp(logs) for name, logs in more.log_gains.items()}
    return tuple(name for name, _ in weights(blocks.without_limits(), metrics))
