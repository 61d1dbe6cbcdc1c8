"""A measurement as text for a terminal: what was measured, figures with intervals, the verdict last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..model.measured_metrics import metrics_of
from ..model.measurement import ClientFacts, Measurement
from ..model.metrics import STATISTICS, Metrics, Quantity
from ..model.units import format_duration, format_rate

HEADINGS = {"mean": "mean", "p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9"}


def measurement_text(measurement: Measurement) -> str:
    """Return a measurement as lines of text."""
    metrics = metrics_of(measurement)
    parts = (
        _measured(measurement),
        _figures(metrics),
        _counted(measurement),
        _nodes(measurement),
        _errors(measurement),
        _notes(measurement),
        [_verdict(measurement)],
    )
    return "\n\n".join("\n".join(part) for part in map(list, parts) if part)


def _measured(measurement: Measurement) -> Iterator[str]:
    tool = measurement.tool.name if measurement.tool else "measured"
    spans = []
    if measurement.duration_s is not None:
        spans.append(f"{measurement.duration_s:.3g} s")
    if measurement.warm_up_s is not None:
        spans.append(f"after {measurement.warm_up_s:.3g} s of warm-up")
    requests = sum(operation.requests or 0 for operation in measurement.operations.values())
    early = ", ended early" if measurement.ended == "early" else ""
    yield f"Measured    {measurement.name} by {tool}: {' '.join(spans)}, {requests:,} requests{early}"
    if measurement.client is not None:
        yield f"Client      {_client(measurement.client, measurement.duration_s)}"
        yield from _starts(measurement.client)


def _client(client: ClientFacts, duration_s: float | None) -> str:
    processes = "1 process" if client.processes == 1 else f"{client.processes} processes"
    words = [f"{client.facts.get('backend', 'unknown')} backend", processes]
    per_operation = client.facts.get("cpu_per_operation_s")
    if client.cpu_s is not None and duration_s:
        words.append(f"{client.cpu_s / duration_s:.2g} processors")
    if isinstance(per_operation, float):
        words.append(f"{format_duration(per_operation)} of CPU an operation")
    return ", ".join(words)


def _starts(client: ClientFacts) -> Iterator[str]:
    """Yield how an open load kept to its intended starts."""
    lag = client.send_lag_s
    if lag is None or lag.p50 is None or lag.p99 is None or lag.p99.value is None:
        return
    late = f"sent {format_duration(lag.p50.value or 0.0)} (p50) to {format_duration(lag.p99.value)} (p99) late"
    rate = client.facts.get("starts_per_s")
    meant = f"{format_rate(rate)} meant, " if isinstance(rate, float) else ""
    yield f"Starts      {meant}{late}, {client.missed_starts or 0:,} missed; latencies count from the intended start"


def _figures(metrics: Metrics) -> Iterator[str]:
    throughput = metrics.throughput_per_s
    if throughput.value is not None:
        yield f"Throughput  {format_rate(throughput.value)}{_interval(throughput, format_rate)}"
    rows = [["Latency", *(HEADINGS[name] for name in STATISTICS)]]
    for name, latency in metrics.latency_s.items():
        figures = dict(latency.present())
        rows.append([name, *(_latency(figures.get(statistic)) for statistic in STATISTICS)])
    if len(rows) > 1:
        yield from table(rows)
        yield "Intervals hold with 90 %, corrected for autocorrelation"


def _counted(measurement: Measurement) -> Iterator[str]:
    """Yield the rates of operations that are known by their number only."""
    only = {name: one.requests for name, one in measurement.operations.items() if not one.histograms and one.requests}
    if measurement.duration_s:
        for name, requests in sorted(only.items(), key=lambda item: -item[1]):
            yield f"{name}  {format_rate(requests / measurement.duration_s)}"


def _latency(figure: Quantity | None) -> str:
    if figure is None or figure.value is None:
        return "-"
    return format_duration(figure.value) + _interval(figure, format_duration)


def _interval(figure: Quantity, written: object) -> str:
    if figure.low is None or figure.high is None or not callable(written):
        return ""
    return f" [{written(figure.low)}, {written(figure.high)}]"


def _nodes(measurement: Measurement) -> Iterator[str]:
    used = [node for node in measurement.nodes if node.cpu_s is not None]
    if not used or measurement.duration_s is None:
        return
    rows = [["Node", "CPU in use", "of", "throttled", "disk reads", "disk writes"]]
    for node in used:
        cores = (node.cpu_s or 0.0) / measurement.duration_s
        throttled = "-" if node.throttled_s is None else format_duration(node.throttled_s)
        limit = "-" if node.cores is None else f"{node.cores:g}"
        rows.append([node.name, f"{cores:.3g}", limit, throttled, _count(node.disk_reads), _count(node.disk_writes)])
    yield from table(rows)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _errors(measurement: Measurement) -> Iterator[str]:
    counts = Counter(measurement.error_counts)
    first_s: dict[str, float] = {}
    for event in measurement.errors:
        counts[event.kind] += event.count
        first_s.setdefault(event.kind, event.at_s)
    for kind, count in sorted(counts.items()):
        since = f", first after {max(first_s[kind], 0.0):.1f} s" if kind in first_s else ""
        yield f"Errors      {count:,} {kind}{since}"


def _notes(measurement: Measurement) -> Iterator[str]:
    for note in measurement.notes:
        yield f"Note        {note}"


def _verdict(measurement: Measurement) -> str:
    verdict = measurement.verdict
    return f"Verdict     {verdict.kind}" + (f": {'; '.join(verdict.reasons)}" if verdict.reasons else "")


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as aligned lines; the first column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        yield "  ".join(cells).rstrip()
