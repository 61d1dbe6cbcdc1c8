"""Removing a lab: processes, control groups, files, in this order, whatever state it is in.

Processes are looked for in three places, so that none escapes: the record (told apart from later ones with
the same id by their start time), the control groups, and every command line that carries the lab's id. The
record goes last: a removal that is broken off can be done again.
"""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from ...model.errors import RunError
from .caps import node_group
from .hierarchy import offered_hierarchy
from .jvm import marker
from .process import ProcessId, identify, kill, with_argument
from .record import RECORD_NAME, Lab, NodeRecord, lab_id, load_lab, locked

_NODE_FOLDER = re.compile(r"node\d+")


def tear_down(directory: Path) -> bool:
    """Remove the lab in `directory` and return whether there was anything to remove."""
    directory = directory.expanduser().resolve()
    if not directory.exists() and not leftovers(directory):
        return False
    with locked(directory):
        found = (directory / RECORD_NAME).exists() or bool(leftovers(directory))
        remove_everything(directory)
    return found


def remove_everything(directory: Path) -> None:
    """Remove all of a lab; the caller holds its lock."""
    identity = lab_id(directory)
    kill(processes(directory))
    _remove_groups(identity)
    if (directory / RECORD_NAME).exists():  # only then the folders are ours
        _remove_files(directory)


def remove_node(lab: Lab, node: NodeRecord) -> None:
    """Remove group and files of one node, whose process is gone."""
    group = node_group(lab, node)
    if group is not None:
        group.remove()
    shutil.rmtree(lab.home(node), ignore_errors=True)


def processes(directory: Path) -> list[ProcessId]:
    """Return every process of the lab in `directory` that still runs."""
    identity = lab_id(directory)
    found = [*with_argument(marker(identity)), *_grouped(identity), *_recorded(directory)]
    return list({process.pid: process for process in found}.values())


def leftovers(directory: Path) -> list[str]:
    """Return in words what is left of the lab in `directory`; nothing after a good removal."""
    identity = lab_id(directory)
    hierarchy = offered_hierarchy()
    left = [f"process {process.pid}" for process in processes(directory)]
    left += [f"control group {node}" for node in (hierarchy.nodes(identity) if hierarchy else ())]
    if (directory / RECORD_NAME).exists():
        left.append(str(directory))
    return left


def _recorded(directory: Path) -> list[ProcessId]:
    try:
        lab: Lab | None = load_lab(directory)
    except RunError:
        return []
    known = [node.process for node in lab.nodes if node.process] if lab else []
    return [process for process in known if identify(process.pid) == process]


def _grouped(identity: str) -> list[ProcessId]:
    hierarchy = offered_hierarchy()
    if hierarchy is None:
        return []
    groups = [hierarchy.group(identity, node) for node in hierarchy.nodes(identity)]
    found = (identify(pid) for group in groups for pid in group.pids())
    return [process for process in found if process is not None]


def _remove_groups(identity: str) -> None:
    hierarchy = offered_hierarchy()
    if hierarchy is None:
        return
    for node in hierarchy.nodes(identity):
        hierarchy.group(identity, node).remove()
    hierarchy.remove_lab(identity)


def _remove_files(directory: Path) -> None:
    for entry in directory.iterdir():
        if _NODE_FOLDER.fullmatch(entry.name):
            shutil.rmtree(entry)
    for name in (f"{RECORD_NAME}.new", RECORD_NAME):
        with suppress(FileNotFoundError):
            (directory / name).unlink()
