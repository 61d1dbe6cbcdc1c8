"""Contradictions between the keys of the hardware: memory that is not there, quotas that cannot be spent."""

from __future__ import annotations

from collections.abc import Iterator

from .errors import Problem
from .hardware import Hardware
from .scenario import Scenario

_GIB = 2.0**30


def machines_of(scenario: Scenario) -> Iterator[tuple[str, Hardware]]:
    """Yield each kind of machine with the key under which its hardware stands."""
    yield "hardware", scenario.hardware
    for number, group in enumerate(scenario.cluster.groups):
        given = {key: getattr(group.hardware, key) for key in group.hardware.model_fields_set}
        if given:
            own = {key: value for key, value in given.items() if value is not None}
            yield f"cluster.groups[{number}].hardware", scenario.hardware.model_copy(update=own)


def memory_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield processes that are larger than their machine's memory."""
    for key, machine in machines_of(scenario):
        process_bytes = machine.heap + machine.off_heap
        if process_bytes > machine.ram:
            right = (
                f"with off_heap no more than the memory: together {process_bytes / _GIB:.3g} GiB "
                f"of {machine.ram / _GIB:.3g} GiB"
            )
            yield Problem(f"{key}.heap", f"{machine.heap / _GIB:.3g} GiB", right)


def quota_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield CPU quotas that cannot be spent, or that the model would leave out."""
    shared = scenario.hardware.shared
    for key, machine in machines_of(scenario):
        quota = machine.cpu_quota
        if quota is None:
            continue
        if quota.cores > quota.cpus:
            right = f"at most {quota.cpus}, the processors on which it can be spent (cpu_quota.cpus)"
            yield Problem(f"{key}.cpu_quota.cores", quota.cores, right)
        if quota.cpus > machine.cores:
            yield Problem(f"{key}.cpu_quota.cpus", quota.cpus, f"at most {machine.cores}, the node's cores")
        if shared.cores is not None and shared.nodes_per_host > 1:
            right = "nothing: a quota for nodes that share the cores of a host is not modelled"
            yield Problem(f"{key}.cpu_quota", f"{quota.cores:g} cores", right)
