"""Measurement files: round trips, refusals, secrets, and the metrics they give."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter

from capmodel.model.cluster import Cluster, NodeGroup
from capmodel.model.errors import InputError, MeasurementError
from capmodel.model.hardware import HardwareOverrides
from capmodel.model.histogram import histogram_of
from capmodel.model.measured_metrics import metrics_of
from capmodel.model.measurement import Measurement
from capmodel.model.measurement_file import dump_measurement, load_measurement, write_measurement
from capmodel.model.metrics import LatencyKind
from capmodel.model.scenario import Scenario

LATENCIES_S = np.random.default_rng(1).gamma(2.0, 1e-3, 5_000)


def scenario() -> Scenario:
    """Return a scenario with unlike nodes: what a group does not give must stay not given."""
    group = NodeGroup(nodes=2, hardware=HardwareOverrides(cores=4))
    return Scenario(cluster=Cluster(groups=(group, NodeGroup(nodes=1))))


def measurement(**changed: object) -> Measurement:
    service = {"kind": "service", "encoded": histogram_of(LATENCIES_S).encoded}
    response = {"kind": "response", "encoded": histogram_of(2 * LATENCIES_S).encoded}
    fields: dict[str, object] = {
        "name": "cell 1",
        "scenario": scenario(),
        "tool": {"name": "capmodel load run", "version": "0.1.0", "command_line": "-u user password=***"},
        "started_at": "2026-01-02T03:04:05Z",
        "duration_s": 10.0,
        "operations": {"read": {"requests": 5_000, "histograms": [service, response]}},
        "series": {"all": {"t_s": [1.0, 2.0], "rate_per_s": [500.0, None], "in_flight": [8.0, 8.0]}},
        "nodes": [{"name": "127.0.0.1", "cores": 0.5, "cpu_s": 2.5, "facts": {"token": -9223372036854775808}}],
        "client": {"cpu_s": 1.0, "processors": 2.0},
        "errors": [{"kind": "ReadTimeout", "at_s": 3.0, "count": 2}, {"kind": "ReadTimeout", "at_s": 4.0}],
        "verdict": {"kind": "client-limited", "reasons": ["the client used 98 % of its processor"]},
        "provenance": {"duration_s": {"file": "run.log", "line": 3, "unit": "s", "repaired": "decimal comma"}},
    }
    return Measurement.model_validate(fields | changed)


def test_a_file_round_trip_keeps_the_value(tmp_path: Path) -> None:
    write_measurement(measurement(), tmp_path / "m.json")
    assert load_measurement(tmp_path / "m.json") == measurement()


def test_a_scenario_is_written_whole_but_for_what_is_not_given(tmp_path: Path) -> None:
    write_measurement(measurement(), tmp_path / "m.json")
    read = load_measurement(tmp_path / "m.json").scenario
    assert read is not None
    assert read.cluster.groups[0].hardware.model_fields_set == {"cores"}
    assert "hops" in json.loads(dump_measurement(measurement()))["scenario"]["hardware"]


def test_a_file_of_version_0_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text('{"name": "juho 1", "throughput": 64488, "latency_ms": {"p50": 0.7}}', encoding="utf-8")
    metrics = metrics_of(load_measurement(path))
    assert metrics.throughput_per_s.value == 64488
    assert metrics.latency_s["all"].p50 is not None
    assert metrics.latency_s["all"].p50.value == pytest.approx(0.7e-3)
    assert metrics.latency_s["all"].kind is LatencyKind.UNKNOWN


def test_writing_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_measurement(measurement(), path)
    before = path.read_bytes()
    with pytest.raises(MeasurementError):
        write_measurement(measurement(name="password=hunter2"), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.json"]


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_measurement(measurement(), tmp_path / "absent" / "m.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_measurement(measurement(), tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    "facts",
    [
        {"password": "x"},
        {"keystore_password": "x"},
        {"clientSecret": "x"},
        {"auth_token": "x"},
        {"token": "abcdef"},
        {"password": 123456},
        {"aws-access-key": "x"},
        {"options": "user=me password=hunter2"},
        {"options": "cqlsh --password hunter2"},
    ],
)
def test_secrets_are_refused_and_not_shown(tmp_path: Path, facts: dict[str, object]) -> None:
    held = measurement(cluster={"facts": facts})
    with pytest.raises(MeasurementError, match="no secret") as on_write:
        write_measurement(held, tmp_path / "m.json")
    (tmp_path / "m.json").write_text(json.dumps({"format_version": 1, "cluster": {"facts": facts}}), encoding="utf-8")
    with pytest.raises(MeasurementError, match="no secret") as on_read:
        load_measurement(tmp_path / "m.json")
    assert "hunter2" not in str(on_write.value) + str(on_read.value)


@pytest.mark.parametrize(
    "facts",
    [
        {"token": "-922337"},
        {"num_tokens": 16},
        {"routing": "token-aware"},
        {"options": "password=*** -pw <redacted>"},
        {"partition_key": "id"},
        {"note": "the password was redacted"},
    ],
)
def test_what_only_sounds_like_a_secret_is_kept(facts: dict[str, object]) -> None:
    """Negative control of the refusal."""
    assert "cluster" in json.loads(dump_measurement(measurement(cluster={"facts": facts})))


def test_all_problems_of_a_file_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(
        json.dumps(
            {
                "format_version": 1,
                "duration": 3,
                "operations": {"read": {"requests": -1, "histogramms": []}},
                "series": {"all": {"t_s": [1, 2], "rate_per_s": [1]}},
                "verdict": {"kind": "fine"},
                "nodes": [{"cores": "many"}],
            }
        ),
        encoding="utf-8",
    )
    with pytest.raises(MeasurementError) as caught:
        load_measurement(path)
    problems = {problem.key: problem.right for problem in caught.value.problems}
    assert "`duration_s`" in problems["duration"]
    assert "`histograms`" in problems["operations.read.histogramms"]
    assert "not so rate_per_s" in problems["series.all"]
    assert "client-limited" in problems["verdict.kind"]
    assert set(problems) >= {"operations.read.requests", "nodes.0.name", "nodes.0.cores"}


def test_a_broken_histogram_is_named_by_file_and_key(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    broken = {"read": {"histograms": [{"kind": "service", "encoded": "HISTFAAAAA"}]}}
    path.write_text(json.dumps({"format_version": 1, "operations": broken}), encoding="utf-8")
    with pytest.raises(MeasurementError, match=r"bad\.json: operations\.read\.histograms\.0\.encoded"):
        load_measurement(path)


def test_metrics_from_histograms_counts_and_cpu_time() -> None:
    metrics = metrics_of(measurement())
    assert metrics.throughput_per_s.value == 500.0  # 5,000 requests in 10 s
    assert metrics.utilisation == {"CPU of 127.0.0.1": 0.5, "CPU of clients": 0.05}
    assert metrics.errors["ReadTimeout"].count == 3
    assert metrics.errors["ReadTimeout"].ratio == pytest.approx(3 / 5_003)


@pytest.mark.parametrize(
    ("asked", "found", "factor"),
    [(None, LatencyKind.RESPONSE, 2.0), (LatencyKind.SERVICE, LatencyKind.SERVICE, 1.0)],
)
def test_the_kind_of_latency_is_the_one_asked_for(
    asked: LatencyKind | None, found: LatencyKind, factor: float
) -> None:
    latency = metrics_of(measurement(), asked).latency_s["read"]
    assert latency.kind is found
    assert latency.p50 is not None
    assert latency.p50.value == pytest.approx(factor * float(np.median(LATENCIES_S)), rel=2e-3)


def test_a_kind_that_is_not_there_gives_no_latency() -> None:
    assert metrics_of(measurement(), LatencyKind.UNKNOWN).latency_s == {}


def test_stated_figures_stand_before_derived_ones() -> None:
    stated = measurement(throughput_per_s={"value": 490.0, "low": 480.0, "high": 500.0})
    assert metrics_of(stated).throughput_per_s.value == 490.0


def test_nothing_measured_gives_the_reason() -> None:
    assert "neither a rate" in (metrics_of(Measurement()).throughput_per_s.reason or "")


def rates(correlation: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rates of intervals around 1,000/s that follow each other as an AR(1) process."""
    noise = rng.standard_normal(n + 200) * math.sqrt(1 - correlation**2)
    return 1_000.0 + 20.0 * lfilter([1.0], [1.0, -correlation], noise)[200:]


def interval_holds(values: np.ndarray) -> bool:
    t_s = tuple(range(1, len(values) + 1))
    run = Measurement(
        duration_s=float(len(values)),
        operations={"all": {"throughput_per_s": {"value": float(values.mean())}}},
        series={"all": {"t_s": t_s, "rate_per_s": tuple(values)}},
    )
    found = metrics_of(run).throughput_per_s
    assert found.low is not None
    assert found.high is not None
    return found.low <= 1_000.0 <= found.high


RUNS = 400
MARGIN = 4 * math.sqrt(0.9 * 0.1 / RUNS)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_the_interval_of_the_rate_holds_as_often_as_stated(correlation: float) -> None:
    rng = np.random.default_rng(7)
    held = sum(interval_holds(rates(correlation, 100, rng)) for _ in range(RUNS)) / RUNS
    assert abs(held - 0.90) < MARGIN + 0.02  # the correlation itself is estimated, and held at 0 or above


def test_shuffled_intervals_lose_the_correlation_and_the_coverage() -> None:
    """Negative control: the same rates in random order look independent, so the interval is too narrow."""
    rng = np.random.default_rng(7)
    held = sum(interval_holds(rng.permutation(rates(0.7, 100, rng))) for _ in range(RUNS)) / RUNS
    assert held < 0.90 - MARGIN
