"""What this generator can do on this machine, as its self-test found and stored it; every run is judged by it."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from ...model.document import write_whole
from ...model.value import Value
from .session import BackendFacts

FORMAT_VERSION = 1
FOLDER = "capmodel"
STATE = Path("~/.local/state")
"""Where state lies unless XDG_STATE_HOME says otherwise. Source: XDG Base Directory Specification."""
_CPU_INFO = Path("/proc/cpuinfo")


class Ceiling(Value):
    """The limits of one process of the load with one backend."""

    format_version: int = FORMAT_VERSION
    backend: str
    versions: dict[str, bool | int | float | str]
    """Of the backend and of Python."""
    machine: str
    closed_per_s: float
    """Most requests answered per second."""
    open_per_s: float | None
    """Highest rate whose starts were kept; None when the lowest that was tried was not."""
    floor_s: float
    """Median latency of one request at a time, when the other end takes no time."""
    cpu_per_operation_s: float
    """Client CPU time of a request at the highest rate."""
    stub_busy_ratio: float
    """How busy the other end was at most."""


def machine_words() -> str:
    """Return what kind of machine this is."""
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    return f"{len(os.sched_getaffinity(0))} × {model}"


def versions_of(facts: BackendFacts) -> Mapping[str, bool | int | float | str]:
    """Return what else a ceiling depends on."""
    return {**facts.facts, "python": platform.python_version()}


def ceiling_file(backend: str) -> Path:
    """Return where the ceiling of a backend is stored."""
    state = Path(os.environ.get("XDG_STATE_HOME") or STATE.expanduser())
    return state / FOLDER / f"selftest-{backend}.json"


def store_ceiling(ceiling: Ceiling) -> Path:
    """Store a ceiling in place of an earlier one; return where.

    Raises:
        InputError: a place that cannot be written to.
    """
    path = ceiling_file(ceiling.backend)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(ceiling.model_dump_json(indent=2) + "\n", path)
    return path


def known_ceiling(facts: BackendFacts) -> Ceiling | None:
    """Return the stored ceiling of a backend, None when there is none for these versions on this machine."""
    try:
        found = Ceiling.model_validate_json(ceiling_file(facts.name).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    fits = found.format_version == FORMAT_VERSION and found.machine == machine_words()
    return found if fits and found.versions == versions_of(facts) else None
