"""From a scenario and a profile to a network.

What a request does is said in `read_graph.py` and `write_graph.py`; what a node has in `park.py`; who plays which
role in `roles.py`. Here they are put together. Stations that are hardly used (network, commit log in periodic
mode) become delays: below `LIGHT_UTILISATION` at the cluster's largest load their queueing adds less than a
ninth of a service of microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .answers import plan_answers, positions_by_datacenter
from .cluster import Allocation
from .demands import DemandRecorder, complete
from .graph import REPLICA, Graph
from .network import Binding, Distances, Ints, Load, Network, OperationGraphs
from .offered import offered_s, upper_bound_per_s
from .page_cache import cache_hit
from .park import Park, lightened
from .placement import Placement
from .program import ProgramRecorder
from .read_graph import ReadGraph, ReadRules
from .replication import factors_of
from .request_work import CommitLogMode, RequestWork
from .ring import Ring, draw_ring, given_ring
from .routing import coordinators_of, required
from .scenario import Scenario
from .settings import Settings, settings_of
from .snitch import datacenter_ids, perceived, rack_ids
from .topology import Node, datacenters_of, nodes_of
from .workload import Operation
from .write_graph import WriteGraph

LIGHT_UTILISATION = 0.1
"""A station used less than this at the cluster's largest load is compiled to a delay."""
LIGHT_KINDS = ("network", "commit-log disk", "data disk")


def compile_network(scenario: Scenario, values: Mapping[str, float], placement: Placement) -> Network:
    """Return the network of a scenario.

    Args:
        scenario: what is assumed.
        values: parameters of a profile by name (`demands.PARAMETERS`).
        placement: replica sets and the share of requests for each.

    Raises:
        ScenarioError: a scenario that no cluster can have.
    """
    return Compilation(scenario, nodes_of(scenario), complete(values), placement).network()


def binding_of(scenario: Scenario, placement: Placement) -> Binding:
    """Return how roles are dealt under another placement of the same scenario."""
    return Compilation(scenario, nodes_of(scenario), {}, placement).binding()


def ring_of(scenario: Scenario, nodes: tuple[Node, ...], rng: np.random.Generator) -> Ring:
    """Return the scenario's ring, drawn when it does not give the tokens."""
    if scenario.cluster.tokens:
        return given_ring(scenario.cluster.tokens)
    seen = perceived(nodes, scenario.cluster.snitch)
    return draw_ring(seen, scenario.cluster.allocation, factors_of(scenario.cluster, seen), rng)


def is_drawn(scenario: Scenario) -> bool:
    """Whether the ring is a matter of chance."""
    return not scenario.cluster.tokens and scenario.cluster.allocation is not Allocation.EVEN


@dataclass(frozen=True)
class Compilation:
    """One scenario on its way to a network."""

    scenario: Scenario
    nodes: tuple[Node, ...]
    values: dict[str, float]
    placement: Placement

    def network(self) -> Network:
        """Return the network, lightly used stations turned into delays."""
        heavy = self._network()
        work_s = offered_s(heavy, self.values)
        limit_per_s = upper_bound_per_s(heavy, work_s)
        light = {
            index
            for index, station in enumerate(heavy.stations)
            if station.kind in LIGHT_KINDS and not self._syncs(heavy, index)
            and limit_per_s * work_s[index] < LIGHT_UTILISATION * station.servers
        }
        return replace(heavy, stations=lightened(list(heavy.stations), light))

    @staticmethod
    def _syncs(network: Network, station: int) -> bool:
        return bool(network.setup_s[network.station_of == station].any())

    def _network(self) -> Network:
        settings = settings_of(self.scenario)
        rows, program = DemandRecorder(), ProgramRecorder()
        work = self._work(rows, settings)
        graphs: list[Graph] = []
        waits: list[bool] = []
        operations = tuple(
            self._operation(name, operation, work, settings, program, graphs, waits)
            for name, operation in self.scenario.workload.operations.items()
        )
        park = Park(self.scenario, self.nodes, self.values).build(settings.permits, work.log.sync != "periodic")
        return Network(
            stations=tuple(park.stations),
            pools=tuple(park.pools),
            station_of=park.station_of,
            pool_of=park.pool_of,
            seconds_per=park.seconds_per,
            setup_s=park.setup_s,
            demands=rows.finish(),
            graphs=tuple(graphs),
            waits_remote=tuple(waits),
            program=program.finish(),
            operations=operations,
            binding=self.binding(),
            distances=self._distances(),
            load=self._load(),
            roles=REPLICA + self.placement.replicas.shape[1],
        )

    def _work(self, rows: DemandRecorder, settings: Settings) -> RequestWork:
        workload = self.scenario.workload
        return RequestWork(
            rows,
            columns=workload.columns,
            row_bytes=workload.row_bytes,
            cache_miss=1.0 - cache_hit(self.scenario, self.nodes),
            log=CommitLogMode(settings.commit_log_sync, settings.commit_log_window_s),
            variation=self.values["service_variation"],
            client_cpu_s=self.scenario.clients.cpu_per_operation,
            inline=settings.inline_local,
        )

    def _operation(
        self,
        name: str,
        operation: Operation,
        work: RequestWork,
        settings: Settings,
        program: ProgramRecorder,
        graphs: list[Graph],
        waits: list[bool],
    ) -> OperationGraphs:
        seen = perceived(self.nodes, self.scenario.cluster.snitch)
        datacenters = datacenters_of(seen)
        replicas = self.placement.replicas.shape[1]
        table: Ints = np.full((len(datacenters), replicas + 1), -1, dtype=np.int64)
        for number, datacenter in enumerate(datacenters):
            for place_ in self._places(name, replicas):
                builder = self._builder(name, operation, datacenter, place_, work, settings)
                table[number, place_ + 1] = len(graphs)
                graphs.append(builder.build())
                waits.append(builder.waits_remote)
                program.add(graphs[-1])
        local = operation.consistency.startswith(("LOCAL_", "EACH_"))
        return OperationGraphs(name, operation.share, name, local, table)

    def _places(self, name: str, replicas: int) -> range:
        near = self.scenario.cluster.snitch.knows_distance
        return range(-1, 1 if name == "write" or near else replicas)

    def _builder(
        self, name: str, operation: Operation, datacenter: str, place_: int, work: RequestWork, settings: Settings
    ) -> ReadGraph | WriteGraph:
        factors = factors_of(self.scenario.cluster, self.nodes)
        needed = required(operation.consistency, name, factors, datacenter)  # type: ignore[arg-type]
        plan = plan_answers(needed, factors, datacenter, write=name == "write")
        if name == "read":
            return ReadGraph(work, self._read_rules(settings), plan, place_)
        slices = positions_by_datacenter(factors, datacenter)
        remote = tuple(slices[other] for other in slices if other not in (datacenter, ""))
        return WriteGraph(work, settings.write_timeout_s, plan, place_, remote)

    def _read_rules(self, settings: Settings) -> ReadRules:
        table = self.scenario.cluster.table
        return ReadRules(
            speculative_retry=settings.speculative_retry,
            background_contact=settings.background_contact,
            digest_mismatch=table.digest_mismatch,
            absent=self.scenario.workload.absent_keys,
            timeout_s=settings.read_timeout_s,
        )

    def binding(self) -> Binding:
        """Return how roles are dealt."""
        seen = perceived(self.nodes, self.scenario.cluster.snitch)
        coordinators = coordinators_of(self.scenario, self.nodes)
        allowed = np.zeros(len(self.nodes), dtype=bool)
        allowed[coordinators.cycle] = True
        return Binding(
            replicas=self.placement.replicas.astype(np.int64),
            weight=self.placement.weight,
            cycle=coordinators.cycle.astype(np.int64),
            columns=coordinators.columns.astype(np.int64),
            allowed=allowed,
            shuffle=coordinators.kind == "replica",
            near_first=self.scenario.cluster.snitch.knows_distance,
            datacenter=datacenter_ids(seen).astype(np.int64),
            rack=rack_ids(seen).astype(np.int64),
        )

    def _distances(self) -> Distances:
        hops = self.scenario.hardware.hops
        ratio = self.values.get("hop_ratio", 1.0)
        steps = [0.0, hops.same_host, hops.same_rack, hops.same_datacenter, hops.other_datacenter]
        return Distances(
            datacenter=datacenter_ids(self.nodes).astype(np.int64),
            rack=rack_ids(self.nodes).astype(np.int64),
            host=np.array([node.host for node in self.nodes], dtype=np.int64),
            delay_s=ratio * np.array(steps),
            client_s=ratio * hops.client,
            ratio=ratio,
        )

    def _load(self) -> Load:
        clients = self.scenario.clients
        per_node = clients.in_flight_per_node
        closed = clients.in_flight or (per_node * len(self.nodes) if per_node else None)
        return Load(
            in_flight=None if clients.rate else closed or 64 * len(self.nodes),
            think_time_s=clients.think_time,
            rate_per_s=clients.rate,
            arrivals=clients.arrivals,
            burst_size=clients.burst_size,
            max_in_flight=clients.max_in_flight,
            machines=clients.machines,
        )
