"""A prediction as text for a terminal: the answer last, where the eye rests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from ..model.units import format_duration, format_rate

Document = Mapping[str, Any]
WIDTH = 110
"""Columns of a line of prose."""
STATISTICS = ("mean", "p50", "p95", "p99", "p999")
HEADINGS = {"mean": "mean", "p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9"}


def prediction_text(document: Document) -> str:
    """Return a prediction, given in its published JSON form, as lines of text."""
    parts = (
        _assumed(document),
        _performance(document),
        _utilisation(document),
        _limits(document),
        _terms(document),
        _neighbours(document),
        _warnings(document),
        [document["headline"]],
    )
    return "\n\n".join("\n".join(part) for part in map(list, parts) if part)


def _assumed(document: Document) -> Iterator[str]:
    yield f"Scenario  {document['scenario']['summary']}"
    yield from _wrapped("Profile", f"{document['profile']['name']}: good for {document['profile']['good_for']}")
    if document["sensitive_inputs"]:
        yield f"          the answer depends most on {', '.join(document['sensitive_inputs'])}"
    yield f"Solver    {_solver(document)}; intervals hold with 90 %"


def _wrapped(label: str, text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent=label.ljust(10), subsequent_indent=" " * 10)


def _solver(document: Document) -> str:
    if document["solver"] == "simulate":
        return f"simulation of {document['simulated_requests']:,} requests, seed {document['seed']}"
    return {"mva": "mean-value analysis", "bounds": "upper bounds"}[document["solver"]]


def _performance(document: Document) -> Iterator[str]:
    throughput = document["throughput_per_s"]
    if throughput is None:
        yield f"Unstable: the largest stable load is {format_rate(document['largest_stable_per_s'])}"
        return
    if document["solver"] == "bounds":
        yield f"Throughput  at most {format_rate(throughput['value'])}"
        return
    yield f"Throughput  {_rate(throughput)}"
    yield from _table(
        ["Latency", *(HEADINGS[name] for name in STATISTICS)],
        [[name, *(_latency(by.get(one)) for one in STATISTICS)] for name, by in document["latency_s"].items()],
    )


def _rate(figure: Document) -> str:
    low, high = (format_rate(figure[end]).removesuffix("/s") for end in ("low", "high"))
    return f"{format_rate(figure['value'])} [{low}, {high}]"


def _latency(figure: Document | None) -> str:
    if figure is None or figure["value"] is None:
        return "–"
    if figure["high"] is None:
        return f"{format_duration(figure['value'])} [?]"
    unit = format_duration(figure["value"]).split()[-1]
    scale = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]
    return f"{format_duration(figure['value'])} [{figure['low'] / scale:.3g}, {figure['high'] / scale:.3g}]"


def _table(header: list[str], rows: list[list[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, *rows]:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _utilisation(document: Document) -> Iterator[str]:
    by_kind: dict[str, list[tuple[str, float]]] = {}
    for name, used in document["utilisation"].items():
        by_kind.setdefault(name.rsplit(" of ", 1)[0] if " of client" not in name else "client CPU", []).append(
            (name, used)
        )
    rows = []
    for kind, stations in by_kind.items():
        hottest, used = max(stations, key=lambda station: station[1])
        mean = sum(use for _, use in stations) / len(stations)
        rows.append([kind, f"{used:.0%}", f"{mean:.0%}", hottest.rsplit(" of ", 1)[-1]])
    if rows:
        yield from _table(["Utilisation", "hottest", "mean", "at"], rows)


def _limits(document: Document) -> Iterator[str]:
    yield f"The limit   {document['limit']['words']}"
    hops, messages = document["hops"], document["messages_per_operation"]
    yield f"Hops        {_pair(hops, '{:.1%}')} of requests wait for another node"
    yield f"Messages    {_pair(messages, '{:.2f}')} messages per operation between nodes"


def _pair(figures: Document, form: str) -> str:
    closed = form.format(figures["closed_form"])
    if figures.get("simulated") is None:
        return f"{closed} (closed form)"
    return f"{closed} (closed form; simulated {form.format(figures['simulated'])})"


def _terms(document: Document) -> Iterator[str]:
    terms = document.get("terms") or []
    if terms:
        rows = [[term["name"], format_duration(term["seconds"]), f"{term['share']:.1%}"] for term in terms]
        yield from _table(["Mean response time", "time", "share"], rows)


def _neighbours(document: Document) -> Iterator[str]:
    for key, question in (("add_node", "Add a node?"), ("remove_node", "Remove a node?")):
        found = document.get(key)
        if found is None:
            continue
        yield f"{question.ljust(15)} {found['words']}"
        for name, label in (("at_your_clients", "at your clients"), ("capacity", "capacity")):
            if found.get(name):
                yield f"  {label.ljust(16)}{_gain(found[name])}"
        if found.get("threshold") is not None:
            yield f"  a gain counts from {found['threshold']:.1%}"


def _gain(gain: Document) -> str:
    interval = f"{100 * gain['value']:+.0f} % [{100 * gain['low']:+.0f}, {100 * gain['high']:+.0f}]"
    return f"{interval.ljust(20)} {gain['verdict']}"


def _warnings(document: Document) -> Iterator[str]:
    for warning in document["warnings"]:
        yield f"Note: {warning}"
