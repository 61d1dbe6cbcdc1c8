"""Contradictions between the keys of a cluster: size, racks, replication, tokens, version, table options.

Source: Apache Cassandra documentation, "Dynamo" and "CREATE TABLE"; its change log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from .cluster import MAX_NODES
from .errors import InputError, Problem
from .ownership import check_ownership, ownership_of
from .replication import factors_of
from .ring import given_ring
from .scenario import Scenario
from .snitch import perceived
from .topology import datacenters_of, groups_of, nodes_of
from .units import parse_duration
from .versions import known_versions, version_facts

Problems = Iterator[Problem]
_PERCENTILE = re.compile(r"(\d{1,2}(\.\d{1,6})?)(p|percentile)", re.IGNORECASE)
_COMPACTION_SINCE = {"STCS": (0, 6), "LCS": (1, 0), "TWCS": (3, 0), "UCS": (5, 0)}
"""First series with each compaction strategy (CASSANDRA-1608, -9666, -18397)."""
OWNERSHIP_ROUNDING_PERCENT = 1.0
"""How far reported ownership may be from that of the tokens: tools print one decimal, and rings change."""
_READ_REPAIR_CHANCE_UNTIL = (4, 0)
"""First series without `read_repair_chance` (CASSANDRA-13910)."""


def problems_from(check: Callable[[], object]) -> Problems:
    """Yield the problems that a function raises."""
    try:
        check()
    except InputError as error:
        yield from error.problems


def series_of(scenario: Scenario) -> tuple[int, int]:
    """Return the series of a scenario's version as two numbers."""
    major, minor = version_facts(scenario.cluster.version).series.split(".")
    return int(major), int(minor)


def size_problems(scenario: Scenario) -> Problems:
    """Yield what is wrong with the number of nodes."""
    cluster = scenario.cluster
    if cluster.nodes is None and not cluster.groups:
        yield Problem("cluster.nodes", None, "a number of nodes, or a list of groups under cluster.groups")
    elif cluster.nodes is not None and cluster.groups:
        yield Problem("cluster.nodes", cluster.nodes, "either nodes or groups, not both")
    elif cluster.groups and cluster.racks > 1:
        yield Problem("cluster.racks", cluster.racks, "1 with groups: each group has its own racks")
    elif cluster.node_count > MAX_NODES:
        yield Problem("cluster.groups", cluster.node_count, f"at most {MAX_NODES} nodes in all groups together")


def rack_problems(scenario: Scenario) -> Problems:
    """Yield groups with more racks than nodes."""
    for number, group in enumerate(groups_of(scenario.cluster)):
        if group.racks > group.nodes:
            key = f"cluster.groups[{number}].racks" if scenario.cluster.groups else "cluster.racks"
            yield Problem(key, group.racks, f"at most {group.nodes}, the nodes")


def replication_problems(scenario: Scenario) -> Problems:
    """Yield replication factors that the nodes cannot hold."""
    replication, nodes = scenario.cluster.replication, nodes_of(scenario)
    known = datacenters_of(perceived(nodes, scenario.cluster.snitch))
    key = "cluster.replication.factor"
    if isinstance(replication.factor, int):
        yield from problems_from(lambda: factors_of(scenario.cluster, nodes))
    elif replication.strategy == "SimpleStrategy":
        yield Problem(key, replication.factor, "one number: SimpleStrategy does not know datacenters")
    elif strangers := [name for name in replication.factor if name not in known]:
        for name in strangers:
            right = f"no such datacenter; there is {', '.join(known)}"
            yield Problem(f"{key}.{name}", replication.factor[name], right)
    else:
        yield from problems_from(lambda: factors_of(scenario.cluster, nodes))


def token_problems(scenario: Scenario) -> Problems:
    """Yield what is wrong with the tokens of a real ring: their number, range, and what is held twice."""
    tokens, nodes = scenario.cluster.tokens, nodes_of(scenario)
    if not tokens:
        return
    if len(tokens) != len(nodes):
        right = f"tokens of {len(nodes)} nodes, one list each (an empty list draws them)"
        yield Problem("cluster.tokens", f"tokens of {len(tokens)} nodes", right)
        return
    problems = list(problems_from(lambda: given_ring(tokens)))
    yield from problems
    unlike = [node for node, own in zip(nodes, tokens, strict=True) if len(own) != node.num_tokens]
    if unlike and not problems:
        node = unlike[0]
        right = f"{len(tokens[node.index])}, as many as node {node.index} is given"
        yield Problem("cluster.num_tokens", node.num_tokens, right)


def ownership_problems(scenario: Scenario) -> Problems:
    """Yield reported ownership that does not add up to 100 % × RF, or is not that of the tokens given."""
    cluster, nodes = scenario.cluster, perceived(nodes_of(scenario), scenario.cluster.snitch)
    reported = cluster.ownership
    if not reported:
        return
    if len(reported) != len(nodes):
        yield Problem("cluster.ownership", f"of {len(reported)} nodes", f"of {len(nodes)} nodes, one number each")
        return
    factor = sum(factors_of(cluster, nodes).values())
    problems = list(problems_from(lambda: check_ownership(reported, factor)))
    yield from (replace(problem, key=f"cluster.{problem.key}") for problem in problems)
    if cluster.tokens and not problems:
        held = 100 * ownership_of(given_ring(cluster.tokens), nodes, cluster.replication).replicated
        node = max(range(len(nodes)), key=lambda node: abs(reported[node] - held[node]))
        if abs(reported[node] - held[node]) > OWNERSHIP_ROUNDING_PERCENT:
            yield Problem(f"cluster.ownership[{node}]", reported[node], f"{held[node]:.1f} %, as its tokens have it")


def version_problems(scenario: Scenario) -> Problems:
    """Yield a version that is not known."""
    version = scenario.cluster.version
    try:
        version_facts(version)
    except InputError:
        yield Problem("cluster.version", version[:40], f"one of {', '.join(known_versions())}")


def version_limit_problems(scenario: Scenario) -> Problems:
    """Yield options that the version does not have."""
    series, table = series_of(scenario), scenario.cluster.table
    if series < _COMPACTION_SINCE[table.compaction]:
        since = ".".join(map(str, _COMPACTION_SINCE[table.compaction]))
        yield Problem("cluster.table.compaction", table.compaction, f"a strategy of this version; it came with {since}")
    if table.read_repair_chance and series >= _READ_REPAIR_CHANCE_UNTIL:
        right = "nothing or 0: tables have no such option from 4.0"
        yield Problem("cluster.table.read_repair_chance", table.read_repair_chance, right)
    facts = version_facts(scenario.cluster.version)
    if scenario.cluster.settings.get("commitlog_sync") == "group" and facts.commitlog_sync_group_window_s is None:
        yield Problem("cluster.settings.commitlog_sync", "group", "periodic or batch; group came with 4.0")


def speculation_problems(scenario: Scenario) -> Problems:
    """Yield a speculative retry that is none of the forms CQL has."""
    rule = scenario.cluster.table.speculative_retry
    if not (rule.upper() in ("NONE", "NEVER", "ALWAYS") or _is_percentile(rule) or _is_time(rule)):
        right = "NONE, ALWAYS, a percentile such as 99p, or a time such as 50ms"
        yield Problem("cluster.table.speculative_retry", rule[:60], right)


def _is_percentile(rule: str) -> bool:
    found = _PERCENTILE.fullmatch(rule)
    return found is not None and 0 < float(found[1]) < 100


def _is_time(rule: str) -> bool:
    try:
        seconds = parse_duration(rule)
    except ValueError:
        return False
    return isinstance(seconds, float) and 0 < seconds < float("inf") and not rule[-1].isdigit()
