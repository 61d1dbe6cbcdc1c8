"""Known parameters, simulated runs with noise, a fit: the truth is found, inside its interval as often as stated.

Mean-value analysis makes the runs of the many replications, the simulation those of a few. A start of a cluster has a
speed of its own, as in reality; so has every replication here.
"""

from __future__ import annotations

import numpy as np
import pytest

from capmodel.calibrate.coverage import Coverage
from capmodel.calibrate.fit import FitOptions, fit
from capmodel.calibrate.forward import ForwardModel
from capmodel.calibrate.identifiability import determined, findings
from capmodel.calibrate.judge import judge
from capmodel.calibrate.observation import THROUGHPUT, Observation
from capmodel.calibrate.parameters import prior_of
from capmodel.calibrate.run import Run, quantity
from capmodel.calibrate.starts import START_SPREAD, start_of
from capmodel.model.answer import MVA_ERROR
from capmodel.model.calibration import Calibration, Parameter
from capmodel.model.estimate import Z
from capmodel.model.metrics import Metrics
from capmodel.model.scenario import Scenario

TRUTH_S = {
    "coordinator_read_s": 70e-6,
    "coordinator_write_s": 60e-6,
    "replica_read_s": 110e-6,
    "replica_write_s": 70e-6,
    "message_send_s": 20e-6,
    "message_receive_s": 20e-6,
    "block_and_wake_s": 60e-6,
    "coordinator_wake_up_s": 150e-6,
    "message_wake_up_s": 30e-6,
    "block_wake_up_s": 40e-6,
}
NOISE = 0.03
REPLICATIONS = 6
DESIGN = (
    # nodes, RF, operation, level, routing, nodes talked to, in flight
    (1, 1, "read", "ONE", "token-aware", 1, 4),
    (1, 1, "read", "ONE", "token-aware", 1, 64),
    (1, 1, "write", "ONE", "token-aware", 1, 1),
    (1, 1, "write", "ONE", "token-aware", 1, 64),
    (2, 1, "read", "ONE", "round-robin", 2, 8),
    (2, 1, "read", "ONE", "round-robin", 2, 128),
    (2, 1, "read", "ONE", "round-robin", 1, 128),
    (2, 1, "write", "ONE", "round-robin", 1, 128),
    (2, 2, "write", "ALL", "token-aware", 2, 8),
    (2, 2, "write", "ALL", "token-aware", 2, 128),
)
"""Ten runs on one and two nodes."""


def scenario(nodes, factor, operation, level, routing, through, in_flight):
    """Return a scenario of two-core nodes."""
    coordinators = [] if through == nodes else list(range(through))
    return Scenario.model_validate(
        {
            "cluster": {
                "nodes": nodes,
                "replication": {"factor": factor},
                "allocation": "even",
                "num_tokens": 1,
                "table": {"speculative_retry": "NONE"},
            },
            "hardware": {"cores": 2},
            "workload": {"operations": {operation: {"share": 1.0, "consistency": level}}, "cache_hit": 1.0},
            "clients": {"in_flight": in_flight, "routing": routing, "coordinators": coordinators},
        }
    )


WRONG = {"coordinator_read_s": 1.7, "replica_write_s": 0.6, "message_send_s": 0.4, "coordinator_wake_up_s": 0.5}
"""What a wrong profile says of some parameters, over the truth."""


def profile(wrong=None):
    """Return a profile that is off by some factors."""
    parameters = {
        name: Parameter(value=value * (wrong or {}).get(name, 1.0), std_err=0.3 * value, unit="s", source="guess")
        for name, value in TRUTH_S.items()
    }
    parameters["hop_ratio"] = Parameter(value=1.0, std_err=0.05, unit="1", source="ping")
    return Calibration(name="guess", good_for="tests", cassandra_version="5.0", parameters=parameters)


def logs_of(scenarios, values):
    """Return the logarithms of the throughputs by mean-value analysis."""
    runs = [Run(str(i), one, Metrics()) for i, one in enumerate(scenarios)]
    seen = [Observation(i, THROUGHPUT, "", 0.0, 0.0, 0.0) for i in range(len(runs))]
    return ForwardModel(runs, values, seen).expected({})[0]


@pytest.fixture(scope="module")
def scenarios():
    """The design's scenarios."""
    return [scenario(*cell) for cell in DESIGN]


@pytest.fixture(scope="module")
def true_logs(scenarios):
    """Logarithms of the true throughputs."""
    return logs_of(scenarios, TRUTH_S)


def measured(scenarios, logs, rng, noise=NOISE, start=START_SPREAD):
    """Return runs with noise, each start at a speed of its own."""
    bare = [Run(str(i), one, Metrics()) for i, one in enumerate(scenarios)]
    spread = np.hypot(noise, MVA_ERROR["saturated"]["throughput"])  # a fit allows for the error of its solver
    speeds = {name: rng.normal(0, start) for name in sorted({start_of(run) for run in bare})}
    return [
        Run(
            run.name,
            run.scenario,
            Metrics(
                throughput_per_s=quantity(float(np.exp(log + speeds[start_of(run)] + rng.normal(0, spread))), noise)
            ),
        )
        for run, log in zip(bare, logs, strict=True)
    ]


def fitted(runs, wrong=None):
    """Return a fit by mean-value analysis alone."""
    return fit(runs, profile(wrong), FitOptions(simulate=False))


def errors_of(found, truth=TRUTH_S):
    """Return by parameter the error of its logarithm and the stated standard error."""
    logs = np.log([truth.get(name, 1.0) for name in found.prior.names])
    rows = zip(found.prior.names, found.optimum.logs - logs, found.posterior.std_err, strict=True)
    return {name: (float(error), float(stated)) for name, error, stated in rows}


def drawn_truth(rng):
    """Return parameters as likely as the prior says, from a profile that all replications share."""
    prior = prior_of(profile(), list(TRUTH_S))
    logs = rng.multivariate_normal(prior.log_median, prior.covariance)
    return {name: float(value) for name, value in prior.values(logs).items()}


def replication(scenarios, rng):
    """Return the errors of a fit to runs of parameters drawn from what is known before."""
    truth = drawn_truth(rng)
    found = fitted(measured(scenarios, logs_of(scenarios, truth), rng))
    return errors_of(found, truth)


@pytest.fixture(scope="module")
def replications(scenarios):
    """Errors and stated errors of every replication."""
    rng = np.random.default_rng(5)
    return [replication(scenarios, rng) for _ in range(REPLICATIONS)]


@pytest.fixture(scope="module")
def precise(scenarios, true_logs):
    """A fit to runs with little noise, from a wrong profile."""
    return fitted(measured(scenarios, true_logs, np.random.default_rng(1), noise=0.005, start=0.0), WRONG)


COSTS_S = {
    "a local read": {"coordinator_read_s": 1, "replica_read_s": 1},
    "a local write": {"coordinator_write_s": 1, "replica_write_s": 1},
    "a wake-up": {"coordinator_wake_up_s": 1},
    "a wait for another node": {"message_send_s": 2, "message_receive_s": 2, "block_and_wake_s": 1},
}
"""What the design identifies: parameters that it cannot tell apart are known by what they cost together."""


def costs_s(values):
    """Return what the design identifies."""
    return {name: sum(count * values[key] for key, count in parts.items()) for name, parts in COSTS_S.items()}


def test_what_the_design_identifies_is_found_within_ten_percent(precise):
    assert costs_s(precise.values) == pytest.approx(costs_s(TRUTH_S), rel=0.10)


def test_the_wrong_profile_itself_is_not_within_ten_percent():
    guessed = {name: parameter.value for name, parameter in profile(WRONG).parameters.items()}
    assert all(costs_s(guessed)[name] != pytest.approx(cost, rel=0.10) for name, cost in costs_s(TRUTH_S).items())


def test_what_it_does_not_identify_is_said(precise):
    named = {frozenset(one.parameters) for one in findings(precise)}
    assert frozenset({"coordinator_read_s", "replica_read_s"}) in named


def held(replications, widened=1.0):
    """Return how many of the stated intervals hold the truth."""
    inside = [abs(error) <= Z * widened * stated for one in replications for error, stated in one.values()]
    return Coverage(sum(inside), len(inside))


def test_the_truth_is_inside_as_often_as_stated(replications):
    coverage = held(replications)
    assert coverage.agrees, coverage.words()


def test_intervals_a_third_as_wide_do_not_hold(replications):
    assert not held(replications, widened=1 / 3).agrees


def test_runs_of_one_node_say_nothing_about_messages(scenarios, true_logs):
    runs = measured(scenarios[:4], true_logs[:4], np.random.default_rng(2))
    found = fitted(runs)
    names = {name for one in findings(found) for name in one.parameters}
    assert "message_receive_s" in names or "message_receive_s" not in found.prior.names
    assert not {"message_send_s", "message_receive_s", "block_and_wake_s"} & set(determined(found))


def test_the_simulation_is_met_by_the_fit_it_judges(scenarios):
    judgement = judge([Run(str(i), one, Metrics()) for i, one in enumerate(scenarios)], TRUTH_S, 3, 6000)
    logs = [np.log(found.throughput_per_s.value) for found in judgement.simulated]
    runs = measured(scenarios, logs, np.random.default_rng(3), noise=0.01, start=0.0)
    found = fit(runs, profile(WRONG), FitOptions(requests=3000))
    assert np.abs(found.posterior.residuals).max() < 0.10
    assert costs_s(found.values) == pytest.approx(costs_s(TRUTH_S), rel=0.15)
