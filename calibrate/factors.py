"""The factors of a run: what is usually varied between runs, by name, for filters, splits and the bias by factor."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence

from ..model.errors import InputError, Problem
from ..model.scenario import resolved_in_flight
from .run import Run, mix_of, replication_of

FACTORS = ("nodes", "rf", "operations", "cl", "routing", "in_flight", "payload", "cores", "machine", "case")
"""Factors by name."""
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_CONDITION = re.compile(r"^\s*(\w+)\s*(<=|>=|!=|<|>|=)\s*(.+?)\s*$")

Condition = Callable[[Run], bool]


def factors_of_run(run: Run) -> dict[str, str]:
    """Return the level of every factor, as text."""
    scenario = run.scenario
    operations, clients, quota = scenario.workload.operations, scenario.clients, scenario.hardware.cpu_quota
    load = f"{clients.rate:g}/s" if clients.rate is not None else str(resolved_in_flight(scenario))
    through = f" through {len(clients.coordinators)}" if clients.coordinators else ""
    return {
        "nodes": str(scenario.cluster.node_count),
        "rf": replication_of(scenario),
        "operations": "+".join(operations),
        "cl": "+".join(dict.fromkeys(operation.consistency.value for operation in operations.values())),
        "routing": f"{clients.routing.value}{through}",
        "in_flight": load,
        "payload": f"{scenario.workload.row_bytes:g}",
        "machine": run.facts.get("machine", ""),
        "case": run.facts.get("case", ""),
        "cores": f"{quota.cores if quota else scenario.hardware.cores:g}",
    }


def condition(text: str) -> Condition:
    """Return the condition that a text such as `nodes<=2` or `cl=ONE` states about a run.

    Raises:
        InputError: a text that is no condition, or a factor that does not exist.
    """
    found = _CONDITION.match(text)
    if found is None or found[1] not in FACTORS:
        right = f"a factor ({', '.join(FACTORS)}), a comparison and a level, such as nodes<=2"
        raise InputError([Problem("--where", text, right)])
    name, sign, level = found.groups()
    return lambda run: _holds(factors_of_run(run)[name], sign, level)


def _holds(actual: str, sign: str, level: str) -> bool:
    try:
        return _COMPARISONS[sign](float(actual), float(level))
    except ValueError:
        same = actual.lower() == level.lower()
        return same if sign in ("=", "<=", ">=") else not same


def chosen(runs: Iterable[Run], conditions: Sequence[str]) -> tuple[Run, ...]:
    """Return the runs for which all conditions hold."""
    tests = [condition(text) for text in conditions]
    return tuple(run for run in runs if all(test(run) for test in tests))


def described(run: Run) -> str:
    """Return what a run was in a few words, for a table."""
    levels = factors_of_run(run)
    where = f"{levels['nodes']}n rf{levels['rf']}"
    return f"{where} {mix_of(run.scenario)} {levels['routing']} {levels['in_flight']}"
