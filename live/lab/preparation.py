"""A lab before anything of it runs: who goes where, on which release, in which control groups.

What cannot work is refused here, before a minute is spent on starting nodes; what works but limits what the
lab's measurements are worth becomes a note, which they carry.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from ...model.errors import RunError
from . import cassandra_yaml
from .block_device import block_device
from .hierarchy import usable_hierarchy
from .layout import NodePlan, cluster_sizes, lay_out
from .record import LOCK_NAME, Lab, NodeRecord, lab_id
from .release import Progress, find_release
from .spec import LabSpec, Layout


def plan_lab(spec: LabSpec, directory: Path, progress: Progress) -> Lab:
    """Return a lab of which nothing runs yet."""
    _check(spec, directory)
    cores = tuple(sorted(os.sched_getaffinity(0)))
    plans = lay_out(spec, cores)
    check_addresses(plans)
    release = find_release(spec, progress)
    offered = usable_hierarchy()
    groups, refusal = (None, offered) if isinstance(offered, str) else (offered.version, "")
    return Lab(
        directory=directory,
        id=lab_id(directory),
        spec=spec,
        release=release,
        nodes=tuple(NodeRecord(plan=plan) for plan in plans),
        cores=cores,
        groups=groups,
        device=block_device(directory),
        notes=_notes(spec, len(cores), refusal),
    )


def _check(spec: LabSpec, directory: Path) -> None:
    strangers = sorted(entry.name for entry in directory.iterdir() if entry.name != LOCK_NAME)
    if strangers:
        raise RunError(f"{directory} holds other files ({strangers[0]}): name an empty directory")
    if spec.memory is not None and spec.memory < spec.least_memory_bytes:
        least = spec.least_memory_bytes / 2**20
        raise RunError(f"--memory {spec.memory / 2**20:.0f}MiB: with this heap a node needs {least:.0f}MiB")


def check_addresses(plans: Sequence[NodePlan]) -> None:
    """Refuse addresses on which something else listens."""
    for plan in plans:
        for port in (cassandra_yaml.NATIVE_PORT, cassandra_yaml.STORAGE_PORT):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                _bind(probe, plan.address, port)


def _bind(probe: socket.socket, host: str, port: int) -> None:
    try:
        probe.bind((host, port))
    except OSError as error:
        raise RunError(
            f"{host}:{port}: {error.strerror}; another lab? `capmodel lab down`, or --first-address"
        ) from error


def _notes(spec: LabSpec, cores: int, refusal: str) -> tuple[str, ...]:
    notes = []
    if refusal:
        effect = "the caps asked for are not in force" if spec.wants_caps else "nothing was to be capped"
        notes.append(f"uncapped: {refusal}; {effect}")
    sizes = cluster_sizes(spec, cores)
    if spec.layout is Layout.EQUAL and len(set(sizes)) > 1:
        notes.append(f"lopsided: clusters of {' and '.join(map(str, sizes))} nodes share the cores")
    crowd = -(-sum(sizes) // cores) * (spec.cores_per_node or 0)
    if crowd > 1:
        notes.append(f"over-committed: the caps of the nodes on one core add up to {crowd:.2f} cores")
    return tuple(notes)
