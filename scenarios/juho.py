"""Juho Mäkinen's three runs of July 2010: which parameters fit two of them, and what they say of the third.

Run 1: one node, 64,488 reads/s, four of eight hardware threads busy. Run 2: two nodes, both asked, 59.5 k. Run 3:
two nodes, only the first asked, 52.6 k. All read absent keys at RF 1 with 50 in flight.

What a read costs a node follows from run 1 and the CPU figure (utilisation law). What a read costs the client
follows from run 1, what a hop costs in CPU from run 3, both as roots of mean-value analysis. All else is scanned
over plausible ranges. Run 2 is used for nothing.

Source: J. Mäkinen, cassandra-user mailing list, July 2010; docs/background/juho.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ..model.demands import PARAMETERS, complete
from ..model.ensemble import Ensemble, ensemble
from ..model.estimate import Estimate
from ..model.mva import solve
from ..model.network import Floats, Network
from ..model.scenario import Scenario
from ..model.scenario_file import load_scenario
from ..model.simulation.run import Budget, simulate
from ..model.study import Study, draw_rings, study

RUN_1, RUN_2, RUN_3 = "juho-1-node", "juho-2-nodes", "juho-2-nodes-through-one"
PUBLISHED_PER_S = {RUN_1: 64_488.0, RUN_2: 59_500.0, RUN_3: 52_600.0}
"""Reads per second of each run, from the mail."""
TOLERANCE = 0.01
"""Relative error up to which a parameter set reproduces a run."""

COORDINATOR_SHARES = (0.1, 0.5, 0.9)
"""Coordinator's share of a local read's CPU. Of a lookup that ends at a bloom filter neither side can be nothing."""
HOP_COORDINATOR_SHARES = (0.5, 0.75, 1.0)
"""Coordinator's share of a hop's CPU. Each end sends and receives one message, which is one half; on top of it the
coordinator is woken, which is 63 % of the hop in the lab study (H 44, W 75 µs)."""
HOP_DELAYS_S = (50e-6, 100e-6, 150e-6, 200e-6)
"""One-way delay of a message. Round trips below 100 µs were impossible on the Ethernet of the time (Rumble et al.,
HotOS 2011); 125 µs measured through one gigabit switch (E. Jones 2008), here are one to two, and other traffic."""
VARIATIONS = (0.0, 1.0)
"""Coefficient of variation of services, at nodes and client: constant to exponential."""
LEAST_CLIENT_S = 110e-6
"""Least client CPU of a read: what a Python driver needs on a machine ten years younger (lab study, section 10)."""
MOST_HOP_S = 1e-3
"""Upper end of the bracket for a hop's CPU: twice what keeps eight cores busy through one node."""
HALVINGS = 12
"""Halvings of a bracket: to 0.25 µs of a hop, which is less than 0.1 % of a throughput."""

LAB_COORDINATOR_SHARE = 24 / (24 + 23)
"""Lab study of 5.0.6, section 10: a read costs Q 24 µs at its coordinator and L 23 µs at its replica."""
LAB_HOP_COORDINATOR_SHARE = (44 / 2 + 75) / (44 + 75)
"""The same: H 44 µs for the messages of a hop, taken as half at each end, W 75 µs for waking the coordinator."""
LAB_VARIATION = 0.5
"""The same, section 6: variation of services with which latencies were reproduced."""
MIDDLE_DELAY_S = 100e-6
"""Geometric middle of the range of message delays."""


@dataclass(frozen=True)
class Reading:
    """A meaning of "400 % of CPU, half of it idle" on four cores with eight hardware threads."""

    name: str
    cores: int
    """Servers of a node's CPU."""
    busy_cores: tuple[float, ...]
    """Busy servers in run 1, as far as the figure leaves them open; the middle one is the point."""


EIGHT = Reading("eight independent cores", 8, (3.8, 4.0, 4.2))
FOUR = Reading("four hyper-threaded cores", 4, (3.8, 3.9, 3.98))
READINGS = (EIGHT, FOUR)


@dataclass(frozen=True)
class ParameterSets:
    """Sets of parameters under one reading; every array is [sets]."""

    reading: Reading
    busy_cores: Floats
    coordinator_share: Floats
    hop_coordinator_share: Floats
    hop_delay_s: Floats
    variation: Floats
    client_s: Floats
    """CPU of a read at the client."""
    hop_s: Floats
    """CPU of a hop at both nodes together."""

    @property
    def read_s(self) -> Floats:
        """CPU of a local read, coordinator and replica together: utilisation law on run 1."""
        return self.busy_cores / PUBLISHED_PER_S[RUN_1]

    @property
    def size(self) -> int:
        """Number of sets."""
        return len(self.busy_cores)

    def taken(self, which: np.ndarray) -> ParameterSets:
        """Return some of the sets, by mask or by position."""
        return replace(self, **{name: getattr(self, name)[which] for name in _ARRAYS})

    def one(self, index: int) -> ParameterSets:
        """Return one set."""
        return self.taken(np.array([index]))

    def values(self) -> dict[str, Floats]:
        """Return the parameters of a profile, [sets] each; nothing is written in these runs."""
        wake_s = np.maximum(2 * self.hop_coordinator_share - 1, 0.0) * self.hop_s
        message_s = (self.hop_s - wake_s) / 4
        given: dict[str, Floats | float] = {
            "coordinator_read_s": self.coordinator_share * self.read_s,
            "replica_read_s": (1 - self.coordinator_share) * self.read_s,
            "message_send_s": message_s,
            "message_receive_s": message_s,
            "block_and_wake_s": wake_s,
            "service_variation": self.variation,
        }
        full = {**complete(dict.fromkeys(REQUIRED, 0.0)), **given, "replica_absent_s": given["replica_read_s"]}
        return {name: np.broadcast_to(value, self.size) for name, value in full.items()}


REQUIRED = tuple(name for name, parameter in PARAMETERS.items() if parameter.required)
_ARRAYS = (
    "busy_cores", "coordinator_share", "hop_coordinator_share", "hop_delay_s", "variation", "client_s", "hop_s",
)


def candidates(reading: Reading) -> ParameterSets:
    """Return all combinations of what is scanned; client and hop are not yet known."""
    rows = product(reading.busy_cores, COORDINATOR_SHARES, HOP_COORDINATOR_SHARES, HOP_DELAYS_S, VARIATIONS)
    return _unfitted(reading, list(rows))


def point(reading: Reading) -> ParameterSets:
    """Return the one set with shares from the lab study and the middle of all else, fitted to runs 1 and 3."""
    busy = reading.busy_cores[len(reading.busy_cores) // 2]
    row = (busy, LAB_COORDINATOR_SHARE, LAB_HOP_COORDINATOR_SHARE, MIDDLE_DELAY_S, LAB_VARIATION)
    return fitted(_unfitted(reading, [row]))


def _unfitted(reading: Reading, rows: Sequence[tuple[float, ...]]) -> ParameterSets:
    columns = [*np.array(rows).T, np.zeros(len(rows)), np.zeros(len(rows))]
    return ParameterSets(reading, **dict(zip(_ARRAYS, columns, strict=True)))


@dataclass(frozen=True)
class Run:
    """A scenario compiled for a reading, once for each variation of services that the sets have."""

    networks: dict[float, Network]
    client_s: float
    """Client CPU of a read in the scenario; that of a set is relative to it."""
    delay_s: float
    """Message delay in the scenario, between nodes as to the client; that of a set is relative to it."""

    def by_variation(self, sets: ParameterSets) -> Iterator[tuple[np.ndarray, Ensemble]]:
        """Yield the ensembles of the sets, each with the positions of its members."""
        for variation, network in self.networks.items():
            where = np.flatnonzero(sets.variation == variation)
            if len(where):
                yield where, self._members(network, sets.taken(where))

    def throughput_per_s(self, sets: ParameterSets) -> Floats:
        """Return the throughput by mean-value analysis, [sets]."""
        return self.each(sets, lambda members: solve(members).throughput_per_s)

    def each(self, sets: ParameterSets, metric: Callable[[Ensemble], Floats]) -> Floats:
        """Return a metric of an ensemble, [sets]."""
        result = np.zeros(sets.size)
        for where, members in self.by_variation(sets):
            result[where] = metric(members)
        return result

    def _members(self, network: Network, sets: ParameterSets) -> Ensemble:
        members = ensemble(network, sets.values())
        is_client = np.array([station.kind == "client CPU" for station in network.stations])
        faster = (self.client_s / sets.client_s)[:, None]
        return replace(
            members,
            speed=np.where(is_client, faster, members.speed),
            hop_ratio=sets.hop_delay_s / self.delay_s,
        )


def run_of(name: str, sets: ParameterSets, overrides: Sequence[str] = ()) -> Run:
    """Compile a scenario for some sets, with overrides (`key=value`) laid over it."""
    scenario = load_scenario(name, [f"hardware.cores={sets.reading.cores}", *overrides])
    first = {float(variation): sets.one(index) for index, variation in enumerate(sets.variation)}
    networks = {variation: study_of(scenario, one).network for variation, one in first.items()}
    return Run(networks, scenario.clients.cpu_per_operation, scenario.hardware.hops.client)


def fitted(sets: ParameterSets) -> ParameterSets:
    """Return the sets with the client's CPU that gives run 1 and the hop's CPU that gives run 3."""
    alone, through_one = run_of(RUN_1, sets), run_of(RUN_3, sets)
    known = replace(sets, client_s=_root(
        lambda guess: alone.throughput_per_s(replace(sets, client_s=guess)),
        PUBLISHED_PER_S[RUN_1], np.full(sets.size, load_scenario(RUN_1).clients.processors / PUBLISHED_PER_S[RUN_1]),
    ))
    return replace(known, hop_s=_root(
        lambda guess: through_one.throughput_per_s(replace(known, hop_s=guess)),
        PUBLISHED_PER_S[RUN_3], np.full(sets.size, MOST_HOP_S),
    ))


def _root(throughput: Callable[[Floats], Floats], target_per_s: float, high: Floats) -> Floats:
    """Return the demand between 0 and `high` at which the throughput, which falls with it, is the target."""
    low = np.zeros_like(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = throughput(middle) > target_per_s
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2


def consistent(reading: Reading) -> ParameterSets:
    """Return the scanned sets that reproduce runs 1 and 3 with a client that a Python program can be."""
    sets = fitted(candidates(reading))
    return sets.taken(
        (error_of(RUN_1, sets) < TOLERANCE) & (error_of(RUN_3, sets) < TOLERANCE) & (sets.client_s >= LEAST_CLIENT_S)
    )


def error_of(name: str, sets: ParameterSets) -> Floats:
    """Return the relative error of a run, without sign, [sets]."""
    return np.abs(run_of(name, sets).throughput_per_s(sets) / PUBLISHED_PER_S[name] - 1)


def scenario_of(one: ParameterSets, name: str, overrides: Sequence[str] = ()) -> Scenario:
    """Return a run's scenario with the client and the message delays of one set."""
    delay = f"{one.hop_delay_s[0] * 1e6:.6g}us"
    client = f"{one.client_s[0] * 1e6:.6g}us"
    return load_scenario(name, [
        f"hardware.cores={one.reading.cores}", f"hardware.hops.same_rack={delay}", f"hardware.hops.client={delay}",
        f"clients.cpu_per_operation={client}", *overrides,
    ])


def study_of(scenario: Scenario, one: ParameterSets) -> Study:
    """Compile a scenario with the parameters of one set."""
    rng = np.random.default_rng(0)  # unused: even tokens are not drawn
    return study(scenario, numbers_of(one), draw_rings(scenario, rng), rng)


def numbers_of(one: ParameterSets) -> dict[str, float]:
    """Return the parameters of one set as a profile holds them."""
    return {name: float(value[0]) for name, value in one.values().items()}


def simulated_per_s(one: ParameterSets, name: str, requests: int, seed: int) -> Estimate:
    """Return the throughput of a run by simulation with one set."""
    network = study_of(scenario_of(one, name), one).network
    return simulate(network, numbers_of(one), seed, Budget(requests=requests)).throughput_per_s


@dataclass(frozen=True)
class Finding:
    """What runs 1 and 3 say of run 2 under one reading."""

    reading: Reading
    sets: ParameterSets
    """All scanned sets that reproduce runs 1 and 3."""
    run_2_per_s: Floats
    """[sets]"""
    point: ParameterSets
    """The one set with shares from the lab study."""
    point_per_s: float

    @property
    def range_per_s(self) -> tuple[float, float]:
        """Least and largest prediction of run 2."""
        return float(self.run_2_per_s.min()), float(self.run_2_per_s.max())

    @property
    def contains_run_2(self) -> bool:
        """Whether the published figure lies in the range."""
        low, high = self.range_per_s
        return low <= PUBLISHED_PER_S[RUN_2] <= high

    @property
    def point_error(self) -> float:
        """Relative error of the point prediction, positive when too fast."""
        return self.point_per_s / PUBLISHED_PER_S[RUN_2] - 1

    @property
    def distance(self) -> Floats:
        """Relative error of run 2 without sign, [sets]."""
        return np.abs(self.run_2_per_s / PUBLISHED_PER_S[RUN_2] - 1)

    def examples(self) -> dict[str, ParameterSets]:
        """Return the point, and the sets with the least, the nearest and the largest run 2."""
        rates = self.run_2_per_s
        chosen = {"least": rates.argmin(), "nearest": self.distance.argmin(), "largest": rates.argmax()}
        return {"point": self.point} | {name: self.sets.one(int(index)) for name, index in chosen.items()}


def find(reading: Reading) -> Finding:
    """Fit runs 1 and 3 under a reading and predict run 2."""
    sets, middle = consistent(reading), point(reading)
    predicted = run_of(RUN_2, sets).throughput_per_s(sets)
    return Finding(reading, sets, predicted, middle, float(run_of(RUN_2, middle).throughput_per_s(middle)[0]))
