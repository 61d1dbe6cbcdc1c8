"""What differs between Cassandra versions: defaults and request graphs, read from `versions.yaml`.

The file holds, for each series, what differs from the series before it, with the source of each value.
A version is looked up by its series; without a patch number it means the last release of the series.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml
from pydantic import Field

from .errors import InputError
from .value import Value

_VERSION = re.compile(r"\s*v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-~+.]?[A-Za-z][\w.~+-]*|\.\d+)?\s*")
_LAST = 10**9
"""Patch number of a version that names none: after every patch."""
_TICK_TOCK = (3, 11)
"""3.1 to 3.10 were monthly releases on the way to 3.11, which stands for them."""


class VersionFacts(Value):
    """Defaults of one Cassandra version, and how its requests run."""

    series: str
    """Series the facts belong to, such as `4.0`."""
    read_repair_chance: float = Field(ge=0, le=1)
    """Share of reads that contact the replicas of every datacenter; 0 where the option is gone."""
    dclocal_read_repair_chance: float = Field(ge=0, le=1)
    """Share of reads that contact the replicas of the coordinator's datacenter; 0 where there is no such option."""
    digest_reads: bool
    """Whether all replicas but one are asked for a digest."""
    read_repair_blocking: bool
    """Whether a read waits for the repairs that a digest mismatch causes."""
    endpoint_snitch: str
    """Snitch of the shipped configuration."""
    dynamic_snitch: bool
    """Whether the dynamic snitch is on."""
    dynamic_snitch_badness_threshold: float = Field(ge=0)
    """How much slower the preferred replica must be before reads leave it."""
    speculative_retry: str | None
    """Table default; None where tables do not speculate."""
    concurrent_reads: int
    concurrent_writes: int
    concurrent_counter_writes: int | None
    """None where counters run in the mutation stage."""
    client_protocol: Literal["thrift", "native"]
    """Protocol of the benchmarks of its day."""
    native_transport_max_threads: int | None
    """Requests a node works on as coordinator; None is no limit (Thrift: one thread a connection)."""
    inline_local: bool
    """Whether a coordinator does its own replica's work on the request's thread when a permit is free."""
    compression_chunk_bytes: int | None
    """Chunk of new tables; None where they are not compressed."""
    commitlog_sync: Literal["periodic", "batch", "group"]
    commitlog_sync_period_s: float
    commitlog_sync_batch_window_s: float | None
    """Window suggested for `batch`; None where a write syncs at once or nothing is suggested."""
    commitlog_sync_group_window_s: float | None
    """Window suggested for `group`; None where that mode does not exist."""
    num_tokens: int
    read_request_timeout_s: float
    write_request_timeout_s: float
    counters: Literal["none", "v1", "v2"]
    """v1: read after the answer, no lock; v2: lock, read before write, a stage of their own."""
    lightweight_transactions: tuple[Literal["v1", "v2"], ...]
    """Implementations, the default first; v1 takes four rounds, v2 about two."""
    batchlog: bool
    """Whether logged batches exist."""
    sources: dict[str, str]
    """Where each value was found."""

    @property
    def background_contact(self) -> float:
        """Probability that a read in one datacenter contacts all replicas.

        One random number is held against both chances (CFMetaData.newReadRepairDecision, 3.11.5), so the larger
        one decides.
        """
        return max(self.read_repair_chance, self.dclocal_read_repair_chance)


def known_versions() -> tuple[str, ...]:
    """Return the series with facts, oldest first.

    >>> known_versions()[0], known_versions()[-1]
    ('0.6', '5.0')
    """
    return tuple(_series())


def version_facts(version: str) -> VersionFacts:
    """Return the facts of a version such as `5.0.6`, `3.0.0-SNAPSHOT` or `2.1`.

    >>> version_facts("4.0.1").num_tokens
    16

    Raises:
        InputError: a version of no known series.
    """
    found = _VERSION.fullmatch(version)
    series = _series_of(int(found[1]), int(found[2])) if found else None
    if found is None or series is None:
        raise InputError(f"Cassandra version {version!r} is not known; known are {', '.join(known_versions())}")
    return _facts(series, int(found[3]) if found[3] else _LAST)


def _series_of(major: int, minor: int) -> str | None:
    tick_tock = major == _TICK_TOCK[0] and 0 < minor <= _TICK_TOCK[1]
    series = f"{major}.{_TICK_TOCK[1] if tick_tock else minor}"
    return series if series in _series() else None


@cache
def _series() -> Mapping[str, Mapping[str, Any]]:
    text = (resources.files(__package__) / "versions.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text)["series"])


@cache
def _facts(series: str, patch: int) -> VersionFacts:
    """Return the facts of a series up to a patch, with all that earlier series changed."""
    entries: dict[str, Mapping[str, Any]] = {}
    for name in _series():
        entries |= _changes(name, patch if name == series else _LAST)
        if name == series:
            break
    values = {key: entry["value"] for key, entry in entries.items()}
    sources = {key: entry["source"] for key, entry in entries.items()}
    return VersionFacts(series=series, sources=sources, **values)


def _changes(series: str, patch: int) -> dict[str, Mapping[str, Any]]:
    entry = dict(_series()[series])
    for release, changed in entry.pop("patches", {}).items():
        if int(release.rsplit(".", 1)[1]) <= patch:
            entry |= changed
    return entry
