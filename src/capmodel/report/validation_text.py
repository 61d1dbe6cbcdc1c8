"""A validation, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Summary = Mapping[str, Any]


def validation_text(summary: Summary) -> str:
    """Return the text of `calibrate.validation_summary`."""
    return "\n".join(_lines(summary))


def _lines(summary: Summary) -> Iterator[str]:
    yield from _cells(summary["cells"])
    yield ""
    yield f"{'figure':<12}{'n':>5} {'median':>7} {'nine in ten':>12} {'bias':>7} {'noise':>7}  90 % intervals"
    yield from (_summary(one) for one in summary["summaries"])
    if "speeds" in summary:
        yield "speed by start, from runs at RF 1: " + ", ".join(f"{k} {v:.2f}" for k, v in summary["speeds"].items())
    if summary["bias"]:
        yield ""
        yield "Bias of the throughput by factor (* more than chance)"
        yield from (_bias(one) for one in summary["bias"])
    if summary["verdicts"]:
        yield ""
        yield from _verdicts(summary)
    if summary["warnings"]:
        yield ""
        yield from (f"Note: {warning}" for warning in summary["warnings"])
    if summary["runs_left_out_as_fitted"]:
        yield f"Note: {summary['runs_left_out_as_fitted']} runs were left out, the calibration was fitted to them"


def _cells(cells: list[Summary]) -> Iterator[str]:
    yield f"{'run':<52}{'figure':<11}{'measured':>11} {'predicted':>11} {'interval':>23}   error"
    for cell in cells:
        scale, unit = _unit(cell["kind"])
        low, high = cell["low"], cell["high"]
        interval = "" if low is None or high is None else f"[{_number(low * scale)}, {_number(high * scale)}]"
        mark = "" if cell["held"] in (True, None) else " !"
        yield (
            f"{cell['run']:<52}{cell['kind']:<11}{_number(cell['measured'] * scale) + unit:>11} "
            f"{_number(cell['predicted'] * scale) + unit:>11} {interval:>23} {cell['error']:>+7.0%}{mark}"
        )


def _unit(kind: str) -> tuple[float, str]:
    return {"throughput": (1.0, "/s"), "node CPU": (100.0, " %")}.get(kind, (1e3, " ms"))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _summary(one: Summary) -> str:
    held = one["coverage"]
    low, high = held["region"]
    words = f"{held['held']} of {held['n']} hold ({low} to {high} agree)" if held["n"] else "none stated"
    return (
        f"{one['what']:<12}{one['n']:>5} {one['median']:>7.1%} {one['p90']:>12.1%} {one['bias']:>+7.1%} "
        f"{one['noise']:>7.1%}  {words}"
    )


def _bias(one: Summary) -> str:
    spread = "" if one["std_err"] is None else f" ± {one['std_err']:.1%}"
    mark = " *" if one["significant"] else ""
    return f"  {one['factor']:<11}{one['level']:<22}n {one['n']:<4}{one['bias']:+.1%}{spread}{mark}"


def _verdicts(summary: Summary) -> Iterator[str]:
    counted = ", ".join(f"{count} {judged}" for judged, count in summary["verdict_counts"].items())
    yield f"One node more: {counted}"
    for one in summary["verdicts"]:
        measured, predicted = one["measured"], one["predicted"]
        yield (
            f"  {one['to']} ({one['load']}): measured {measured['value']:+.0%} ({measured['verdict']}), "
            f"predicted {predicted['value']:+.0%} ({predicted['verdict']}): {one['judged']}"
        )
