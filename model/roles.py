"""Who plays which role in a request: coordinator by routing, replicas in the order of being asked.

One vectorised rule serves the simulation (blocks of sampled requests) and the analytical solvers (all pairs of
replica set and coordinator with their weights).

Source: Apache Cassandra documentation, "Dynamo"; snitches order replicas stably by nearness, SimpleSnitch keeps
ring order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .graph import COORDINATOR, REPLICA
from .network import Floats, Ints, Network, OperationGraphs

MAX_PAIRS = 40_000
"""Pairs of replica set and coordinator that are enumerated; above it the non-replica coordinators of a set are
represented by a systematic sample, replicas of the set always by themselves."""


@dataclass(frozen=True)
class Pairs:
    """Replica sets with a coordinator each, and their probability."""

    sets: Ints
    """[pairs]"""
    coordinator: Ints
    """[pairs]: node."""
    weight: Floats
    """[pairs]: adds up to 1."""


@dataclass(frozen=True)
class Case:
    """One graph with its probability and who plays each role in it."""

    operation: int
    graph: int
    probability: float
    """Share of all requests."""
    roles: Floats
    """[roles, nodes]: probability that the node plays the role, given the case; row 0 (client) is unused."""
    delay_s: Floats
    """[roles, roles]: mean message delay from the unit of one role to that of another."""


def pick_coordinators(network: Network, sets: Ints, uniform: Floats, first: int) -> Ints:
    """Return the coordinator of each request; requests that are not token-aware take turns from `first` on."""
    binding = network.binding
    turns = binding.cycle[(first + np.arange(len(sets))) % len(binding.cycle)]
    if not len(binding.columns):
        return turns
    candidates = binding.replicas[sets][:, binding.columns]
    allowed = binding.allowed[candidates]
    count = allowed.sum(axis=1)
    wanted = (uniform * count).astype(np.int64) if binding.shuffle else np.zeros(len(sets), np.int64)
    column = np.argmax(np.cumsum(allowed, axis=1) == (wanted + 1)[:, None], axis=1)
    return np.where(count > 0, candidates[np.arange(len(sets)), column], turns)


def order_replicas(network: Network, operation: OperationGraphs, sets: Ints, coordinator: Ints) -> Ints:
    """Return the replicas of each set in the order in which roles are dealt, [requests, replicas]."""
    rows = network.binding.replicas[sets]
    datacenter = network.binding.datacenter
    apart = datacenter[rows] != datacenter[coordinator][:, None]
    if operation.kind == "write":
        key = np.where(rows == coordinator[:, None], 0, np.where(apart, 2 + datacenter[rows], 1))
    else:
        key = 10 * apart if operation.local_first else np.zeros_like(rows)
        if network.binding.near_first:
            rack = network.binding.rack
            other_rack = rack[rows] != rack[coordinator][:, None]
            key = key + (rows != coordinator[:, None]) + other_rack + apart
    return np.take_along_axis(rows, np.argsort(key, axis=1, kind="stable"), axis=1)


def deal_roles(
    network: Network, operation: OperationGraphs, sets: Ints, coordinator: Ints
) -> tuple[Ints, Ints]:
    """Return the graph of each request [requests] and the unit of each role [requests, roles]."""
    ordered = order_replicas(network, operation, sets, coordinator)
    units = np.zeros((len(sets), network.roles), dtype=np.int64)
    units[:, COORDINATOR] = coordinator
    units[:, REPLICA : REPLICA + ordered.shape[1]] = ordered
    same = ordered == coordinator[:, None]
    place = np.where(same.any(axis=1), np.argmax(same, axis=1) + 1, 0)
    return operation.graphs[network.binding.datacenter[coordinator], place], units


def pairs_of(network: Network) -> Pairs:
    """Enumerate replica sets and coordinators with their probabilities."""
    binding = network.binding
    sets = np.arange(len(binding.weight))
    if not len(binding.columns):
        return _cycled(network, sets, binding.weight)
    candidates = binding.replicas[:, binding.columns]
    allowed = binding.allowed[candidates]
    if not binding.shuffle:
        allowed &= np.cumsum(allowed, axis=1) == 1
    count = allowed.sum(axis=1)
    own, column = np.nonzero(allowed)
    direct = Pairs(own, candidates[own, column], binding.weight[own] / count[own])
    orphans = sets[count == 0]
    return _join(direct, _cycled(network, orphans, binding.weight[orphans])) if len(orphans) else direct


def _join(*parts: Pairs) -> Pairs:
    return Pairs(
        np.concatenate([part.sets for part in parts]),
        np.concatenate([part.coordinator for part in parts]),
        np.concatenate([part.weight for part in parts]),
    )


def _cycled(network: Network, sets: Ints, weight: Floats) -> Pairs:
    cycle = network.binding.cycle
    if len(sets) * len(cycle) <= MAX_PAIRS:
        return Pairs(
            np.repeat(sets, len(cycle)), np.tile(cycle, len(sets)), np.repeat(weight / len(cycle), len(cycle))
        )
    rows = network.binding.replicas[sets]
    own = np.isin(rows, cycle)
    position, column = np.nonzero(own)
    local = Pairs(sets[position], rows[position, column], weight[position] / len(cycle))
    taken = max(1, MAX_PAIRS // len(sets))
    others = cycle[(np.arange(len(sets))[:, None] * taken + np.arange(taken)) % len(cycle)]
    remote = ~(others[:, :, None] == rows[:, None, :]).any(axis=2)
    kept = np.maximum(remote.sum(axis=1), 1)
    share = weight * (len(cycle) - own.sum(axis=1)) / len(cycle) / kept
    position, column = np.nonzero(remote)
    return _join(local, Pairs(sets[position], others[position, column], share[position]))


def cases_of(network: Network) -> tuple[Case, ...]:
    """Return every graph that occurs, with its probability and its role distribution."""
    pairs = pairs_of(network)
    return tuple(
        case
        for number, operation in enumerate(network.operations)
        for case in _operation_cases(network, number, operation, pairs)
    )


def _operation_cases(network: Network, number: int, operation: OperationGraphs, pairs: Pairs) -> list[Case]:
    graph, units = deal_roles(network, operation, pairs.sets, pairs.coordinator)
    cases = []
    for which in np.unique(graph):
        chosen = graph == which
        weight = pairs.weight[chosen]
        roles = np.zeros((network.roles, network.nodes))
        for role in range(COORDINATOR, network.roles):
            roles[role] = np.bincount(units[chosen, role], weight, minlength=network.nodes)[: network.nodes]
        total = float(weight.sum())
        delay_s = _mean_delays(network, units[chosen], weight / total)
        cases.append(Case(number, int(which), operation.share * total, roles / total, delay_s))
    return cases


def _mean_delays(network: Network, units: Ints, weight: Floats) -> Floats:
    delay_s = np.full((network.roles, network.roles), network.distances.client_s)
    several = len(np.unique(network.distances.datacenter)) > 1
    for sender in range(COORDINATOR, network.roles):
        for receiver in range(COORDINATOR, network.roles):
            if not several and COORDINATOR not in (sender, receiver):
                continue  # only forwarders of another datacenter send to other replicas
            apart = network.distances.classes(units[:, sender], units[:, receiver])
            delay_s[sender, receiver] = weight @ network.distances.delay_s[apart]
    return delay_s
