"""Other tools' output: numbers, places, what is not read. Expected values are computed from the texts by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from capmodel.cli.app import app
from capmodel.live.imports.importing import read_lines, with_scenario
from capmodel.live.imports.lines import lines_of
from capmodel.live.imports.redaction import redacted
from capmodel.live.imports.written_numbers import Convention, parse_number
from capmodel.model.errors import MeasurementError
from capmodel.model.measurement_file import load_measurement
from capmodel.model.metrics import LatencyKind, LatencyStatistic
from capmodel.model.scenario_file import load_scenario

AVERAGES = """\
cassandra-stress --operation INSERT --num-keys 2000000 --columns 20 --replication-factor 2 -t 50

Averages from the middle 80% of values:
interval_op_rate          : 12345
interval_key_rate         : 12345
latency median            : 1.5
latency 95th percentile   : 3.5
latency 99.9th percentile : 512.0
Total operation time      : 00:02:10
END
"""
RESULTS = """\
cassandra-stress mixed n=1000000 cl=QUORUM -rate threads=64 -mode native cql3 user=bench password=hunter2
Results:
Op rate                   :   20,000 op/s  [READ: 15,000 op/s, WRITE: 5,000 op/s]
Partition rate            :   20,000 pk/s  [READ: 15,000 pk/s, WRITE: 5,000 pk/s]
Latency mean              :    3.2 ms [READ: 3.6 ms, WRITE: 2.0 ms]
Latency median            :    2.1 ms [READ: 2.4 ms, WRITE: 1.2 ms]
Latency 95th percentile   :    7.7 ms [READ: 8.1 ms, WRITE: 5.5 ms]
Latency 99th percentile   :   15.5 ms [READ: 16.0 ms, WRITE: 9.9 ms]
Latency 99.9th percentile :   60.0 ms [READ: 61.0 ms, WRITE: 50.0 ms]
Latency max               :  210.0 ms [READ: 210.0 ms, WRITE: 99.0 ms]
Total partitions          :  1,000,000 [READ: 750,000, WRITE: 250,000]
Total operation time      : 00:00:50
END
"""
COMMAS = RESULTS.translate(str.maketrans(",.", ";,")).replace(";", ".").replace("99,9th", "99.9th")
"""The same as a German locale prints it; 15,000 becomes 15.000."""
JIRA = """\
h3. Read 8M rows, 5 columns
h4. Operations
||Type||Mean||SD||10th||25th||50th||75th||95th||99th||
|CQL|50000.5|3000.25|45000|46000|50000|51000|53000|54000|
h4. Latency
||Type||Mean||SD||10th||25th||50th||75th||95th||99th||
|CQL|0.006|nan|0.0055|0.0057|0.0060|0.0062|0.0070|nan|
"""
RUBY = """\
                               user     system      total        real
# Inserting 100 rows, batched by row, adding 10 columns each
batch insertion/10         0.110000   0.000000   0.110000 (  0.200000)
# Updating 100 rows, updating 10 columns each
updating/10                0.270000   0.020000   0.290000 (  0.400000)
"""
YCSB = """\
bin/ycsb run cassandra-cql -P workloads/workloada -threads 40 -p cassandra.password=hunter2
[OVERALL], RunTime(ms), 50000
[OVERALL], Throughput(ops/sec), 20000.5
[TOTAL_GCs], Count, 12
[READ], Operations, 500013
[READ], AverageLatency(us), 1500.25
[READ], MaxLatency(us), 90000
[READ], 95thPercentileLatency(us), 3000
[READ], 99thPercentileLatency(us), 7000
[READ], Return=OK, 500013
[UPDATE-FAILED], Operations, 7
[UPDATE], Operations, 500012
[UPDATE], 99thPercentileLatency(ms), 9
"""
TIMES = """\
tool-a run w.rn -d 1000000
cassandra-stress write n=1000000
\tTool A\tCassandra Stress
Threads\t1\t256
Wall clock time\t10.00 s\t20.00 s
CPU time (total)\t8.50 s\t54.25 s
Context switches\t30,819\t14,172,252
"""
ALL_TEXTS = (AVERAGES, RESULTS, COMMAS, JIRA, RUBY, YCSB, TIMES)


def read(text: str):
    return read_lines(tuple(lines_of(text)), "t.txt")


def test_averages_of_the_middle() -> None:
    (run,) = read(AVERAGES).runs
    latency = run.operations["all"].latency_s
    assert run.throughput_per_s.value == 12345 and run.duration_s == 130
    assert (latency.p50.value, latency.p95.value, latency.p999.value) == pytest.approx((0.0015, 0.0035, 0.512))
    assert latency.statistic is LatencyStatistic.OVER_INTERVAL_PERCENTILES
    place = run.provenance["operations.all.latency_s.p95.value"]
    assert (place.line, place.text, place.unit) == (7, "3.5", "ms")
    facts = run.client.facts
    assert (facts["in_flight"], facts["replication_factor"], facts["columns"]) == (50, 2, 20)


@pytest.mark.parametrize("text", [RESULTS, COMMAS], ids=["point", "comma"])
def test_results_in_both_conventions(text: str) -> None:
    reading = read(text)
    (run,) = reading.runs
    assert not reading.unread
    assert run.throughput_per_s.value == 20_000
    assert {name: found.latency_s.p99.value for name, found in run.operations.items()} == pytest.approx(
        {"all": 0.0155, "read": 0.016, "write": 0.0099}
    )
    assert run.operations["read"].throughput_per_s.value == 15_000
    assert run.client.facts["partitions"] == 1_000_000


def test_passwords_are_not_kept_and_a_fixed_rate_counts_from_the_intended_start() -> None:
    assert "hunter2" not in read(RESULTS).runs[0].model_dump_json()
    (run,) = read(RESULTS.replace("threads=64", "threads=64 fixed=20000/s")).runs
    assert run.operations["all"].latency_s.kind is LatencyKind.RESPONSE


@pytest.mark.parametrize(
    "command",
    ["-pw hunter2 -u x", "--password hunter2", "password='hunter2 x'", "cql://u:hunter2@host", "PASSWD=hunter2"],
)
def test_secrets_of_command_lines(command: str) -> None:
    assert "hunter2" not in redacted(command)


def test_in_flight_is_derived_where_it_is_not_stated_and_checked_where_it_is() -> None:
    (derived,) = read(RESULTS.replace("threads=64", "auto")).runs
    assert derived.client.facts["in_flight_derived"] == pytest.approx(64)
    assert derived.provenance["client.facts.in_flight_derived"].repaired.startswith("derived")
    (contradicting,) = read(RESULTS.replace("threads=64", "threads=32")).runs
    assert any("inconsistent" in note for note in contradicting.notes)
    assert not any("inconsistent" in note for note in read(RESULTS).runs[0].notes)


def test_jira_tables_keep_nan_as_missing() -> None:
    (run,) = read(JIRA).runs
    assert run.throughput_per_s.value == 50000.5
    latency = run.operations["all"].latency_s
    assert latency.mean.value == 0.006 and latency.p99 is None
    assert latency.statistic is LatencyStatistic.OVER_INTERVAL_MEANS
    assert sum("missing" in note for note in run.notes) == 2


def test_ruby_rates_count_what_was_sent() -> None:
    batch, single = read(RUBY).runs
    assert batch.throughput_per_s.value == pytest.approx(100 / 0.2)
    assert single.throughput_per_s.value == pytest.approx(100 * 10 / 0.4)
    assert single.client.cpu_s == 0.29


def test_ycsb_summary() -> None:
    reading = read(YCSB)
    (run,) = reading.runs
    assert run.throughput_per_s.value == 20000.5 and run.duration_s == 50
    assert run.operations["read"].requests == 500_013
    assert run.operations["read"].latency_s.mean.value == pytest.approx(1500.25e-6)
    assert run.operations["write"].latency_s.p99.value == pytest.approx(0.009)
    assert run.error_counts == {"update-failed": 7} and run.client.facts["in_flight"] == 40
    assert [one.line.number for one in reading.unread] == [4]
    assert "hunter2" not in run.model_dump_json()


def test_tools_side_by_side_have_rates_only_where_all_were_asked_the_same() -> None:
    first, second = read(TIMES).runs
    assert (first.throughput_per_s.value, second.throughput_per_s.value) == (100_000, 50_000)
    assert second.client.cpu_s == 54.25 and second.client.facts["context_switches"] == 14_172_252
    assert "start-up" in first.provenance["throughput_per_s.value"].repaired
    assert all(run.throughput_per_s is None for run in read(TIMES.replace("n=1000000", "n=2000000")).runs)


@pytest.mark.parametrize(
    ("token", "convention", "value"),
    [
        ("1,234", Convention.UNKNOWN, None),
        ("1,234", Convention.POINT, 1234),
        ("1,234", Convention.COMMA, 1.234),
        ("1.234", Convention.UNKNOWN, None),
        ("1.234", Convention.COMMA, 1234),
        ("1.234,5", Convention.UNKNOWN, 1234.5),
        ("1,234.5", Convention.UNKNOWN, 1234.5),
        ("0,123", Convention.UNKNOWN, 0.123),
        ("12,34,567", Convention.POINT, None),
        ("nan", Convention.POINT, None),
    ],
)
def test_written_numbers(token: str, convention: Convention, value: float | None) -> None:
    assert parse_number(token, convention) == value


def figures(text: str) -> set[tuple[str, float]]:
    """Return path and value of every placed number of a text; nothing when it cannot be read."""
    try:
        runs = read(text).runs
    except MeasurementError:
        return set()
    dumped = [(run.model_dump(mode="json"), run.provenance) for run in runs]
    return {(path, _at(data, path)) for data, places in dumped for path in places}


def _at(data: object, path: str) -> object:
    for key in path.split("."):
        data = data[key]  # type: ignore[index]
    return data


@given(text=st.sampled_from(ALL_TEXTS), share=st.floats(0, 1))
def test_truncation_never_invents_a_number(text: str, share: float) -> None:
    assert figures(text[: int(len(text) * share)]) <= figures(text)


@given(
    text=st.sampled_from(ALL_TEXTS),
    at=st.integers(0, 12),
    noise=st.sampled_from(["WARN 12:00:01 slow", "\x1b[31mx\x1b[0m"]),
)
def test_noise_lines_never_invent_a_number(text: str, at: int, noise: str) -> None:
    lines = text.split("\n")
    assert figures("\n".join([*lines[:at], noise, *lines[at:]])) <= figures(text)


def test_the_check_of_invention_sees_a_changed_number() -> None:
    """Negative control of the two checks above."""
    assert not figures(RESULTS.replace("15.5", "15")) <= figures(RESULTS)


def test_what_is_stated_lies_over_the_scenario() -> None:
    run = with_scenario(read(AVERAGES).runs[0], load_scenario("juho-2-nodes"))
    assert run.scenario.clients.in_flight == 50 and run.scenario.cluster.replication.factor == 2


def test_the_command_writes_measurements_and_names_the_kinds_it_knows(tmp_path: Path) -> None:
    source, out = tmp_path / "x", tmp_path / "run.json"
    source.write_text("some words\n" + RESULTS)
    result = CliRunner().invoke(app, ["import", str(source), "-o", str(out), "--json"])
    assert result.exit_code == 0 and json.loads(result.stdout)[0]["throughput_per_s"]["value"] == 20_000
    assert load_measurement(out).throughput_per_s.value == 20_000
    assert "some words: 20,000/s" in CliRunner().invoke(app, ["import", str(source)]).stdout
    source.write_text("nothing\n")
    refused = CliRunner().invoke(app, ["import", str(source)])
    assert refused.exit_code == 2 and "Ruby benchmark" in refused.stderr
