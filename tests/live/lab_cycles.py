"""Bring a lab up and down many times and print what each cycle took and left behind.

    python tests/live/lab_cycles.py 20

Cycles differ in what happens before `down`: nothing; a node is stopped hard; a node crashes; the process that
brings the lab up is interrupted, or killed, in the middle. Exit code 1 when a cycle left anything.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from capmodel.live.lab.hierarchy import offered_hierarchy
from capmodel.live.lab.process import send
from capmodel.live.lab.record import lab_id, required_lab
from capmodel.live.lab.spec import LabSpec
from capmodel.live.lab.startup import bring_up
from capmodel.live.lab.stopping import stop
from capmodel.live.lab.teardown import leftovers, processes, tear_down

FIRST_ADDRESS = "127.0.77.1"
SPEC = LabSpec(
    first_address=FIRST_ADDRESS, cores_per_node=0.3, memory=2.5 * 2**30, read_iops=500, write_iops=500
)
TWO_NODES = SPEC.model_copy(update={"nodes": 2})


_OF_A_JVM = re.compile(r"hsperfdata|hs_err|java_pid|\.so\b|jna|jffi|netty|snappy|lz4|zstd|cassandra|capmodel")
"""Names of what a JVM and Cassandra's libraries put into the folder for temporary files."""


def trace(directory: Path) -> frozenset[str]:
    """Return everything a lab in `directory` could leave on this machine, in words."""
    hierarchy = offered_hierarchy()
    mounts = Path("/proc/mounts").read_text().splitlines()
    temporary = filter(_OF_A_JVM.search, map(str, Path(tempfile.gettempdir()).glob("*")))
    nodes = hierarchy.nodes(lab_id(directory)) if hierarchy else ()
    found = [*leftovers(directory), *mounts, *temporary, *_listening(), *(f"group {node}" for node in nodes)]
    return frozenset([*found, *(str(path) for path in directory.rglob("*"))])


def _listening() -> Iterator[str]:
    """Yield the sockets that listen on a lab's own addresses."""
    block = f"{77:02X}00{127:02X}"  # 127.0.77.x as the kernel prints it, without the last byte
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        address, state = line.split()[1], line.split()[3]
        if state == "0A" and address[2:8] == block:
            yield f"socket {address}"


def plain(directory: Path) -> None:
    """Bring a node up."""
    bring_up(SPEC, directory, lambda line: None)


def stopped_hard(directory: Path) -> None:
    """Bring two nodes up and stop one hard."""
    bring_up(TWO_NODES, directory, lambda line: None)
    stop(directory, "node2", hard=True)


def crashed(directory: Path) -> None:
    """Bring a node up and kill its JVM behind the lab's back."""
    node = bring_up(SPEC, directory, lambda line: None).nodes[0]
    assert node.process is not None
    send(node.process, signal.SIGKILL)


def interrupted(directory: Path) -> None:
    """Press Ctrl-C while a node starts; `up` cleans up by itself."""
    code = up_broken_off(directory, signal.SIGINT)
    assert code != 0
    assert leftovers(directory) == []


def killed(directory: Path) -> None:
    """Kill `up` while a node starts; the node lives on until `down`."""
    assert up_broken_off(directory, signal.SIGKILL) == -signal.SIGKILL
    assert processes(directory) != []


def up_broken_off(directory: Path, number: signal.Signals) -> int:
    """Run `capmodel lab up`, send it a signal once its node has started, and return its exit code."""
    command = [sys.executable, "-m", "capmodel.cli.lab_command", "up", "--directory", str(directory)]
    command += ["--first-address", FIRST_ADDRESS, "--cores-per-node", "0.3"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as up:
        assert up.stderr is not None
        for line in up.stderr:
            if "starts" in line:
                break
        time.sleep(0.5)
        up.send_signal(number)
        up.communicate(timeout=60)
        return up.returncode


CYCLES: tuple[Callable[[Path], Any], ...] = (plain, stopped_hard, crashed, interrupted, killed)


def cycle(number: int, directory: Path) -> frozenset[str]:
    """Run one cycle, print its figures, and return what it left."""
    before = trace(directory)
    happens = CYCLES[number % len(CYCLES)]
    began_s = time.monotonic()
    happens(directory)
    up_s = time.monotonic() - began_s
    starts = (
        [f"{node.start_s:.1f}" for node in required_lab(directory).nodes if node.start_s]
        if _has(directory)
        else []
    )
    tear_down(directory)
    down_s = time.monotonic() - began_s - up_s
    left = trace(directory) - before
    print(
        f"{number + 1:3d} {happens.__name__:13} up {up_s:5.1f} s  ready {','.join(starts) or '-':10} "
        f"down {down_s:4.2f} s  left {len(left)}",
        flush=True,
    )
    return left


def _has(directory: Path) -> bool:
    return (directory / "lab.json").exists()


def main() -> None:
    """Run as many cycles as the first argument says."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder:
        left = [sorted(cycle(number, Path(folder) / "lab")) for number in range(count)]
    spoiled = [things for things in left if things]
    print(f"{count} cycles, {len(spoiled)} left something: {spoiled}")
    sys.exit(os.EX_OK if not spoiled else 1)


if __name__ == "__main__":
    main()
