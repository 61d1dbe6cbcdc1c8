"""The settings in force: the version's defaults, with the scenario's `cluster.settings` and `table` over them.

Names of settings are those of `cassandra.yaml`; old spellings with the unit in the name (`_in_ms`) are read too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .graph import Resource
from .scenario import Scenario
from .units import parse_duration
from .versions import VersionFacts, version_facts


@dataclass(frozen=True)
class Settings:
    """What version, table and settings say, as the compiler needs it."""

    permits: Mapping[Resource, tuple[str, int | None]]
    """Name and size of each pool of a node; None is no limit."""
    speculative_retry: str
    background_contact: float
    """Probability that a read contacts all remaining replicas."""
    commit_log_sync: str
    commit_log_window_s: float
    inline_local: bool
    """Whether a coordinator does its own replica's work on the request's thread."""
    read_timeout_s: float
    write_timeout_s: float


def settings_of(scenario: Scenario) -> Settings:
    """Return the settings in force for a scenario."""
    facts = version_facts(scenario.cluster.version)
    given = scenario.cluster.settings
    table = scenario.cluster.table
    chance = table.read_repair_chance
    return Settings(
        permits={
            Resource.NATIVE_TRANSPORT: ("native transport", _transport_threads(facts, given)),
            Resource.READ_STAGE: ("read stage", _whole(given, "concurrent_reads", facts.concurrent_reads)),
            Resource.MUTATION_STAGE: ("mutation stage", _whole(given, "concurrent_writes", facts.concurrent_writes)),
        },
        speculative_retry=table.speculative_retry if facts.speculative_retry else "NONE",
        background_contact=facts.background_contact if chance is None else chance,
        commit_log_sync=str(given.get("commitlog_sync", facts.commitlog_sync)),
        commit_log_window_s=_seconds(
            given, "commitlog_sync_group_window", facts.commitlog_sync_group_window_s or 0.015
        ),
        inline_local=facts.inline_local,
        read_timeout_s=_seconds(given, "read_request_timeout", facts.read_request_timeout_s),
        write_timeout_s=_seconds(given, "write_request_timeout", facts.write_request_timeout_s),
    )


def _transport_threads(facts: VersionFacts, given: Mapping[str, object]) -> int | None:
    return _whole(given, "native_transport_max_threads", facts.native_transport_max_threads)


def _whole(given: Mapping[str, object], name: str, default: int | None) -> int | None:
    value = given.get(name, default)
    return None if value is None else int(str(value))


def _seconds(given: Mapping[str, object], name: str, default_s: float) -> float:
    """Return a duration setting: new spelling with a unit, or old spelling in milliseconds."""
    if f"{name}_in_ms" in given:
        return float(str(given[f"{name}_in_ms"])) / 1e3
    value = given.get(name, default_s)
    return float(str(parse_duration(value))) if isinstance(value, str) else float(str(value))
