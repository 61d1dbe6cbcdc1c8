"""Hops and messages of an operation: exact expectations over replica sets and coordinators.

A hop is a request from the coordinator to a replica on another node; a message goes in either direction. What
a node does for itself costs no message.

- Read: the replicas that the level needs are asked in snitch order, the first for the data, the others for
  digests; each answers once. With a background contact (`read_repair_chance` up to 3.11) the remaining
  replicas are asked for digests too, and nobody waits for them.
- Write: the mutation goes to every replica whatever the level: directly within the coordinator's datacenter,
  and as one message to each other datacenter, where one replica, each with equal probability, forwards it to
  the others. Every replica acknowledges to the coordinator itself.

Not in here: digest mismatches, speculative retries, the dynamic snitch, dead nodes.
Source: Apache Cassandra, `StorageProxy` and `AbstractReadExecutor`; docs/background/hops.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from .errors import Problem, ScenarioError
from .hop_cases import Cases, cases_of
from .placement import Placement
from .replication import factors_of
from .routing import Coordinators, OperationName, coordinator_matrix, required
from .scenario import Scenario
from .snitch import datacenter_ids, distances, perceived, rack_ids
from .tally import tally
from .topology import Node, datacenters_of
from .workload import ConsistencyLevel

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
IntArray = NDArray[np.intp]
class MessageKind(StrEnum):
    """What a message between nodes carries."""

    DATA_REQUEST = "data request"
    DATA_RESPONSE = "data response"
    DIGEST_REQUEST = "digest request"
    DIGEST_RESPONSE = "digest response"
    MUTATION = "mutation"
    FORWARDED_MUTATION = "forwarded mutation"
    ACKNOWLEDGEMENT = "acknowledgement"


@dataclass(frozen=True, eq=False)
class OperationHops:
    """Hops and messages of one kind of operation, expected for one request."""

    waits_remote: float
    """Probability that the request needs the answer of another node than its coordinator."""
    coordinator_is_no_replica: float
    """Probability that the coordinator holds no replica of the key."""
    messages: Mapping[MessageKind, Floats]
    """Messages by kind, [from, to]."""

    def between(self) -> Floats:
        """Return the messages of all kinds, [from, to]."""
        total: Floats = np.sum(list(self.messages.values()), axis=0)
        return total

    @property
    def messages_per_operation(self) -> float:
        """Messages between nodes, both directions."""
        return float(sum(matrix.sum() for matrix in self.messages.values()))


@dataclass(frozen=True, eq=False)
class HopAnalysis:
    """Hops and messages of each operation of a workload and of its mix."""

    operations: Mapping[str, OperationHops]
    """By name of the operation."""
    shares: Mapping[str, float]
    """Share of each operation in the mix."""

    @property
    def waits_remote(self) -> float:
        """Probability that an operation of the mix needs the answer of another node."""
        return sum(self.shares[name] * hops.waits_remote for name, hops in self.operations.items())

    @property
    def messages_per_operation(self) -> float:
        """Messages between nodes per operation of the mix."""
        return sum(self.shares[name] * hops.messages_per_operation for name, hops in self.operations.items())

    def between(self) -> Floats:
        """Return the messages per operation of the mix, [from, to]."""
        mixed = [self.shares[name] * hops.between() for name, hops in self.operations.items()]
        total: Floats = np.sum(mixed, axis=0)
        return total


@dataclass(frozen=True)
class BackgroundContact:
    """How often a read also contacts the replicas that its level does not need."""

    everywhere: float = 0.0
    """Probability that all remaining replicas are contacted."""
    same_datacenter: float = 0.0
    """Probability that only the remaining replicas of the coordinator's datacenter are."""

    @classmethod
    def of_chances(cls, read_repair_chance: float, dclocal_chance: float) -> BackgroundContact:
        """Return the probabilities for a table's two chances, compared with one random number a read."""
        return cls(read_repair_chance, max(0.0, dclocal_chance - read_repair_chance))


@dataclass(frozen=True, eq=False)
class _Rules:
    """What is the same for all cases of one operation."""

    operation: OperationName
    datacenter: IntArray
    """Datacenter of each node, [nodes]."""
    distance: NDArray[np.int8]
    """What replicas are sorted by, [coordinators, nodes]."""
    total: int
    """Answers needed from anywhere; 0 when `local` says from where."""
    local: IntArray
    """Answers needed from each datacenter, [coordinator's datacenter, datacenters]."""
    contact: BackgroundContact


@dataclass
class _MessageRecorder:
    """Adds up messages over the cases."""

    nodes: int
    waits_remote: float = 0.0
    no_replica: float = 0.0
    counts: dict[MessageKind, Floats] = field(default_factory=dict)

    def add(self, kind: MessageKind, matrix: Floats) -> None:
        """Add messages, [from, to]."""
        self.counts[kind] = self.counts[kind] + matrix if kind in self.counts else matrix

    def ask(self, request: MessageKind, response: MessageKind, asked: Floats) -> None:
        """Add requests, [coordinators, replicas' nodes], and their answers."""
        self.add(request, asked)
        self.add(response, asked.T)

    def finish(self) -> OperationHops:
        """Return what has been added up."""
        return OperationHops(self.waits_remote, self.no_replica, self.counts)


def hop_analysis(
    scenario: Scenario,
    nodes: tuple[Node, ...],
    placement: Placement,
    coordinators: Coordinators,
    background_contact: float = 0.0,
    local_background_contact: float = 0.0,
) -> HopAnalysis:
    """Return the expected hops and messages of each operation of the workload.

    Args:
        scenario: operations, replication and snitch.
        nodes: the scenario's nodes.
        placement: replica sets and their shares of the requests.
        coordinators: how clients pick a coordinator.
        background_contact: probability that a read contacts all remaining replicas.
        local_background_contact: probability that it contacts those of its datacenter only.

    Raises:
        ScenarioError: a consistency level that cannot be met.
    """
    matrix = coordinator_matrix(coordinators, placement, nodes)
    rack = rack_ids(perceived(nodes, scenario.cluster.snitch))
    cases = cases_of(placement, matrix, rack)
    contact = BackgroundContact(background_contact, local_background_contact)
    operations: dict[str, OperationHops] = {}
    shares: dict[str, float] = {}
    for name, operation in scenario.workload.operations.items():
        rules = _rules(scenario, nodes, name, operation.consistency, contact, matrix)
        operations[name] = _operation_hops(rules, cases)
        shares[name] = operation.share
    return HopAnalysis(operations, shares)


def _operation_hops(rules: _Rules, cases: list[Cases]) -> OperationHops:
    recorder = _MessageRecorder(rules.datacenter.size)
    record = _read if rules.operation == "read" else _write
    for some in cases:
        recorder.no_replica += float(some.probability @ some.remote.all(axis=1))
        record(some, rules, recorder)
    return recorder.finish()


def _rules(
    scenario: Scenario,
    nodes: tuple[Node, ...],
    operation: OperationName,
    consistency: ConsistencyLevel,
    contact: BackgroundContact,
    matrix: Floats,
) -> _Rules:
    seen = perceived(nodes, scenario.cluster.snitch)
    names = datacenters_of(seen)
    factors = factors_of(scenario.cluster, nodes)
    datacenter = datacenter_ids(seen)
    total, local = 0, np.zeros((len(names), len(names)), dtype=np.intp)
    for here in np.unique(datacenter[matrix.any(axis=0)]):
        needed = required(consistency, operation, factors, names[here])
        local[here] = [needed.per_datacenter.get(name, 0) for name in names]
        total = 0 if needed.per_datacenter else needed.total
    distance = distances(seen, scenario.cluster.snitch)
    return _Rules(operation, datacenter, distance, total, local, contact)


def _read(cases: Cases, rules: _Rules, recorder: _MessageRecorder) -> None:
    cases = cases.in_order(rules.distance)
    asked, remote = _asked(cases, rules), cases.remote
    data = asked & (np.cumsum(asked, axis=1) == 1)
    near = rules.datacenter[cases.replicas] == rules.datacenter[cases.coordinator][:, None]
    chance = rules.contact.everywhere + rules.contact.same_datacenter * near
    digests = np.where(asked, ~data, chance) * remote
    recorder.waits_remote += float(cases.probability @ (asked & remote).any(axis=1))
    recorder.ask(MessageKind.DATA_REQUEST, MessageKind.DATA_RESPONSE, cases.to_replicas(data & remote))
    recorder.ask(MessageKind.DIGEST_REQUEST, MessageKind.DIGEST_RESPONSE, cases.to_replicas(digests))


def _asked(cases: Cases, rules: _Rules) -> Bools:
    """Return the replicas whose answer is needed, [cases, replicas in the order asked]."""
    if rules.total:
        nearest = np.arange(cases.replicas.shape[1]) < rules.total
        return np.broadcast_to(nearest, cases.replicas.shape)
    place = rules.datacenter[cases.replicas]
    needed = rules.local[rules.datacenter[cases.coordinator]]
    asked = np.zeros(cases.replicas.shape, dtype=np.bool_)
    for number in range(rules.local.shape[1]):
        inside = place == number
        asked |= inside & (np.cumsum(inside, axis=1) <= needed[:, number, None])
    _refuse_unmet(asked.sum(axis=1), needed.sum(axis=1), rules.operation)
    return asked


def _refuse_unmet(found: IntArray, needed: IntArray, operation: str) -> None:
    if (found < needed).any():
        key = f"workload.operations.{operation}.consistency"
        right = "a level that each replica set can meet: SimpleStrategy may put too few into a datacenter"
        raise ScenarioError([Problem(key, f"{needed.max()} replicas", right)])


def _write(cases: Cases, rules: _Rules, recorder: _MessageRecorder) -> None:
    place, home = rules.datacenter[cases.replicas], rules.datacenter[cases.coordinator]
    recorder.waits_remote += float(cases.probability @ _needs_others(cases, rules))
    acknowledged = cases.to_replicas(cases.remote)
    recorder.add(MessageKind.ACKNOWLEDGEMENT, acknowledged.T)
    near = place == home[:, None]
    if near.all():
        recorder.add(MessageKind.MUTATION, acknowledged)
        return
    alike = place[:, :, None] == place[:, None, :]
    leads = np.where(near, cases.remote, 1 / alike.sum(axis=2))
    recorder.add(MessageKind.MUTATION, cases.to_replicas(leads))
    others = alike & ~near[:, :, None] & ~np.eye(place.shape[1], dtype=np.bool_)
    forwarded = others * (leads * cases.probability[:, None])[:, :, None]
    pair = cases.replicas[:, :, None] * recorder.nodes + cases.replicas[:, None, :]
    counts = tally(pair, forwarded, recorder.nodes**2)
    recorder.add(MessageKind.FORWARDED_MUTATION, counts.reshape(recorder.nodes, recorder.nodes))


def _needs_others(cases: Cases, rules: _Rules) -> Bools:
    """Return whether the coordinator's own acknowledgement is not enough, [cases]."""
    own = ~cases.remote.all(axis=1)
    if rules.total:
        return np.asarray(rules.total - own > 0)
    home = rules.datacenter[cases.coordinator]
    missing = rules.local[home].copy()
    place = rules.datacenter[cases.replicas]
    present = np.stack([(place == number).sum(axis=1) for number in range(missing.shape[1])], axis=1)
    _refuse_unmet(np.minimum(present, missing).sum(axis=1), missing.sum(axis=1), rules.operation)
    missing[np.arange(home.size), home] -= own
    return np.asarray((missing > 0).any(axis=1))
