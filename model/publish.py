"""From what was found out to the published prediction: figures with intervals, words, warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from .answer import Figure
from .conditions import outside_words
from .findings import Findings
from .gain import CANNOT_TELL, Gain
from .metrics import LatencyKind, Percentiles, Quantity
from .neighbours import Neighbour
from .prediction import (
    NodeChange,
    PredictedGain,
    PredictedLimit,
    PredictedScenario,
    Prediction,
    ProfileUsed,
    Term,
    TwoWays,
)
from .scenario_summary import scenario_summary
from .simulation.run import Simulated
from .words import add_words, headline, limit_words, remedy_of_doubt, remove_words

INPUTS = 3
"""Inputs that are named as those the answer depends on most."""
FALLING_BEHIND = 0.005
"""Growth of a line for permits, as a ratio of the throughput, that is worth a warning."""
SHORT_TAIL = "too few requests to know it; --precision or --requests asks for more"


def publish(found: Findings) -> Prediction:
    """Return the published form of a prediction."""
    answer, limit = found.answer, found.limit
    bounds_only = found.options.solver == "bounds"
    more, less = found.add_node, found.remove_node
    clients = more.at_your_clients if more else None
    return Prediction(
        scenario=PredictedScenario(**dict(found.scenario), summary=scenario_summary(found.scenario)),
        profile=ProfileUsed(name=found.calibration.name, good_for=found.calibration.good_for),
        solver=found.options.solver,  # type: ignore[arg-type]
        seed=found.options.seed,
        simulated_requests=answer.simulated.requests if answer and answer.simulated else 0,
        throughput_per_s=_throughput(found),
        largest_stable_per_s=None if answer else float(found.analysed.largest_stable_per_s[0]),
        latency_s={} if answer is None or bounds_only else {n: _latency(by) for n, by in answer.latency_s.items()},
        latency_kind=LatencyKind.RESPONSE if found.analysed.is_open else LatencyKind.SERVICE,
        utilisation=_utilisation(found),
        errors_ratio=_errors(answer.simulated if answer else None),
        limit=PredictedLimit(station=limit.station, elasticity=limit.elasticity, words=limit_words(limit)),
        hops=TwoWays(
            closed_form=found.hops.waits_remote,
            simulated=answer.simulated.needs_hop if answer and answer.simulated else None,
        ),
        messages_per_operation=TwoWays(
            closed_form=found.hops.messages_per_operation,
            simulated=answer.simulated.messages_per_operation if answer and answer.simulated else None,
        ),
        add_node=_change(more, add_words(clients, more.capacity, limit) if more else ""),
        remove_node=_change(less, remove_words(less.at_your_clients, less.capacity) if less else ""),
        terms=tuple(Term(name=t.name, seconds=t.seconds, share=t.share) for t in found.terms) or None,
        sensitive_inputs=found.inputs[:INPUTS],
        warnings=tuple(_warnings(found)),
        headline=_headline(found),
    )


def _throughput(found: Findings) -> Quantity | None:
    if found.answer is None:
        return None
    if found.options.solver == "bounds":
        return Quantity(value=found.bound_per_s, reason="an upper bound")
    figure = found.answer.throughput_per_s
    return Quantity.of(figure.parts.around(figure.value), figure.parts.as_dict())


def _latency(by_statistic: dict[str, Figure]) -> Percentiles:
    return Percentiles(**{name: _quantity(figure) for name, figure in by_statistic.items()})


def _quantity(figure: Figure) -> Quantity:
    if not np.isfinite(figure.value):
        return Quantity.absent(SHORT_TAIL)
    return Quantity.of(figure.parts.around(figure.value))


def _utilisation(found: Findings) -> dict[str, float]:
    """Return the use of every station by name, the hottest of each kind first."""
    if found.answer is None:
        return {}
    stations = found.study.network.stations
    kinds = list(dict.fromkeys(station.kind for station in stations))
    used = found.answer.utilisation
    order = sorted(range(len(stations)), key=lambda i: (kinds.index(stations[i].kind), -used[i]))
    return {stations[i].name: float(used[i]) for i in order}


def _errors(simulated: Simulated | None) -> dict[str, float] | None:
    if simulated is None or not simulated.errors:
        return None
    counted = simulated.requests - simulated.warm_up
    return {kind: count / counted for kind, count in simulated.errors.items()}


def _change(neighbour: Neighbour | None, words: str) -> NodeChange | None:
    if neighbour is None:
        return None
    clients = neighbour.at_your_clients
    return NodeChange(
        at_your_clients=_gain(clients) if clients else None,
        capacity=_gain(neighbour.capacity),
        threshold=neighbour.threshold,
        words=words,
    )


def _gain(gain: Gain) -> PredictedGain:
    return PredictedGain(value=gain.value, low=gain.low, high=gain.high, verdict=gain.verdict)


def _headline(found: Findings) -> str:
    more = found.add_node
    if more is None:
        return f"Limited by {found.limit.words}."
    undecided = [gain for gain in (more.at_your_clients, more.capacity) if gain and gain.verdict == CANNOT_TELL]
    measure = remedy_of_doubt(undecided[0].doubt, found.inputs) if undecided else ""
    return headline(more.at_your_clients, more.capacity, found.limit, measure)


def _warnings(found: Findings) -> Iterator[str]:
    simulated = found.answer.simulated if found.answer else None
    if simulated is not None:
        if not simulated.precise and found.options.budget.requests is None:
            yield (
                f"the wanted precision was not reached in {simulated.requests:,} requests; the intervals say what was"
            )
        if not simulated.steady:
            yield "the simulation had not settled; the intervals may be too narrow"
        yield from _falling_behind(found, simulated)
    version, profile = found.scenario.cluster.version, found.calibration.cassandra_version
    if version.split(".")[:2] != profile.split(".")[:2]:
        yield f"the profile's demands are of Cassandra {profile}, the scenario's version is {version}"
    for outside in outside_words(found.calibration, found.scenario):
        yield f"outside what the profile was made from: {outside}"
    unstable = _risk_of_overload(found)
    if found.answer is not None and unstable > 0:
        yield f"within the profile's uncertainty this load is more than the cluster can carry with {unstable:.0%}"
    if found.options.objectives and found.analysed.capacity_per_s[0] <= 0:
        yield f"no load, however small, meets {' and '.join(map(str, found.options.objectives))}"
    if found.add_node is not None and _leaves_racks_uneven(found):
        yield (
            "there are several racks, and a node more makes them uneven: it relieves its own rack only; "
            "add one to every rack"
        )
    if found.remove_node is None and found.options.neighbours:
        yield "a node less cannot hold the replicas, so that is not looked at"


def _risk_of_overload(found: Findings) -> float:
    """Return the share of the profile's draws that cannot carry an open load."""
    analysed = found.analysed
    if not analysed.is_open:
        return 0.0
    draws = analysed.members.blocks["draws"]
    carried = analysed.members.ensemble.rate_per_s[draws] <= analysed.largest_stable_per_s[draws]
    return float(1 - carried.mean()) if carried.size else 0.0


def _leaves_racks_uneven(found: Findings) -> bool:
    """Whether the racks of the clients' datacenter are even now, and a node more would change that."""
    home = found.scenario.clients.datacenter or found.study.nodes[0].datacenter
    racks = Counter(node.rack for node in found.study.nodes if node.datacenter == home)
    return len(racks) > 1 and len(set(racks.values())) == 1


def _falling_behind(found: Findings, simulated: Simulated) -> Iterator[str]:
    growth = simulated.backlog_per_s
    if not growth.size or growth.max() < FALLING_BEHIND * simulated.throughput_per_s.value:
        return
    pool = found.study.network.pools[int(growth.argmax())]
    yield (
        f"the {pool.name} falls behind by {growth.max():,.0f} operations a second that no answer waits for; "
        f"Cassandra drops them after the timeout, and without drops at most "
        f"{float(found.analysed.largest_stable_per_s[0]):,.0f}/s can be sustained"
    )
