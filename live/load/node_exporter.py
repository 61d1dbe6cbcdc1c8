"""CPU time and disk operations of nodes by the exporter of Prometheus that many clusters run beside Cassandra.

What it says is that of a whole machine: where other things run on it, they are in it.

Source: prometheus/node_exporter, collectors `cpu` and `diskstats`; the text format of Prometheus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.error import URLError
from urllib.request import urlopen

from ...model.errors import RunError
from .node_probe import NodeSurroundings, NodeUse

PATIENCE_S = 5.0
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? ([-+.eE\d]+|NaN)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_AT_REST = ("idle", "iowait", "steal")
"""Modes in which a processor does nothing for this machine; guest time is part of user time and counted there."""
_PARTS = re.compile(r"^(dm-|loop|ram|sr|.*\d+p\d+$|sd[a-z]+\d+$|vd[a-z]+\d+$|xvd[a-z]+\d+$)")
"""Devices that are parts or views of others."""
Samples = Sequence[tuple[str, Mapping[str, str], float]]


class NodeExporterProbe:
    """Asks the exporter of every node."""

    def __init__(self, addresses: Sequence[str], port: int) -> None:
        self._addresses, self._port = addresses, port

    def use(self) -> Mapping[str, NodeUse]:
        """Return what each machine has used so far."""
        return {address: machine_use(self._samples(address)) for address in self._addresses}

    def surroundings(self) -> Mapping[str, NodeSurroundings]:
        """Return the processors of each machine."""
        return {address: NodeSurroundings(cores=processors(self._samples(address))) for address in self._addresses}

    def caps(self) -> Mapping[str, str]:
        """Return nothing: it knows of no limits."""
        return {}

    def _samples(self, address: str) -> Samples:
        place = f"http://{address}:{self._port}/metrics"
        try:
            with urlopen(place, timeout=PATIENCE_S) as answer:
                return samples(answer.read().decode("utf-8", "replace"))
        except (URLError, OSError) as error:
            raise RunError(f"no node exporter at {place}: {error}") from None


def samples(text: str) -> Samples:
    """Return name, labels and value of each line.

    >>> samples('node_cpu_seconds_total{cpu="0",mode="user"} 12.5')
    [('node_cpu_seconds_total', {'cpu': '0', 'mode': 'user'}, 12.5)]
    """
    return list(_samples(text))


def _samples(text: str) -> Iterator[tuple[str, Mapping[str, str], float]]:
    for line in text.splitlines():
        if found := _SAMPLE.match(line):
            yield found[1], dict(_LABEL.findall(found[2] or "")), float(found[3])


def machine_use(found: Samples) -> NodeUse:
    """Return what a machine has used since it was started."""
    busy = [value for name, labels, value in found if _is_work(name, labels)]
    reads, writes = (_disks(found, f"node_disk_{way}_completed_total") for way in ("reads", "writes"))
    return NodeUse(cpu_s=sum(busy) if busy else None, disk_reads=reads, disk_writes=writes)


def _is_work(name: str, labels: Mapping[str, str]) -> bool:
    return name == "node_cpu_seconds_total" and labels.get("mode") not in _AT_REST


def _disks(found: Samples, wanted: str) -> int | None:
    whole = [value for name, labels, value in found if name == wanted and not _PARTS.match(labels.get("device", ""))]
    return round(sum(whole)) if whole else None


def processors(found: Samples) -> float | None:
    """Return the number of processors of a machine."""
    numbers = {labels.get("cpu") for name, labels, _ in found if name == "node_cpu_seconds_total"}
    return float(len(numbers)) or None
