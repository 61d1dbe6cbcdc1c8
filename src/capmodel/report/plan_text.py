"""Plans as text for a terminal, and in plain types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model.plain_points import plain_figure
from ..model.planning import Plan, Requirement

Plain = Mapping[str, Any]


def plain_plan(plans: Sequence[Plan], wanted: Requirement) -> dict[str, Any]:
    """Return plans in plain types."""
    asked = {
        "rate_per_s": wanted.rate_per_s,
        "failures": wanted.failures,
        "utilisation": wanted.utilisation,
        "disk": wanted.disk,
        "confidence": wanted.confidence,
    }
    return {"format_version": 1, "wanted": asked, "plans": [_plain(one) for one in plans]}


def _plain(one: Plan) -> dict[str, Any]:
    price = one.machine.price
    return {
        "machine": one.machine.name,
        "nodes": one.nodes,
        "cores": one.nodes * one.machine.cores if one.nodes else None,
        "binds": one.binds,
        "limit": one.limit,
        "risk": one.risk,
        "capacity_per_s": plain_figure(one.capacity_per_s),
        "price_per_month": one.cost,
        "price_source": f"{price.source}, {price.date}" if price else None,
        "currency": price.currency if price else None,
        "confirmed": _confirmed(one),
    }


def _confirmed(one: Plan) -> dict[str, Any] | None:
    """Return what a simulation of the plan says: whether it carries the load, and its p99."""
    found = one.confirmed
    if found is None:
        return None
    tails = [latency.p99.value for latency in found.latency_s.values() if latency.p99 and latency.p99.value]
    return {"carries": bool(found.latency_s), "p99_s": max(tails, default=None)}


def plan_text(plan: Plain) -> str:
    """Return the text of a plan: the best first, then why others are out."""
    return "\n".join(_lines(plan))


def _lines(plan: Plain) -> Iterator[str]:
    wanted = plan["wanted"]
    yield (
        f"{wanted['rate_per_s']:,.0f} operations/s with {_nodes(wanted)} gone, at most "
        f"{wanted['utilisation']:.0%} of the capacity and {wanted['disk']:.0%} of the disks used, sure to "
        f"{wanted['confidence']:.0%}"
    )
    yield ""
    yield f"{'machine':<16}{'nodes':>6}{'cores':>7}  {'decided by':<12}{'capacity then':>24}{'risk':>6}  simulated"
    for one in plan["plans"]:
        if one["nodes"] is not None:
            yield _row(one)
    out = [one for one in plan["plans"] if one["nodes"] is None]
    if out:
        yield ""
    for one in out:
        yield f"Not {one['machine']}: {one['binds']}"
    yield ""
    yield _best(plan)


def _row(one: Plain) -> str:
    capacity = one["capacity_per_s"]
    shown = f"{capacity['value']:,.0f}/s [{capacity['low']:,.0f}, {capacity['high']:,.0f}]"
    price = f"  {one['price_per_month']:,.0f} {one['currency']}/month" if one["price_per_month"] else ""
    row = f"{one['machine']:<16}{one['nodes']:>6}{one['cores']:>7}  {one['binds']:<12}{shown:>24}{one['risk']:>6.0%}"
    return f"{row}  {_simulated(one['confirmed'])}{price}"


def _simulated(found: Plain | None) -> str:
    if found is None:
        return "not simulated"
    if not found["carries"]:
        return "does not carry the load"
    return "carries it" + (f", p99 {found['p99_s'] * 1e3:.3g} ms" if found["p99_s"] else "")


def _best(plan: Plain) -> str:
    usable = [one for one in plan["plans"] if one["nodes"] is not None]
    if not usable:
        return "No machine here carries the load: see what limits each, or ask for less."
    one = usable[0]
    ranked = "price" if one["price_per_month"] else "cores, as no price is known"
    return f"{one['nodes']} x {one['machine']}: the least by {ranked}; decided by {one['binds']}."


def _nodes(wanted: Plain) -> str:
    return "1 node" if wanted["failures"] == 1 else f"{wanted['failures']} nodes"
