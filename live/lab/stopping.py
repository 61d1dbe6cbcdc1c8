"""Stopping single nodes of a lab: in order, or as a machine that loses power."""

from __future__ import annotations

import signal
from pathlib import Path

from ...model.errors import RunError
from .caps import lift
from .process import ProcessId, send, wait_gone
from .record import Lab, NodeRecord, locked, required_lab, save

STOPPED_WITHIN_S = 60.0
"""A node in order takes about 4 s, of which it waits 2 s for its peers to notice."""


def stop(directory: Path, name: str, hard: bool) -> Lab:
    """Return the lab with one node stopped: flushed and told to its peers, or killed when `hard`.

    Raises:
        RunError: there is no such lab or node, or the node does not run.
    """
    directory = directory.expanduser().resolve()
    required_lab(directory)
    with locked(directory):
        lab = required_lab(directory)
        node = lab.node(name)
        if node.process is None or not node.running:
            raise RunError(f"{name} does not run")
        _end(lab, node, node.process, hard)
        return save(lab.with_node(node.model_copy(update={"stopped": True})))


def _end(lab: Lab, node: NodeRecord, process: ProcessId, hard: bool) -> None:
    if not hard:
        lift(lab, node)  # stopping in order costs CPU, and nobody measures it
    send(process, signal.SIGKILL if hard else signal.SIGTERM)
    wait_gone([process], STOPPED_WITHIN_S)
