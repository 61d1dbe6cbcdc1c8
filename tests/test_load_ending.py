"""What ends a run: stop conditions, and a precision whose time a pilot foretells."""

from __future__ import annotations

import pytest

from capmodel.live.load.memory_session import MemoryCluster, Outage
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.run import rehearse
from capmodel.live.load.stopping import Precision, StopConditions
from capmodel.model.errors import InputError
from capmodel.model.estimate import Z
from capmodel.model.measured_metrics import metrics_of
from capmodel.model.measurement import Measurement
from capmodel.model.objective import parse_objectives
from capmodel.model.scenario_file import load_scenario

CHANGES = [
    "cluster.nodes=1", "cluster.replication.factor=1", "clients.routing=round-robin", "workload.partitions=1000",
    "clients.in_flight=8", "workload.operations.read.share=1",
]  # fmt: skip
STOP = StopConditions(parse_objectives(["p99<=200ms"])[0], 0.05)


def run(cluster: MemoryCluster, **plan: object) -> Measurement:
    return rehearse(load_scenario("default", CHANGES), cluster, LoadPlan(**{"warm_up_s": 0.5, **plan}))  # type: ignore[arg-type]


def test_errors_beyond_the_limit_end_a_run_within_a_second_or_two() -> None:
    dead = MemoryCluster(outages=(Outage(0, from_s=2.5),))
    measured = run(dead, duration_s=30.0, stop=STOP)
    assert measured.ended == "early" and measured.duration_s is not None and 2.0 < measured.duration_s < 4.5
    assert any(note.startswith("stopped:") and "requests failed" in note for note in measured.notes)


def test_latency_beyond_the_limit_ends_a_run() -> None:
    slowing = MemoryCluster(slower_per_s=10.0, service_s=0.005)
    measured = run(slowing, duration_s=60.0, stop=STOP)
    assert measured.ended == "early"
    assert any("p99 was" in note and "as wanted" in note for note in measured.notes)


def test_a_run_within_its_limits_is_not_ended() -> None:
    """Negative control: the same limits, a cluster that keeps them, and one outage shorter than the patience."""
    brief = MemoryCluster(outages=(Outage(0, from_s=2.0, to_s=2.01),))
    assert run(MemoryCluster(), duration_s=4.0, stop=STOP).ended == "planned"
    assert run(brief, duration_s=4.0, stop=STOP).ended == "planned"


@pytest.mark.parametrize("statistic", ["rate", "p99"])
def test_a_run_lasts_until_its_precision_is_reached(statistic: str) -> None:
    """A pilot of 2 s, and one look more at most, is enough for 30 %; a fifteenth of that takes far longer."""
    wide, narrow = (
        run(MemoryCluster(), duration_s=600.0, interval_s=0.1, precision=Precision(ratio, statistic))
        for ratio in (0.30, 0.02)
    )
    assert wide.duration_s is not None and wide.duration_s <= 8.1 and narrow.duration_s is not None
    assert narrow.duration_s > 2 * wide.duration_s and narrow.duration_s < 600
    figure = metrics_of(narrow).throughput_per_s if statistic == "rate" else metrics_of(narrow).latency_s["read"].p99
    assert figure is not None and figure.low is not None and figure.high is not None and figure.value is not None
    assert (figure.high - figure.low) / 2 / figure.value < 0.02 * 1.3, "as another estimator has it"


def test_the_longest_time_ends_it_all_the_same() -> None:
    measured = run(MemoryCluster(), duration_s=3.0, interval_s=0.1, precision=Precision(0.0001))
    assert measured.duration_s == pytest.approx(3.0, abs=0.11) and measured.ended == "planned"


def test_the_time_grows_with_the_square_of_the_error() -> None:
    class Known(Precision):
        def error(self, measured: object) -> float:
            return 0.06

    assert Known(0.04).wanted_s([], 10.0) == pytest.approx(10.0 * 1.5**2)
    assert Known(0.001).wanted_s([], 10.0) == 40.0, "one look trusts the pilot only so far"
    assert Known(0.1).wanted_s([], 10.0) == 10.0 and Z > 1


@pytest.mark.parametrize("wrong", [(0.0, "rate"), (1.0, "rate"), (0.1, "mean")])
def test_a_precision_that_is_none_is_refused(wrong: tuple[float, str]) -> None:
    with pytest.raises(InputError, match="--precision"):
        Precision(*wrong)
