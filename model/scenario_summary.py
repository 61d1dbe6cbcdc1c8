"""The scenario in one line, as a prediction prints what it assumed."""

from __future__ import annotations

from collections.abc import Iterator

from .clients import Placement, Routing
from .cluster import Cluster
from .hardware import Hardware
from .scenario import Scenario, resolved_in_flight
from .topology import groups_of
from .units import format_rate
from .workload import Workload

_DISKS = {"nvme": "NVMe", "ssd": "SSD", "hdd": "HDD", "network": "network disk"}
_GIB = 2.0**30


def scenario_summary(scenario: Scenario) -> str:
    """Return what is assumed, in one line.

    >>> from .clients import Clients
    >>> scenario_summary(Scenario(cluster=Cluster(nodes=3), clients=Clients(in_flight=50)))[:52]
    '3 nodes, RF 3, 8 cores, 32 GiB, NVMe, Cassandra 5.0,'
    """
    return ", ".join(_parts(scenario))


def _parts(scenario: Scenario) -> Iterator[str]:
    yield _nodes(scenario.cluster)
    yield _factor(scenario.cluster)
    yield from _machine(scenario.hardware)
    yield f"Cassandra {scenario.cluster.version}"
    yield _mix(scenario.workload)
    yield _routing(scenario)
    yield _load(scenario)
    yield f"{scenario.workload.columns} x {_size(scenario.workload.column_size)}"
    yield _keys(scenario.workload)


def _nodes(cluster: Cluster) -> str:
    groups = groups_of(cluster)
    places = list(dict.fromkeys(group.datacenter for group in groups))
    racks = max(group.racks for group in groups)
    words = "1 node" if cluster.node_count == 1 else f"{cluster.node_count} nodes"
    words += f" in {len(places)} datacenters" if len(places) > 1 else ""
    words += f" on {racks} racks" if racks > 1 else ""
    return words + (" of unlike kinds" if any(group.hardware.model_fields_set for group in groups) else "")


def _factor(cluster: Cluster) -> str:
    factor = cluster.replication.factor
    return f"RF {factor}" if isinstance(factor, int) else "RF " + " ".join(f"{k}:{v}" for k, v in factor.items())


def _machine(hardware: Hardware) -> Iterator[str]:
    cores = "1 core" if hardware.cores == 1 else f"{hardware.cores} cores"
    yield cores + (f" (quota {hardware.cpu_quota.cores:g})" if hardware.cpu_quota else "")
    yield f"{hardware.ram / _GIB:.3g} GiB"
    disks = hardware.data_disks
    yield (f"{disks.count} x " if disks.count > 1 else "") + _DISKS[disks.kind]


def _mix(workload: Workload) -> str:
    operations = workload.operations
    levels = list(dict.fromkeys(str(operation.consistency) for operation in operations.values()))
    if len(operations) == 1:
        return f"{next(iter(operations))}s at {levels[0]}"
    shares = "/".join(f"{100 * operation.share:.4g}" for operation in operations.values())
    return f"{shares} {'/'.join(operations)} at {'/'.join(levels)}"


def _routing(scenario: Scenario) -> str:
    clients = scenario.clients
    if clients.routing is Routing.TOKEN_AWARE:
        words = "token-aware " + ("shuffled" if clients.shuffle_replicas else "unshuffled")
    else:
        words = "round-robin"
    words += f" through {len(clients.coordinators)} of the nodes" if clients.coordinators else ""
    return words + ("" if clients.placement is Placement.OWN_MACHINES else f", clients {clients.placement}")


def _load(scenario: Scenario) -> str:
    clients, in_flight = scenario.clients, resolved_in_flight(scenario)
    if clients.rate is not None:
        return f"{format_rate(clients.rate)} {clients.arrivals}"
    return f"{in_flight} in flight" + (f", think time {clients.think_time:g} s" if clients.think_time else "")


def _size(size_bytes: float) -> str:
    for unit, factor in (("MiB", 2.0**20), ("KiB", 2.0**10)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {unit}"
    return f"{size_bytes:.4g} B"


def _keys(workload: Workload) -> str:
    popularity = workload.popularity
    words = {
        "uniform": "uniform keys",
        "zipf": f"Zipf {popularity.exponent:g} keys",
        "latest": f"latest keys (Zipf {popularity.exponent:g})",
        "hot_set": f"{100 * popularity.hot_share:.3g} % on {popularity.hot_partitions} hot partitions",
    }[popularity.kind]
    return words + (f", {100 * workload.absent_keys:.3g} % absent" if workload.absent_keys else "")
