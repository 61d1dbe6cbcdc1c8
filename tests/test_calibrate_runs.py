"""Runs: where they come from, which can be used, how repeats become one, how they are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from capmodel.calibrate.factors import chosen, factors_of_run
from capmodel.calibrate.measured_runs import mixed_facts, run_of
from capmodel.calibrate.neighbouring import pairs_of
from capmodel.calibrate.observation import CPU, THROUGHPUT, cpu_objections, observations_of
from capmodel.calibrate.repeats import combined, pooled_noise
from capmodel.calibrate.run import UNREPEATED, Run, log_noise, quantity
from capmodel.calibrate.run_files import read_runs
from capmodel.calibrate.sources import expanded, shortened
from capmodel.calibrate.suitability import DOUBTFUL, Refused, judged, without_hops
from capmodel.calibrate.table_runs import row_run
from capmodel.model.errors import InputError, MeasurementError
from capmodel.model.measurement import Measurement, NodeFacts, OperationMeasured, Verdict
from capmodel.model.metrics import Latency, Metrics, Quantity
from capmodel.model.scenario import Scenario

REFERENCE = Path(__file__).parent / "reference"


def scenario(nodes=2, factor=1, in_flight=16, routing="token-aware", level="ONE", **hardware):
    """Return a small scenario."""
    return Scenario.model_validate(
        {
            "cluster": {"nodes": nodes, "replication": {"factor": factor}},
            "hardware": {"cores": 2, **hardware},
            "workload": {"operations": {"read": {"share": 1.0, "consistency": level}}, "cache_hit": 1.0},
            "clients": {"in_flight": in_flight, "routing": routing},
        }
    )


def run(rate=1000.0, name="run", **keys):
    """Return a run with a throughput."""
    return Run(name, scenario(**keys), Metrics(throughput_per_s=quantity(rate)), sources=(name,))


def measurement(**keys):
    """Return a measurement of ten seconds at 1,000 reads a second."""
    given = {
        "scenario": scenario(),
        "duration_s": 10.0,
        "operations": {"read": OperationMeasured(requests=10_000)},
        "verdict": Verdict(kind="valid"),
        **keys,
    }
    return Measurement(**given)


class TestRepeats:
    def test_a_cell_is_the_median_of_its_repeats(self):
        (cell,) = combined([run(rate) for rate in (1000.0, 1010.0, 500.0)])
        assert cell.throughput_per_s == pytest.approx(1000.0)
        assert cell.repeats == 3

    def test_cells_keep_apart(self):
        assert len(combined([run(in_flight=8), run(in_flight=16), run(in_flight=8)])) == 2

    def test_noise_is_found_from_differences_within_cells(self):
        rng = np.random.default_rng(1)
        cells = [level + rng.normal(0, 0.08, 3) for level in rng.normal(0, 2, 400)]
        assert pooled_noise(cells) == pytest.approx(0.08, rel=0.1)

    def test_one_run_at_half_speed_does_not_make_all_noisy(self):
        rng = np.random.default_rng(2)
        cells = [rng.normal(0, 0.02, 4) for _ in range(20)]
        cells[3][0] -= np.log(2)
        assert pooled_noise(cells) < 0.03
        assert np.std(np.concatenate(cells)) > 0.06

    def test_without_repeats_noise_is_that_of_the_study(self):
        (cell,) = combined([run()])
        assert log_noise(cell.metrics.throughput_per_s) == pytest.approx(UNREPEATED)


class TestMeasurements:
    def test_rate_and_cpu_per_operation(self):
        nodes = tuple(NodeFacts(name=name, cores=2, cpu_s=15.0) for name in ("a", "b"))
        found = run_of(measurement(nodes=nodes))
        assert found.throughput_per_s == pytest.approx(1000.0)
        assert found.cpu_s_per_operation is not None
        assert found.cpu_s_per_operation.value == pytest.approx(30.0 / 10_000)
        assert found.metrics.utilisation == {"CPU of node 1": 0.75, "CPU of node 2": 0.75}

    def test_cpu_is_unknown_when_a_node_is_missing(self):
        assert run_of(measurement(nodes=(NodeFacts(name="a", cpu_s=15.0),))).cpu_s_per_operation is None

    @pytest.mark.parametrize("missing", ["scenario", "operations"])
    def test_what_was_measured_and_how_fast_must_be_known(self, missing):
        with pytest.raises(MeasurementError):
            run_of(measurement(**{missing: None if missing == "scenario" else {}}))

    def test_different_versions_are_said(self):
        other = run()
        mixed = (run(), Run(other.name, other.scenario, other.metrics, facts={"version": "4.1.3"}))
        assert any("version" in words for words in mixed_facts(mixed))
        assert not mixed_facts((run(), run()))


class TestSuitability:
    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            ({"verdict": Verdict(kind="client-limited", reasons=("client at 97 %",))}, "client at 97 %"),
            ({"verdict": Verdict(kind="overloaded")}, "overloaded"),
            ({"ended": "failed"}, "failed"),
            ({"duration_s": 0.5}, "too short"),
            ({"operations": {"read": OperationMeasured(requests=300)}}, "300 requests"),
            ({"error_counts": {"ReadTimeout": 500}}, "4.8% of the requests failed"),
            ({"scenario_missing": ("clients.in_flight",)}, "clients.in_flight is not stated"),
        ],
    )
    def test_runs_about_something_else_are_refused_with_the_reason(self, keys, words):
        measured = measurement(**keys)
        found = judged(run_of(measured), measured)
        assert isinstance(found, Refused)
        assert any(words in reason for reason in found.reasons)

    @pytest.mark.parametrize("keys", [{"verdict": Verdict(kind="host-limited")}, {"ended": "early"}])
    def test_doubtful_runs_count_less(self, keys):
        measured = measurement(**keys)
        found = judged(run_of(measured), measured)
        assert isinstance(found, Run)
        assert (found.weight, bool(found.reasons)) == (DOUBTFUL, True)

    def test_a_valid_run_counts_whole(self):
        measured = measurement()
        found = judged(run_of(measured), measured)
        assert isinstance(found, Run)
        assert found.weight == 1.0

    def test_clusters_where_every_node_holds_every_row_count_less_when_there_are_no_others(self):
        whole, apart, single = run(nodes=2, factor=2), run(nodes=3, factor=2), run(nodes=1)
        assert [one.weight for one in without_hops([single, whole])] == [1.0, DOUBTFUL]
        assert [one.weight for one in without_hops([single, whole, apart])] == [1.0, 1.0, 1.0]


class TestTables:
    ROW: ClassVar = {
        "id": "X-01",
        "nodes": "3",
        "rf": "3",
        "consistency": "ONE/QUORUM",
        "op_mix": "read=0.8;insert=0.2",
        "row_bytes": "500",
        "columns": "10",
        "client_threads": "100",
        "cores_per_node": "4",
        "throughput_ops": "29222",
        "p95_ms": "8.179",
        "cassandra_version": "4.0.0",
        "notes": "lat_op=read",
    }

    def test_a_row_is_a_run(self):
        found = row_run(self.ROW, "t.csv:2")
        assert isinstance(found, Run)
        operations = found.scenario.workload.operations
        assert {name: (op.share, op.consistency.value) for name, op in operations.items()} == {
            "read": (0.8, "ONE"),
            "write": (0.2, "QUORUM"),
        }
        assert found.scenario.workload.row_bytes == pytest.approx(500)
        assert found.metrics.latency_s["read"].p95.value == pytest.approx(8.179e-3)

    @pytest.mark.parametrize(
        ("column", "value", "words"),
        [
            ("rf", "", "rf is not stated"),
            ("client_threads", "", "client_threads is not stated"),
            ("op_mix", "read=0.5;rmw=0.5", "rmw is not modelled"),
            ("notes", "cache=cold", "cold cache"),
            ("consistency", "QUORUM (cross-DC)", "no scenario"),
        ],
    )
    def test_a_row_that_says_nothing_is_refused_with_the_reason(self, column, value, words):
        found = row_run({**self.ROW, column: value}, "t.csv:2")
        assert isinstance(found, Refused)
        assert any(words in reason for reason in found.reasons)

    def test_what_a_row_lacks_can_be_assumed(self):
        assert isinstance(row_run({**self.ROW, "rf": ""}, "t.csv:2", {"rf": "2"}), Run)

    def test_kinds_of_files_are_told_apart_by_content(self, tmp_path):
        runs, refused = read_runs([REFERENCE / "published-c26.csv", REFERENCE / "lab-study"])
        assert {len(runs), len(refused)} == {16, 2}
        study, _ = read_runs([REFERENCE / "lab-study" / "equal-sharing-1-2-nodes.csv"])
        assert len(study) == 194
        odd = tmp_path / "odd.csv"
        odd.write_text("a,b\n1,2\n")
        with pytest.raises(MeasurementError, match=r"odd\.csv"):
            read_runs([odd])


class TestObservations:
    def test_a_closed_load_tells_its_throughput_and_the_shape_of_its_latency(self):
        # 16 in flight at 1,000/s: mean 16 ms (Little); a p50 of 8 ms is half of it.
        latency = {"read": Latency(p50=Quantity(value=8e-3))}
        found = Run("r", scenario(), Metrics(throughput_per_s=quantity(1000.0), latency_s=latency))
        seen = {one.what: one.log_value for one in observations_of([found])}
        assert seen[THROUGHPUT] == pytest.approx(np.log(1000))
        assert seen["p50"] == pytest.approx(np.log(0.5))

    @pytest.mark.parametrize(
        ("cpu_s", "hardware", "used"),
        [
            (3.6e-3, {}, True),  # 90 % of four cores
            (1.0e-3, {}, False),  # a quarter of them: spinning counts as work
            (0.8e-3, {"cores": 1, "cpu_quota": {"cores": 0.4, "period": 0.005}}, False),  # the whole quota
        ],
    )
    def test_cpu_time_counts_where_it_is_work(self, cpu_s, hardware, used):
        made = Run("r", scenario(**hardware), Metrics(throughput_per_s=quantity(1000.0)), quantity(cpu_s))
        assert (CPU in {one.what for one in observations_of([made])}) is used
        assert bool(list(cpu_objections(made))) is not used


class TestFactors:
    def test_conditions_choose_runs(self):
        runs = [run(nodes=1, in_flight=8), run(nodes=3), run(nodes=2, level="QUORUM")]
        assert [one.scenario.cluster.nodes for one in chosen(runs, ["nodes<=2"])] == [1, 2]
        assert [one.scenario.cluster.nodes for one in chosen(runs, ["cl=quorum", "nodes>1"])] == [2]

    @pytest.mark.parametrize("text", ["nodes", "colour=red", "<=3"])
    def test_a_text_that_is_no_condition_is_refused(self, text):
        with pytest.raises(InputError, match="--where"):
            chosen([run()], [text])

    def test_every_factor_has_a_level(self):
        assert factors_of_run(run())["routing"] == "token-aware"

    def test_pairs_differ_by_one_node_and_nothing_else(self):
        runs = [
            run(nodes=1, in_flight=16),
            run(nodes=2, in_flight=16),
            run(nodes=2, in_flight=32),
            run(nodes=3, in_flight=48),
            run(nodes=2, factor=2, in_flight=16),
        ]
        found = {(pair.smaller, pair.larger): pair.load for pair in pairs_of(runs)}
        assert found == {(0, 1): "same in flight", (0, 2): "in flight in step", (2, 3): "in flight in step"}

    def test_sources_survive_being_shortened(self):
        sources = {"a.csv:2", "a.csv:3", "a.csv:9", "b.json"}
        assert expanded(shortened(sources)) == sources


class TestLateClients:
    """A client that was late limits a run only where the nodes had CPU left."""

    @pytest.mark.parametrize(("cpu_s", "used"), [(2.19, True), (1.5, False)])
    def test_used_up_nodes_make_it_a_doubt(self, cpu_s: float, used: bool) -> None:
        measurement = Measurement(
            duration_s=10.0,
            nodes=(NodeFacts(name="n1", cores=0.22, cpu_s=cpu_s),),
            operations={"read": OperationMeasured(requests=5000)},
            verdict=Verdict(kind="client-limited", reasons=("late",)),
        )
        found = judged(run(), measurement)
        assert isinstance(found, Refused) != used
        if not isinstance(found, Refused):
            assert found.weight == DOUBTFUL and "used up" in found.reasons[0]
