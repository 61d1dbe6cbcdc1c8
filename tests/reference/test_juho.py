"""Juho Mäkinen's three runs: what was fitted, what is predicted, and what the page says, against law and hand counts.

Published: 64,488 reads/s on one node with four busy hardware threads; 59.5 k on two; 52.6 k on two through one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from capmodel.model.calibration_file import load_calibration
from capmodel.model.scenario_file import load_scenario
from capmodel.scenarios import juho_tables
from capmodel.scenarios.juho import (
    EIGHT,
    FOUR,
    PUBLISHED_PER_S,
    READINGS,
    RUN_1,
    RUN_2,
    RUN_3,
    Finding,
    ParameterSets,
    Reading,
    candidates,
    error_of,
    fitted,
    numbers_of,
    run_of,
)
from capmodel.scenarios.juho_limits import KINDS, elasticities, limit_of, shares_of_limits
from capmodel.scenarios.juho_questions import Question, reply, reproducing_all

PAGE = Path(__file__).resolve().parents[2] / "docs" / "background" / "juho.md"
CPU_KINDS = ("coordinator CPU", "replica CPU")

Found = dict[Reading, Finding]


@pytest.fixture(scope="module")
def found() -> Found:
    """The analysis under both readings."""
    return juho_tables.findings()


@pytest.fixture(scope="module")
def tables(found: Found) -> dict[str, juho_tables.Rows]:
    """The tables of the page, by the functions that make them."""
    return {table.__name__: table(found) for table in juho_tables.TABLES}


# --- what is determined ---------------------------------------------------------------------------------------------


def test_a_read_costs_a_node_what_the_utilisation_law_says(found: Found) -> None:
    assert found[EIGHT].point.read_s[0] == pytest.approx(4 / 64_488)
    assert found[EIGHT].point.read_s[0] != pytest.approx(8 / 64_488)


@pytest.mark.parametrize("reading", READINGS)
def test_every_set_that_is_kept_reproduces_runs_1_and_3(found: Found, reading: Reading) -> None:
    sets = found[reading].sets
    assert error_of(RUN_1, sets).max() < 0.01
    assert error_of(RUN_3, sets).max() < 0.01
    assert (error_of(RUN_3, replace(sets, hop_s=1.5 * sets.hop_s)) > 0.01).all()


@pytest.mark.parametrize("reading", READINGS)
def test_no_set_needs_more_than_its_machines_have(found: Found, reading: Reading) -> None:
    sets = found[reading].sets
    assert (sets.client_s * 64_488 <= 16).all()
    assert (through_one_s(sets) * 52_600 <= reading.cores).all()
    with_dear_hop = replace(sets, hop_s=np.full(sets.size, 1.2e-3))
    assert (through_one_s(with_dear_hop) * 52_600 > reading.cores).all()


def through_one_s(sets: ParameterSets) -> np.ndarray:
    """Return, counted by hand, the CPU of a read on the coordinating node of run 3: half of the keys are its own."""
    own, share = sets.read_s, sets.coordinator_share
    return share * own + (1 - share) * own / 2 + sets.hop_coordinator_share * sets.hop_s / 2


def test_run_1_agrees_with_the_exact_network_of_exponential_services(found: Found) -> None:
    sets = found[EIGHT].sets
    chosen = sets.taken(sets.variation == 1.0)
    for index in range(0, chosen.size, 9):
        one = chosen.one(index)
        exact = closed_network_per_s(
            50, [(16, one.client_s[0]), (8, one.read_s[0])], 2 * one.hop_delay_s[0]
        )
        assert exact == pytest.approx(64_488, rel=0.02)
        dearer = closed_network_per_s(50, [(16, 1.1 * one.client_s[0]), (8, one.read_s[0])], 2 * one.hop_delay_s[0])
        assert dearer != pytest.approx(64_488, rel=0.02)


def closed_network_per_s(population: int, stations: list[tuple[int, float]], delay_s: float) -> float:
    """Return the throughput of a closed product-form network by convolution (Buzen 1973)."""
    constants = np.array([delay_s**n / np.prod(np.arange(1.0, n + 1)) for n in range(population + 1)])
    for servers, demand_s in stations:
        rates = np.minimum(np.arange(1, population + 1), servers) / demand_s
        own = np.concatenate([[1.0], np.cumprod(1 / rates)])
        constants = np.convolve(constants, own)[: population + 1]
    return float(constants[population - 1] / constants[population])


# --- run 2 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_the_range_of_run_2_contains_the_published_figure(found: Found, reading: Reading) -> None:
    low, high = found[reading].range_per_s
    assert low < 59_500 < high
    assert found[reading].contains_run_2
    assert low > 0.95 * 52_600, "a client that talks to both is not worse off than one that talks to one"
    assert high < 2 * 52_600


def test_delays_alone_cannot_tell_run_2_from_run_3(found: Found) -> None:
    """Negative control: without queueing at nodes the range collapses onto run 3 and misses the published figure."""
    sets = found[EIGHT].sets
    boundless = ["hardware.cores=1000", "cluster.settings.concurrent_reads=1000"]
    two, through_one = (run_of(name, sets, boundless).throughput_per_s(sets) for name in (RUN_2, RUN_3))
    assert two == pytest.approx(through_one, rel=2e-3)
    assert found[EIGHT].point_per_s > 1.05 * PUBLISHED_PER_S[RUN_3]


def test_draws_from_the_scanned_ranges_stay_within_the_range(found: Found) -> None:
    low, high = found[EIGHT].range_per_s
    drawn = fitted(random_sets(EIGHT, 40, np.random.default_rng(7)))
    rates = run_of(RUN_2, drawn).throughput_per_s(drawn)
    assert rates.min() > 0.995 * low
    assert rates.max() < 1.005 * high
    assert rates.max() > 1.05 * rates.min()


def random_sets(reading: Reading, n: int, rng: np.random.Generator) -> ParameterSets:
    """Return sets drawn uniformly between the ends of what is scanned; the variation is one of its ends."""
    grid = candidates(reading)
    names = ("busy_cores", "coordinator_share", "hop_coordinator_share", "hop_delay_s")
    drawn = {name: rng.uniform(getattr(grid, name).min(), getattr(grid, name).max(), n) for name in names}
    return replace(grid.taken(np.arange(n)), variation=rng.choice([0.0, 1.0], n), **drawn)


def test_a_client_that_python_cannot_be_is_refused(found: Found) -> None:
    assert (found[FOUR].sets.client_s >= 110e-6).all()
    assert (fitted(candidates(FOUR)).client_s < 110e-6).any()


def test_the_simulation_confirms_the_ends_of_the_range(tables: dict[str, juho_tables.Rows]) -> None:
    for reading, _, run, analysis, simulation, std_err in tables["simulation_table"][1:]:
        room = (0.02 if reading == EIGHT.name else 0.05) * float(analysis) + 3 * float(std_err)
        assert float(simulation) == pytest.approx(float(analysis), abs=room)
        assert run != "run 3" or float(simulation) != pytest.approx(59.5, abs=room)


# --- the limit ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_counting_over_sets_names_the_same_limits_as_a_prediction(found: Found, reading: Reading) -> None:
    for name in ("nearest", "largest"):
        one = found[reading].examples()[name]
        for run in (RUN_2, RUN_3):
            named = limit_of(one, run)
            ranking = {("CPU" if kind in CPU_KINDS else kind): value for kind, value in named.ranking}
            counted = elasticities(one, run)[:, 0]
            assert counted == pytest.approx([ranking[kind] for kind in KINDS], abs=0.02)


def test_for_eight_cores_the_client_was_the_limit_of_run_1(found: Found) -> None:
    sets = found[EIGHT].sets
    assert shares_of_limits(sets, RUN_1)["client CPU"] == 1.0
    assert (sets.client_s * 64_488 / 16 > 0.9).all()
    assert shares_of_limits(sets, RUN_3)["client CPU"] == 0.0


# --- the questions he left open -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def eight(found: Found) -> ParameterSets:
    """The sets for eight cores that reproduce all three runs."""
    return reproducing_all(found[EIGHT])


@pytest.mark.parametrize("nodes", [1, 3, 8])
def test_capacity_at_rf_1_by_hand(eight: ParameterSets, nodes: int) -> None:
    capacity = reply(Question("", nodes), eight).capacity_per_s
    assert capacity == pytest.approx(8 * nodes / (eight.read_s + (1 - 1 / nodes) * eight.hop_s), rel=1e-3)
    assert nodes == 1 or capacity != pytest.approx(8 * nodes / eight.read_s, rel=1e-2)


def test_capacity_at_rf_2_by_hand(eight: ParameterSets) -> None:
    two = "cluster.replication.factor=2"
    replica_s = (1 - eight.coordinator_share) * eight.read_s
    with_5_0 = reply(Question("", 2, (two, "cluster.version=5.0")), eight)
    speculated_s = 0.01 * (replica_s + eight.hop_s)
    assert (with_5_0.capacity_per_s <= 1.001 * 16 / eight.read_s).all()
    assert (with_5_0.capacity_per_s >= 0.999 * 16 / (eight.read_s + speculated_s)).all()
    assert with_5_0.at_his_client_per_s == pytest.approx(64_488, rel=0.01)

    woken_s = (2 * eight.hop_coordinator_share - 1) * eight.hop_s
    with_0_6 = reply(Question("", 2, (two,)), eight).capacity_per_s
    assert with_0_6 == pytest.approx(16 / (eight.read_s + replica_s + eight.hop_s - woken_s), rel=1e-3)
    assert with_0_6 != pytest.approx(with_5_0.capacity_per_s, rel=0.01)


@pytest.mark.parametrize("nodes", [1, 4])
def test_rows_on_disk_by_hand(eight: ParameterSets, nodes: int) -> None:
    changes = ("workload.absent_keys=0", "workload.partitions=1000000000")
    capacity = reply(Question("", nodes, changes), eight).capacity_per_s
    cache_bytes = 16 * 2**30 - 2046 * 2**20 - 512 * 2**20
    hit = nodes * cache_bytes / (1e9 * 170 * 1.5)
    assert capacity == pytest.approx(nodes * 240 / ((1 - hit) * 1.11), rel=0.01)
    assert nodes == 1 or capacity != pytest.approx(nodes * 240 / 1.11, rel=0.01)


# --- what ships and what the page says ------------------------------------------------------------------------------


def test_profile_and_scenario_hold_the_point(found: Found) -> None:
    point, sets = found[EIGHT].point, found[EIGHT].sets
    profile = load_calibration("juho").parameters
    values = numbers_of(point)
    for name, parameter in profile.items():
        if not name.endswith("write_s"):
            assert parameter.value == pytest.approx(values[name], rel=0.005)
    spread = float(np.log(sets.hop_s).std())
    for name in ("message_send_s", "message_receive_s", "block_and_wake_s"):
        assert profile[name].std_err / profile[name].value == pytest.approx(spread, rel=0.03)
    client = load_scenario(RUN_1).clients.cpu_per_operation
    assert client == pytest.approx(point.client_s[0], rel=0.001)


def test_the_page_shows_what_the_functions_say(tables: dict[str, juho_tables.Rows]) -> None:
    pages = list(tables_of(PAGE.read_text(encoding="utf-8")))
    for name, rows in tables.items():
        shown = next(each for each in pages if each[0] == rows[0])
        assert len(shown) == len(rows)
        for row, printed in zip(rows[1:], shown[1:], strict=True):
            assert alike(row, printed), f"{name}: the page has {printed}, the functions say {row}"


def tables_of(text: str) -> Iterator[list[tuple[str, ...]]]:
    """Yield the tables of a page, without the line below the heading."""
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in block.splitlines()]
        yield [rows[0], *rows[2:]]


NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?%?")


def alike(row: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    """Whether two rows have the same words, and numbers within rounding or within a simulation's error."""
    if [NUMBER.sub("#", cell) for cell in row] != [NUMBER.sub("#", cell) for cell in printed]:
        return False
    pairs = zip(NUMBER.findall(" ".join(row)), NUMBER.findall(" ".join(printed)), strict=True)
    return all(near(now, shown) for now, shown in pairs)


def near(now: str, shown: str) -> bool:
    """Whether two printed numbers agree: percentages within two points, others within 2 % or a last digit."""
    first, second = float(now.rstrip("%")), float(shown.rstrip("%"))
    if now.endswith("%"):
        return abs(first - second) <= 2
    last_digit = 10.0 ** -len(shown.partition(".")[2])
    return abs(first - second) <= max(0.02 * abs(second), 1.5 * last_digit)


def test_a_page_with_another_figure_is_found() -> None:
    assert alike(("RF 1", "58.2 (56.6 to 62.4)"), ("RF 1", "58.2 (56.6 to 62.4)"))
    assert not alike(("RF 1", "58.2 (56.6 to 62.4)"), ("RF 1", "61.2 (56.6 to 62.4)"))
    assert not alike(("client CPU (1.0)",), ("replica CPU (1.0)",))
