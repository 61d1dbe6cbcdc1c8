"""What a cluster does, in figures: throughput, latencies, utilisation, errors.

The same type in a prediction and in a measurement, so that any two can be compared. A figure is an interval at
`estimate.LEVEL`, or nothing with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from .estimate import Interval, Z
from .value import Value


class LatencyKind(StrEnum):
    """Which span of time a latency is."""

    SERVICE = "service"
    """From send to answer."""
    RESPONSE = "response"
    """From intended start to answer."""
    WAIT = "wait"
    """From intended start to send."""
    UNKNOWN = "unknown"


class LatencyStatistic(StrEnum):
    """Over what the percentiles of a latency are taken."""

    OVER_REQUESTS = "over-requests"
    OVER_INTERVAL_MEANS = "over-interval-means"
    OVER_INTERVAL_PERCENTILES = "over-interval-percentiles"
    """A mean or median of the percentiles of intervals."""
    UNKNOWN = "unknown"


class Quantity(Value):
    """A figure with its interval, or without a value and with the reason."""

    value: float | None
    """Best estimate; None when there is none."""
    low: float | None = None
    """Lower end of the interval; None when it is not known."""
    high: float | None = None
    """Upper end of the interval; None when it is not known."""
    parts: dict[str, float] | None = None
    """Relative standard deviation by cause, where the interval has several."""
    reason: str | None = None
    """Why the value or an end of its interval is missing."""

    @model_validator(mode="after")
    def _ordered(self) -> Quantity:
        ends = [end for end in (self.low, self.value, self.high) if end is not None]
        if ends != sorted(ends):
            raise ValueError("low <= value <= high")
        return self

    @model_serializer(mode="wrap")
    def _without_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = handler(self)
        return {key: item for key, item in document.items() if item is not None or key in ("value", "low", "high")}

    @classmethod
    def of(cls, interval: Interval, parts: dict[str, float] | None = None) -> Quantity:
        """Return the figure of an interval; an infinite end is one that is not known."""
        low, high = (end if math.isfinite(end) else None for end in (interval.low, interval.high))
        return cls(value=interval.value, low=low, high=high, parts=parts)

    @classmethod
    def absent(cls, reason: str) -> Quantity:
        """Return a figure that is not known, with the reason."""
        return cls(value=None, reason=reason)

    @property
    def log_std_err(self) -> float | None:
        """Standard error of the logarithm, from the ends that are known; None when it cannot be told."""
        if self.value is None or self.value <= 0:
            return None
        ends = [end / self.value for end in (self.low, self.high) if end is not None]
        if not ends or ends[0] <= 0:
            return None
        return sum(abs(math.log(end)) for end in ends) / (len(ends) * Z)


class Percentiles(Value):
    """Mean and percentiles of a latency, in seconds."""

    mean: Quantity | None = None
    p50: Quantity | None = None
    p95: Quantity | None = None
    p99: Quantity | None = None
    p999: Quantity | None = None

    def present(self) -> Iterator[tuple[str, Quantity]]:
        """Yield the name and figure of each statistic that has a value."""
        for name in STATISTICS:
            figure: Quantity | None = getattr(self, name)
            if figure is not None and figure.value is not None:
                yield name, figure


STATISTICS: tuple[str, ...] = tuple(Percentiles.model_fields)
"""Names of the statistics of a latency, in order."""
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
"""Share of requests at or below each percentile."""


class Latency(Percentiles):
    """A latency with what it means."""

    kind: LatencyKind = LatencyKind.UNKNOWN
    """Span of time."""
    statistic: LatencyStatistic = LatencyStatistic.UNKNOWN
    """Over what the percentiles are taken."""


class ErrorCount(Value):
    """Failed requests of one kind."""

    count: int = Field(ge=0)
    ratio: float | None = Field(default=None, ge=0, le=1)
    """Share of all requests, where their number is known."""


class Metrics(Value):
    """Throughput, latency by operation, utilisation by station, errors by kind."""

    throughput_per_s: Quantity = Quantity.absent("not given")
    """Operations answered per second, as a client counts them."""
    latency_s: dict[str, Latency] = Field(default={})
    utilisation: dict[str, float] = Field(default={})
    """Share of each station's capacity in use."""
    errors: dict[str, ErrorCount] = Field(default={})
