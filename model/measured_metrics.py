"""The metrics of a measurement: stated figures first, then what histograms, counts and CPU time give."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

from scipy.special import stdtrit

from .estimate import LEVEL, Estimate, Z
from .histogram import latency_of
from .measurement import ALL, LatencyHistogram, Measurement, OperationMeasured
from .metrics import ErrorCount, Latency, LatencyKind, Metrics, Quantity

PREFERRED = (LatencyKind.RESPONSE, LatencyKind.SERVICE, LatencyKind.UNKNOWN)
"""Which histogram speaks for an operation that has several: the one that counts waiting too."""


def metrics_of(measurement: Measurement, kind: LatencyKind | None = None) -> Metrics:
    """Return the metrics of a measurement.

    Args:
        kind: kind of latency to take where there are several; the response time when not given.
    """
    latencies = {name: _latency(operation, kind) for name, operation in measurement.operations.items()}
    return Metrics(
        throughput_per_s=_throughput(measurement),
        latency_s={name: latency for name, latency in latencies.items() if latency is not None},
        utilisation=measurement.utilisation or _utilisation(measurement),
        errors=_errors(measurement),
    )


def kinds_of(measurement: Measurement) -> set[LatencyKind]:
    """Return the kinds of latency that a measurement holds."""
    operations = measurement.operations.values()
    stated = {operation.latency_s.kind for operation in operations if operation.latency_s is not None}
    return stated | {found.kind for operation in operations for found in operation.histograms}


def _latency(operation: OperationMeasured, kind: LatencyKind | None) -> Latency | None:
    wanted = [one for one in operation.histograms if one.kind in PREFERRED and kind in (None, one.kind)]
    if wanted:
        return _from_histogram(min(wanted, key=lambda one: PREFERRED.index(one.kind)))
    stated = operation.latency_s
    return stated if stated is not None and kind in (None, stated.kind) else None


def _from_histogram(found: LatencyHistogram) -> Latency:
    return latency_of(found.histogram, found.kind, found.statistic, found.effective_n)


def _throughput(measurement: Measurement) -> Quantity:
    if measurement.throughput_per_s is not None:
        return measurement.throughput_per_s
    rates = [_rate(operation, measurement) for operation in measurement.operations.values()]
    known = [rate.value for rate in rates if rate.value is not None]
    if not rates or len(known) < len(rates):
        return Quantity.absent("neither a rate nor requests and duration of every operation")
    if len(rates) == 1 and rates[0].low is not None:
        return rates[0]
    return _by_intervals(sum(known), measurement)


def _rate(operation: OperationMeasured, measurement: Measurement) -> Quantity:
    if operation.throughput_per_s is not None:
        return operation.throughput_per_s
    if operation.requests is None or measurement.duration_s is None:
        return Quantity.absent("no requests or no duration")
    return Quantity(value=operation.requests / measurement.duration_s)


FEWEST_INTERVALS = 8
"""Below that a standard error from intervals is no better than a guess."""
MOST_CORRELATED = 0.9
"""First autocorrelation above which a run is no sample of a steady rate; held there."""


def _by_intervals(rate_per_s: float, measurement: Measurement) -> Quantity:
    """Return a rate with the error of the mean over intervals."""
    rates = _measured_rates(measurement)
    if len(rates) < FEWEST_INTERVALS or rate_per_s <= 0:
        return Quantity(value=rate_per_s, reason=f"no interval: fewer than {FEWEST_INTERVALS} intervals")
    widened = float(stdtrit(len(rates) - 1, (1 + LEVEL) / 2)) / Z
    return Quantity.of(Estimate(rate_per_s, widened * _mean_std_err(rates), len(rates)).positive_interval())


def _measured_rates(measurement: Measurement) -> list[float]:
    series = measurement.series.get(ALL)
    if series is None:
        return []
    return [rate for rate, t_s in zip(series.rate_per_s, series.t_s, strict=False) if rate is not None and t_s > 0]


def _mean_std_err(values: list[float]) -> float:
    """Return the standard error of a mean of values that follow each other as an AR(1) process."""
    n, mean = len(values), math.fsum(values) / len(values)
    deviations = [value - mean for value in values]
    variance = math.fsum(d * d for d in deviations) / (n - 1)
    correlation = _first_autocorrelation(deviations)
    return math.sqrt(variance / n * (1 + correlation) / (1 - correlation))


def _first_autocorrelation(deviations: list[float]) -> float:
    """Return the first autocorrelation r, its bias -(1 + 4 r) / n by the estimated mean taken out.

    Source: M. G. Kendall, Biometrika 41 (1954).
    """
    n, square = len(deviations), math.fsum(d * d for d in deviations)
    if square == 0:
        return 0.0
    raw = math.fsum(a * b for a, b in pairwise(deviations)) / square
    return min(MOST_CORRELATED, max(0.0, (n * raw + 1) / (n - 4)))


def _utilisation(measurement: Measurement) -> dict[str, float]:
    duration_s, client = measurement.duration_s, measurement.client
    if duration_s is None:
        return {}
    used = {
        f"CPU of {node.name}": node.cpu_s / (node.cores * duration_s)
        for node in measurement.nodes
        if node.cpu_s is not None and node.cores is not None
    }
    if client is not None and client.cpu_s is not None and client.processors is not None:
        used["CPU of clients"] = client.cpu_s / (client.processors * duration_s)
    return used


def _errors(measurement: Measurement) -> dict[str, ErrorCount]:
    counts = Counter(measurement.error_counts)
    for event in measurement.errors:
        counts[event.kind] += event.count
    answered = [operation.requests for operation in measurement.operations.values()]
    known = [requests for requests in answered if requests is not None]
    total = sum(known) + sum(counts.values()) if known and len(known) == len(answered) else 0
    return {
        kind: ErrorCount(count=count, ratio=count / total if total else None) for kind, count in sorted(counts.items())
    }
