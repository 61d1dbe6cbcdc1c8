"""A fit, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

DETERMINED = 0.5
"""Share of what is known of a parameter that comes from the runs, from which on they have told it."""


def calibration_text(summary: Mapping[str, Any]) -> str:
    """Return the text of `calibrate.fit_summary`."""
    return "\n".join(_lines(summary))


def _lines(summary: Mapping[str, Any]) -> Iterator[str]:
    yield from _errors(summary)
    yield ""
    yield from _parameters(summary["parameters"])
    for title, key in (("Not told by these runs", "not_told"), ("Not good", "doubts")):
        if summary[key]:
            yield ""
            yield title
            yield from (f"  {line}" for line in summary[key])
    if summary["refused"]:
        yield ""
        yield f"Refused {len(summary['refused'])} runs"
        yield from (f"  {line}" for line in refusals(summary["refused"]))
    weighed = [run for run in summary["runs"] if run["reasons"]]
    if weighed:
        yield ""
        yield "Weighed down"
        yield from (f"  {run['run']}: weight {run['weight']:.2g}; {'; '.join(run['reasons'])}" for run in weighed)


def _errors(summary: Mapping[str, Any]) -> Iterator[str]:
    errors, form = summary["errors"], summary["discrepancy"]
    yield f"{'run':<58}{'measured':>12} {'fitted':>8} {'left out':>8} {'noise':>7}"
    for run in summary["runs"]:
        shown = f"{run['measured']:,.0f}/s" if run["what"] == "throughput" else f"{run['measured'] * 1e6:,.0f} µs CPU"
        missed = f"{run['fitted_error']:>+8.1%} {run['left_out_error']:>+8.1%} {run['noise']:>7.1%}"
        yield f"{run['run']:<58}{shown:>12} {missed}"
    if errors["n"]:
        yield (
            f"median error {errors['median']:.1%} (nine in ten {errors['p90']:.1%}); "
            f"without the run itself {errors['left_out_median']:.1%} ({errors['left_out_p90']:.1%})"
        )
    yield "beyond noise and parameters " + ", ".join(f"{name} {value:.0%}" for name, value in form.items())


def _parameters(parameters: list[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{'parameter':<26}{'value':>12} {'error':>7}  known from"
    for one in parameters:
        shown = f"{one['value'] * 1e6:,.1f} µs" if one["name"].endswith("_s") else f"{one['value']:.3g}"
        origin = "runs" if one["told_by_runs"] > DETERMINED else "profile"
        yield f"{one['name']:<26}{shown:>12} {one['relative_std_err']:>7.0%}  {origin}"


def refusals(refused: list[Mapping[str, Any]], most: int = 12) -> Iterator[str]:
    """Yield refused runs with their reasons, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for one in refused:
        by_reason.setdefault("; ".join(one["reasons"]), []).append(one["name"])
    for reason, names in by_reason.items():
        more = f" and {len(names) - most} more" if len(names) > most else ""
        yield f"{reason}: {', '.join(names[:most])}{more}"
