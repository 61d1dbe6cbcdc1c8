"""The verdict on a run: each thing that can spoil it, and a run that nothing spoils."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from capmodel.live.load.buckets import NOTHING, tally
from capmodel.live.load.ceiling import Ceiling
from capmodel.live.load.host_watch import HostWatch, on_this_host
from capmodel.live.load.interval import ClientUse, Interval, Starts, together
from capmodel.live.load.verdict import Judged, verdict_of


def intervals(
    client: ClientUse | None = None, errors: Mapping[str, int] | None = None, count: int = 40, missing: int = 0
) -> list[Interval]:
    """Return even intervals of 100 requests of 10 ms."""
    calm = ClientUse(cpu_s=0.01, busiest_ratio=0.1, lag=tally([0.0005] * 10))
    answered, use = {"read": tally([0.01] * 100)}, client or calm
    return [
        Interval(number, number / 10, (number + 1) / 10, answered, errors or {}, missing, 8, use)
        for number in range(count)
    ]


def test_a_run_that_nothing_spoils_is_valid() -> None:
    assert verdict_of(Judged(intervals(), 0.1, host_idle_ratio=0.5)).kind == "valid"


@pytest.mark.parametrize(
    ("client", "words"),
    [
        (ClientUse(cpu_s=0.09, busiest_ratio=0.9), "busy 90% of the time"),
        (ClientUse(cpu_s=0.01, busiest_ratio=0.1, lag=tally([0.004] * 10)), "ran 4 ms late at p99"),
        (ClientUse(cpu_s=0.01, busiest_ratio=0.1, pauses_s=0.002), "collections of the load took 2.0%"),
    ],
)
def test_a_load_that_cannot_keep_up_says_so(client: ClientUse, words: str) -> None:
    verdict = verdict_of(Judged(intervals(client), 0.1))
    assert verdict.kind == "client-limited"
    assert words in verdict.reasons[0]


CEILING = Ceiling(
    backend="x", versions={}, machine="y", closed_per_s=1200.0, open_per_s=900.0, floor_s=0.0004,
    cpu_per_operation_s=1e-5, stub_busy_ratio=0.1,
)  # fmt: skip


def test_a_run_near_the_generators_ceiling_says_so() -> None:
    """The runs here have 1,000 answers a second: 83 % of this ceiling, 42 % of that of two processes."""
    near = verdict_of(Judged(intervals(), 0.1, ceiling=CEILING))
    assert near.kind == "client-limited" and "near its own ceiling: 1,000/s is above 80%" in near.reasons[0]
    assert verdict_of(Judged(intervals(), 0.1, ceiling=CEILING, processes=2)).kind == "valid"


def test_a_latency_near_the_generators_floor_says_so() -> None:
    slow = CEILING.model_copy(update={"floor_s": 0.006, "closed_per_s": 1e6})
    assert "latency floor is 6 ms" in verdict_of(Judged(intervals(), 0.1, ceiling=slow)).reasons[0]


def starts(lag_s: float, due: int = 100, missed: int = 0) -> Starts:
    return Starts({"read": tally([0.01] * 100)}, {"read": tally([lag_s] * 100)}, tally([lag_s] * due), missed)


def opened(**given: float) -> list[Interval]:
    return [replace(one, starts=starts(**given)) for one in intervals()]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"lag_s": 0.004}, "client-limited", "sent 4 ms late at p99"),
        ({"lag_s": 0.0, "due": 100, "missed": 1}, "overloaded", "found no place in flight"),
        ({"lag_s": 0.0, "due": 120}, "overloaded", "only 83.3% of what was meant to start"),
        ({"lag_s": 0.0}, "valid", ""),
    ],
)
def test_an_open_load_is_judged_by_its_starts(given: Mapping[str, float], kind: str, words: str) -> None:
    verdict = verdict_of(Judged(opened(**given), 0.1))
    assert verdict.kind == kind
    assert words in (verdict.reasons[0] if verdict.reasons else "")


def test_lag_that_is_small_beside_the_latency_is_let_pass() -> None:
    late = ClientUse(cpu_s=0.01, busiest_ratio=0.1, lag=tally([0.0024] * 10))
    assert verdict_of(Judged(intervals(late), 0.1)).kind == "valid"


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        ({"ReadTimeout": 2}, "overloaded"),
        ({"OperationTimedOut": 2}, "overloaded"),
        ({"ConnectionShutdown": 2}, "not-steady"),
        ({"ReadTimeout": 0, "ConnectionShutdown": 1}, "valid"),
    ],
)
def test_errors_name_what_spoilt_it(errors: Mapping[str, int], kind: str) -> None:
    """Of 102 requests two failed; one of 101 is let pass."""
    assert verdict_of(Judged(intervals(errors=errors), 0.1)).kind == kind


def test_a_busy_host_is_named() -> None:
    assert verdict_of(Judged(intervals(), 0.1, host_idle_ratio=0.05)).kind == "host-limited"


def test_rows_that_are_missing_spoil_a_run() -> None:
    verdict = verdict_of(Judged(intervals(missing=1), 0.1))
    assert verdict.kind == "not-steady" and "40 reads found no row" in verdict.reasons[0]


def test_lost_processes_and_warm_ups_without_end_are_told() -> None:
    verdict = verdict_of(Judged(intervals(), 0.1, lost_processes=1, never_flat=True))
    assert verdict.kind == "not-steady" and len(verdict.reasons) == 2


def test_all_reasons_are_given_and_the_first_names_it() -> None:
    busy = ClientUse(cpu_s=0.1, busiest_ratio=0.99)
    verdict = verdict_of(Judged(intervals(busy, {"ReadTimeout": 9}), 0.1, host_idle_ratio=0.01))
    assert verdict.kind == "client-limited" and len(verdict.reasons) == 3


def test_a_short_run_is_not_judged() -> None:
    assert verdict_of(Judged(intervals(count=5), 0.1)).kind == "not judged"


def test_intervals_of_processes_add_up() -> None:
    busy = ClientUse(cpu_s=0.1, busiest_ratio=0.3, longest_pause_s=0.01)
    both = together([*intervals(busy, {"A": 1}, 1), *intervals(count=1)])
    assert (both.answers, both.rate_per_s, both.in_flight, both.errors) == (200, 2000.0, 16, {"A": 1})
    assert (both.client.busiest_ratio, both.client.longest_pause_s) == (0.3, 0.01)
    assert both.client.cpu_s == pytest.approx(0.11)
    assert both.client.lag.n == 10
    assert together([Interval(0, 0.0, 1.0, {}, {})]).all_latencies.n == NOTHING.n


def test_this_host_is_known_by_its_loopback_addresses() -> None:
    assert on_this_host(["127.0.0.3"]) and on_this_host(["localhost"]) and not on_this_host(["10.0.0.1", "db.example"])
    idle = HostWatch().idle_ratio()
    assert idle is None or 0.0 <= idle <= 1.0
