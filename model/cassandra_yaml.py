"""A node's `cassandra.yaml`, of 3.11 to 5.0, as overrides of a scenario: what the model uses of it.

Old spellings with the unit in the name (`read_request_timeout_in_ms`) and new ones (`read_request_timeout: 5000ms`)
are read. Settings that change nothing in the model are named, so that nobody believes they were looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .cluster import Snitch
from .document import Document, read_document
from .errors import InputError, Problem
from .setting_rules import RULES

KEYS = {"num_tokens": "cluster.num_tokens", "dynamic_snitch": "cluster.dynamic_snitch"}
"""Settings that a scenario has keys of its own for."""
ALLOCATED = ("allocate_tokens_for_local_replication_factor", "allocate_tokens_for_keyspace")
"""Settings that make nodes choose tokens by replicas."""


@dataclass(frozen=True)
class NodeSettings:
    """What a file says."""

    overrides: tuple[str, ...]
    """For a scenario, as `key=value`."""
    unused: tuple[str, ...]
    """Settings that change nothing in the model."""


def read_cassandra_yaml(path: Path) -> NodeSettings:
    """Return what a `cassandra.yaml` says.

    Raises:
        InputError: a file that cannot be read or is none, or values that are wrong, all of them.
    """
    document = read_document(path, InputError)
    if not {"cluster_name", "partitioner", "num_tokens", "commitlog_sync", "seed_provider"} & set(document.data):
        raise InputError([Problem("", None, "a cassandra.yaml; none of its usual settings is there", document.file)])
    problems = [*_problems(document)]
    if problems:
        raise InputError(problems)
    overrides = tuple(_overrides(document.data))
    used = {*RULES, *KEYS, *ALLOCATED, "endpoint_snitch"}
    return NodeSettings(overrides, tuple(sorted(name for name in document.data if name not in used)))


def _overrides(data: Mapping[str, object]) -> Iterator[str]:
    for name, value in data.items():
        if value is None:
            continue
        if name in RULES:
            yield f"cluster.settings.{name}={_word(value)}"
        elif name in KEYS:
            yield f"{KEYS[name]}={_word(value)}"
        elif name in ALLOCATED:
            yield "cluster.allocation=replication-aware"
        elif name == "endpoint_snitch":
            yield f"cluster.snitch={_bare(value)}"


def _problems(document: Document) -> Iterator[Problem]:
    for name, value in document.data.items():
        line = document.lines.get(name)
        if value is None:
            continue
        if name in RULES and (right := RULES[name](value)):
            yield Problem(name, value, right, document.file, line)
        elif name == "endpoint_snitch" and _bare(value) not in set(Snitch):
            right = f"one of {', '.join(Snitch)}; say which is most alike with --set cluster.snitch"
            yield Problem(name, value, right, document.file, line)
        elif name == "num_tokens" and not (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            yield Problem(name, value, "a whole number above 0", document.file, line)


def _bare(snitch: object) -> str:
    """Return a snitch's name without its package."""
    return str(snitch).rpartition(".")[2]


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
