"""Bringing a lab up: start what does not run, wait until every node is ready, set the caps.

The nodes of a new lab start almost at once: each has its tokens, and asks the first of its cluster until that
one answers. They start uncapped, because a start costs about 7 s of CPU, and are capped when all are ready. A
start that fails shows the node's last words; a new lab is then removed, an old one keeps the nodes it had.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from ...model.errors import RunError
from . import cassandra_yaml, jvm
from .caps import cap, create_group
from .layout import joining
from .node_log import CONSOLE_NAME, LOG_NAME
from .preparation import check_addresses, plan_lab
from .process import kill
from .readiness import wait_begun, wait_ready
from .record import Lab, NodeRecord, load_lab, locked, required_lab, save
from .release import Progress
from .spec import LabSpec
from .teardown import remove_everything, remove_node


def bring_up(spec: LabSpec, directory: Path, progress: Progress, capped: bool = True) -> Lab:
    """Return a running lab: a new one, or the one in `directory` with what was missing started.

    Args:
        spec: what the lab is to be.
        directory: where its record and files are kept.
        progress: takes a line about each step.
        capped: whether CPU and disk limits are set once all nodes are ready; a load that warms nodes up first
            sets them itself.

    Raises:
        RunError: a node did not start, or another lab is in `directory`.
    """
    directory = directory.expanduser().resolve()
    with locked(directory), interruptible():
        lab = load_lab(directory)
        if lab is not None and lab.spec != spec:
            raise RunError(f"another lab is in {directory}; remove it first: `capmodel lab down`")
        return _new(spec, directory, progress, capped) if lab is None else _again(lab, progress, capped)


def join(directory: Path, cluster: str, progress: Progress, capped: bool = True) -> Lab:
    """Return the lab in `directory` with one more node, which joins `cluster` and streams its share.

    Raises:
        RunError: there is no such lab or cluster, or the node did not start; it is removed then.
    """
    directory = directory.expanduser().resolve()
    required_lab(directory)
    with locked(directory), interruptible():
        lab = required_lab(directory)
        members = [node.plan for node in lab.cluster(cluster) if node.running]
        if not members:
            names = sorted({node.plan.cluster for node in lab.nodes if node.running})
            raise RunError(f"no node of cluster {cluster} runs; of these some do: {', '.join(names)}")
        plan = joining(lab.spec, len(lab.nodes), members, lab.cores)
        check_addresses([plan])
        return _join(lab, NodeRecord(plan=plan), progress, capped)


def _join(lab: Lab, node: NodeRecord, progress: Progress, capped: bool) -> Lab:
    try:
        return _start(save(lab.with_node(node)), {node.name}, progress, capped)
    except BaseException:
        remove_node(lab, node)
        save(lab)
        raise


def _new(spec: LabSpec, directory: Path, progress: Progress, capped: bool) -> Lab:
    lab = save(plan_lab(spec, directory, progress))
    for note in lab.notes:
        progress(f"note: {note}")
    try:
        return _start(lab, {node.name for node in lab.nodes}, progress, capped)
    except BaseException:
        progress("removing the lab that did not come up")
        remove_everything(directory)
        raise


def _again(lab: Lab, progress: Progress, capped: bool) -> Lab:
    missing = {node.name for node in lab.nodes if not node.running}
    what = f"; missing: {', '.join(sorted(missing))}" if missing else ""
    progress(f"found the lab in {lab.directory}{what}")
    return _start(lab, missing, progress, capped)


def _start(lab: Lab, names: set[str], progress: Progress, capped: bool) -> Lab:
    """Start the named nodes and wait for all that run; those just started do not outlive a failure."""
    try:
        lab = _start_in_order(lab, names, progress)
        waited = names | {node.name for node in lab.nodes if node.running}
        lab = wait_ready(lab, waited, progress)
    except BaseException:
        _kill(lab, names)
        raise
    for node in lab.nodes if capped else ():
        cap(lab, node)
    return lab


def _start_in_order(lab: Lab, names: set[str], progress: Progress) -> Lab:
    """Start the first node of each cluster, then with a head start the others, which ask it for the cluster.

    They would ask again only 5 s later if it did not listen yet (Cassandra's shadow round).
    """
    firsts = [node.name for node in lab.nodes if node.name in names and not node.plan.waits_for_seed]
    others = [node.name for node in lab.nodes if node.name in names and node.plan.waits_for_seed]
    for name in firsts:
        lab = _start_node(lab, lab.node(name), progress)
    if others:
        wait_begun(lab, firsts)
    for name in others:
        lab = _start_node(lab, lab.node(name), progress)
    return lab


def _start_node(lab: Lab, node: NodeRecord, progress: Progress) -> Lab:
    """Start one node and return the lab with its process, which the record then has too."""
    home = lab.home(node)
    jvm.write_files(home, home / LOG_NAME)
    cassandra_yaml.write(node.plan, lab.spec, home)
    command = jvm.arguments(node.plan, lab.spec, lab.release, home, lab.id)
    process = jvm.spawn(command, home, home / CONSOLE_NAME, create_group(lab, node))
    progress(f"{node.name} starts: {node.plan.address}, core {node.plan.core}, cluster {node.plan.cluster}")
    started = node.model_copy(update={"process": process, "stopped": False, "start_s": None})
    return save(lab.with_node(started))


def _kill(lab: Lab, names: set[str]) -> None:
    kill([node.process for node in lab.nodes if node.name in names and node.process is not None])


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, so that both clean up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
