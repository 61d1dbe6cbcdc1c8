"""The commands `load run` and `compare`: their options, what they print, and bad input in sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from capmodel.cli.app import app
from capmodel.cli.load_options import time_of, warm_up_of
from capmodel.cli.load_view import look_text
from capmodel.live.load.look import Look
from capmodel.live.load.memory_session import MemoryCluster
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.run import rehearse
from capmodel.model.errors import InputError
from capmodel.model.measurement import Measurement
from capmodel.model.measurement_file import write_measurement
from capmodel.model.scenario_file import load_scenario
from capmodel.report.measurement_text import measurement_text

CHANGES = ["cluster.nodes=1", "cluster.replication.factor=1", "clients.routing=round-robin", "clients.in_flight=8"]


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments), prog_name="capmodel")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def measured(seed: int, **cluster: float) -> Measurement:
    plan = LoadPlan(duration_s=2.0, warm_up_s=0.5, seed=seed)
    return rehearse(load_scenario("default", CHANGES), MemoryCluster(**cluster), plan)  # type: ignore[arg-type]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Two runs of one cluster, and one of a cluster that is a tenth slower."""
    runs = {"first": measured(1), "second": measured(2), "slower": measured(3, service_s=0.0011)}
    for name, measurement in runs.items():
        write_measurement(measurement, tmp_path / f"{name}.json")
    return {name: str(tmp_path / f"{name}.json") for name in runs}


def test_compare_finds_a_difference_that_is_there(files: dict[str, str]) -> None:
    code, shown, _ = run("compare", files["first"], files["slower"])
    rate = next(line for line in shown.splitlines() if line.startswith("throughput_per_s"))
    assert code == 0 and "significant at 95 %" in rate and " 0.9" in rate


def test_compare_finds_none_where_there_is_none(files: dict[str, str]) -> None:
    """Negative control of the check above."""
    code, shown, _ = run("compare", files["first"], files["second"])
    rate = next(line for line in shown.splitlines() if line.startswith("throughput_per_s"))
    assert code == 0 and rate.endswith("no significant difference")
    code, shown, _ = run("compare", files["first"], files["first"], "--json")
    assert code == 0 and "no significant difference in" in shown


def test_compare_tests_for_equivalence_on_demand(files: dict[str, str]) -> None:
    code, shown, _ = run("compare", files["first"], files["first"], "--same-within", "200%")
    assert code == 0 and "same within 200 %" in shown and "throughput_per_s" in shown.split("ame within 2: ")[1]
    code, _, told = run("compare", files["first"], files["first"], "--same-within", "some")
    assert code == 2 and "--same-within" in told


def test_compare_reads_predictions_too(files: dict[str, str], tmp_path: Path) -> None:
    code, shown, _ = run("predict", "--nodes", "3", "--solver", "mva", "--json")
    if code:
        pytest.skip("no profile is shipped, so nothing can be predicted")
    (tmp_path / "prediction.json").write_text(shown)
    code, shown, _ = run("compare", str(tmp_path / "prediction.json"), files["first"])
    assert code == 0 and "throughput_per_s" in shown


def test_compare_of_no_file_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    code, _, told = run("compare", str(tmp_path / "none.json"), files["first"])
    assert code == 2 and "there is no such file" in told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--duration", "soon"], "a time such as 10s"),
        (["--backend", "telegraph"], "one of acsylla, python, memory"),
        (["--processes", "0"], "1 to 256"),
        (["--table-option", "compaction"], "NAME=CQL"),
        (["--contact-points", ","], "one address or more"),
        (["--username-env", "X"], "both or none"),
        (["--credentials-file", "/no/such/file"], "can be read"),
        (["--batch-share", "1.5"], "0 to 1"),
        (["--course", "10s"], "stretches such as"),
        (["--rates", "/no/such/file"], "cannot be read"),
        (["--course", "1s@5", "--rates", "x.csv"], "one of them"),
        (["--duration", "1s", "--operations", "5"], "one of them"),
        (["-o", "/no/such/folder/run.json"], "can be written to"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(options: list[str], words: str) -> None:
    sets = [word for change in CHANGES for word in ("--set", change)]
    backend = [] if "--backend" in options else ["--backend", "memory"]
    code, _, told = run("load", "run", *backend, *sets, *options)
    assert code == 2 and words in told, told


def test_find_max_prints_an_interval_and_what_ended_it(tmp_path: Path) -> None:
    sets = [word for change in (*CHANGES, "workload.partitions=1000") for word in ("--set", change)]
    options = ["--backend", "memory", "--first", "400/s", "--at-most", "200s", "-o", str(tmp_path / "max.json")]
    code, shown, told = run("load", "find-max", "--objective", "p95<=20ms", *sets, *options)
    assert code == 0 and "Largest     1," in shown and "Ended by    cluster" in shown
    assert "misses" in told and '"ended_by": "cluster"' in (tmp_path / "max.json").read_text()
    code, _, told = run("load", "find-max", "--objective", "p99=soon", *sets, "--backend", "memory")
    assert code == 2 and "p99=" in told
    code, _, told = run("load", "find-max", "--objective", "p99=1ms", "--first", "0", "--backend", "memory", *sets)
    assert code == 2 and "a rate above 0" in told


def test_a_cluster_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cassandra")
    monkeypatch.setenv("DB_USER", "scott")
    monkeypatch.setenv("DB_PASSWORD", "hunter2")
    secrets = ("--username-env", "DB_USER", "--password-env", "DB_PASSWORD")
    code, _, told = run("load", "run", "--contact-points", "127.0.0.99", "--port", "1", *secrets)
    assert code == 1 and "cannot connect to 127.0.0.99, port 1" in told and "hunter2" not in told


def test_durations_are_read_as_people_write_them() -> None:
    assert (time_of("--duration", "250ms"), warm_up_of("2min"), warm_up_of("auto")) == (0.25, 120.0, None)
    with pytest.raises(InputError, match="--warm-up"):
        warm_up_of("until noon")


def test_the_summary_has_figures_with_intervals_and_a_verdict() -> None:
    text = measurement_text(measured(1))
    assert text.splitlines()[-1] == "Verdict     valid"
    assert "Throughput  2," in text or "Throughput  1,9" in text
    assert text.count("[") >= 7 and "corrected for autocorrelation" in text


def test_the_live_view_is_one_line() -> None:
    look = Look("measured", 2.5, 10.0, 1234.0, 0.0021, 0.0123, 3, 8, {"127.0.0.1": 0.4})
    assert look_text(look) == (
        "measured 2.5 of 10 s, 1,230/s, p50 2.1 ms, p99 12.3 ms, 8 in flight, 3 errors, CPU 0.40"
    )
    assert look_text(Look("loading", 500, 30_000)) == "loading 500 of 30,000 partitions, 0 in flight, 0 errors"
