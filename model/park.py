"""The machine park: stations and pools of all units, and where each resource of each unit lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .clients import Placement
from .disks import figures_of
from .graph import Resource
from .hardware import Disk
from .network import Floats, Ints, Pool, Quota, Station
from .scenario import Scenario
from .topology import Node


class Park:
    """Collects stations and pools; the arrays are [resources, units]."""

    def __init__(self, scenario: Scenario, nodes: tuple[Node, ...], values: Mapping[str, float]) -> None:
        self._scenario = scenario
        self._nodes = nodes
        self._values = values
        self._index: dict[tuple[object, ...], int] = {}
        self.stations: list[Station] = []
        self.pools: list[Pool] = []
        units = max(len(nodes), scenario.clients.machines)
        self.station_of: Ints = np.full((len(Resource), units), -1, dtype=np.int64)
        self.pool_of: Ints = np.full((len(Resource), units), -1, dtype=np.int64)
        self.seconds_per: Floats = np.zeros((len(Resource), units))
        self.setup_s: Floats = np.zeros((len(Resource), units))

    def build(self, permits: Mapping[Resource, tuple[str, int | None]], log_syncs: bool) -> Park:
        """Add everything; `permits` names the pools of a node and their size (None: no limit)."""
        for node in self._nodes:
            self._add_cpu(node)
            self._add_disks(node, log_syncs)
            self._add_network(node)
            for resource, (name, count) in permits.items():
                if count is not None:
                    self.pool_of[resource, node.index] = len(self.pools)
                    self.pools.append(Pool(f"{name} of node {node.index + 1}", name, count))
        for machine in range(self._scenario.clients.machines):
            self._add_client(machine)
        return self

    def _station(self, key: tuple[object, ...], station: Station) -> int:
        if key not in self._index:
            self._index[key] = len(self.stations)
            self.stations.append(station)
        return self._index[key]

    def _place(self, resource: Resource, unit: int, station: int, seconds_per: float) -> None:
        self.station_of[resource, unit] = station
        self.seconds_per[resource, unit] = seconds_per

    def _owner(self, node: Node, shared: bool) -> tuple[tuple[str, int], str]:
        """Return who owns a resource: the host when its nodes share it, otherwise the node."""
        if shared and self._scenario.hardware.shared.nodes_per_host > 1:
            return ("host", node.host), f"host {node.host + 1}"
        return ("node", node.index), f"node {node.index + 1}"

    def _add_cpu(self, node: Node) -> None:
        shared, values = self._scenario.hardware.shared, self._values
        owner, name = self._owner(node, shared.cores is not None)
        quota = node.hardware.cpu_quota
        together = owner[0] == "host"
        station = Station(
            f"CPU of {name}",
            "CPU",
            shared.cores if together and shared.cores else node.hardware.cores,
            quota=Quota(quota.cores, quota.period, quota.cpus) if quota and not together else None,
            idle_cores=values["idle_cores"],
            sharing_ratio=values["sharing_ratio"] if together else 0.0,
            contention_ratio=values["contention_ratio"],
            contention_knee=values["contention_knee"],
        )
        index = self._station(("cpu", owner), station)
        self._place(Resource.CPU, node.index, index, node.load_factor / node.hardware.speed)

    def _add_disks(self, node: Node, log_syncs: bool) -> None:
        hardware, shared = node.hardware, self._scenario.hardware.shared
        data = self._disk(node, hardware.data_disks, "data disk", shared.data_disks)
        figures = figures_of(hardware.data_disks)
        self._place(Resource.DISK, node.index, data, figures.servers / figures.read_iops)
        log = hardware.commit_log_disk
        if isinstance(log, Disk):
            own, servers = figures_of(log), 1
            index = self._disk(node, log, "commit-log disk", shared.commit_log_disk)
        else:
            own, servers, index = figures, figures.servers, data
        self._place(Resource.COMMIT_LOG, node.index, index, servers / own.bandwidth_bytes_per_s)
        self.setup_s[Resource.COMMIT_LOG, node.index] = own.sync_latency_s if log_syncs else 0.0

    def _disk(self, node: Node, disk: Disk, kind: str, shared: bool) -> int:
        owner, name = self._owner(node, shared)
        servers = figures_of(disk).servers if kind == "data disk" else 1
        return self._station((kind, owner), Station(f"{kind} of {name}", kind, servers))

    def _add_network(self, node: Node) -> None:
        owner, name = self._owner(node, self._scenario.hardware.shared.nic)
        for resource, way in ((Resource.NIC_OUT, "out"), (Resource.NIC_IN, "in")):
            index = self._station((way, owner), Station(f"network {way} of {name}", "network", 1))
            self._place(resource, node.index, index, 1.0 / node.hardware.nic)

    def _add_client(self, machine: int) -> None:
        clients = self._scenario.clients
        if clients.placement is Placement.OWN_MACHINES:
            station = Station(f"CPU of client {machine + 1}", "client CPU", clients.processors)
            index = self._station(("client", machine), station)
            self._place(Resource.CLIENT_CPU, machine, index, 1.0)
            return
        node = self._nodes[machine % len(self._nodes)]
        index = int(self.station_of[Resource.CPU, node.index])
        self._place(Resource.CLIENT_CPU, machine, index, 1.0 / node.hardware.speed)


def lightened(stations: list[Station], light: set[int]) -> tuple[Station, ...]:
    """Return the stations with those that hardly queue marked as light."""
    return tuple(
        replace(station, light=index in light) for index, station in enumerate(stations)
    )
