"""Real nodes: fitted to the cells at ONE of the lab study, the cells at ALL are predicted.

The study's own model of nine parameters, of which the form was chosen on these data, misses its own 32 cells by 4.2 %
in the median and 17 % in nine of ten (lab-fidelity.md, section 10), and predicts ALL from ONE within 7.8 % and 16 %
(section 6, other cells). Starts differ by 10 %, repeats within a start by 7 %.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import capmodel.calibrate.parameters
from capmodel.calibrate.factors import chosen
from capmodel.calibrate.fit import FitOptions, fit
from capmodel.calibrate.fit_summary import errors_of
from capmodel.calibrate.fitted_calibration import calibration_of
from capmodel.calibrate.identifiability import findings
from capmodel.calibrate.study_rows import study_runs
from capmodel.calibrate.validate import validate
from capmodel.model.calibration_file import load_calibration

ROWS = Path(__file__).parent / "lab-study" / "equal-sharing-1-2-nodes.csv"
QUICK = FitOptions(simulate=False)


@pytest.fixture(scope="module")
def runs():
    """All rows of the study's equal-sharing cells."""
    return tuple(study_runs(ROWS))


@pytest.fixture(scope="module")
def fitted(runs):
    """A fit to the cells at ONE."""
    return fit(chosen(runs, ["cl=ONE"]), load_calibration("default"), QUICK)


@pytest.fixture(scope="module")
def held_out(runs, fitted):
    """The cells at ALL as predicted."""
    return validate(calibration_of(fitted, "one"), runs, "mva")


def summary(found, what):
    """Return the summary of one kind of figure."""
    return next(one for one in found.summaries if one.what == what)


def test_rows_become_cells(fitted):
    assert len(fitted.runs) == 26
    assert {run.repeats for run in fitted.runs} <= {4, 6, 12}


def test_the_model_meets_the_cells_it_was_fitted_to(fitted):
    errors = errors_of(fitted)
    assert errors["median"] < 0.08
    assert errors["p90"] < 0.20


def test_structures_left_out_are_met_nearly_as_well(fitted):
    errors = errors_of(fitted)
    assert errors["left_out_median"] < 0.12
    assert errors["left_out_p90"] < 0.28


def test_consistency_all_follows_from_one(held_out):
    throughput = summary(held_out, "throughput")
    assert throughput.n == 6
    assert throughput.median < 0.15
    assert throughput.coverage.agrees
    assert summary(held_out, "p50").median < 0.20


def test_only_cells_that_were_not_fitted_are_judged(held_out):
    assert {run.scenario.workload.operations.popitem()[1].consistency.value for run in held_out.runs} == {"ALL"}
    assert held_out.fitted == 170


def test_demands_that_no_load_changes_do_not_meet_the_cells(runs, fitted, monkeypatch):
    nothing = dict.fromkeys(capmodel.calibrate.parameters.EFFECTS_S, 1e-9)
    monkeypatch.setattr(capmodel.calibrate.parameters, "EFFECTS_S", nothing)
    monkeypatch.setattr(capmodel.calibrate.parameters, "EFFECT_SPREAD", 0.01)
    profile = load_calibration("default")
    plain = {name: found for name, found in profile.parameters.items() if name not in nothing}
    constant = profile.model_copy(update={"parameters": plain, "correlation": None})
    errors = errors_of(fit(chosen(runs, ["cl=ONE"]), constant, QUICK))
    assert errors["median"] > 2 * errors_of(fitted)["median"]


def test_what_two_layouts_cannot_tell_is_said(fitted):
    pairs = {frozenset(one.parameters) for one in findings(fitted)}
    assert frozenset({"coordinator_read_s", "replica_read_s"}) in pairs


def test_starts_are_told_apart(fitted):
    assert fitted.optimum.speeds.shape == (2,)
    assert np.abs(fitted.optimum.speeds).max() < 0.2
