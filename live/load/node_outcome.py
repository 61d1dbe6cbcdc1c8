"""From what nodes said around a run to the nodes and the cluster of its measurement.

CPU time, throttled time and disk operations are scaled from the time between the two readings to the measured time,
which differ by some tens of milliseconds. Counters are as read; `counters_s` is the time between the two sweeps, and
`counters_requests` the requests answered in it, by which counts per request are to be reckoned.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...model.measurement import ClusterFacts, Fact, NodeFacts
from .console import FoundNode
from .counters import differences, messages
from .node_probe import NodeSurroundings, NodeUse, grown
from .record import Reading, RunRecord, SiteFacts

Readings = tuple[Reading, Reading]


def node_facts(record: RunRecord, site: SiteFacts) -> tuple[NodeFacts, ...]:
    """Return the nodes of a measurement."""
    counters = _counters(record.span)
    return tuple(_node(node, record, site, counters.get(node.address, {})) for node in site.nodes)


def _node(node: FoundNode, record: RunRecord, site: SiteFacts, counters: Mapping[str, float]) -> NodeFacts:
    around = site.surroundings.get(node.address, NodeSurroundings())
    use, ratio = _use(node.address, record)
    return NodeFacts(
        name=node.address,
        datacenter=node.datacenter,
        rack=node.rack,
        version=node.version,
        cores=around.cores,
        nodes_on_cores=around.nodes_on_cores,
        cpu_s=_scaled(use.cpu_s, ratio),
        throttled_s=_scaled(use.throttled_s, ratio),
        disk_reads=_counted(use.disk_reads, ratio),
        disk_writes=_counted(use.disk_writes, ratio),
        counters=dict(counters),
        facts={**site.settings.get(node.address, {}), **around.facts},
    )


def _use(address: str, record: RunRecord) -> tuple[NodeUse, float]:
    """Return what a node used between the readings, and the measured time over the time between them."""
    if record.span is None or not record.measured:
        return NodeUse(), 1.0
    before, after = record.span
    apart_s = after.at_s - before.at_s
    measured_s = record.measured[-1].ended_s - record.measured[0].began_s
    known = address in before.use and address in after.use
    use = grown(before.use[address], after.use[address]) if known else NodeUse()
    return use, measured_s / apart_s if apart_s > 0 else 1.0


def _scaled(value: float | None, ratio: float) -> float | None:
    return None if value is None else value * ratio


def _counted(value: int | None, ratio: float) -> int | None:
    return None if value is None else round(value * ratio)


def cluster_facts(record: RunRecord, site: SiteFacts) -> ClusterFacts | None:
    """Return the cluster of a measurement, None where there is none."""
    if not site.nodes:
        return None
    facts: dict[str, Fact] = {}
    if (span_s := _apart_s(record.span)) is not None:
        facts["counters_s"] = span_s
        facts["counters_requests"] = round(requests_between(record), 1)
    if (idle_s := _apart_s(record.idle)) is not None:
        facts["idle_window_s"] = idle_s
    return ClusterFacts(
        version=", ".join(sorted({node.version for node in site.nodes if node.version})),
        nodes=len(site.nodes),
        caps=dict(site.caps),  # type: ignore[arg-type]  # checked by the value
        messages=_messages(record),
        facts=facts,
    )


def requests_between(record: RunRecord) -> float:
    """Return the requests answered between the sweeps, those of an interval taken as even in it."""
    assert record.span is not None and record.span[0].sweep is not None and record.span[1].sweep is not None
    begin_s, end_s = record.span[0].sweep.at_s, record.span[1].sweep.at_s
    intervals = (*record.warm_up, *record.measured, *record.after)
    shared_s = ((each, min(each.ended_s, end_s) - max(each.began_s, begin_s)) for each in intervals)
    return sum(each.rate_per_s * overlap_s for each, overlap_s in shared_s if overlap_s > 0)


def _messages(record: RunRecord) -> dict[str, dict[str, float]]:
    """Return the messages of the load: those between the readings, less what flows without load."""
    sent = messages(_counters(record.span))
    span_s, idle_s = _apart_s(record.span), _apart_s(record.idle)
    if not span_s or not idle_s:
        return sent
    silent = messages(_counters(record.idle))
    return {
        sender: {
            receiver: max(0.0, count - silent.get(sender, {}).get(receiver, 0.0) * span_s / idle_s)
            for receiver, count in receivers.items()
        }
        for sender, receivers in sent.items()
    }


def _counters(readings: Readings | None) -> dict[str, dict[str, float]]:
    if readings is None or readings[0].sweep is None or readings[1].sweep is None:
        return {}
    return differences(readings[0].sweep, readings[1].sweep)


def _apart_s(readings: Readings | None) -> float | None:
    """Return the time between the sweeps of two readings."""
    if readings is None or readings[0].sweep is None or readings[1].sweep is None:
        return None
    return readings[1].sweep.at_s - readings[0].sweep.at_s
