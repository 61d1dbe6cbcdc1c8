"""Processes of a lab: told apart by their start, found by their command line, pinned, entered into groups."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from capmodel.live.lab import process
from capmodel.live.lab.jvm import spawn
from capmodel.live.lab.process import ProcessId
from capmodel.model.errors import RunError

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[ProcessId]:
    started = spawn([*SLEEP, "-Dcapmodel.lab=sleepers"], tmp_path, tmp_path / "console.log", [])
    yield started
    process.kill([started])


def test_a_later_process_with_the_same_id_is_not_taken_for_it(sleeper: ProcessId) -> None:
    earlier = ProcessId(pid=sleeper.pid, start_ticks=sleeper.start_ticks - 1)

    assert process.runs(sleeper)
    assert not process.runs(earlier)
    assert not process.send(earlier, signal.SIGKILL)
    assert process.runs(sleeper)


def test_the_right_process_is_killed_and_leaves_no_zombie(sleeper: ProcessId) -> None:
    process.kill([sleeper])

    assert not process.runs(sleeper)
    assert not Path(f"/proc/{sleeper.pid}").exists()
    assert not process.send(sleeper, signal.SIGKILL)
    assert process.cpu_s(sleeper) is None
    assert process.resident_bytes(sleeper) is None


def test_one_that_does_not_end_in_time_is_an_error(sleeper: ProcessId) -> None:
    with pytest.raises(RunError, match="did not end within"):
        process.wait_gone([sleeper], timeout_s=0.05)


def test_processes_are_found_by_a_whole_argument(sleeper: ProcessId) -> None:
    assert process.with_argument("-Dcapmodel.lab=sleepers") == [sleeper]
    assert process.with_argument("-Dcapmodel.lab=sleeper") == []


def test_all_threads_are_pinned(sleeper: ProcessId) -> None:
    core = min(os.sched_getaffinity(0))
    process.pin(sleeper, frozenset({core}))

    assert os.sched_getaffinity(sleeper.pid) == {core}


def test_a_process_ages(sleeper: ProcessId) -> None:
    young_s = process.age_s(sleeper)
    time.sleep(0.1)

    assert 0 <= young_s < 10
    assert process.age_s(sleeper) == pytest.approx(young_s + 0.1, abs=0.09)


def test_a_process_enters_its_groups_before_it_becomes_what_it_is(tmp_path: Path) -> None:
    """Two files stand in for the groups: both hold the id that the command itself runs under."""
    entrances = [tmp_path / "cpu", tmp_path / "memory"]
    console = tmp_path / "console.log"
    started = spawn(
        [sys.executable, "-c", "import os; print(os.getpid(), os.getcwd())"], tmp_path, console, entrances
    )
    process.wait_gone([started], timeout_s=10)

    assert [entrance.read_text() for entrance in entrances] == [f"{started.pid}\n"] * 2
    assert console.read_text() == f"{started.pid} {tmp_path}\n"


def test_a_group_that_cannot_be_entered_stops_it(tmp_path: Path) -> None:
    console = tmp_path / "console.log"
    missing = tmp_path / "no such group" / "cgroup.procs"
    started = spawn([sys.executable, "-c", "print('ran')"], tmp_path, console, [missing])
    process.wait_gone([started], timeout_s=10)

    assert "ran" not in console.read_text()
    assert "no such group" in console.read_text()


def test_cpu_time_is_counted(tmp_path: Path) -> None:
    busy = [sys.executable, "-c", "import time\nwhile time.process_time() < 0.2: pass\ntime.sleep(60)"]
    started = spawn(busy, tmp_path, tmp_path / "console.log", [])
    try:
        used_s = _cpu_s_at_least(started, 0.17)
    finally:
        process.kill([started])
    assert used_s == pytest.approx(0.2, abs=0.05)


def _cpu_s_at_least(started: ProcessId, enough_s: float) -> float:
    deadline_s = time.monotonic() + 20
    while (used_s := process.cpu_s(started) or 0.0) < enough_s and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return used_s
