"""The shipped scenarios, found by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..model.scenario import Scenario
from ..model.scenario_file import load_scenario
from ..model.scenario_source import DEFAULT, FOLDER
from ..model.shipped import shipped_names


@dataclass(frozen=True)
class Entry:
    """One shipped scenario, as a list shows it."""

    name: str
    title: str
    nodes: int
    replication: str
    """RF, or RF by datacenter."""
    version: str

    def as_dict(self) -> dict[str, Any]:
        """Return the entry for JSON."""
        return asdict(self)


def scenario_names() -> tuple[str, ...]:
    """Return the names of the shipped scenarios, the default first."""
    others = (name for name in shipped_names(FOLDER) if name != DEFAULT)
    return (DEFAULT, *others)


def catalogue() -> tuple[Entry, ...]:
    """Return what ships, the default first."""
    return tuple(_entry(load_scenario(name)) for name in scenario_names())


def _entry(scenario: Scenario) -> Entry:
    factor = scenario.cluster.replication.factor
    words = str(factor) if isinstance(factor, int) else " ".join(f"{name}:{rf}" for name, rf in factor.items())
    return Entry(scenario.name, scenario.title, scenario.cluster.node_count, words, scenario.cluster.version)
