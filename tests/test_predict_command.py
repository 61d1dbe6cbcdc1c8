"""`capmodel predict` as its users meet it: output, exit codes, JSON, the same bytes for the same seed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

QUICK = ("--solver", "mva")


def capmodel(*arguments: str, folder: Path | None = None, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "capmodel", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def document(*arguments: str) -> dict[str, Any]:
    done = capmodel("predict", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_first_command_says_everything_a_user_is_promised() -> None:
    done = capmodel("predict", "--nodes", "3", "--rf", "2")
    assert done.returncode == 0, done.stderr
    for said in (
        "Scenario  3 nodes, RF 2",
        "Profile ",
        "the answer depends most on",
        "Throughput",
        "p99.9",
        "Utilisation",
        "The limit",
        "messages per operation",
        "Add a node?",
        "Remove a node?",
        "at your clients",
        "capacity",
    ):
        assert said in done.stdout, said
    assert done.stdout.rstrip().splitlines()[-1].startswith("At your clients ")


def test_json_follows_the_published_schema_and_has_the_keys_others_build_on() -> None:
    found = document("--nodes", "4", *QUICK)
    schema = json.loads(capmodel("schema", "prediction").stdout)
    jsonschema.validate(found, schema)
    promised = {
        "format_version", "scenario", "profile", "solver", "seed", "throughput_per_s", "latency_s", "utilisation",
        "limit", "hops", "messages_per_operation", "add_node", "warnings",
    }  # fmt: skip
    assert promised <= set(found)
    assert set(found["throughput_per_s"]) >= {"value", "low", "high", "parts"}
    assert set(found["latency_s"]["read"]) == {"mean", "p50", "p95", "p99", "p999"}
    assert set(found["limit"]) == {"station", "elasticity", "words"}
    assert set(found["add_node"]) == {"at_your_clients", "capacity", "threshold", "words"}
    assert set(found["add_node"]["capacity"]) == {"value", "low", "high", "verdict"}


@pytest.mark.parametrize("solver", ["bounds", "mva", "simulate"])
def test_same_seed_same_bytes(solver: str) -> None:
    arguments = ("predict", "--solver", solver, "--json", "--seed", "7")
    first, second = (capmodel(*arguments, hash_seed=seed).stdout for seed in ("1", "2"))
    assert first == second
    assert first


def test_another_seed_gives_other_bytes() -> None:
    assert document("--seed", "1")["throughput_per_s"] != document("--seed", "2")["throughput_per_s"]


def test_requests_repeat_a_run_bit_for_bit() -> None:
    first = document("--precision", "0.05")
    again = document("--requests", str(first["simulated_requests"]))
    assert again["throughput_per_s"] == first["throughput_per_s"]
    assert again["latency_s"] == first["latency_s"]


def test_every_interval_holds_its_value() -> None:
    found = document("--nodes", "6", "--read-ratio", "0.9", *QUICK)
    figures = [found["throughput_per_s"], *found["latency_s"]["read"].values(), *found["latency_s"]["write"].values()]
    assert all(figure["low"] <= figure["value"] <= figure["high"] for figure in figures)


def test_an_objective_that_is_missed_ends_with_3() -> None:
    met = capmodel("predict", "--rate", "1000", *QUICK, "--objective", "p99=1s")
    missed = capmodel("predict", "--rate", "1000", *QUICK, "--objective", "p99=1us")
    assert (met.returncode, missed.returncode) == (0, 3)
    assert "p99 <= 1 µs: missed" in missed.stderr


def test_a_load_beyond_capacity_is_unstable_and_not_a_number() -> None:
    found = document("--rate", "5000000", *QUICK)
    assert found["throughput_per_s"] is None
    assert found["latency_s"] == {}
    largest = found["largest_stable_per_s"]
    assert 0 < largest < 5_000_000
    assert document("--rate", str(0.9 * largest), *QUICK)["throughput_per_s"]["value"] == pytest.approx(0.9 * largest)
    assert document("--rate", str(1.01 * largest), *QUICK)["throughput_per_s"] is None


def test_few_requests_in_flight_gain_nothing_from_a_node() -> None:
    found = document("--nodes", "6", "--in-flight", "4", *QUICK)
    assert found["limit"]["station"] == "in flight"
    assert found["add_node"]["at_your_clients"]["verdict"] == "no gain expected"
    assert found["add_node"]["capacity"]["value"] > 0.05
    assert "more requests in flight" in found["add_node"]["words"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--nodes", "0"), "at least 1"),
        (("--nodes", "1000000000"), "at most"),
        (("--scenario", "nowhere.yaml"), "no such file"),
        (("--scenario", "defualt"), "default"),
        (("--profile", "nowhere.yaml"), "nowhere.yaml"),
        (("--set", "cluster.nods=4"), "nodes"),
        (("--set", "hardware.ram=lots"), "hardware.ram"),
        (("--solver", "magic"), "bounds, mva, simulate"),
        (("--precision", "-1"), "--precision"),
        (("--time-budget", "soon"), "--time-budget"),
        (("--objective", "p98=3ms"), "p99"),
        (("--rf", "5", "--nodes", "3"), "at most 3"),
        (("--cl", "TWO", "--rf", "1"), "TWO"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    done = capmodel("predict", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_ctrl_c_ends_with_130_and_a_sentence() -> None:
    command = [sys.executable, "-m", "capmodel", "predict", "--precision", "0.0001"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert not out


def test_a_time_budget_stops_at_a_whole_look_and_says_so() -> None:
    found = document("--precision", "0.0005", "--time-budget", "1s")
    assert found["simulated_requests"] > 0
    assert any("precision was not reached" in warning for warning in found["warnings"])


def test_explain_adds_up() -> None:
    found = document("--explain", *QUICK)
    assert sum(term["share"] for term in found["terms"]) == pytest.approx(1.0, abs=0.02)


def test_other_rates_of_the_mix_have_other_operations() -> None:
    assert set(document("--read-ratio", "1", *QUICK)["latency_s"]) == {"read"}
    assert set(document("--read-ratio", "0", *QUICK)["latency_s"]) == {"write"}
