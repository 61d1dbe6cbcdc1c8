"""One simulation from start to answer: warm-up, looks, stopping, and what is read off.

The run goes on in looks of growing length until the wanted precision is reached or a budget is used up. The
warm-up is found on the latencies in order of completion and left out. Budgets count answered requests; a budget
of wall-clock time stops at a whole look, and the number of requests it reached repeats the run bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..batch_means import mean_estimate, rate_estimate
from ..demands import complete
from ..estimate import Estimate
from ..network import Floats, Network
from ..offered import capacities
from ..quantiles import quantile_estimates
from ..stopping import Precision, next_length, satisfied
from ..warmup import warmup_length
from .engine import Engine

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
FIRST_LOOK = 12_000
"""Requests answered before the first look, at least."""
ROUNDS = 5
"""Requests answered before the first look, per request in flight."""
PILOT_SHARE = 0.25
"""Share of the first look after which speculation thresholds are set from the durations seen so far; how long a run
goes on after that changes nothing in it."""
MOST_REQUESTS = 60_000
"""Requests after which a run stops whatever its precision, unless a budget says more: about two seconds."""

Progress = Callable[[int, float], None]
"""Told after each look: requests answered, and the share of the wanted precision reached."""


@dataclass(frozen=True)
class Budget:
    """When a run stops."""

    precision: Precision = field(default_factory=Precision)
    requests: int | None = None
    """Exactly so many requests, whatever the precision."""
    wall_clock_s: float | None = None
    most_requests: int = MOST_REQUESTS
    """Requests after which the run stops whatever its precision."""


@dataclass(frozen=True)
class Simulated:
    """What a simulation says."""

    throughput_per_s: Estimate
    latency_s: dict[str, dict[str, Estimate]]
    """By operation, then `mean`, `p50`, `p95`, `p99`, `p999`."""
    utilisation: Floats
    """[stations]: work per second over capacity; of a delay, mean number present."""
    messages_per_operation: float
    needs_hop: float
    """Share of requests whose answer waits for another node."""
    backlog_per_s: Floats
    """[pools]: growth of the line for permits; work that nobody waits for piles up where it is positive."""
    errors: dict[str, int]
    requests: int
    """Requests answered, warm-up included."""
    warm_up: int
    """Requests left out at the beginning."""
    steady: bool
    """Whether the warm-up ended in the first half."""
    precise: bool
    """Whether the wanted precision was reached."""


def simulate(
    network: Network,
    values: Mapping[str, float],
    seed: int,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Simulated:
    """Run a network until the budget is used up and return what it says; same seed, same result."""
    base, wake_up = network.demands.evaluate(complete(values))
    return Run(network, Engine(network, base, wake_up, seed), budget or Budget(), progress).result()


@dataclass(frozen=True)
class _Mark:
    """The state of a run at some number of answers."""

    answers: int
    time_s: float
    busy_s: Floats
    messages: int
    waits_remote: int
    pool_queues: npt.NDArray[np.int64]


class Run:
    """A simulation on its way through its looks."""

    def __init__(self, network: Network, engine: Engine, budget: Budget, progress: Progress | None) -> None:
        self._network = network
        self._engine = engine
        self._budget = budget
        self._progress = progress
        self._most = max(self._budget.most_requests, ROUNDS * (network.load.in_flight or 1))
        self._marks: list[_Mark] = []
        self._warm_up = 0
        self._pilot = 0
        self._steady = True

    def result(self) -> Simulated:
        """Run all looks and return the result of the last."""
        started_s = time.monotonic()
        population = self._network.load.in_flight or 1
        first_look = max(FIRST_LOOK, ROUNDS * population)
        length = self._budget.requests or first_look
        self._pilot = min(int(PILOT_SHARE * first_look), length // 2)
        self._advance(self._pilot)
        self._set_thresholds()
        while True:
            self._advance(length)
            self._find_warm_up()
            throughput, latency = self._throughput(), self._latency()
            tails = [by["p99"] for by in latency.values()]
            precise = satisfied(throughput, tails, self._budget.precision)
            if self._progress is not None:
                self._progress(length, 1.0 if precise else self._share(throughput, tails))
            late = self._budget.wall_clock_s is not None and time.monotonic() - started_s > self._budget.wall_clock_s
            if precise or late or self._budget.requests or length >= self._most:
                return self._read(throughput, latency, precise)
            length = min(self._most, next_length(length, throughput, tails, self._budget.precision))

    def _advance(self, answers: int) -> None:
        """Run on, with a mark of the stations' use every so often."""
        engine = self._engine
        step = max(500, answers // 100)
        for target in range(len(engine.completed_s) + step, answers, step):
            engine.advance(target)
            self._mark()
        engine.advance(answers)
        self._mark()

    def _mark(self) -> None:
        engine = self._engine
        self._marks.append(
            _Mark(
                len(engine.completed_s),
                engine.env.now,
                np.array([station.busy_s for station in engine.stations]),
                engine.messages,
                engine.waits_remote,
                np.array([len(pool.queue) for pool in engine.pools]),
            )
        )

    def _set_thresholds(self) -> None:
        engine = self._engine
        for fork, durations in engine.durations.items():
            if len(durations) >= 100:
                engine.thresholds[fork] = float(np.quantile(durations, engine.percentiles[fork]))
            durations.clear()

    def _find_warm_up(self) -> None:
        for durations in self._engine.durations.values():
            durations.clear()
        found = warmup_length(np.asarray(self._engine.latency_s))
        self._steady = found.steady
        self._warm_up = max(found.length, self._pilot if self._engine.thresholds else 0)
        self._warm_up = min(self._warm_up, len(self._engine.latency_s) // 2)

    def _throughput(self) -> Estimate:
        return rate_estimate(np.asarray(self._engine.completed_s)[self._warm_up :])

    def _latency(self) -> dict[str, dict[str, Estimate]]:
        latency_s = np.asarray(self._engine.latency_s)[self._warm_up :]
        operation = np.asarray(self._engine.operation)[self._warm_up :]
        failed = np.asarray(self._engine.failed)[self._warm_up :] != 0
        return {
            one.name: _summary(latency_s[(operation == number) & ~failed])
            for number, one in enumerate(self._network.operations)
        }

    def _share(self, throughput: Estimate, tails: list[Estimate]) -> float:
        wanted = self._budget.precision
        reached = [wanted.throughput / max(throughput.relative_error, 1e-12)]
        reached += [wanted.p99 / max(tail.relative_error, 1e-12) for tail in tails]
        return float(min(1.0, min(reached) ** 2))

    def _read(self, throughput: Estimate, latency: dict[str, dict[str, Estimate]], precise: bool) -> Simulated:
        engine = self._engine
        first = next(mark for mark in self._marks if mark.answers >= self._warm_up)
        last = self._marks[-1]
        answers, elapsed_s = last.answers - first.answers, last.time_s - first.time_s
        capacity = capacities(self._network)
        used = (last.busy_s - first.busy_s) / elapsed_s / np.where(np.isinf(capacity), 1.0, capacity)
        failed = int(np.count_nonzero(np.asarray(engine.failed)[self._warm_up :]))
        return Simulated(
            throughput_per_s=throughput,
            latency_s=latency,
            utilisation=used,
            messages_per_operation=(last.messages - first.messages) / answers,
            needs_hop=(last.waits_remote - first.waits_remote) / answers,
            backlog_per_s=(last.pool_queues - first.pool_queues) / elapsed_s,
            errors={"timeout": failed} if failed else {},
            requests=len(engine.completed_s),
            warm_up=self._warm_up,
            steady=self._steady,
            precise=precise,
        )


def _summary(latency_s: Floats) -> dict[str, Estimate]:
    quantiles = quantile_estimates(latency_s, tuple(PERCENTILES.values()))
    return {"mean": mean_estimate(latency_s), **dict(zip(PERCENTILES, quantiles, strict=True))}
