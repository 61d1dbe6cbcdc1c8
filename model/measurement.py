"""A measurement: what a run, an observation or another tool's output said about a cluster.

Version 1 of the measurement file. Almost everything is optional: a figure imported from prose has a throughput and
little else. Histograms are in the compressed HDR form; series are columns of equal length; counters are differences
over the run. Later parts of the package only add optional keys.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field, model_validator

from .histogram import Histogram
from .metrics import Latency, LatencyKind, LatencyStatistic, Quantity
from .scenario import Scenario
from .units import Seconds
from .value import Value

FORMAT_VERSION = 1
"""Version of the measurement file format written by this package."""

ALL = "all"
"""Name that stands for all operations together."""

Fact = bool | int | float | str
Count = int


class Tool(Value):
    """What measured."""

    name: str
    """Name, such as `capmodel load run` or `cassandra-stress`."""
    version: str = ""
    command_line: str = ""
    """As given, without secrets."""


class LatencyHistogram(Value):
    """The latencies of one operation, of one kind."""

    kind: LatencyKind
    """Span of time."""
    statistic: LatencyStatistic = LatencyStatistic.OVER_REQUESTS
    """What is counted: requests, or means of intervals."""
    encoded: str
    """HDR histogram, V2, compressed, base64; values in microseconds."""
    above_range: Count = Field(default=0, ge=0)
    """Latencies above the range of the histogram."""
    effective_n: float | None = Field(default=None, gt=0)
    """Number of independent requests that tell as much (autocorrelation); not known when not given."""

    @property
    def histogram(self) -> Histogram:
        """The counts."""
        return Histogram(self.encoded, self.above_range)


class OperationMeasured(Value):
    """One operation of the run, by histograms or by figures that a source gave."""

    requests: Count | None = Field(default=None, ge=0)
    """Requests answered in the measured time."""
    throughput_per_s: Quantity | None = None
    """Rate as stated; requests over duration when not given."""
    histograms: tuple[LatencyHistogram, ...] = ()
    """One for each kind of latency."""
    latency_s: Latency | None = None
    """Figures given as numbers, where there is no histogram."""
    wait_s: Latency | None = None
    """From intended start to send, of an open load."""


class Series(Value):
    """The run by intervals; columns [intervals], with None where nothing is known."""

    t_s: tuple[float, ...]
    """End of each interval since the start of the measured time; negative is warm-up."""
    rate_per_s: tuple[float | None, ...] = ()
    p50_s: tuple[float | None, ...] = ()
    p99_s: tuple[float | None, ...] = ()
    mean_s: tuple[float | None, ...] = ()
    errors: tuple[int | None, ...] = ()
    in_flight: tuple[float | None, ...] = ()

    @model_validator(mode="after")
    def _equal_length(self) -> Series:
        columns = {name: len(getattr(self, name)) for name in type(self).model_fields}
        uneven = [name for name, length in columns.items() if length not in (0, len(self.t_s))]
        if uneven:
            raise ValueError(f"columns of {len(self.t_s)} values, as t_s has; not so {', '.join(uneven)}")
        return self


class NodeFacts(Value):
    """One node over the run."""

    name: str
    """Name or address."""
    datacenter: str = ""
    rack: str = ""
    version: str = ""
    cores: float | None = Field(default=None, gt=0)
    """Cores it may use: its quota where it has one."""
    nodes_on_cores: int | None = Field(default=None, ge=1)
    """Nodes that shared its cores, itself included."""
    cpu_s: Seconds | None = Field(default=None, ge=0)
    """CPU time it used in the measured time."""
    throttled_s: Seconds | None = Field(default=None, ge=0)
    """Time its quota stopped it."""
    throttled_ratio: float | None = Field(default=None, ge=0, le=1)
    """Share of quota periods in which it was stopped."""
    disk_reads: Count | None = Field(default=None, ge=0)
    disk_writes: Count | None = Field(default=None, ge=0)
    disk_read_bytes: Count | None = Field(default=None, ge=0)
    disk_write_bytes: Count | None = Field(default=None, ge=0)
    gc_pause_s: Seconds | None = Field(default=None, ge=0)
    counters: dict[str, float] = Field(default={})
    """Differences over the run, by the names of the node's virtual tables."""
    facts: dict[str, Fact] = Field(default={})
    """Settings and whatever else was read."""


class ClusterFacts(Value):
    """The cluster as it was found."""

    version: str = ""
    nodes: int | None = Field(default=None, ge=1)
    """Nodes of the measured cluster."""
    nodes_on_host: int | None = Field(default=None, ge=1)
    """Nodes on the host, those of twin clusters included."""
    caps: dict[str, Literal["effective", "not effective", "not tried"]] = Field(default={})
    """Limits that were asked for (cpu, memory, block_io, network), and whether they bind."""
    messages: dict[str, dict[str, float]] = Field(default={})
    """Internode messages over the run, by sender and receiver."""
    host_sharing_ratio: Quantity | None = None
    """Cost of local work in this layout over that of a node alone, from anchor cells."""
    reference_per_s: tuple[float, ...] = ()
    """Rates of the reference cell around the run."""
    facts: dict[str, Fact] = Field(default={})
    """Settings and whatever else was read."""


class ClientFacts(Value):
    """The load generator over the run."""

    machines: int = Field(default=1, ge=1)
    processes: int = Field(default=1, ge=1)
    processors: float | None = Field(default=None, gt=0)
    """Processors it could use, over all machines."""
    cpu_s: Seconds | None = Field(default=None, ge=0)
    """CPU time it used."""
    pauses_s: Seconds | None = Field(default=None, ge=0)
    """Time of its garbage collections."""
    lag_s: Latency | None = None
    """How late its event loop ran."""
    send_lag_s: Latency | None = None
    """How late it came to the intended starts of an open load, its own fault."""
    send_lag: LatencyHistogram | None = None
    """The same as a histogram."""
    missed_starts: Count | None = Field(default=None, ge=0)
    facts: dict[str, Fact] = Field(default={})


class ErrorEvent(Value):
    """Errors of one kind within one stretch of time."""

    kind: str
    """Such as `ReadTimeout` or `NoHostAvailable`."""
    at_s: float
    """Since the start of the measured time."""
    count: Count = Field(default=1, ge=1)


class Verdict(Value):
    """Whether the run may be used, and why not."""

    kind: Literal["valid", "client-limited", "host-limited", "not-steady", "overloaded", "not judged"] = "not judged"
    reasons: tuple[str, ...] = ()


class Provenance(Value):
    """Where a number of an imported measurement stands."""

    file: str
    line: int | None = Field(default=None, ge=1)
    text: str = ""
    """The number as it stands there."""
    unit: str = ""
    """Unit there."""
    kind: LatencyKind | None = None
    statistic: LatencyStatistic | None = None
    repaired: str = ""
    """What was repaired or derived, in words."""


class Measurement(Value):
    """One run or observation."""

    format_version: int = Field(default=FORMAT_VERSION, ge=FORMAT_VERSION, le=FORMAT_VERSION)
    """Version of the file format."""
    name: str = "measurement"
    title: str = ""
    scenario: Scenario | None = None
    """What was measured, as the model reads it."""
    scenario_missing: tuple[str, ...] = ()
    """Keys of the scenario that the source does not state and that stand at their defaults."""
    tool: Tool | None = None
    started_at: datetime | None = None
    """Start of the measured time."""
    duration_s: Seconds | None = Field(default=None, gt=0)
    """Measured time, without warm-up."""
    warm_up_s: Seconds | None = Field(default=None, ge=0)
    """Time before it that was not counted."""
    ended: Literal["planned", "early", "failed"] = "planned"
    """How it came to an end."""
    throughput_per_s: Quantity | None = None
    """Over all operations, as stated; the sum over operations when not given."""
    operations: dict[str, OperationMeasured] = Field(default={})
    """By name; `all` where a source does not tell them apart."""
    series: dict[str, Series] = Field(default={})
    """By operation, or `all`."""
    nodes: tuple[NodeFacts, ...] = ()
    cluster: ClusterFacts | None = None
    client: ClientFacts | None = None
    utilisation: dict[str, float] = Field(default={})
    """Share of capacity in use by station, as stated; from CPU time and cores when not given."""
    counters: dict[str, float] = Field(default={})
    """Differences over the run, summed over nodes."""
    errors: tuple[ErrorEvent, ...] = ()
    error_counts: dict[str, Count] = Field(default={})
    """Errors by kind where no times are known."""
    verdict: Verdict = Verdict()
    notes: tuple[str, ...] = ()
    """What a reader should know: lines that could not be read, inconsistent rows."""
    provenance: dict[str, Provenance] = Field(default={})
    """By dotted path of a number."""
