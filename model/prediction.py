"""A prediction: the published JSON form is the contract that reports, pipelines and other tools build on.

No times of day, and keys in one order, so that the same seed gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_serializer, model_validator

from .document import Document, read_document, upgraded, validated
from .errors import InputError
from .metrics import Latency, LatencyKind, LatencyStatistic, Metrics, Percentiles, Quantity
from .scenario import Scenario
from .value import Value

FORMAT_VERSION = 1
"""Version of the published form."""


class ProfileUsed(Value):
    """Which calibration the demands come from."""

    name: str
    good_for: str
    """What it may be used for, in words."""


class PredictedLimit(Value):
    """What limits throughput (of an open load: capacity)."""

    station: str
    """Resource, or `shared`."""
    elasticity: float
    """Per cent of throughput that one per cent more of it brings."""
    words: str


class TwoWays(Value):
    """A figure that was found by counting cases and by simulation."""

    closed_form: float
    simulated: float | None = None
    """None when nothing was simulated."""


class PredictedGain(Value):
    """A relative change with its interval and verdict."""

    value: float
    low: float
    high: float
    verdict: str

    @model_validator(mode="after")
    def _ordered(self) -> PredictedGain:
        if not self.low <= self.value <= self.high:
            raise ValueError("low <= value <= high")
        return self


class NodeChange(Value):
    """What one node more, or one less, changes."""

    at_your_clients: PredictedGain | None
    """Of throughput with the same requests in flight; for an open load of p99. None when the load is not carried."""
    capacity: PredictedGain
    """Of the largest stable load."""
    threshold: float = Field(gt=0)
    """Change that counts."""
    words: str


class Term(Value):
    """One part of the mean response time."""

    name: str
    seconds: float
    share: float


class PredictedScenario(Scenario):
    """The scenario as it was assumed, with its summary in a line."""

    summary: str = ""


class Prediction(Value):
    """What a cluster will do; version 1 of the published form."""

    format_version: int = Field(default=FORMAT_VERSION, ge=FORMAT_VERSION, le=FORMAT_VERSION)
    scenario: PredictedScenario
    profile: ProfileUsed
    solver: Literal["bounds", "mva", "simulate"]
    seed: int
    simulated_requests: int = Field(default=0, ge=0)
    """Requests behind the simulated figures; with `--requests` this number repeats them."""
    throughput_per_s: Quantity | None
    """None when an open load cannot be carried."""
    largest_stable_per_s: float | None = None
    """Largest stable rate of an open load that cannot be carried."""
    latency_s: dict[str, Percentiles] = Field(default={})
    """By operation."""
    latency_kind: LatencyKind = LatencyKind.SERVICE
    """Span of time that the latencies are: service of a closed load, response of an open one."""
    utilisation: dict[str, float] = Field(default={})
    """Share of capacity in use by station."""
    errors_ratio: dict[str, float] | None = None
    """Share of requests that fail, by kind, where any do."""
    limit: PredictedLimit
    hops: TwoWays
    """Probability that a request waits for another node."""
    messages_per_operation: TwoWays
    """Messages between nodes, both directions."""
    add_node: NodeChange | None = None
    remove_node: NodeChange | None = None
    terms: tuple[Term, ...] | None = None
    """Parts of the mean response time, when asked for."""
    sensitive_inputs: tuple[str, ...] = ()
    """The three inputs that would change the answer most."""
    warnings: tuple[str, ...] = ()
    headline: str = ""
    """The line to forward."""

    @model_serializer(mode="plain")
    def _published(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: _plain(name, item) for name, item in fields.items() if item is not None or name in _ALWAYS}

    def to_json_dict(self) -> dict[str, Any]:
        """Return the published form: plain maps, lists, numbers and text, in the order of the fields."""
        document: dict[str, Any] = self.model_dump(mode="json")
        return document

    @classmethod
    def from_json_dict(cls, data: dict[str, Any]) -> Prediction:
        """Return the prediction of a published form.

        Raises:
            InputError: with all problems of the form.
        """
        return _checked(Document(data))


_ALWAYS = ("throughput_per_s",)
"""Keys that are there even when nothing is known."""


def _plain(name: str, item: Any) -> Any:
    """Return an item in plain types; of a scenario what is given, the summary first."""
    if isinstance(item, PredictedScenario):
        given = item.model_dump(mode="json", exclude_none=True)
        return {"summary": given.pop("summary"), **given}
    if isinstance(item, Value):
        return item.model_dump(mode="json")
    if isinstance(item, dict):
        return {key: _plain(key, held) for key, held in item.items()}
    return [_plain(name, held) for held in item] if isinstance(item, tuple) else item


def _checked(document: Document) -> Prediction:
    present = upgraded(document, {}, FORMAT_VERSION, InputError)
    return validated(Prediction, present, InputError)


def load_prediction(path: str | Path) -> Prediction:
    """Return the prediction of a file in its published form.

    Raises:
        InputError: a file that is no prediction, with all its problems.
    """
    return _checked(read_document(Path(path), InputError))


def predicted_metrics(prediction: Prediction) -> Metrics:
    """Return the metrics of a prediction."""
    kind, statistic = prediction.latency_kind, LatencyStatistic.OVER_REQUESTS
    return Metrics(
        throughput_per_s=prediction.throughput_per_s or Quantity.absent("the load cannot be carried"),
        latency_s={
            name: Latency(kind=kind, statistic=statistic, **dict(figures))
            for name, figures in prediction.latency_s.items()
        },
        utilisation=prediction.utilisation,
    )
