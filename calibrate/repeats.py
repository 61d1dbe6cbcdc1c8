"""Repeats: runs of the same scenario are one run, with the noise that their spread shows.

The figure of a cell is the median of its repeats, so that one run at half speed does not move it; the noise of a
single run is pooled over all cells that were repeated, from the median of their differences, so that one such run does
not widen all others either. What differs between starts of a cluster does not show within one start: that is for
the discrepancy (`discrepancy.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..model.metrics import STATISTICS, Latency, Metrics, Quantity
from .run import UNREPEATED, Run, quantity

MEDIAN_DIFFERENCE = 0.954
"""Median absolute difference of two normal values over their standard deviation: 0.6745 times the root of 2."""
MEDIAN_EFFICIENCY = math.pi / 2
"""Variance of a median over that of a mean, many normal values."""
FEWEST_FOR_NOISE = 6
"""Degrees of freedom below which the spread of repeats is no estimate by itself; `UNREPEATED` joins in with as many."""

Read = Callable[[Run], float | None]


def combined(runs: Iterable[Run], key: Callable[[Run], str] | None = None) -> tuple[Run, ...]:
    """Return one run for each scenario, or for each value of another key, in order of first appearance."""
    cells: dict[str, list[Run]] = {}
    for run in runs:
        cells.setdefault((key or scenario_key)(run), []).append(run)
    groups = list(cells.values())
    return tuple(_median_run(group, groups) for group in groups)


def scenario_key(run: Run) -> str:
    """Return a text that is the same for runs of the same scenario, whatever its name."""
    plain = run.scenario.model_copy(update={"name": "", "title": ""})
    return plain.model_dump_json()


def _median_run(group: Sequence[Run], groups: Sequence[Sequence[Run]]) -> Run:
    if len(group) == 1 and group[0].repeats > 1:
        return group[0]
    first = group[0]
    cpu = _figure(lambda run: _value(run.cpu_s_per_operation), group, groups)
    metrics = Metrics(
        throughput_per_s=_figure(lambda run: run.throughput_per_s, group, groups) or first.metrics.throughput_per_s,
        latency_s=dict(_latencies(group, groups)),
        utilisation=_mean_utilisation(group),
    )
    return replace(
        first,
        metrics=metrics,
        cpu_s_per_operation=cpu,
        repeats=sum(run.repeats for run in group),
        weight=float(np.mean([run.weight for run in group])),
        sources=tuple(source for run in group for source in run.sources),
        reasons=tuple(dict.fromkeys(reason for run in group for reason in run.reasons)),
    )


def _value(figure: Quantity | None) -> float | None:
    return None if figure is None else figure.value


def _latencies(group: Sequence[Run], groups: Sequence[Sequence[Run]]) -> Iterator[tuple[str, Latency]]:
    for operation, latency in group[0].metrics.latency_s.items():
        figures = {name: _figure(_reader(operation, name), group, groups) for name in STATISTICS}
        known = {name: figure for name, figure in figures.items() if figure is not None}
        yield operation, Latency(kind=latency.kind, statistic=latency.statistic, **known)


def _reader(operation: str, statistic: str) -> Read:
    def read(run: Run) -> float | None:
        latency = run.metrics.latency_s.get(operation)
        return None if latency is None else _value(getattr(latency, statistic))

    return read


def _figure(read: Read, group: Sequence[Run], groups: Sequence[Sequence[Run]]) -> Quantity | None:
    """Return the median of a figure over repeats with the pooled noise."""
    logs = _logs(read, group)
    if not logs.size:
        return None
    noise = pooled_noise([_logs(read, other) for other in groups]) * _shrink(logs.size)
    return quantity(float(np.exp(np.median(logs))), noise)


def _logs(read: Read, group: Sequence[Run]) -> np.ndarray:
    values = [read(run) for run in group]
    return np.log([value for value in values if value is not None and value > 0])


def _shrink(n: int) -> float:
    """Return the standard error of a median of `n` values over that of one."""
    return math.sqrt((MEDIAN_EFFICIENCY if n > 2 else 1.0) / n)


def pooled_noise(cells: Sequence[np.ndarray]) -> float:
    """Return the standard deviation of the logarithm of a single run, from the differences of repeats within cells.

    The median of absolute differences of pairs is 0.954 standard deviations of normal values (Shamos 1976).

    >>> round(pooled_noise([np.array([0.0])]), 2) == UNREPEATED
    True
    """
    degrees = sum(max(cell.size - 1, 0) for cell in cells)
    apart = [abs(one - other) for cell in cells for one, other in combinations(cell.tolist(), 2)]
    robust = float(np.median(apart)) / MEDIAN_DIFFERENCE if apart else 0.0
    prior = max(0, FEWEST_FOR_NOISE - degrees)
    return math.sqrt((degrees * robust**2 + prior * UNREPEATED**2) / max(degrees + prior, 1))


def _mean_utilisation(group: Sequence[Run]) -> dict[str, float]:
    names = group[0].metrics.utilisation
    return {name: float(np.mean([run.metrics.utilisation.get(name, np.nan) for run in group])) for name in names}
