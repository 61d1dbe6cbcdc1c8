"""Figures of one run, each with its place, to a measurement."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ...model.histogram import Histogram
from ...model.measurement import ALL, Measurement, Provenance
from ...model.metrics import LatencyKind, LatencyStatistic
from .lines import Line
from .redaction import redacted

NO_INTERVAL = "the source states no error"
IN_FLIGHT_SLACK = 1.1
"""Ratio of derived to stated requests in flight above which a row contradicts itself: means are printed to two
digits, so 10 % is within rounding of 0.5 ms."""


@dataclass
class RunRecorder:
    """Collects what one run states; paths are those of the measurement file."""

    file: str
    tool: str
    kind: LatencyKind = LatencyKind.UNKNOWN
    statistic: LatencyStatistic = LatencyStatistic.UNKNOWN
    title: str = ""
    command_line: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Provenance] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def quantity(self, path: str, value: float, line: Line, text: str, unit: str, repaired: str = "") -> None:
        """Keep a rate or a latency, in SI units, without an interval."""
        self._put(path, {"value": value, "reason": NO_INTERVAL})
        self._place(f"{path}.value", line, text, unit, repaired)

    def fact(self, path: str, value: float | str, line: Line, text: str, unit: str = "", repaired: str = "") -> None:
        """Keep a plain number or word."""
        self._put(path, value)
        self._place(path, line, text, unit, repaired)

    def histogram(self, operation: str, found: Histogram, line: Line, how: str) -> None:
        """Keep the latencies of an operation, and their number as that of its requests."""
        kinds = {"kind": self.kind, "statistic": self.statistic}
        kept = {"encoded": found.encoded, "above_range": found.above_range, **kinds}
        self._put(f"operations.{operation}", {"requests": found.n, "histograms": [kept]})
        self._place(f"operations.{operation}.histograms.0", line, "", "", how)

    def missing(self, path: str, line: Line, text: str) -> None:
        """Say that a number stands there that is none."""
        self.notes.append(f"{self.file}:{line.number}: {path} is {text!r}, kept as missing")

    @property
    def holds_figures(self) -> bool:
        """Whether any number was found."""
        return bool(self.provenance)

    def value(self, path: str) -> float | None:
        """Return a number that was kept, or None."""
        here: Any = self.data
        for key in path.split("."):
            here = here.get(key) if isinstance(here, dict) else None
        found = here["value"] if isinstance(here, dict) else here
        return float(found) if isinstance(found, int | float) else None

    def finish(self, name: str) -> Measurement:
        """Return the measurement."""
        self._derive_in_flight()
        for operation in self.data.get("operations", {}).values():
            if "latency_s" in operation:
                operation["latency_s"].update(kind=self.kind, statistic=self.statistic)
        tool = {"name": self.tool, "command_line": redacted(self.command_line)}
        data = {**self.data, "name": name, "title": redacted(self.title), "tool": tool, "notes": tuple(self.notes)}
        return Measurement.model_validate({**data, "provenance": self.provenance})

    def _derive_in_flight(self) -> None:
        """Derive requests in flight by Little's law where both are stated, and set them beside the stated."""
        rate, mean_s = self.value("throughput_per_s"), self.value(f"operations.{ALL}.latency_s.mean")
        if rate is None or mean_s is None:
            return
        derived, stated = rate * mean_s, self.value("client.facts.in_flight")
        if stated is None:
            self._put("client.facts.in_flight_derived", derived)
            how = "derived: rate x mean latency"
            self.provenance["client.facts.in_flight_derived"] = Provenance(file=self.file, repaired=how)
        elif derived > stated * IN_FLIGHT_SLACK:
            self.notes.append(f"inconsistent: rate x mean latency is {derived:.3g} in flight, stated are {stated:g}")

    def _put(self, path: str, value: object) -> None:
        *parents, last = path.split(".")
        here = self.data
        for key in parents:
            here = here.setdefault(key, {})
        here[last] = value

    def _place(self, path: str, line: Line, text: str, unit: str, repaired: str) -> None:
        latency = "latency_s" in path
        self.provenance[path] = Provenance(
            file=self.file,
            line=line.number,
            text=text,
            unit=unit,
            kind=self.kind if latency else None,
            statistic=self.statistic if latency else None,
            repaired=repaired,
        )


def operation_name(text: str) -> str:
    """Return an operation's name as a key: lower case, no dots."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return {"insert": "write", "update": "write", "mutate": "write"}.get(name, name) or ALL
