"""The hop analysis against every (range, coordinator) of small rings, enumerated in plain Python.

The enumeration knows nothing of the package but the words for levels and kinds: it walks the ring token by
token, writes down each message with its probability, and adds them up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from capmodel.model.clients import Clients
from capmodel.model.cluster import Cluster, NodeGroup, Replication, Snitch
from capmodel.model.errors import ScenarioError
from capmodel.model.hops import HopAnalysis, hop_analysis
from capmodel.model.placement import place
from capmodel.model.ring import given_ring
from capmodel.model.routing import coordinators_of
from capmodel.model.scenario import Scenario
from capmodel.model.topology import nodes_of
from capmodel.model.workload import Workload

LEVELS = ("ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM", "EACH_QUORUM")
ROUTINGS = (("round-robin", True), ("token-aware", True), ("token-aware", False))
RING = 2**64


@dataclass(frozen=True)
class Case:
    """One small cluster: groups of (datacenter, racks, nodes), tokens a node, replication, clients."""

    groups: tuple[tuple[str, int, int], ...]
    tokens: int
    strategy: str
    factor: object
    snitch: Snitch
    routing: str
    shuffled: bool
    subset: tuple[int, ...] = ()
    datacenter: str | None = None

    def scenario(self, level: str, operation: str) -> Scenario:
        """Return the case as a scenario with one operation."""
        groups = tuple(NodeGroup(nodes=n, datacenter=dc, racks=racks) for dc, racks, n in self.groups)
        return Scenario(
            cluster=Cluster(
                groups=groups,
                tokens=self.drawn_tokens(),
                num_tokens=self.tokens,
                replication=Replication(strategy=self.strategy, factor=self.factor),
                snitch=self.snitch,
            ),
            workload=Workload(operations={operation: {"share": 1.0, "consistency": level}}),
            clients=Clients(
                routing=self.routing,
                shuffle_replicas=self.shuffled,
                coordinators=self.subset,
                datacenter=self.datacenter,
            ),
        )

    def drawn_tokens(self) -> tuple[tuple[int, ...], ...]:
        """Return uneven tokens, fixed by the size of the case."""
        nodes = sum(n for _, _, n in self.groups)
        rng = np.random.default_rng(100 * nodes + self.tokens)
        drawn = rng.integers(-(2**63), 2**63 - 1, (nodes, self.tokens))
        return tuple(tuple(map(int, row)) for row in drawn)

    def places(self) -> list[tuple[str, str]]:
        """Return datacenter and rack of each node as Cassandra sees them."""
        if self.snitch == Snitch.SIMPLE:
            return [("datacenter1", "rack1")] * sum(n for _, _, n in self.groups)
        return [(dc, f"r{i % racks}") for dc, racks, n in self.groups for i in range(n)]


Places = list[tuple[str, str]]
OrderRule = Callable[[int, list[int], Places, Snitch], list[int]]


def by_snitch(here: int, row: list[int], places: Places, snitch: Snitch) -> list[int]:
    """Order replicas as Cassandra's snitches do."""
    if snitch == Snitch.SIMPLE:
        return list(row)
    near: list[list[int]] = [[], [], [], []]
    for node in row:
        if node == here:
            near[0].append(node)
        elif places[node] == places[here]:
            near[1].append(node)
        elif places[node][0] == places[here][0]:
            near[2].append(node)
        else:
            near[3].append(node)
    return near[0] + near[1] + near[2] + near[3]


def always_ring_order(here: int, row: list[int], places: Places, snitch: Snitch) -> list[int]:
    """Wrong for a snitch that knows distance."""
    return list(row)


def always_itself_first(here: int, row: list[int], places: Places, snitch: Snitch) -> list[int]:
    """Wrong for SimpleSnitch, and for rack and datacenter."""
    return sorted(row, key=lambda node: node != here)


def rack_ignored(here: int, row: list[int], places: Places, snitch: Snitch) -> list[int]:
    """Wrong where a rack holds more than one node."""
    flat = [(dc, str(node)) for node, (dc, _) in enumerate(places)]
    return by_snitch(here, row, flat, snitch)


class Enumeration:
    """Every (range, coordinator) of a case, and the messages of one operation."""

    def __init__(
        self,
        case: Case,
        level: str,
        operation: str,
        order: OrderRule = by_snitch,
        contact: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.case, self.level, self.operation, self.order = case, level, operation, order
        self.contact_all, self.contact_local = contact
        self.places = case.places()
        self.messages: dict[tuple[str, int, int], float] = defaultdict(float)
        self.waits = self.no_replica = 0.0
        for width, row in self.ranges():
            for coordinator, probability in self.coordinators(row):
                self.no_replica += width * probability * (coordinator not in row)
                act = self.read if operation == "read" else self.write
                act(coordinator, row, width * probability)

    def factors(self) -> dict[str, int]:
        names = list(dict.fromkeys(dc for dc, _ in self.places))
        factor = self.case.factor
        return dict.fromkeys(names, factor) if isinstance(factor, int) else dict(factor)

    def ranges(self) -> Iterator[tuple[float, list[int]]]:
        ring = sorted((t, node) for node, tokens in enumerate(self.case.drawn_tokens()) for t in tokens)
        for index, (token, _) in enumerate(ring):
            width = (token - ring[index - 1][0]) % RING / RING
            clockwise = [node for _, node in ring[index:] + ring[:index]]
            yield width, self.replicas(clockwise)

    def replicas(self, clockwise: list[int]) -> list[int]:
        distinct = list(dict.fromkeys(clockwise))
        if self.case.strategy == "SimpleStrategy":
            return distinct[: self.case.factor]
        row: list[int] = []
        for dc, factor in self.factors().items():
            racks = {self.places[node] for node in distinct if self.places[node][0] == dc}
            repeats = factor - len(racks)
            taken: list[int] = []
            for node in clockwise:
                if self.places[node][0] != dc or len(taken) == factor or node in taken:
                    continue
                if self.places[node] not in [self.places[other] for other in taken]:
                    taken.append(node)
                elif repeats > 0:
                    repeats -= 1
                    taken.append(node)
            row += taken
        return row

    def coordinators(self, row: list[int]) -> list[tuple[int, float]]:
        case = self.case
        true_places = [dc for dc, _, n in case.groups for _ in range(n)]
        if case.subset:
            contacts = list(case.subset)
        elif case.datacenter:
            contacts = [node for node, dc in enumerate(true_places) if dc == case.datacenter]
        else:
            first = self.places[0][0]
            contacts = [node for node, (dc, _) in enumerate(self.places) if dc == first]
        if case.routing == "token-aware":
            holders = [node for node in row if node in contacts]
            contacts = (holders if case.shuffled else holders[:1]) or contacts
        return [(node, 1 / len(contacts)) for node in contacts]

    def needed(self, coordinator: int) -> tuple[int, dict[str, int] | None]:
        """Return how many replicas must answer, or how many in each datacenter."""
        simple = self.case.strategy == "SimpleStrategy"
        here = self.places[coordinator][0]
        factors = {here: self.case.factor} if simple else self.factors()
        total = sum(factors.values())
        local = factors.get(here, 0)
        if self.level == "EACH_QUORUM" and not simple:
            return 0, {dc: factor // 2 + 1 for dc, factor in factors.items() if factor}
        return {
            "ANY": (1, None),
            "ONE": (1, None),
            "TWO": (2, None),
            "THREE": (3, None),
            "QUORUM": (total // 2 + 1, None),
            "EACH_QUORUM": (total // 2 + 1, None),
            "ALL": (total, None),
            "LOCAL_ONE": (0, {here: 1}),
            "LOCAL_QUORUM": (0, {here: local // 2 + 1}),
        }[self.level]

    def read(self, here: int, row: list[int], weight: float) -> None:
        total, each = self.needed(here)
        asked: list[int] = []
        for node in self.order(here, row, self.places, self.case.snitch):
            dc = self.places[node][0]
            in_dc = [other for other in asked if self.places[other][0] == dc]
            wanted = len(asked) < total if each is None else len(in_dc) < each.get(dc, 0)
            if wanted:
                asked.append(node)
        self.waits += weight * any(node != here for node in asked)
        for position, node in enumerate(asked):
            kind = "data" if position == 0 else "digest"
            self.send(f"{kind} request", here, node, weight)
            self.send(f"{kind} response", node, here, weight)
        for node in [node for node in row if node not in asked]:
            local = self.places[node][0] == self.places[here][0]
            extra = weight * (self.contact_all + self.contact_local * local)
            self.send("digest request", here, node, extra)
            self.send("digest response", node, here, extra)

    def write(self, here: int, row: list[int], weight: float) -> None:
        total, each = self.needed(here)
        own = here in row
        if each is None:
            self.waits += weight * (total > own)
        else:
            own_dc = self.places[here][0]
            self.waits += weight * any(k > (own and dc == own_dc) for dc, k in each.items())
        for dc in {self.places[node][0] for node in row}:
            targets = [node for node in row if self.places[node][0] == dc]
            if dc == self.places[here][0]:
                for node in targets:
                    self.send("mutation", here, node, weight)
            else:
                for forwarder in targets:
                    self.send("mutation", here, forwarder, weight / len(targets))
                    for node in targets:
                        self.send("forwarded mutation", forwarder, node, weight / len(targets))
        for node in row:
            self.send("acknowledgement", node, here, weight)

    def send(self, kind: str, sender: int, receiver: int, weight: float) -> None:
        if sender != receiver:
            self.messages[kind, sender, receiver] += weight


def analyse(
    case: Case, level: str, operation: str, contact: tuple[float, float] = (0.0, 0.0)
) -> HopAnalysis:
    scenario = case.scenario(level, operation)
    nodes = nodes_of(scenario)
    placement = place(scenario, nodes, given_ring(scenario.cluster.tokens), np.random.default_rng(0))
    return hop_analysis(scenario, nodes, placement, coordinators_of(scenario, nodes), *contact)


def assert_equal(analysis: HopAnalysis, truth: Enumeration) -> None:
    hops = analysis.operations[truth.operation]
    assert hops.waits_remote == pytest.approx(truth.waits, abs=1e-12)
    assert hops.coordinator_is_no_replica == pytest.approx(truth.no_replica, abs=1e-12)
    kinds = {kind for kind, _, _ in truth.messages} | set(hops.messages)
    for kind in kinds:
        nodes = len(truth.places)
        expected = np.zeros((nodes, nodes))
        for (name, sender, receiver), amount in truth.messages.items():
            expected[sender, receiver] += amount * (name == kind)
        np.testing.assert_allclose(hops.messages.get(kind, np.zeros_like(expected)), expected, atol=1e-12)


ONE_DC = ((("dc1", 1, 1),), (("dc1", 1, 4),), (("dc1", 2, 5),))
TWO_DCS = ((("dc1", 1, 3), ("dc2", 1, 2)), (("dc1", 2, 4), ("dc2", 2, 3)))


def cases() -> Iterator[Case]:
    """Yield clusters of one and two datacenters with each kind of routing."""
    for groups, snitch, (routing, shuffled) in product(ONE_DC, (Snitch.SIMPLE, Snitch.GOSSIPING), ROUTINGS):
        _, racks, nodes = groups[0]
        strategies = ("NetworkTopologyStrategy", "SimpleStrategy")[: 1 if racks == 1 else 2]
        subset = (0, 3)[: nodes - 1]
        for strategy, rf in product(strategies, range(1, min(nodes, 3) + 1)):
            for contacts in dict.fromkeys([(), subset]):
                yield Case(groups, 2, strategy, rf, snitch, routing, shuffled, contacts)
    for groups, (routing, shuffled) in product(TWO_DCS, ROUTINGS):
        for factor, (subset, dc) in product(
            ({"dc1": 1, "dc2": 1}, {"dc1": 3, "dc2": 2}, {"dc1": 2, "dc2": 0}, 2),
            (((), None), ((), "dc2"), ((1, 4), None)),
        ):
            yield Case(
                groups, 2, "NetworkTopologyStrategy", factor, Snitch.GOSSIPING, routing, shuffled, subset, dc
            )
        for snitch, rf in product((Snitch.SIMPLE, Snitch.GOSSIPING), (2, 3)):
            yield Case(groups, 2, "SimpleStrategy", rf, snitch, routing, shuffled)


def possible(case: Case, level: str, operation: str) -> bool:
    """Whether the level can be met, told from the case alone."""
    if operation == "read" and level == "ANY":
        return False
    truth = Enumeration.__new__(Enumeration)
    truth.case, truth.level, truth.places = case, level, case.places()
    rows = [row for _, row in Enumeration.ranges(truth)]
    for row in rows:
        for coordinator, _ in truth.coordinators(row):
            total, each = truth.needed(coordinator)
            held = [truth.places[node][0] for node in row]
            if total > len(row) or any(held.count(dc) < k for dc, k in (each or {}).items()):
                return False
    return True


@pytest.mark.parametrize("operation", ["read", "write"])
@pytest.mark.parametrize("level", LEVELS)
def test_analysis_equals_enumeration_of_every_range_and_coordinator(level: str, operation: str) -> None:
    compared = refused = 0
    for case in cases():
        if possible(case, level, operation):
            assert_equal(analyse(case, level, operation), Enumeration(case, level, operation))
            compared += 1
        else:
            with pytest.raises(ScenarioError):
                analyse(case, level, operation)
            refused += 1
    assert compared > 50 or (level, operation) == ("ANY", "read")
    assert refused > 0 or level in ("ONE", "QUORUM", "ALL", "ANY", "LOCAL_ONE", "EACH_QUORUM")


@pytest.mark.parametrize("level", ["ONE", "QUORUM", "LOCAL_ONE", "LOCAL_QUORUM", "EACH_QUORUM", "ALL"])
def test_background_contact_equals_enumeration(level: str) -> None:
    contact = (0.3, 0.2)
    for routing, shuffled in ROUTINGS:
        factor = {"dc1": 3, "dc2": 2}
        case = Case(
            TWO_DCS[1], 2, "NetworkTopologyStrategy", factor, Snitch.GOSSIPING, routing, shuffled, (1, 5)
        )
        analysis = analyse(case, level, "read", contact)
        assert_equal(analysis, Enumeration(case, level, "read", contact=contact))
        if level != "ALL":
            with pytest.raises(AssertionError):
                assert_equal(analysis, Enumeration(case, level, "read", contact=(0.2, 0.3)))


@pytest.mark.parametrize("snitch", list(Snitch))
@pytest.mark.parametrize("level", ["ONE", "QUORUM", "LOCAL_QUORUM"])
def test_each_snitch_equals_enumeration(snitch: Snitch, level: str) -> None:
    for routing, shuffled in ROUTINGS:
        case = Case((("dc1", 2, 5),), 3, "NetworkTopologyStrategy", 3, snitch, routing, shuffled)
        for operation in ("read", "write"):
            assert_equal(analyse(case, level, operation), Enumeration(case, level, operation))


@pytest.mark.parametrize(
    ("wrong", "snitch"),
    [
        (always_ring_order, Snitch.GOSSIPING),
        (always_itself_first, Snitch.SIMPLE),
        (always_itself_first, Snitch.GOSSIPING),
        (rack_ignored, Snitch.GOSSIPING),
    ],
)
def test_a_wrong_snitch_rule_is_detected(wrong: OrderRule, snitch: Snitch) -> None:
    groups = (("dc1", 2, 6), ("dc2", 1, 2)) if snitch != Snitch.SIMPLE else (("dc1", 2, 6),)
    factor = {"dc1": 4, "dc2": 1} if snitch != Snitch.SIMPLE else 4
    case = Case(groups, 3, "NetworkTopologyStrategy", factor, snitch, "round-robin", True)
    analysis = analyse(case, "TWO", "read")
    assert_equal(analysis, Enumeration(case, "TWO", "read"))
    with pytest.raises(AssertionError):
        assert_equal(analysis, Enumeration(case, "TWO", "read", order=wrong))


def test_a_forgotten_acknowledgement_is_detected() -> None:
    case = Case(TWO_DCS[1], 2, "NetworkTopologyStrategy", 2, Snitch.GOSSIPING, "token-aware", True)
    truth = Enumeration(case, "QUORUM", "write")
    lost = next(key for key in truth.messages if key[0] == "acknowledgement")
    del truth.messages[lost]
    with pytest.raises(AssertionError):
        assert_equal(analyse(case, "QUORUM", "write"), truth)
