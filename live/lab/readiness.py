"""Waiting until nodes are ready: each says so itself, and sees every running peer of its cluster."""

from __future__ import annotations

import time
from collections.abc import Iterable

from ...model.errors import RunError
from .node_log import last_lines, read_view
from .process import age_s
from .record import Lab, NodeRecord, save
from .release import Progress

READY_WITHIN_S = 180.0
"""A node alone is ready in 7 s, four nodes on two busy cores in 40 s; several times that is too long."""
_POLL_S = 0.1


def wait_ready(lab: Lab, names: Iterable[str], progress: Progress) -> Lab:
    """Return the lab once all the named nodes are ready.

    Raises:
        RunError: one of them ended, or is not ready in time; the message holds its last words.
    """
    began_s = time.monotonic()
    waiting = sorted(names)
    while waiting:
        for name in tuple(waiting):
            if is_ready(lab, lab.node(name)):
                waiting.remove(name)
                lab = _note_ready(lab, lab.node(name), progress)
            else:
                _refuse_lost(lab, lab.node(name), time.monotonic() - began_s)
        time.sleep(_POLL_S if waiting else 0)
    return lab


def wait_begun(lab: Lab, names: Iterable[str]) -> None:
    """Wait until the named nodes are well on their way, or have ended."""
    deadline_s = time.monotonic() + READY_WITHIN_S
    waiting = {name for name in names if not _begun(lab, name)}
    while waiting and time.monotonic() < deadline_s:
        time.sleep(_POLL_S)
        waiting = {name for name in waiting if not _begun(lab, name)}


def _begun(lab: Lab, name: str) -> bool:
    node = lab.node(name)
    return not node.running or read_view(lab.home(node)).begun


def is_ready(lab: Lab, node: NodeRecord) -> bool:
    """Return whether a node serves clients and sees all its running peers up and normal."""
    cluster = lab.cluster(node.plan.cluster)
    peers = frozenset(peer.plan.address for peer in cluster if peer.running and peer != node)
    return node.running and read_view(lab.home(node)).ready(peers)


def _note_ready(lab: Lab, node: NodeRecord, progress: Progress) -> Lab:
    if node.start_s is not None or node.process is None:
        return lab
    start_s = age_s(node.process)
    progress(f"{node.name} is ready after {start_s:.1f} s")
    return save(lab.with_node(node.model_copy(update={"start_s": round(start_s, 2)})))


def _refuse_lost(lab: Lab, node: NodeRecord, waited_s: float) -> None:
    late = waited_s > READY_WITHIN_S
    if node.running and not late:
        return
    what = f"is not ready after {READY_WITHIN_S:.0f} s" if late else "ended while it started"
    words = "\n".join(f"  {node.name}: {line}" for line in last_lines(lab.home(node)))
    raise RunError(f"{node.name} {what}; its last words:\n{words}")
