"""The algebra of a fit, its discrepancies, coverage, bias and verdicts against formulas and enumeration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

import capmodel.calibrate.least_squares
from capmodel.calibrate.bias import biases
from capmodel.calibrate.coverage import Coverage
from capmodel.calibrate.discrepancy import excess
from capmodel.calibrate.fit import FitOptions, fit
from capmodel.calibrate.fit_summary import doubts, fit_summary
from capmodel.calibrate.fitted_calibration import calibration_of
from capmodel.calibrate.information import variance_along, with_run
from capmodel.calibrate.least_squares import Problem, minimise
from capmodel.calibrate.parameters import Prior, checked_stations, prior_of
from capmodel.calibrate.posterior import Posterior
from capmodel.calibrate.run import Run, quantity
from capmodel.calibrate.starts import START_SPREAD
from capmodel.calibrate.validate import unseen_runs
from capmodel.model.calibration import Calibration, Parameter
from capmodel.model.calibration_file import dump_calibration, load_calibration
from capmodel.model.conditions import EXTRAPOLATION, extrapolation, outside_words
from capmodel.model.errors import CalibrationError, MeasurementError
from capmodel.model.metrics import Metrics
from capmodel.model.scenario import Scenario

SIZES = (6, 2, 2)
"""Observations, parameters, starts of the linear problem."""


@dataclass
class LinearModel:
    """A forward model whose logarithms are linear in those of the parameters."""

    matrix: np.ndarray

    def with_jacobian(self, logs, names):
        """Return expected logarithms and their derivatives."""
        return self.matrix @ logs, self.matrix


def linear_problem(seed=1, kept=None):
    """Return a linear problem, or one with some of its observations only."""
    rng = np.random.default_rng(seed)
    rows, parameters, starts = SIZES
    matrix, targets = rng.normal(size=(rows, parameters)), rng.normal(size=rows)
    design = np.eye(starts)[np.arange(rows) % starts]
    kept = np.arange(rows) if kept is None else kept
    prior = Prior(("a_s", "b_s"), np.array([0.1, -0.2]), np.array([[1.0, 0.3], [0.3, 0.5]]))
    spread = np.linspace(0.1, 0.3, rows)
    return Problem(LinearModel(matrix[kept]), prior, targets[kept], spread[kept], design[kept]), matrix, targets, design


def solved_directly(problem):
    """Return parameters and starts by the normal equations of generalised least squares."""
    rows = np.hstack([problem.forward.matrix, problem.starts])
    weight = np.diag(problem.spread**-2)
    size = len(problem.prior.names)
    inverse = np.zeros((rows.shape[1], rows.shape[1]))
    inverse[:size, :size] = np.linalg.inv(problem.prior.covariance)
    inverse[size:, size:] = np.eye(problem.starts.shape[1]) / START_SPREAD**2
    centre = np.concatenate([problem.prior.log_median, np.zeros(problem.starts.shape[1])])
    covariance = np.linalg.inv(rows.T @ weight @ rows + inverse)
    return covariance @ (rows.T @ weight @ problem.targets + inverse @ centre), covariance


def test_a_linear_problem_is_solved_as_by_the_normal_equations():
    problem, *_ = linear_problem()
    expected, covariance = solved_directly(problem)
    found = minimise(problem, problem.prior.log_median)
    assert np.concatenate([found.logs, found.speeds]) == pytest.approx(expected, abs=1e-4)
    assert Posterior(problem, found).covariance == pytest.approx(covariance[:2, :2])


@pytest.mark.parametrize("group", [[0], [1, 4], [0, 2, 5]])
def test_leaving_out_is_what_a_fit_without_them_predicts(group):
    problem, matrix, targets, design = linear_problem()
    posterior = Posterior(problem, minimise(problem, problem.prior.log_median))
    kept = np.setdiff1d(np.arange(SIZES[0]), group)
    without, *_ = linear_problem(kept=kept)
    estimate, covariance = solved_directly(without)
    rows = np.hstack([matrix, design])[group]
    residual, variance = posterior.left_out(np.array(group))
    assert residual == pytest.approx(targets[group] - rows @ estimate, abs=1e-4)
    assert variance == pytest.approx(np.diag(rows @ covariance @ rows.T), rel=1e-6)


def test_other_weights_give_what_a_new_fit_gives():
    problem, *_ = linear_problem()
    posterior = Posterior(problem, minimise(problem, problem.prior.log_median))
    spread = problem.spread[::-1].copy()
    other = Problem(problem.forward, problem.prior, problem.targets, spread, problem.starts)
    expected, _ = solved_directly(other)
    moved = posterior.reweighted(spread).optimum
    assert np.concatenate([moved.logs, moved.speeds]) == pytest.approx(expected, abs=1e-4)


def test_a_run_more_lowers_the_variance_as_bayes_says():
    covariance, row = np.array([[1.0, 0.3], [0.3, 0.5]]), np.array([[2.0, -1.0]])
    expected = np.linalg.inv(np.linalg.inv(covariance) + row.T @ row)
    assert with_run(covariance, row) == pytest.approx(expected)
    assert variance_along(expected, np.array([1.0, 0.0])) < variance_along(covariance, np.array([1.0, 0.0]))


class TestDiscrepancy:
    def test_what_is_beyond_noise_is_found(self):
        rng = np.random.default_rng(3)
        noise = rng.uniform(0.02, 0.08, 4000)
        assert excess(rng.normal(0, np.hypot(noise, 0.12)), noise**2) == pytest.approx(0.12, rel=0.05)

    def test_nothing_is_found_where_noise_says_all(self):
        noise = np.full(400, 0.1)
        assert excess(np.random.default_rng(4).normal(0, 0.09, 400), noise**2) == 0.0


class TestCoverage:
    @pytest.mark.parametrize("n", [10, 48, 100])
    def test_the_region_holds_95_percent_and_not_much_more(self, n):
        low, high = Coverage(n, n).region
        inside = binom.cdf(high, n, 0.9) - binom.cdf(low - 1, n, 0.9)
        assert inside >= 0.95
        assert binom.cdf(high - 1, n, 0.9) - binom.cdf(low, n, 0.9) < 0.95

    def test_too_few_do_not_agree(self):
        assert Coverage(86, 96).agrees
        assert not Coverage(60, 96).agrees


def scenario(nodes=1, in_flight=8, reads=True, **cluster):
    """Return a small scenario without a quota."""
    operation = "read" if reads else "write"
    return Scenario.model_validate(
        {
            "cluster": {"nodes": nodes, "replication": {"factor": 1}, "allocation": "even", "num_tokens": 1, **cluster},
            "hardware": {"cores": 2},
            "workload": {"operations": {operation: {"share": 1.0, "consistency": "ONE"}}, "cache_hit": 1.0},
            "clients": {"in_flight": in_flight},
        }
    )


def run(rate, **keys):
    """Return a run with a throughput."""
    name = f"{keys}"
    return Run(name, scenario(**keys), Metrics(throughput_per_s=quantity(rate, 0.05)), sources=(f"{name}.json",))


@pytest.fixture(scope="module")
def found():
    """A fit to four runs of one node."""
    runs = [run(6000.0, in_flight=4), run(11000.0, in_flight=64), run(14000.0, in_flight=64, reads=False)]
    return fit(runs, load_calibration("default"), FitOptions(simulate=False))


class TestBias:
    def test_a_level_that_is_predicted_too_high_is_found(self):
        runs = [run(1.0, nodes=1 + i % 2) for i in range(8)]
        errors = [(i, 0.2 * (i % 2) + 0.01 * (-1) ** (i // 2)) for i in range(8)]
        by_level = {one.level: one for one in biases(runs, errors) if one.factor == "nodes"}
        assert by_level["2"].value == pytest.approx(0.2)
        assert (by_level["1"].is_significant, by_level["2"].is_significant) == (False, True)

    def test_a_factor_with_one_level_has_no_bias(self):
        assert not [one for one in biases([run(1.0), run(1.0)], [(0, 0.1), (1, 0.2)]) if one.factor == "nodes"]


class TestCalibrationOfAFit:
    def test_it_survives_its_file(self, found, tmp_path):
        made = calibration_of(found, "mine")
        path = tmp_path / "mine.yaml"
        path.write_text(dump_calibration(made))
        assert load_calibration(path) == made

    def test_it_knows_its_runs(self, found):
        made = calibration_of(found, "mine")
        assert not unseen_runs(made, found.runs)
        assert unseen_runs(made, [run(5000.0, nodes=2)])

    def test_it_says_where_it_holds(self, found):
        made = calibration_of(found, "mine")
        assert not list(outside_words(made, scenario(in_flight=16)))
        words = " ".join(outside_words(made, scenario(nodes=3, in_flight=600)))
        assert "3 nodes" in words
        assert "200 requests in flight a node" in words

    def test_draws_spread_as_the_posterior_says(self, found):
        made = calibration_of(found, "mine")
        draws = made.draw(20_000, np.random.default_rng(1))
        logs = np.log([draws[name] for name in found.prior.names])
        assert np.cov(logs) == pytest.approx(found.posterior.covariance, abs=0.05)

    def test_parameters_that_the_runs_do_not_touch_stay(self, found):
        made, before = calibration_of(found, "mine"), load_calibration("default")
        kept = [name for name in before.parameters if name not in found.prior.names]
        assert kept
        assert all(made.parameters[name] == before.parameters[name] for name in kept)


class TestDoubtfulFits:
    def test_a_fit_that_is_cut_short_says_so_and_gives_the_best_so_far(self, monkeypatch):
        monkeypatch.setattr(capmodel.calibrate.least_squares, "MOST_EVALUATIONS", 1)
        cut = fit([run(6000.0), run(2000.0, nodes=2)], load_calibration("default"), FitOptions(simulate=False))
        assert any("had not converged" in doubt for doubt in doubts(cut))
        assert calibration_of(cut, "cut").parameters

    def test_runs_that_contradict_each_other_are_said(self):
        odd = [run(20_000.0, in_flight=4), run(800.0, in_flight=32), run(20_000.0, in_flight=128)]
        found = fit(odd, load_calibration("default"), FitOptions(simulate=False))
        assert any("misses its own runs" in doubt for doubt in doubts(found))

    def test_a_good_fit_has_no_doubts(self, found):
        assert not list(doubts(found))

    def test_without_runs_there_is_no_fit(self):
        with pytest.raises(MeasurementError, match="no run can be used"):
            fit([], load_calibration("default"))

    def test_the_summary_is_plain(self, found):
        summary = fit_summary(found)
        assert {one["name"] for one in summary["parameters"]} == set(found.prior.names)
        assert len(summary["runs"]) == len(found.runs)

    def test_only_station_parameters_can_be_asked_for(self):
        assert checked_stations(["idle_cores"]) == ("idle_cores",)
        with pytest.raises(CalibrationError, match="--fit"):
            checked_stations(["coordinator_read_s"])


def calibration(low, high):
    """Return a calibration that holds for some numbers in flight."""
    parameter = Parameter(
        value=1e-4, std_err=1e-5, unit="s", source="test", valid={"in_flight_per_node": (low, high)}
    )
    return Calibration(name="c", good_for="t", cassandra_version="5.0", parameters={"coordinator_read_s": parameter})


class TestExtrapolation:
    def test_inside_nothing_is_added(self):
        assert extrapolation(calibration(4, 64), scenario(in_flight=16)) == 0.0

    def test_from_one_number_in_flight_to_ten_nothing_is_known(self):
        assert extrapolation(calibration(1, 1), scenario(in_flight=10)) == pytest.approx(EXTRAPOLATION * math.log(10))

    def test_a_wide_range_reaches_further(self):
        wide = extrapolation(calibration(4, 32), scenario(in_flight=64))
        assert 0.05 < wide < extrapolation(calibration(32, 32), scenario(in_flight=64)) / 2

    def test_a_prior_shares_the_speed_of_a_core(self):
        prior = prior_of(load_calibration("default"), ["coordinator_read_s", "replica_read_s"])
        correlation = prior.covariance[0, 1] / math.sqrt(prior.covariance[0, 0] * prior.covariance[1, 1])
        assert 0.5 < correlation < 0.9
