"""Which control groups this machine offers, and whether we may use them.

A machine can mount both versions; the one that holds the `cpu` controller counts.

Source: proc_pid_mountinfo(5) for the fields of a mount.
"""

from __future__ import annotations

from pathlib import Path

from .control_groups import Hierarchy
from .control_groups_v1 import CONTROLLERS as V1_CONTROLLERS
from .control_groups_v1 import HierarchyV1
from .control_groups_v2 import CONTROLLERS as V2_CONTROLLERS
from .control_groups_v2 import HierarchyV2

_MOUNTINFO = Path("/proc/self/mountinfo")
_ESCAPES = {r"\040": " ", r"\011": "\t", r"\012": "\n", r"\134": "\\"}


def usable_hierarchy(mountinfo: str | None = None) -> Hierarchy | str:
    """Return the machine's control groups, or in words why nodes run uncapped; tries by making one."""
    offered = offered_hierarchy(mountinfo)
    if offered is None:
        return "this machine mounts no control groups with the controllers for CPU, memory and block I/O"
    refusal = _refusal(offered)
    return offered if refusal is None else refusal


def offered_hierarchy(mountinfo: str | None = None) -> Hierarchy | None:
    """Return the control groups that are mounted, whether we may use them or not."""
    text = _MOUNTINFO.read_text() if mountinfo is None else mountinfo
    return _v1(text) or _v2(text)


def _v1(mountinfo: str) -> HierarchyV1 | None:
    mounts: dict[str, Path] = {}
    for point, kind, options in _mounts(mountinfo):
        if kind == "cgroup":
            mounts |= {name: point for name in V1_CONTROLLERS if name in options}
    return HierarchyV1(mounts) if set(mounts) == set(V1_CONTROLLERS) else None


def _v2(mountinfo: str) -> HierarchyV2 | None:
    for point, kind, _ in _mounts(mountinfo):
        controllers = point / "cgroup.controllers"
        if kind != "cgroup2" or not controllers.exists():
            continue
        if set(V2_CONTROLLERS) <= set(controllers.read_text().split()):
            return HierarchyV2(point)
    return None


def _mounts(mountinfo: str) -> list[tuple[Path, str, frozenset[str]]]:
    """Return mount point, type and superblock options of every mount."""
    mounts = []
    for line in mountinfo.splitlines():
        here, _, there = line.partition(" - ")
        fields, rest = here.split(), there.split()
        if len(fields) >= 6 and len(rest) >= 3:
            mounts.append((Path(_unescaped(fields[4])), rest[0], frozenset(rest[2].split(","))))
    return mounts


def _unescaped(field: str) -> str:
    for escape, character in _ESCAPES.items():
        field = field.replace(escape, character)
    return field


def _refusal(hierarchy: Hierarchy) -> str | None:
    """Return why no group can be made, by trying."""
    trial = hierarchy.group("trial", "rights")
    try:
        trial.create()
        trial.remove()
        hierarchy.remove_lab("trial")
    except OSError as error:
        return f"no right to make a control group under {error.filename} ({error.strerror})"
    return None
