"""Advice as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Plain = Mapping[str, Any]


def advice_text(advice: Plain, summary: str) -> str:
    """Return the changes, the most gainful first; `summary` says of what scenario."""
    return "\n".join(_lines(advice, summary))


def _lines(advice: Plain, summary: str) -> Iterator[str]:
    yield summary
    yield f"a gain counts from {advice['threshold']:.0%}; 90 % intervals; by mean-value analysis"
    yield ""
    yield f"{'single change':<29}{'at your clients':<40}{'capacity':<40}then limited by"
    for one in advice["changes"]:
        clients, capacity = _gain(one["at_your_clients"]), _gain(one["capacity"])
        yield f"{one['change']:<29}{clients:<40}{capacity:<40}{one['limit']}"
    yield ""
    helping = [one for one in advice["changes"] if _verdict(one) == "helps"]
    for one in helping[:3]:
        given = f" It gives up: {one['gives_up']}." if one["gives_up"] else ""
        yield f"{one['change'][0].upper()}{one['change'][1:]}: {one['how']}.{given}"
    if not helping:
        yield "No single change is sure to help at your clients; measure before you buy."
    unsure = [one["change"] for one in advice["changes"] if _verdict(one) == "cannot tell"]
    if unsure:
        yield f"Cannot tell for: {', '.join(unsure)}. Calibrate on runs of your cluster to narrow the intervals."


def _verdict(one: Plain) -> str:
    return str((one["at_your_clients"] or {}).get("verdict"))


def _gain(found: Plain | None) -> str:
    if found is None:
        return "-"
    return f"{found['value']:+.0%} [{found['low']:+.0%}, {found['high']:+.0%}] {found['verdict']}"
