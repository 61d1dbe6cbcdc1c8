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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from .errors import Problem, ScenarioError
from .placement import Placement
from .replication import factors_of
from .routing import Coordinators, OperationName, coordinator_matrix, required
from .scenario import Scenario
from .snitch import datacenter_ids, distances, perceived
from .tally import tally
from .topology import Node, datacenters_of
from .workload import ConsistencyLevel

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
IntArray = NDArray[np.intp]
_PAIRS_AT_ONCE = 50_000
"""Pairs of set and coordinator worked on at once: keeps the arrays of 192 nodes below 20 MB."""


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
    """What is the same for all pairs of one operation."""

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


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Some pairs of replica set and coordinator."""

    coordinator: IntArray
    """[pairs]"""
    replicas: IntArray
    """[pairs, replicas]"""
    probability: Floats
    """[pairs]"""

    @property
    def remote(self) -> Bools:
        """Replicas on another node than the coordinator, [pairs, replicas]."""
        return np.asarray(self.replicas != self.coordinator[:, None])


@dataclass
class _MessageRecorder:
    """Adds up messages over the pairs."""

    nodes: int
    waits_remote: float = 0.0
    no_replica: float = 0.0
    counts: dict[MessageKind, Floats] = field(default_factory=dict)

    def send(self, kind: MessageKind, sender: IntArray, receiver: IntArray, amount: Floats) -> None:
        """Add messages; the three arrays broadcast."""
        pair = np.broadcast_to(sender * self.nodes + receiver, amount.shape)
        added = tally(pair, amount, self.nodes**2).reshape(self.nodes, self.nodes)
        self.counts[kind] = self.counts[kind] + added if kind in self.counts else added

    def ask(self, request: MessageKind, response: MessageKind, pairs: _Pairs, amount: Floats) -> None:
        """Add requests from the coordinator to replicas, and their answers."""
        here = pairs.coordinator[:, None]
        self.send(request, here, pairs.replicas, amount)
        self.send(response, pairs.replicas, here, amount)

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
    contact = BackgroundContact(background_contact, local_background_contact)
    operations: dict[str, OperationHops] = {}
    shares: dict[str, float] = {}
    for name, operation in scenario.workload.operations.items():
        rules = _rules(scenario, nodes, name, operation.consistency, contact, matrix)
        operations[name] = _operation_hops(rules, placement, matrix)
        shares[name] = operation.share
    return HopAnalysis(operations, shares)


def _operation_hops(rules: _Rules, placement: Placement, matrix: Floats) -> OperationHops:
    recorder = _MessageRecorder(matrix.shape[1])
    record = _read if rules.operation == "read" else _write
    for pairs in _pairs(placement, matrix):
        recorder.no_replica += float(pairs.probability @ pairs.remote.all(axis=1))
        record(pairs, rules, recorder)
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


def _pairs(placement: Placement, matrix: Floats) -> Iterator[_Pairs]:
    sets, coordinators = np.nonzero(matrix)
    for start in range(0, sets.size, _PAIRS_AT_ONCE):
        row, coordinator = sets[start : start + _PAIRS_AT_ONCE], coordinators[start : start + _PAIRS_AT_ONCE]
        probability = placement.weight[row] * matrix[row, coordinator]
        yield _Pairs(coordinator, placement.replicas[row], probability)


def _read(pairs: _Pairs, rules: _Rules, recorder: _MessageRecorder) -> None:
    here = pairs.coordinator[:, None]
    order = np.argsort(rules.distance[here, pairs.replicas], axis=1, kind="stable")
    pairs = _Pairs(pairs.coordinator, np.take_along_axis(pairs.replicas, order, axis=1), pairs.probability)
    asked = _asked(pairs, rules)
    data = asked & (np.cumsum(asked, axis=1) == 1)
    remote, probability = pairs.remote, pairs.probability[:, None]
    near = rules.datacenter[pairs.replicas] == rules.datacenter[here]
    chance = rules.contact.everywhere + rules.contact.same_datacenter * near
    digest = np.where(asked, ~data, chance) * remote * probability
    recorder.waits_remote += float(pairs.probability @ (asked & remote).any(axis=1))
    recorder.ask(MessageKind.DATA_REQUEST, MessageKind.DATA_RESPONSE, pairs, data * remote * probability)
    recorder.ask(MessageKind.DIGEST_REQUEST, MessageKind.DIGEST_RESPONSE, pairs, digest)


def _asked(pairs: _Pairs, rules: _Rules) -> Bools:
    """Return the replicas whose answer is needed, [pairs, replicas in the order asked]."""
    if rules.total:
        nearest = np.arange(pairs.replicas.shape[1]) < rules.total
        return np.broadcast_to(nearest, pairs.replicas.shape)
    place = rules.datacenter[pairs.replicas]
    needed = rules.local[rules.datacenter[pairs.coordinator]]
    asked = np.zeros(pairs.replicas.shape, dtype=np.bool_)
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


def _write(pairs: _Pairs, rules: _Rules, recorder: _MessageRecorder) -> None:
    place, home = rules.datacenter[pairs.replicas], rules.datacenter[pairs.coordinator]
    remote, probability = pairs.remote, pairs.probability[:, None]
    recorder.waits_remote += float(pairs.probability @ _needs_others(pairs, rules))
    near = place == home[:, None]
    alike = place[:, :, None] == place[:, None, :]
    leads = np.where(near, 1.0, 1 / alike.sum(axis=2)) * remote * probability
    recorder.send(MessageKind.MUTATION, pairs.coordinator[:, None], pairs.replicas, leads)
    acknowledged = remote * probability
    recorder.send(MessageKind.ACKNOWLEDGEMENT, pairs.replicas, pairs.coordinator[:, None], acknowledged)
    if near.all():
        return
    others = alike & ~near[:, :, None] & ~np.eye(place.shape[1], dtype=np.bool_)
    forwarded = others * leads[:, :, None]
    sender, receiver = pairs.replicas[:, :, None], pairs.replicas[:, None, :]
    recorder.send(MessageKind.FORWARDED_MUTATION, sender, receiver, forwarded)


def _needs_others(pairs: _Pairs, rules: _Rules) -> Bools:
    """Return whether the coordinator's own acknowledgement is not enough, [pairs]."""
    own = ~pairs.remote.all(axis=1)
    if rules.total:
        return np.asarray(rules.total - own > 0)
    home = rules.datacenter[pairs.coordinator]
    missing = rules.local[home].copy()
    place = rules.datacenter[pairs.replicas]
    present = np.stack([(place == number).sum(axis=1) for number in range(missing.shape[1])], axis=1)
    _refuse_unmet(np.minimum(present, missing).sum(axis=1), missing.sum(axis=1), rules.operation)
    missing[np.arange(home.size), home] -= own
    return np.asarray((missing > 0).any(axis=1))
