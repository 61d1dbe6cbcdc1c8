"""The load on two real nodes: what it counts is what the nodes count, and a node that is killed ends nothing."""

from __future__ import annotations

import fcntl
import importlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from capmodel.live.lab.record import Lab, load_lab
from capmodel.live.lab.spec import LabSpec
from capmodel.live.lab.startup import bring_up
from capmodel.live.lab.stopping import stop
from capmodel.live.lab.teardown import tear_down
from capmodel.live.load.access import Access
from capmodel.live.load.capture import capture
from capmodel.live.load.interruption import Interruption
from capmodel.live.load.lab_probe import LabProbe
from capmodel.live.load.look import Look, Show, show_nothing
from capmodel.live.load.observation import observe
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.requests import Batches
from capmodel.live.load.run import run_load
from capmodel.model.errors import InputError, ScenarioError
from capmodel.model.measurement import Measurement
from capmodel.model.measurement_file import load_measurement, write_measurement
from capmodel.model.scenario import Scenario
from capmodel.model.scenario_file import load_scenario

pytestmark = pytest.mark.live
pytest.importorskip("cassandra", reason="the Python driver is not installed")
FIRST = "127.0.21.1"
USUAL = (
    "cluster.nodes=2",
    "cluster.replication.factor=1",
    "cluster.table.speculative_retry=NONE",
    "clients.in_flight=16",
    "workload.partitions=2000",
    "workload.operations.read.consistency=ONE",
    "workload.operations.write.consistency=ONE",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give two nodes, with the machine's labs to itself: tests may run in several processes."""
    directory = tmp_path_factory.mktemp("load") / "lab"
    with (tmp_path_factory.getbasetemp().parent / "labs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            lab = bring_up(LabSpec(nodes=2, first_address=FIRST), directory, print, capped=False)
            run(lab, "python", duration_s=0.5)  # a node that has never been asked takes long to tell its counters
            yield lab
        finally:
            tear_down(directory)


def scenario(*changes: str) -> Scenario:
    return load_scenario("default", [*USUAL, *changes])


def run(lab: Lab, backend: str, *changes: str, show: Show = show_nothing, duration_s: float = 1.5) -> Measurement:
    if backend == "acsylla":
        pytest.importorskip("acsylla", reason="acsylla is not installed")
    plan = LoadPlan(duration_s=duration_s, warm_up_s=0.5, idle_s=0.3, timeout_s=3.0)
    return run_load(scenario(*changes), Access((FIRST,)), plan, backend=backend, probe=LabProbe(lab), show=show)


def counted(measurement: Measurement, beginning: str) -> list[float]:
    """Return a counter of our tables by node."""
    return [
        sum(value for name, value in node.counters.items() if name.startswith(beginning) and ".capmodel_" in name)
        for node in measurement.nodes
    ]


def messages(measurement: Measurement) -> float:
    assert measurement.cluster is not None
    return sum(count for receivers in measurement.cluster.messages.values() for count in receivers.values())


@pytest.mark.parametrize(
    ("backend", "changes", "hop_probability"),
    [
        ("acsylla", ("clients.routing=token-aware",), 0.0),
        ("python", ("clients.routing=token-aware",), 0.0),
        ("acsylla", ("clients.routing=round-robin",), 0.5),
        ("python", ("clients.routing=round-robin",), 0.5),
        ("acsylla", ("clients.routing=round-robin", "clients.coordinators=[1]"), 0.5),
        ("python", ("clients.routing=round-robin", "clients.coordinators=[1]"), 0.5),
    ],
)
def test_what_is_counted_is_what_the_nodes_count(
    lab: Lab, tmp_path: Path, backend: str, changes: tuple[str, ...], hop_probability: float
) -> None:
    """At RF 1 a coordinator holds the row with probability 1/2 or always; each hop is a message there and one back."""
    measured = run(lab, backend, *changes)
    by_node = counted(measured, "coordinator_")
    asked, cluster = sum(by_node), measured.cluster
    assert cluster is not None and cluster.facts["counters_requests"] == pytest.approx(asked, rel=0.15)
    spread = 4 * (hop_probability * (1 - hop_probability) / asked) ** 0.5
    assert messages(measured) / asked == pytest.approx(2 * hop_probability, abs=2 * spread + 0.04)
    assert (by_node[0] == 0) == ("clients.coordinators=[1]" in changes)
    assert not measured.errors and not measured.notes
    assert all(node.cpu_s and node.nodes_on_cores == 1 and node.version.startswith("5.") for node in measured.nodes)
    assert "concurrent_reads" in measured.nodes[0].facts
    write_measurement(measured, tmp_path / "run.json")
    assert load_measurement(tmp_path / "run.json") == measured


def test_absent_keys_and_batches_work(lab: Lab) -> None:
    plan = LoadPlan(duration_s=1.0, warm_up_s=0.5, batches=Batches(share=0.5, rows=3))
    changes = ("workload.absent_keys=0.5", "workload.rows_per_partition=4", "workload.partitions=500")
    for backend in ("acsylla", "python"):
        measured = run_load(scenario(*changes), Access((FIRST,)), plan, backend=backend)
        assert set(measured.operations) == {"read", "write", "batch"} and not measured.errors
        assert not measured.notes, "reads of keys that exist find their row, others are not expected to"


def test_a_table_of_somebody_else_is_left_alone(lab: Lab) -> None:
    console = importlib.import_module("capmodel.live.load.cassandra_connection").console
    with console(Access((FIRST,))) as asked:
        asked.ask("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '1'}")
        asked.ask("CREATE TABLE shop.customers (key blob PRIMARY KEY, c0 blob)")
        asked.ask("INSERT INTO shop.customers (key, c0) VALUES (0x01, 0x02)")
        plan = LoadPlan(duration_s=0.5, warm_up_s=0.0, keyspace="shop", table="customers")
        with pytest.raises(InputError, match="it is left alone"):
            run_load(scenario(), Access((FIRST,)), plan, backend="python")
        assert list(asked.ask("SELECT * FROM shop.customers")) == [{"key": b"\1", "c0": b"\2"}]


def test_a_cluster_is_captured_and_observed(lab: Lab) -> None:
    """Tokens and replication are those the lab was given; a watch without load counts next to nothing."""
    console = importlib.import_module("capmodel.live.load.cassandra_connection").console
    with console(Access((FIRST,))) as asked:
        captured = capture(asked, "capmodel_dc1_1").scenario.cluster
        watched = observe(asked, 0.5, Interruption(), show_nothing, LabProbe(lab))
    assert captured.tokens == tuple(tuple(sorted(node.plan.tokens)) for node in lab.nodes)
    assert (captured.version, captured.node_count, captured.replication.factor) == ("5.0", 2, {"dc1": 1})
    assert sum(operation.requests or 0 for operation in watched.operations.values()) < 50
    assert all(node.cpu_s is not None and node.counters for node in watched.nodes)


def test_a_scenario_of_another_cluster_is_refused(lab: Lab) -> None:
    with pytest.raises(ScenarioError, match="the cluster has 2"):
        run_load(scenario("cluster.nodes=3"), Access((FIRST,)), backend="python")


def test_a_killed_node_shows_as_errors_and_the_runs_go_on(lab: Lab) -> None:
    """Two loads at once, one of each backend, on a table that is loaded; each node holds every row.

    The second node is killed half a second into the measured time.
    """
    killer = threading.Timer(0.5, stop, (lab.directory, "node2", True))

    def show(look: Look) -> None:
        if look.phase == "measured" and killer.ident is None:
            killer.start()

    changes = ("clients.routing=round-robin", "cluster.replication.factor=2")
    run(lab, "python", *changes, duration_s=0.5)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(run, lab, "acsylla", *changes, show=show, duration_s=4.0)
        second = pool.submit(run, lab, "python", *changes, duration_s=4.0)
        runs = [first.result(), second.result()]
    killer.join()
    for measured in runs:
        assert measured.ended == "planned" and measured.duration_s == pytest.approx(4.0, abs=0.5)
        assert measured.errors and measured.verdict.kind != "valid"
        last = [rate for rate in measured.series["all"].rate_per_s if rate is not None][-5:]
        assert sum(last) > 0, "the node that is left answers"
    assert min(event.at_s for event in runs[0].errors) > 0.3
    found = load_lab(lab.directory)
    assert found is not None and [node.running for node in found.nodes] == [True, False]
