"""Asking a cluster, as far as the load needs it: its nodes, single statements on one node or any, schema agreement."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...model.errors import RunError

AGREEMENT_S = 30.0
"""A schema that is not agreed on after that will not be; Cassandra's own drivers wait 10 s."""
_AGREEMENT_STEP_S = 0.1
Row = Mapping[str, Any]
SCHEMA_VERSION = "SELECT schema_version FROM system.local"


@dataclass(frozen=True)
class FoundNode:
    """One node as the cluster lists it."""

    address: str
    datacenter: str = ""
    rack: str = ""
    version: str = ""
    up: bool = True


class Console(Protocol):
    """Asks a cluster."""

    @property
    def nodes(self) -> Sequence[FoundNode]:
        """All nodes, in the order of their addresses."""

    def ask(self, cql: str, address: str | None = None) -> Sequence[Row]:
        """Return the rows of a statement, executed by the node of that address or by any."""


def wait_for_agreement(
    console: Console, limit_s: float = AGREEMENT_S, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Return when every node that is up says of itself that it has the same schema.

    Raises:
        RunError: they do not agree in time. A load that began then would fail on some nodes, and reads of a table
            that is empty there would look cheap.
    """
    deadline_s = time.monotonic() + limit_s
    while len(versions := _schema_versions(console)) > 1:
        if time.monotonic() > deadline_s:
            told = "; ".join(f"{version}: {', '.join(names)}" for version, names in sorted(versions.items()))
            raise RunError(f"the nodes do not agree on the schema after {limit_s:.0f} s ({told})")
        sleep(_AGREEMENT_STEP_S)


def _schema_versions(console: Console) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in console.nodes:
        if node.up:
            version = str(console.ask(SCHEMA_VERSION, node.address)[0]["schema_version"])
            found.setdefault(version, []).append(node.address)
    return found
