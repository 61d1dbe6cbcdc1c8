"""Real processes on clusters in memory, in real time: nothing is lost in adding up, whatever happens to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from capmodel.live.load.gathering import Gathering
from capmodel.live.load.interval import Interval
from capmodel.live.load.look import Look
from capmodel.live.load.memory_session import MemoryCluster
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.processes import Heard, Left
from capmodel.live.load.run import run_in_memory
from capmodel.model.measurement_file import load_measurement
from capmodel.model.scenario import Scenario
from capmodel.model.scenario_file import load_scenario

CHANGES = ["cluster.nodes=1", "cluster.replication.factor=1", "clients.routing=round-robin", "clients.in_flight=16"]
CLUSTER = MemoryCluster(servers=8, service_s=0.02, distribution="constant")


@pytest.fixture
def scenario() -> Scenario:
    return load_scenario("default", CHANGES)


def test_processes_add_up_and_their_cost_is_told(scenario: Scenario) -> None:
    """Two clusters of 400/s; more than that is impossible, much less is a busy machine's doing."""
    looks: list[Look] = []
    plan = LoadPlan(duration_s=1.0, warm_up_s=0.2, processes=2)
    measured = run_in_memory(scenario, CLUSTER, plan, show=looks.append)
    requests = sum(operation.requests or 0 for operation in measured.operations.values())
    assert measured.duration_s is not None and requests <= 2 * 400 * measured.duration_s + 2 * 16
    assert requests > 2 * 200 * measured.duration_s
    client = measured.client
    assert client is not None and client.cpu_s is not None and 0 < client.cpu_s < 2 * measured.duration_s
    assert client.lag_s is not None and measured.started_at is not None
    assert {look.phase for look in looks} == {"warm-up", "measured"} and looks[-1].in_flight == 16


def children(parent: int) -> list[int]:
    """Return the ids of a process's children."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == parent:
            found.append(int(entry.parent.name))
    return found


def workers(parent: int) -> list[int]:
    """Return the ids of the processes of a load: those that the parent spawned."""
    return [pid for pid in children(parent) if b"worker_process" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def start(output: Path, *options: str) -> subprocess.Popen[str]:
    """Start a load on memory that would last ten seconds, and wait until it is measured."""
    sets = [word for change in CHANGES for word in ("--set", change)]
    command = [sys.executable, "-m", "capmodel", "load", "run", "--backend", "memory", "--duration", "10s", *sets]
    command += ["--warm-up", "0.2s", "-o", str(output), *options]
    process = subprocess.Popen(command, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("measured"):
            return process
    raise AssertionError(f"the load ended: {process.wait()}")


def test_a_killed_process_loses_only_its_part_and_ctrl_c_keeps_the_rest(tmp_path: Path) -> None:
    process = start(tmp_path / "run.json", "--processes", "2", "--json")
    first, second = workers(process.pid)
    time.sleep(0.7)
    os.kill(second, signal.SIGKILL)
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(shown)["tool"]["name"] == "capmodel load run"
    measured = load_measurement(tmp_path / "run.json")
    assert measured.ended == "early" and measured.duration_s is not None and 0.7 < measured.duration_s < 9
    assert any("processes were lost" in reason for reason in measured.verdict.reasons)
    assert any("of the load was lost after" in note for note in measured.notes)
    in_flight = [number for number in measured.series["all"].in_flight if number is not None]
    assert in_flight[0] == 16 and in_flight[-1] == 8
    assert not Path(f"/proc/{first}").exists()


def test_a_killed_parent_leaves_no_process(tmp_path: Path) -> None:
    process = start(tmp_path / "run.json")
    spawned = workers(process.pid)
    process.kill()
    process.communicate(timeout=20)
    deadline_s = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in spawned) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert spawned and not any(Path(f"/proc/{pid}").exists() for pid in spawned)
    assert not list(tmp_path.iterdir()), "nothing half-written"


def interval(number: int, part: int) -> Heard:
    return Heard(part, Interval(number, float(number), number + 1.0, {}, {"x": 10**part}))


def test_an_interval_is_whole_when_all_have_reported_it() -> None:
    gathering = Gathering(2)
    assert not list(gathering.take(interval(0, 0)))
    assert not list(gathering.take(interval(1, 0)))
    whole = [*gathering.take(interval(0, 1)), *gathering.take(interval(1, 1))]
    assert [(each.number, each.errors["x"]) for each in whole] == [(0, 11), (1, 11)]


def test_one_that_is_lost_is_not_waited_for() -> None:
    gathering = Gathering(2)
    for message in (interval(0, 0), interval(0, 1), interval(1, 0)):
        list(gathering.take(message))
    whole = list(gathering.take(Left(1, lost=True)))
    assert [(each.number, each.errors["x"]) for each in whole] == [(1, 1)]
    assert gathering.lost == [(1, 1.0)]
    assert [each.number for each in gathering.take(interval(2, 0))] == [2]
