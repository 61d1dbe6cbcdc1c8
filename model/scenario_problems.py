"""Scenarios that no cluster can have: contradictions between keys, said in words.

Each rule reads some keys and yields what is wrong with them. A rule is skipped when one of its keys could not
be read, or when an earlier rule has found it wrong, so that one slip of the pen is one problem and not a crowd.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from . import cluster_rules, hardware_rules, load_rules
from .errors import Problem
from .located import Path, path_of
from .scenario import Scenario
from .setting_rules import setting_problems

_SIZE = ("cluster.nodes", "cluster.groups", "cluster.racks")
_REPLICAS = (*_SIZE, "cluster.replication", "cluster.snitch")
_ASKED = (*_REPLICAS, "clients.coordinators", "clients.datacenter", "clients.routing", "workload.operations")
_LOAD = ("clients.in_flight", "clients.in_flight_per_node", "clients.rate", "clients.max_in_flight")
_QUOTA = ("cluster.groups", "hardware.cores", "hardware.cpu_quota", "hardware.shared")
_VERSION = "cluster.version"


@dataclass(frozen=True)
class Rule:
    """A rule, the keys it reads, and the key that is taken for unread once the rule has found something."""

    find: Callable[[Scenario], Iterator[Problem]]
    reads: tuple[str, ...]
    blocks: str = ""

    def reads_any(self, paths: Collection[Path]) -> bool:
        """Whether one of these paths is among the rule's keys, above one or below one."""
        own = [path_of(key) for key in self.reads]
        return any(path[: len(key)] == key[: len(path)] for path in paths for key in own)


RULES: tuple[Rule, ...] = (
    Rule(cluster_rules.size_problems, _SIZE, "cluster.nodes"),
    Rule(cluster_rules.rack_problems, _SIZE),
    Rule(cluster_rules.replication_problems, _REPLICAS, "cluster.replication"),
    Rule(cluster_rules.token_problems, (*_SIZE, "cluster.tokens", "cluster.num_tokens")),
    Rule(cluster_rules.ownership_problems, (*_REPLICAS, "cluster.tokens", "cluster.ownership")),
    Rule(cluster_rules.version_problems, (_VERSION,), _VERSION),
    Rule(cluster_rules.version_limit_problems, (_VERSION, "cluster.table", "cluster.settings")),
    Rule(cluster_rules.speculation_problems, ("cluster.table.speculative_retry",)),
    Rule(lambda scenario: setting_problems(scenario.cluster.settings), ("cluster.settings",)),
    Rule(hardware_rules.memory_problems, ("cluster.groups", "hardware.ram", "hardware.heap", "hardware.off_heap")),
    Rule(hardware_rules.quota_problems, _QUOTA),
    Rule(load_rules.mix_problems, ("workload.operations",), "workload.operations"),
    Rule(load_rules.hot_set_problems, ("workload.popularity", "workload.partitions")),
    Rule(load_rules.coordinator_problems, _REPLICAS + _ASKED, "clients.coordinators"),
    Rule(load_rules.consistency_problems, _ASKED, "workload.operations"),
    Rule(load_rules.each_quorum_problems, (_VERSION, "workload.operations")),
    Rule(load_rules.kind_problems, (*_LOAD, "clients.think_time"), "clients.rate"),
    Rule(load_rules.rate_problems, (*_ASKED, *_LOAD, "hardware.hops", "clients.placement")),
)


def problems_of(scenario: Scenario, unread: Collection[Path] = ()) -> list[Problem]:
    """Return all contradictions of a scenario.

    Args:
        scenario: a scenario whose keys are right one by one.
        unread: paths of keys whose value could not be read and was left out.
    """
    skipped = set(unread)
    found: list[Problem] = []
    for rule in RULES:
        problems = [] if rule.reads_any(skipped) else list(rule.find(scenario))
        found += problems
        skipped |= {path_of(rule.blocks)} if problems and rule.blocks else set()
    return found
