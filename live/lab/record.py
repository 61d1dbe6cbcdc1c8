"""The record of a lab: what runs, under which caps, kept as one JSON file in the lab's directory.

The record is written before anything is made and removed after everything is gone, so that whatever happens
in between, `down` knows what to look for. It is replaced by a rename, so it is never half a file. A lab's
id comes from its directory, and names its control groups and its processes, so that both are found even
when they were made an instant before capmodel was killed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from ...model.errors import RunError
from ...model.value import Value
from .layout import NodePlan
from .process import ProcessId, runs
from .release import Release
from .spec import LabSpec

RECORD_NAME = "lab.json"
LOCK_NAME = "lab.lock"


class NodeRecord(Value):
    """One node of a lab."""

    plan: NodePlan
    """Where it runs and whom it asks."""
    process: ProcessId | None = None
    """Its JVM, once started."""
    stopped: bool = False
    """Whether it was stopped on purpose."""
    start_s: float | None = None
    """How long its last start took until it was ready."""

    @property
    def name(self) -> str:
        """Name in the lab."""
        return self.plan.name

    @property
    def running(self) -> bool:
        """Whether its JVM runs."""
        return self.process is not None and runs(self.process)


class Lab(Value):
    """A lab as it stands."""

    directory: Path
    """Where the record and the nodes' files are."""
    id: str
    """Names its control groups and processes."""
    spec: LabSpec
    """As it was asked for."""
    release: Release
    """The Apache Cassandra it runs."""
    nodes: tuple[NodeRecord, ...]
    """Its nodes, the cluster in question first."""
    cores: tuple[int, ...]
    """The cores the nodes were dealt to."""
    groups: str | None = None
    """Version of the control groups its nodes are in, None when they run uncapped."""
    device: str | None = None
    """The disk under its directory, as `major:minor`."""
    notes: tuple[str, ...] = ()
    """What a measurement on this lab has to say."""

    def home(self, node: NodeRecord) -> Path:
        """Return the folder of a node's files."""
        return self.directory / node.name

    def node(self, name: str) -> NodeRecord:
        """Return the node of that name."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise RunError(f"no {name} in this lab; it has {', '.join(node.name for node in self.nodes)}")

    def cluster(self, name: str) -> tuple[NodeRecord, ...]:
        """Return the nodes of a cluster."""
        return tuple(node for node in self.nodes if node.plan.cluster == name)

    def with_node(self, changed: NodeRecord) -> Lab:
        """Return the lab with one node changed, or added when it has none of that name."""
        if all(node.name != changed.name for node in self.nodes):
            return self.model_copy(update={"nodes": (*self.nodes, changed)})
        nodes = tuple(changed if node.name == changed.name else node for node in self.nodes)
        return self.model_copy(update={"nodes": nodes})


def default_directory() -> Path:
    """Return the directory of the lab when none is named."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "capmodel" / "lab"


def lab_id(directory: Path) -> str:
    """Return the id of the lab in `directory`."""
    return hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:10]


def load_lab(directory: Path) -> Lab | None:
    """Return the lab in `directory`, or None when there is none."""
    file = directory / RECORD_NAME
    try:
        return Lab.model_validate_json(file.read_text())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        first = error.errors()[0]["msg"]
        raise RunError(
            f"{file} is no record of this version ({first}); `lab down` removes the lab"
        ) from error


def save(lab: Lab) -> Lab:
    """Write the record of a lab in place of the one before."""
    fresh = lab.directory / f"{RECORD_NAME}.new"
    fresh.write_text(lab.model_dump_json(indent=1))
    fresh.replace(lab.directory / RECORD_NAME)
    return lab


def required_lab(directory: Path) -> Lab:
    """Return the lab in `directory`.

    Raises:
        RunError: there is none.
    """
    lab = load_lab(directory)
    if lab is None:
        raise RunError(f"no lab in {directory}: `capmodel lab up` starts one")
    return lab


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the lab in `directory` against every other capmodel; the lock ends with its process.

    A directory that holds no lab afterwards is removed when nothing else is in it.
    """
    lock = directory / LOCK_NAME
    with _open_lock(lock) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"another capmodel is at work on the lab in {directory}") from None
        try:
            yield
        finally:
            if not (directory / RECORD_NAME).exists():
                lock.unlink(missing_ok=True)
                _remove_if_empty(directory)


def _open_lock(file: Path) -> IO[str]:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return file.open("w")
    except OSError as error:
        raise RunError(f"{file}: {error.strerror}; name another directory with --directory") from error


def _remove_if_empty(directory: Path) -> None:
    with suppress(OSError):  # it holds files of somebody else
        directory.rmdir()
