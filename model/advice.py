"""Advice: the gain of each single change to a cluster or its clients, and what it gives up.

Each change is solved by mean-value analysis with the same draws of the profile as the cluster itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .calibration import Calibration
from .clients import Routing
from .errors import ScenarioError
from .findings import Findings, Options
from .growth import resolved_clients, with_nodes
from .hardware import Disk
from .paired import Gains
from .predict import find
from .scaling import step_between
from .scenario import Scenario
from .scenario_file import with_overrides
from .scenario_problems import problems_of

Changed = Callable[[Scenario], Scenario | None]


@dataclass(frozen=True)
class Change:
    """One single change."""

    name: str
    how: str
    """The setting or command that makes it."""
    gives_up: str
    """What it costs beside money, empty for nothing."""
    changed: Changed
    """Returns the scenario with it, None where it does not apply."""


@dataclass(frozen=True)
class Advice:
    """A change and what it gains."""

    change: Change
    scenario: Scenario
    gains: Gains
    limit: str
    """What limits then."""


def advise(scenario: Scenario, calibration: Calibration, options: Options | None = None) -> tuple[Advice, ...]:
    """Return what each change gains, the most at the clients first.

    Raises:
        ScenarioError: a scenario that no cluster can have.
    """
    asked = replace(options or Options(), solver="mva", neighbours=False)
    base = find(scenario, calibration, asked, None)
    advices = (_advice(change, base, calibration, asked) for change in changes())
    return tuple(sorted((one for one in advices if one is not None), key=_rank, reverse=True))


def _advice(change: Change, base: Findings, calibration: Calibration, asked: Options) -> Advice | None:
    changed = change.changed(base.scenario)
    if changed is None or problems_of(changed):
        return None
    try:
        found = find(changed, calibration, asked, None)
    except ScenarioError:
        return None
    step = step_between(base, found)
    return None if step is None else Advice(change, found.scenario, step, found.limit.words)


def _rank(advice: Advice) -> float:
    clients = advice.gains.at_your_clients
    return (clients.value if clients else 0.0) + 1e-3 * advice.gains.capacity.value


def changes() -> Iterator[Change]:
    """Yield the changes that are looked at."""
    yield from _sizes()
    yield from _consistencies()
    yield from _clients()
    yield from _machines()


def _sizes() -> Iterator[Change]:
    yield Change("one node more", "bootstrap a node; nodetool cleanup on the others", "", lambda it: with_nodes(it, 1))
    yield Change(
        "one node less", "nodetool decommission", "room to lose a node, and its share of the disks",
        lambda it: with_nodes(it, -1),
    )  # fmt: skip
    yield Change("twice the nodes", "bootstrap as many nodes again", "", _doubled)
    yield Change("RF one more", "ALTER KEYSPACE, then nodetool repair", "disk space for another copy", _factor(1))
    yield Change("RF one less", "ALTER KEYSPACE, then nodetool cleanup", "one copy of every row", _factor(-1))


def _consistencies() -> Iterator[Change]:
    stale = "reads may miss the latest write; a node lost early may lose writes"
    yield Change("ONE for reads and writes", "consistency level of the driver: LOCAL_ONE", stale, _level("LOCAL_ONE"))
    yield Change(
        "ONE for reads", "consistency level of reads: LOCAL_ONE", "reads may miss the latest write",
        _level("LOCAL_ONE", "read"),
    )  # fmt: skip


def _clients() -> Iterator[Change]:
    for routing, words in ((Routing.TOKEN_AWARE, "token-aware"), (Routing.ROUND_ROBIN, "round robin")):
        yield Change(
            f"{words} clients", f"load-balancing policy of the driver: {words}", "",
            _routed(routing),
        )  # fmt: skip
    yield Change("twice the requests in flight", "more threads or asynchronous requests", "latency", _busier)
    yield Change(
        "a second client machine", "run the application on one machine more", "",
        lambda it: _with_clients(it, machines=it.clients.machines + 1),
    )  # fmt: skip


def _machines() -> Iterator[Change]:
    yield Change("twice the cores", "machines of twice the cores", "", _hardware(cores=2))
    yield Change("twice the memory", "machines of twice the memory", "", _hardware(ram=2))
    yield Change("data on NVMe", "data_file_directories on an NVMe disk", "", _on_nvme("data_disks"))
    yield Change(
        "commit log on its own NVMe", "commitlog_directory on an NVMe disk of its own", "", _on_nvme("commit_log_disk")
    )
    yield Change(
        "rows of half the size", "shorter values, or compression by the client", "CPU of the client",
        lambda it: it.model_copy(
            update={"workload": it.workload.model_copy(update={"column_size": it.workload.column_size / 2})}
        ),
    )  # fmt: skip


def _doubled(scenario: Scenario) -> Scenario | None:
    grown: Scenario | None = resolved_clients(scenario)
    for _ in range(scenario.cluster.node_count):
        grown = with_nodes(grown, 1) if grown is not None else None
    return grown


def _factor(change: int) -> Changed:
    def changed(scenario: Scenario) -> Scenario | None:
        replication = scenario.cluster.replication
        factor = replication.factor
        if not isinstance(factor, int) or not 1 <= factor + change <= scenario.cluster.node_count:
            return None
        update = {"replication": replication.model_copy(update={"factor": factor + change})}
        return scenario.model_copy(update={"cluster": scenario.cluster.model_copy(update=update)})

    return changed


def _level(level: str, only: str = "") -> Changed:
    def changed(scenario: Scenario) -> Scenario | None:
        chosen = [name for name in scenario.workload.operations if only in ("", name)]
        levels = {scenario.workload.operations[name].consistency.value for name in chosen}
        if not chosen or levels <= {"ONE", "LOCAL_ONE", "ANY"}:
            return None
        return with_overrides(scenario, [f"workload.operations.{name}.consistency={level}" for name in chosen])

    return changed


def _with_clients(scenario: Scenario, **update: object) -> Scenario:
    return scenario.model_copy(update={"clients": scenario.clients.model_copy(update=update)})


def _routed(routing: Routing) -> Changed:
    def changed(scenario: Scenario) -> Scenario | None:
        return None if scenario.clients.routing is routing else _with_clients(scenario, routing=routing)

    return changed


def _busier(scenario: Scenario) -> Scenario | None:
    in_flight = scenario.clients.in_flight
    return None if in_flight is None else _with_clients(scenario, in_flight=2 * in_flight)


def _hardware(**factors: float) -> Changed:
    def changed(scenario: Scenario) -> Scenario | None:
        hardware = scenario.hardware
        update = {name: type(getattr(hardware, name))(getattr(hardware, name) * by) for name, by in factors.items()}
        return scenario.model_copy(update={"hardware": hardware.model_copy(update=update)})

    return changed


def _on_nvme(place: str) -> Changed:
    def changed(scenario: Scenario) -> Scenario | None:
        disk = getattr(scenario.hardware, place)
        if isinstance(disk, Disk) and disk.kind == "nvme":
            return None
        return scenario.model_copy(update={"hardware": scenario.hardware.model_copy(update={place: Disk()})})

    return changed
