"""Real nodes come up capped, come and go, and leave nothing behind, whatever happens on the way.

Needs a Java 17 runtime, and Maven where the jars are not in the cache yet. One lab runs at a time on a
machine, also when tests run in several processes.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from capmodel.live.lab import caps
from capmodel.live.lab.hierarchy import usable_hierarchy
from capmodel.live.lab.jvm import spawn
from capmodel.live.lab.nodetool import nodetool
from capmodel.live.lab.preparation import plan_lab
from capmodel.live.lab.process import kill, runs, send
from capmodel.live.lab.record import Lab, load_lab, locked, required_lab, save
from capmodel.live.lab.release import cache_directory
from capmodel.live.lab.startup import bring_up
from capmodel.live.lab.status import lab_status
from capmodel.live.lab.teardown import tear_down
from capmodel.model.errors import RunError

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "lab.md"
pytestmark = [pytest.mark.live, pytest.mark.slow]


def _script() -> ModuleType:
    """Return the script of many cycles beside this file, whose parts this file checks one by one."""
    spec = importlib.util.spec_from_file_location("lab_cycles", Path(__file__).with_name("lab_cycles.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cycles = _script()


@pytest.fixture
def directory(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a lab's directory, with the machine's labs to itself, and nothing left of the lab afterwards."""
    with (tmp_path_factory.getbasetemp().parent / "labs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = cycles.trace(tmp_path / "lab")
        try:
            yield tmp_path / "lab"
        finally:
            tear_down(tmp_path / "lab")
        assert cycles.trace(tmp_path / "lab") - before == frozenset()


def up(directory: Path, nodes: int = 1, **fields: object) -> Lab:
    said: list[str] = []
    return bring_up(cycles.SPEC.model_copy(update={"nodes": nodes} | fields), directory, said.append)


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_lab_comes_up_capped_and_goes_without_a_trace(nodes: int, directory: Path) -> None:
    before = cycles.trace(directory)
    lab = up(directory, nodes)

    assert [node.state for node in lab_status(lab).nodes] == ["ready"] * nodes
    assert len(cycles.trace(directory) - before) > 3 * nodes  # the proof sees a lab while there is one
    if lab.groups:
        limits = caps.in_force(lab, lab.nodes[0])
        assert (limits.cpu_cores, limits.memory_bytes) == (0.3, 2.5 * 2**30)
        assert (limits.reads_per_s, limits.writes_per_s) == ((500, 500) if lab.device else (None, None))
    assert up(directory, nodes).nodes == lab.nodes  # a second `up` finds the first
    with pytest.raises(RunError, match="another lab"):
        up(directory, nodes + 1)

    assert tear_down(directory)
    assert cycles.trace(directory) - before == frozenset()


def test_a_node_can_be_asked_moved_and_lost(directory: Path) -> None:
    lab = up(directory)
    node = lab.nodes[0]
    assert node.process is not None
    assert "UN  127.0.77.1" in nodetool(lab, node, "status")
    with pytest.raises(RunError, match="nodetool flood on node1"):
        nodetool(lab, node, "flood")

    caps.repin(lab, node, frozenset({lab.cores[-1]}))
    assert os.sched_getaffinity(node.process.pid) == {lab.cores[-1]}
    with pytest.raises(RunError, match="the lab has"):
        caps.repin(lab, node, frozenset({999}))

    send(node.process, signal.SIGKILL)
    while runs(node.process):
        time.sleep(0.02)
    assert [each.state for each in lab_status(required_lab(directory)).nodes] == ["ended"]


def test_the_how_to_works_as_it_says(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands of docs/how-to/lab.md in order; a node's line must agree up to its state."""
    pytest.importorskip("cassandra")
    monkeypatch.setenv("XDG_STATE_HOME", str(directory.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_directory().parent))
    told: list[str] = []
    try:
        for command in re.findall(r"^\$ capmodel lab (.*)$", HOW_TO.read_text(), re.MULTILINE):
            told += run_command(*shlex.split(command)).splitlines()
    finally:
        tear_down(directory.parent / "capmodel" / "lab")
    written = "".join(re.findall(r"```console\n(.*?)```", HOW_TO.read_text(), re.DOTALL)).splitlines()
    assert up_to_state(told) == up_to_state(written)
    assert len(up_to_state(told)) == 6


def run_command(*words: str) -> str:
    command = [sys.executable, "-m", "capmodel.cli.lab_command", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def up_to_state(lines: list[str]) -> list[list[str]]:
    """Return node, cluster, address, core, sharing and state of table rows, and CQL's rows."""
    return [line.split()[:6] for line in lines if re.match(r"node\d|lab +\|", line)]


def test_a_failed_start_shows_the_nodes_last_words_and_leaves_nothing(directory: Path) -> None:
    before = cycles.trace(directory)

    with pytest.raises(RunError, match=r"(?s)node1 ended while it started.*no_such_setting"):
        up(directory, settings={"no_such_setting": 1})
    assert cycles.trace(directory) - before == frozenset()


def test_up_interrupted_cleans_up_by_itself(directory: Path) -> None:
    cycles.interrupted(directory)


def test_up_terminated_cleans_up_by_itself(directory: Path) -> None:
    assert cycles.up_broken_off(directory, signal.SIGTERM) != 0
    assert load_lab(directory) is None


def test_up_killed_is_cleaned_up_by_down(directory: Path) -> None:
    cycles.killed(directory)
    assert load_lab(directory) is not None


@contextmanager
def in_group(directory: Path, command: list[str]) -> Iterator[Lab]:
    """Give a lab with a process in place of its only node's JVM, in a real control group."""
    if isinstance(reason := usable_hierarchy(), str):
        pytest.skip(reason)
    with locked(directory):
        lab = save(plan_lab(cycles.SPEC, directory, print))
    home = lab.home(lab.nodes[0])
    home.mkdir()
    process = spawn(command, home, home / "console.log", caps.create_group(lab, lab.nodes[0]))
    try:
        yield lab
    finally:
        kill([process])


def rate_per_s(count: Callable[[], float | None], span_s: float = 0.8) -> float:
    """Return how fast a count grows; what was allowed under an earlier cap is let pass first."""
    time.sleep(0.15)
    began_s, before = time.monotonic(), count()
    time.sleep(span_s)
    after, ended_s = count(), time.monotonic()
    assert before is not None
    assert after is not None
    return (after - before) / (ended_s - began_s)


def test_the_cpu_cap_binds_and_can_be_lifted(directory: Path) -> None:
    """A busy loop; from below, other work on the machine may take what it likes."""
    with in_group(directory, [sys.executable, "-c", "while True: pass"]) as lab:
        node = lab.nodes[0]
        caps.limit_cpu(lab, node, 0.2)
        assert rate_per_s(lambda: caps.cpu_s(lab, node)) <= 0.2 * 1.1
        assert rate_per_s(lambda: caps.throttled_s(lab, node)) > 0.1

        caps.lift(lab, node)
        assert rate_per_s(lambda: caps.cpu_s(lab, node)) > 0.2 * 1.3
        assert rate_per_s(lambda: caps.throttled_s(lab, node)) == 0


READ = """
import mmap, os
with open("rows", "wb") as rows:
    rows.write(bytes(2**20))
rows = os.open("rows", os.O_RDONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
while True:
    os.preadv(rows, [page], 4096 * (os.urandom(1)[0]))
"""


def test_the_read_cap_binds_and_can_be_lifted(directory: Path) -> None:
    """Direct reads, one at a time; the kernel lets them pass in slices of 100 ms."""
    with in_group(directory, [sys.executable, "-c", READ]) as lab:
        node = lab.nodes[0]
        if lab.device is None:
            pytest.skip("the directory lies on no block device")
        caps.limit_disk(lab, node, 200, None)
        assert rate_per_s(lambda: reads(lab), span_s=1.0) <= 200 * 1.2

        caps.lift(lab, node)
        assert rate_per_s(lambda: reads(lab)) > 200 * 1.5


def reads(lab: Lab) -> int:
    counted = caps.disk_operations(lab, lab.nodes[0])
    assert counted is not None
    return counted.reads
