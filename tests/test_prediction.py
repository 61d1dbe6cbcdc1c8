"""The published form of a prediction: its keys, their order, round trips and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from capmodel.model.cluster import Cluster, NodeGroup
from capmodel.model.errors import InputError
from capmodel.model.hardware import HardwareOverrides
from capmodel.model.metrics import LatencyKind, LatencyStatistic
from capmodel.model.prediction import Prediction, load_prediction, predicted_metrics

GAIN = {"value": 0.31, "low": 0.24, "high": 0.38, "verdict": "helps"}
NONE = {"value": 0.0, "low": -0.01, "high": 0.01, "verdict": "no gain expected"}
CHANGE = {"at_your_clients": NONE, "capacity": GAIN, "threshold": 0.1, "words": "no gain at your clients"}
FIGURE = {"value": 1e-3, "low": 0.9e-3, "high": 1.2e-3}

PUBLISHED = [
    "format_version",
    "scenario",
    "profile",
    "solver",
    "seed",
    "throughput_per_s",
    "latency_s",
    "utilisation",
    "limit",
    "hops",
    "messages_per_operation",
    "add_node",
    "remove_node",
    "warnings",
    "simulated_requests",
    "sensitive_inputs",
    "headline",
]
"""Keys that others build on."""


def prediction(**changed: object) -> Prediction:
    group = NodeGroup(nodes=3, hardware=HardwareOverrides(cores=4))
    fields: dict[str, object] = {
        "scenario": {"name": "default", "summary": "3 nodes, RF 2", "cluster": Cluster(groups=(group,))},
        "profile": {"name": "default", "good_for": "orders of magnitude"},
        "solver": "simulate",
        "seed": 1,
        "simulated_requests": 120_000,
        "throughput_per_s": {"value": 9e4, "low": 8e4, "high": 1e5, "parts": {"parameters": 0.06, "sampling": 0.01}},
        "latency_s": {"write": {"p50": FIGURE, "p999": {"value": 2e-3}}, "read": {"mean": FIGURE}},
        "utilisation": {"CPU of node1": 0.8, "CPU of node2": 0.7},
        "limit": {"station": "in flight", "elasticity": 0.9, "words": "in flight"},
        "hops": {"closed_form": 0.5, "simulated": 0.498},
        "messages_per_operation": {"closed_form": 2.0},
        "add_node": CHANGE,
        "remove_node": CHANGE,
        "sensitive_inputs": ("replica_read_s", "clients.in_flight", "hardware.hops"),
        "warnings": ("N = RF",),
        "headline": "At your clients +0 %.",
    }
    return Prediction.model_validate(fields | changed)


def keys(item: Any, path: str = "") -> list[str]:
    """Return all key paths in the order in which they stand."""
    if not isinstance(item, dict):
        return []
    return [found for key, held in item.items() for found in [f"{path}{key}", *keys(held, f"{path}{key}.")]]


def test_the_published_keys_are_there() -> None:
    document = prediction().to_json_dict()
    assert set(PUBLISHED) <= set(document)
    assert list(document["throughput_per_s"]) == ["value", "low", "high", "parts"]
    assert document["latency_s"]["read"]["mean"] == FIGURE
    assert set(document["latency_s"]["write"]) == {"mean", "p50", "p95", "p99", "p999"}
    assert list(document["limit"]) == ["station", "elasticity", "words"]
    assert document["hops"] == {"closed_form": 0.5, "simulated": 0.498}
    assert document["messages_per_operation"] == {"closed_form": 2.0, "simulated": None}
    assert list(document["add_node"]) == ["at_your_clients", "capacity", "threshold", "words"]
    assert document["add_node"]["capacity"] == GAIN
    assert document["scenario"]["summary"] == "3 nodes, RF 2"


def test_the_document_is_plain_json_without_times_of_day() -> None:
    document = prediction().to_json_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    own = [key for key in keys(document) if not key.startswith("scenario.")]
    assert not [key for key in own if "started" in key or "date" in key or key.endswith("time")]


def test_the_order_of_keys_is_that_of_the_fields() -> None:
    turned = prediction().to_json_dict()
    again = Prediction.from_json_dict(dict(reversed(turned.items()))).to_json_dict()
    assert list(again) == list(turned)
    assert json.dumps(again["limit"]) == json.dumps(turned["limit"])


def test_operations_and_stations_keep_their_order() -> None:
    document = prediction().to_json_dict()
    assert list(document["latency_s"]) == ["write", "read"]
    assert list(document["utilisation"]) == ["CPU of node1", "CPU of node2"]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"throughput_per_s": None, "largest_stable_per_s": 8e4, "add_node": {**CHANGE, "at_your_clients": None}},
        {"terms": [{"name": "replica CPU", "seconds": 1e-4, "share": 0.4}], "remove_node": None},
        {"solver": "bounds", "throughput_per_s": {"value": 9e4}, "latency_s": {}},
    ],
)
def test_the_published_form_is_read_back_to_the_same_value(tmp_path: Path, changed: dict[str, object]) -> None:
    made = prediction(**changed)
    (tmp_path / "p.json").write_text(json.dumps(made.to_json_dict()), encoding="utf-8")
    assert load_prediction(tmp_path / "p.json") == made
    group = load_prediction(tmp_path / "p.json").scenario.cluster.groups[0]
    assert group.hardware.model_fields_set == {"cores"}


def test_an_open_load_that_is_not_carried_has_no_number() -> None:
    document = prediction(throughput_per_s=None, largest_stable_per_s=8e4).to_json_dict()
    assert document["throughput_per_s"] is None
    assert document["largest_stable_per_s"] == 8e4


def test_what_was_not_asked_for_is_left_out() -> None:
    assert not {"terms", "errors_ratio", "largest_stable_per_s"} & set(prediction().to_json_dict())


def test_the_published_form_fits_its_schema() -> None:
    schema = Prediction.model_json_schema()
    jsonschema.validate(prediction().to_json_dict(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**prediction().to_json_dict(), "seed": "one"}, schema)


@pytest.mark.parametrize(
    ("changed", "key", "right"),
    [
        ({"sovler": "mva"}, "sovler", "`solver`"),
        ({"solver": "exact"}, "solver", "'bounds', 'mva' or 'simulate'"),
        ({"format_version": 2}, "format_version", "1; a newer capmodel may read it"),
        ({"limit": {"station": "CPU"}}, "limit.elasticity", "this key is needed"),
    ],
)
def test_a_form_that_is_none_is_refused(changed: dict[str, Any], key: str, right: str) -> None:
    with pytest.raises(InputError) as caught:
        Prediction.from_json_dict({**prediction().to_json_dict(), **changed})
    assert right in {problem.key: problem.right for problem in caught.value.problems}[key]


def test_the_metrics_are_those_of_the_prediction() -> None:
    metrics = predicted_metrics(prediction(latency_kind="response"))
    latency = metrics.latency_s["write"]
    assert (latency.kind, latency.statistic) == (LatencyKind.RESPONSE, LatencyStatistic.OVER_REQUESTS)
    assert metrics.throughput_per_s == prediction().throughput_per_s
    assert latency.p50 == prediction().latency_s["write"].p50
