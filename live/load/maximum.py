"""The largest open load that meets an objective: probes at rates between one that meets it and one that misses it.

Rates double from the first until one misses or comes near the limit, and the bracket is halved on a logarithmic
scale. A probe decides only when the interval of the latency lies on one side of the limit; otherwise it is repeated
for longer, and a rate that stays undecided counts for neither side. Each end of the answer is thus held by a
one-sided 95 % decision, both together by 90 % (Bonferroni). Latency is assumed to grow with the rate.

Source: H. Robbins and S. Monro, A stochastic approximation method (1951), for the problem; Bonferroni's inequality.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np

from ...model.estimate import LEVEL
from ...model.measured_metrics import metrics_of
from ...model.measurement import Measurement
from ...model.metrics import LatencyKind, Quantity
from ...model.objective import Objective
from ...model.units import format_rate
from ...model.value import Value

FIRST_PER_S = 100.0
LEAST_PER_S = 1.0
MOST_PER_S = 2e6
TOLERANCE = 0.03
"""Width of the bracket, relative, at which the search ends."""
CLIMB_S = (2.0,)
"""Measured time of a probe on the way up, where a latency of half the limit is enough to go on."""
DECIDE_S = (4.0, 16.0, 40.0)
"""Measured times of the probes of a rate, until one decides."""
LONGEST_SEARCH_S = 900.0
ANSWERED_RATIO = 0.98
"""Answers over starts below which the rate is not carried, whatever the latency of those that were answered."""
ERROR_RATIO = 0.001
EndedBy = Literal["cluster", "client", "host", "time", "nothing"]
ENDINGS: dict[str, EndedBy] = {"client-limited": "client", "host-limited": "host"}


class Answer(StrEnum):
    """What a probe says."""

    MEETS = "meets"
    MISSES = "misses"
    UNDECIDED = "undecided"


class Probe(Value):
    """One load and what became of it."""

    rate_per_s: float
    """As asked."""
    lasted_s: float
    answered_per_s: float
    figure_s: Quantity
    """The statistic of the objective, of the operation in which it is worst."""
    answer: Answer
    verdict: str
    reasons: tuple[str, ...] = ()


class Maximum(Value):
    """The answer of a search."""

    objective: str
    rate_per_s: Quantity
    """Largest rate that meets the objective; its interval has rates that meet and miss it at its ends."""
    confidence: float = LEVEL
    ended_by: EndedBy
    """What kept the rate from being larger; `time` when the search was cut short, `nothing` when no limit was found."""
    reasons: tuple[str, ...] = ()
    took_s: float
    probes: tuple[Probe, ...] = ()


Measure = Callable[[float, float], Measurement]
"""Puts a load of a rate on the cluster for a time, and returns what was measured."""


def probe_of(measured: Measurement, rate_per_s: float, lasted_s: float, objective: Objective) -> Probe:
    """Return a measurement as a probe."""
    metrics = metrics_of(measured, LatencyKind.RESPONSE)
    figures = [getattr(latency, objective.statistic) for latency in metrics.latency_s.values()]
    known = [figure for figure in figures if figure is not None and figure.value is not None]
    worst = max(known, key=lambda figure: figure.value, default=Quantity.absent("nothing was answered"))
    carried = _carried(measured)
    return Probe(
        rate_per_s=rate_per_s,
        lasted_s=lasted_s,
        answered_per_s=metrics.throughput_per_s.value or 0.0,
        figure_s=worst,
        answer=_answer(worst, objective.limit_s) if carried else Answer.MISSES,
        verdict=measured.verdict.kind,
        reasons=measured.verdict.reasons,
    )


def _carried(measured: Measurement) -> bool:
    """Return whether nearly all that was meant to start was answered."""
    client, duration_s = measured.client, measured.duration_s or 0.0
    answers = sum(one.requests or 0 for one in measured.operations.values())
    failed = sum(event.count for event in measured.errors)
    if client is None or not answers or failed > ERROR_RATIO * (answers + failed):
        return False
    due = float(client.facts.get("starts_per_s", 0.0)) * duration_s
    missed = client.missed_starts or 0
    return answers >= ANSWERED_RATIO * due - 4 * math.sqrt(due) and missed <= ERROR_RATIO * due


def _answer(figure: Quantity, limit_s: float) -> Answer:
    if figure.high is not None and figure.high <= limit_s:
        return Answer.MEETS
    return Answer.MISSES if figure.low is not None and figure.low > limit_s else Answer.UNDECIDED


@dataclass
class Bracket:
    """What is known of the rate so far."""

    low: float | None = None
    """Largest rate that meets."""
    high: float | None = None
    """Least rate that misses."""
    undecided: list[float] = field(default_factory=list)
    climbed: float | None = None
    """Largest rate on the way up that looked easy, without proof."""

    @property
    def climbing(self) -> bool:
        """Whether no rate was too much yet, or near it."""
        return self.high is None and not self.undecided

    def take(self, probe: Probe, limit_s: float) -> None:
        """Learn from a probe; an answer against an earlier one moves the end that it contradicts."""
        rate = probe.rate_per_s
        if probe.answer is Answer.MEETS:
            self.low = max(rate, self.low or 0.0)
        elif probe.answer is Answer.MISSES:
            self.high = min(rate, self.high or math.inf)
        elif self.climbing and probe.figure_s.value is not None and probe.figure_s.value <= limit_s / 2:
            self.climbed = rate
        else:
            self.undecided.append(rate)

    def inner(self) -> list[float]:
        """Return the undecided rates between the ends."""
        low, high = self.low or 0.0, self.high or math.inf
        return sorted(rate for rate in self.undecided if low < rate < high)

    def next_rate(self) -> float | None:
        """Return the rate to probe next, None when the ends are close enough."""
        inner, floor = self.inner(), max(self.low or 0.0, self.climbed or 0.0)
        if self.high is None:
            most = inner[-1] if inner else floor
            return most * (1.25 if inner else 2) if most * 2 <= MOST_PER_S else None
        if not floor:
            least = min(self.high, *inner[:1], self.high)
            return least / 2 if least / 2 >= LEAST_PER_S else None
        edges = [floor, *inner, self.high]
        gaps = [(edges[0], edges[1]), (edges[-2], edges[-1])]
        low, high = max(gaps, key=lambda gap: gap[1] / gap[0])
        if high / low > 1 + TOLERANCE:
            return math.sqrt(low * high)
        return self.climbed if self.low is None else None


def find_maximum(
    measure: Measure,
    objective: Objective,
    first_per_s: float = FIRST_PER_S,
    limit_s: float = LONGEST_SEARCH_S,
    warm_up_s: float = 1.0,
    show: Callable[[Probe], None] = lambda probe: None,
) -> Maximum:
    """Return the largest rate that meets an objective.

    Args:
        measure: puts a load on the cluster.
        objective: an upper limit on a statistic of the response time.
        first_per_s: rate of the first probe.
        limit_s: longest time of all probes.
        warm_up_s: time that each probe takes beside its measured time.
        show: takes each probe.
    """
    bracket, probes, spent_s = Bracket(), list[Probe](), 0.0
    rate: float | None = first_per_s
    while rate is not None and spent_s + DECIDE_S[0] + warm_up_s <= limit_s:
        lengths_s = CLIMB_S if bracket.climbing else DECIDE_S
        for probe in _decided(measure, objective, rate, lengths_s, limit_s - spent_s - warm_up_s):
            spent_s += probe.lasted_s + warm_up_s
            probes.append(probe)
            show(probe)
        bracket.take(probes[-1], objective.limit_s)
        rate = bracket.next_rate()
    return _maximum(objective, bracket, probes, spent_s, rate is not None)


def _decided(
    measure: Measure, objective: Objective, rate: float, lengths_s: Sequence[float], left_s: float
) -> Iterator[Probe]:
    """Yield probes of one rate, one longer than the other, until one decides or the time that is left is too short."""
    for lasts_s in lengths_s:
        if sum(each for each in lengths_s if each <= lasts_s) > left_s:
            return
        probe = probe_of(measure(rate, lasts_s), rate, lasts_s, objective)
        yield probe
        if probe.answer is not Answer.UNDECIDED:
            return


def _maximum(
    objective: Objective, bracket: Bracket, probes: Sequence[Probe], took_s: float, cut_short: bool
) -> Maximum:
    ended_by, reasons = _ending(bracket, probes)
    if cut_short and ended_by == "cluster":
        reasons = (*reasons, "the time was over before the ends were close")
    return Maximum(
        objective=str(objective),
        rate_per_s=_rate(bracket, probes, objective.limit_s),
        ended_by="time" if cut_short and bracket.high is None else ended_by,
        reasons=reasons,
        took_s=took_s,
        probes=tuple(probes),
    )


def _rate(bracket: Bracket, probes: Sequence[Probe], limit_s: float) -> Quantity:
    low, high = bracket.low, bracket.high
    if low is None:
        reason = "no rate that was tried meets the objective"
        if bracket.climbed is not None:
            reason = f"none is sure yet; {format_rate(bracket.climbed)} looked easy in a short probe"
        return Quantity(value=None, low=None, high=high, reason=reason)
    if high is None:
        return Quantity(value=low, low=low, reason="no rate that was tried misses the objective")
    low, high = min(low, high), max(low, high)
    return Quantity(value=min(max(_crossing(probes, low, high, limit_s), low), high), low=low, high=high)


def _crossing(probes: Sequence[Probe], low: float, high: float, limit_s: float) -> float:
    """Return the rate at which a line through the logarithms of the latencies between the ends meets the limit."""
    near = [one for one in probes if low <= one.rate_per_s <= high and one.figure_s.value]
    rates = np.array([one.rate_per_s for one in near])
    if len(set(rates.tolist())) < 3:
        return math.sqrt(low * high)
    logarithms = np.log([one.figure_s.value or limit_s for one in near])
    slope, level = np.polyfit(rates, logarithms, 1, w=np.sqrt([one.lasted_s for one in near]))
    return float((math.log(limit_s) - level) / slope) if slope > 0 else math.sqrt(low * high)


def _ending(bracket: Bracket, probes: Sequence[Probe]) -> tuple[EndedBy, tuple[str, ...]]:
    """Return what ended it: the verdict on the least rate that missed the objective."""
    missed = [probe for probe in probes if probe.answer is Answer.MISSES and probe.rate_per_s == bracket.high]
    if not missed:
        return "nothing", ()
    return ENDINGS.get(missed[-1].verdict, "cluster"), missed[-1].reasons
