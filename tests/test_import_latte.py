"""Reports of Latte: rate with its standard error, percentiles in ms, in flight over threads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capmodel.live.imports.importing import read_lines
from capmodel.live.imports.lines import lines_of
from capmodel.model.errors import MeasurementError
from capmodel.model.estimate import Z


def report(**result: Any) -> dict[str, Any]:
    """Return a report with the keys that latte-cli 0.29 writes, figures made up."""
    percentiles = [0.0, 50.0, 95.0, 99.0, 99.9000015258789, 100.0]
    values = [0.5, 4.0, 8.0, 10.0, 40.0, 55.0]
    usual = {
        "elapsed_time_s": 10.0,
        "cpu_time_s": 0.7,
        "request_count": 80000,
        "error_count": 0,
        "cycle_throughput": {"n": 9, "value": 8000.0, "std_err": 50.0},
        "cycle_latency": {
            "mean": {"n": 9, "value": 4.2, "std_err": 0.1},
            "percentiles": [{"n": 9, "value": value, "std_err": None} for value in values],
            "histogram": "",
        },
    }
    conf = {
        "threads": 2,
        "concurrency": 64,
        "cass_version": "5.0.6",
        "connection": {"consistency": "LocalQuorum", "password": "secret of mine"},
    }
    return {"conf": conf, "percentiles": percentiles, "result": {**usual, **result}}


def read(text: str):
    return read_lines(tuple(lines_of(text)), "report.json")


@pytest.mark.parametrize("indent", [None, 2])
def test_figures_of_a_report(indent: int | None) -> None:
    (run,) = read(json.dumps(report(), indent=indent)).runs
    rate, latency = run.throughput_per_s, run.operations["all"].latency_s
    assert rate is not None and latency is not None and run.client is not None and run.cluster is not None
    assert (rate.value, rate.low) == (8000.0, pytest.approx(8000 - 50 * Z))
    assert (latency.mean.value, latency.p50.value, latency.p99.value) == pytest.approx((0.0042, 0.004, 0.010))
    assert latency.p999.value == pytest.approx(0.040)
    assert run.client.facts["in_flight"] == 128 and run.client.cpu_s == 0.7
    assert run.cluster.version == "5.0.6"
    assert "secret" not in run.model_dump_json()


def test_errors_are_counted_and_contradictions_told() -> None:
    (run,) = read(json.dumps(report(error_count=7))).runs
    assert run.error_counts == {"all": 7}
    broken = report()
    broken["conf"]["concurrency"] = 4
    (run,) = read(json.dumps(broken)).runs
    assert any("inconsistent" in note for note in run.notes), "8,000/s of 4.2 ms are 34 in flight, stated are 8"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_report_that_is_broken_off_is_none(share: float) -> None:
    text = json.dumps(report(), indent=2)
    with pytest.raises(MeasurementError):
        read(text[: int(share * len(text))])
