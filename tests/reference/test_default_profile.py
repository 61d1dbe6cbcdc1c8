"""The shipped profiles: they are what the rows of evidence give, with errors that cover what they were not given."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from capmodel.calibrate.evidence import cores_s, expand, read_published_runs
from capmodel.calibrate.lab_study import (
    FIRST_GUESS_S,
    OUTLIER_LOG,
    LabFit,
    fitted_cells,
    lab_calibration,
    read_lab_cells,
    sharing_of,
)
from capmodel.calibrate.propagation import MESSAGE_ENDS, propagate
from capmodel.calibrate.published import EVIDENCE, LEVEL_ROWS, published_calibration
from capmodel.model.calibration import Calibration
from capmodel.model.calibration_file import load_calibration, shipped_profiles
from capmodel.model.demands import PARAMETERS

HERE = Path(__file__).parent
RUNS = read_published_runs(HERE / "published-runs.csv")
ONE_NODE, TWO_NODES = (read_lab_cells(HERE / f"lab-{name}.csv") for name in ("one-node", "two-nodes"))
DEFAULT, LAB = load_calibration("default"), load_calibration("lab-5.0.6")
LEFT_OUT = {
    "coordinator_column_s", "replica_absent_s", "replica_read_column_s", "replica_write_column_s", "message_kib_s",
    "coordinator_wake_up_s", "message_wake_up_s", "block_wake_up_s", "idle_cores", "sharing_ratio",
    "contention_ratio", "contention_knee", "hop_ratio",
}
"""Parameters of which no published row speaks."""


def test_two_profiles_ship() -> None:
    assert {"default", "lab-5.0.6"} <= set(shipped_profiles())


# The default profile.


def test_the_default_profile_is_what_the_rows_give() -> None:
    assert published_calibration(RUNS) == DEFAULT


def test_other_rows_would_give_another_profile() -> None:
    """Negative control of the check above: 1 % on one row shows."""
    run = RUNS["C01-01"]
    moved = type(run)(**{**vars(run), "throughput_per_s": 1.01 * run.throughput_per_s})
    assert published_calibration({**RUNS, "C01-01": moved}) != DEFAULT


def test_no_single_row_decides() -> None:
    """A row off by the noise between providers (40 %) moves no parameter by more than its standard error."""
    for name in expand(LEVEL_ROWS):
        run = RUNS[name]
        moved = type(run)(**{**vars(run), "throughput_per_s": 1.4 * run.throughput_per_s})
        for key, parameter in published_calibration({**RUNS, name: moved}).parameters.items():
            stated = DEFAULT.parameters[key]
            assert abs(np.log(parameter.value / stated.value)) < stated.std_err / stated.value, (name, key)


@pytest.mark.parametrize("name", DEFAULT.parameters)
def test_every_parameter_has_its_rows_and_an_error_of_thirty_percent(name: str) -> None:
    parameter = DEFAULT.parameters[name]
    assert parameter.std_err >= 0.299 * parameter.value > 0
    assert parameter.unit == PARAMETERS[name].unit
    assert parameter.source and parameter.valid
    if name in EVIDENCE:
        assert set(expand(parameter.rows)) <= set(RUNS)
        assert parameter.rows


def test_what_no_row_speaks_of_is_left_out_and_the_page_says_so() -> None:
    assert set(PARAMETERS) - set(DEFAULT.parameters) == LEFT_OUT
    page = (HERE.parents[1] / "docs" / "background" / "profiles.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in LEFT_OUT)
    assert DEFAULT.good_for and "Not for" in DEFAULT.good_for


def write_s(values: dict[str, np.ndarray], replicas: int, waits: bool, kib: float) -> np.ndarray:
    """Return the CPU of a write from the graph as DESIGN 3.3 states it, [draws]."""
    message_s = 2 * (values["message_send_s"] + values["message_receive_s"])
    replica_s = values["replica_write_s"] + kib * values["replica_write_kib_s"]
    own_s = values["coordinator_write_s"] + kib * values["coordinator_kib_s"]
    return own_s + replicas * replica_s + (replicas - 1) * message_s + waits * values["block_and_wake_s"]


def read_s(values: dict[str, np.ndarray], kib: float) -> np.ndarray:
    """Return the CPU of a read at ONE on its coordinator, [draws]."""
    per_kib_s = values["coordinator_kib_s"] + values["replica_read_kib_s"]
    return values["coordinator_read_s"] + values["replica_read_s"] + kib * per_kib_s


def mixed_s(values: dict[str, np.ndarray], write_share: float) -> np.ndarray:
    return (1 - write_share) * read_s(values, 0.49) + write_share * write_s(values, 3, False, 0.49)


DRAWS = DEFAULT.draw(4000, np.random.default_rng(1))
PREDICTED = {
    ("C05-06..13",): write_s(DRAWS, 1, False, 0.17),
    ("C05-19..26", "C05-32..39"): write_s(DRAWS, 2, False, 0.17),
    ("C04-01", "C04-04", "C04-28..29"): write_s(DRAWS, 1, False, 4.0),
    ("C04-02", "C04-06", "C04-30..31"): write_s(DRAWS, 3, True, 4.0),
    ("C01-01..03",): mixed_s(DRAWS, 0.2),
    ("C01-07..09",): mixed_s(DRAWS, 0.5),
    ("C01-13..15",): mixed_s(DRAWS, 0.8),
}
"""CPU of an operation in each saturated group of rows, [draws]."""


@pytest.mark.parametrize("rows", PREDICTED, ids=lambda rows: rows[0])
def test_every_saturated_case_lies_in_the_ninety_percent_interval(rows: tuple[str, ...]) -> None:
    low, high = np.quantile(PREDICTED[rows], [0.05, 0.95])
    assert low < cores_s(RUNS, rows) < high


def test_the_interval_is_not_so_wide_that_all_lies_in_it() -> None:
    """Negative control: the middle of writes at RF 1 lies below the interval at RF 3."""
    one, three = (np.quantile(write_s(DRAWS, n, False, 0.17), [0.05, 0.5, 0.95]) for n in (1, 3))
    assert one[1] < three[0]
    assert three[2] / three[0] < 4


def test_draws_of_a_sum_are_as_uncertain_as_what_was_measured() -> None:
    """First and further replicas trade against each other: a write at three is better known than either."""
    total = np.log(write_s(DRAWS, 3, False, 0.0)).std()
    single = np.log(write_s(DRAWS, 1, False, 0.0)).std()
    assert total < single
    alone = DEFAULT.model_copy(update={"correlation": None}).draw(4000, np.random.default_rng(1))
    assert total < np.log(write_s(alone, 3, False, 0.0)).std()


# Propagation of errors.


def test_errors_propagate_as_theory_says() -> None:
    """A product of powers has the exact covariance of its logarithms: p = a b, q = a / b²."""
    spread = np.diag([0.1**2, 0.2**2])
    found = propagate({"a": 3.0, "b": 5.0}, spread, lambda v: {"p": v["a"] * v["b"], "q": v["a"] / v["b"] ** 2})
    exact = np.array([[0.01 + 0.04, 0.01 - 2 * 0.04], [0.01 - 2 * 0.04, 0.01 + 4 * 0.04]])
    assert found.values == {"p": 15.0, "q": 0.12}
    assert np.allclose(found.log_covariance, exact, rtol=1e-4)
    correlation = found.correlation().matrix[0][1]
    assert abs(correlation - exact[0, 1] / np.sqrt(exact[0, 0] * exact[1, 1])) < 0.003


def test_parameters_that_move_together_make_a_proper_matrix() -> None:
    found = propagate({"a": 2.0}, np.eye(1) * 0.09, lambda v: {f"p{n}": n * v["a"] for n in range(1, 9)})
    assert np.linalg.eigvalsh(np.array(found.correlation().matrix)).min() > 0
    assert found.log_std == pytest.approx(dict.fromkeys(found.values, 0.3), rel=1e-4)


# The lab's profile.


def terms_s(calibration: Calibration) -> np.ndarray:
    """Return the terms of the study that a profile's parameters stand for."""
    value = {name: parameter.value for name, parameter in calibration.parameters.items()}
    return np.array([
        value["coordinator_read_s"] + value["replica_read_s"],
        value["coordinator_write_s"] + value["replica_write_s"],
        MESSAGE_ENDS * value["message_send_s"],
        value["block_and_wake_s"],
        value["coordinator_wake_up_s"],
    ])


FIT = LabFit(fitted_cells(ONE_NODE, TWO_NODES))


@cache
def jacobian_of_the_fit() -> np.ndarray:
    return FIT.jacobian(np.log(terms_s(LAB)))


def next_step(unknowns_s: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    """Return the Gauss-Newton step of the fit with its weights, in logarithms."""
    errors = FIT.log_errors(unknowns_s[None])[0]
    weighted = jacobian.T / np.sqrt(1 + (errors / OUTLIER_LOG) ** 2)
    return -np.linalg.solve(weighted @ jacobian, weighted @ errors)


def test_the_labs_profile_is_the_fit() -> None:
    """The next step of the fit hardly moves it; terms that are 20 % off, the control, are moved."""
    jacobian = jacobian_of_the_fit()
    assert np.abs(next_step(terms_s(LAB), jacobian)).max() < 0.03
    assert np.abs(next_step(1.2 * terms_s(LAB), jacobian)).min() > 0.05


def test_the_labs_profile_has_the_terms_and_errors_of_the_shipped_file() -> None:
    made = lab_calibration(ONE_NODE, TWO_NODES, FIT, terms_s(LAB))
    assert set(made.parameters) == set(LAB.parameters)
    for name, parameter in made.parameters.items():
        assert parameter.value == pytest.approx(LAB.parameters[name].value, rel=1e-3)
        assert parameter.std_err == pytest.approx(LAB.parameters[name].std_err, rel=0.1)


def test_the_labs_profile_finds_the_studys_terms() -> None:
    """The study, section 6: Q + L 31 and 26, H 49, W 89 µs; c is less, it is shared by those at the CPU only."""
    ratio = terms_s(LAB) / FIRST_GUESS_S
    assert np.abs(np.log(ratio[:4])).max() < 0.15
    assert 0.5 < ratio[4] < 1


def test_the_labs_profile_reproduces_its_cells() -> None:
    errors = np.abs(FIT.log_errors(terms_s(LAB)[None])[0])
    assert np.median(errors) < 0.10
    assert np.quantile(errors, 0.9) < 0.25
    constant = np.abs(FIT.log_errors((terms_s(LAB) * [1.5, 1.5, 1, 1, 1e-6])[None])[0])
    assert np.median(constant) > 0.15  # negative control: no wake-up shared


def test_sharing_is_that_of_the_study() -> None:
    """The study, section 5: 1.6 to 1.8 times for two busy nodes on one core."""
    rise, spread = sharing_of(TWO_NODES)
    assert 0.6 < rise < 0.85
    assert spread < 0.15
    assert LAB.parameters["sharing_ratio"].value == pytest.approx(rise, rel=1e-3)
