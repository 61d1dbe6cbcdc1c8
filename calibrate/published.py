"""The shipped default profile, derived from published runs by the utilisation law.

Three published cases have runs in which more requests in flight bring no more throughput: C01 (4 vCPU, 4.0.0), C04
(16 vCPU, 3.11.4) and C05 (32 vCPU, 3.0.6). In these the demand of an operation is cores / throughput. From the
differences between layouts follow, per case, a write at one replica and what each further replica adds; figures of
the cases are combined as geometric means, none is fitted to one row. The reference core is the geometric mean of
the cores of the three cases. What no row separates is split by ratios of the lab study of 5.0.6.

Assumptions: the cores are the limit of a saturated run (so demands are upper bounds where something else was);
clients are token-aware, so that at RF 1 no request needs a hop; a payload costs coordinator and replica alike.

Source: docs/background/profiles.md names every row and every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.calibration import Calibration, Parameter
from .evidence import PublishedRuns, cores_s, expand
from .propagation import MESSAGE_ENDS, Propagated, propagate, rounded

C05_RF_1 = ("C05-06..13",)
C05_RF_2 = ("C05-19..26", "C05-32..39")
C04_RF_1 = ("C04-01", "C04-04", "C04-28..29")
C04_RF_3 = ("C04-02", "C04-06", "C04-30..31")
C04_WRITE_PAYLOADS = ("C04-16..20",)
C04_READ_PAYLOADS = ("C04-23", "C04-25", "C04-27")
C04_READ_LEVELS = ("C04-11..13",)
C01_MIXES = ("C01-01..03", "C01-07..09", "C01-13..15")
"""Rows by what they are read for; every span of C01 holds the repeats of one mix at three nodes and RF 3."""
STEP_ROWS = (*C04_RF_1, *C04_RF_3, *C05_RF_1, *C05_RF_2)
LEVEL_ROWS = (*C01_MIXES, *STEP_ROWS)

LAB_LOCAL_READ_S = {"lab section 6": (24e-6, 7e-6), "lab section 10": (24e-6, 23e-6)}
"""Lab study of 5.0.6: a read's CPU at its coordinator (Q) and at its replica (L), in two layouts."""
LAB_HOP_S = {"lab section 6": (49e-6, 89e-6), "lab section 10": (44e-6, 75e-6)}
"""The same: CPU of a hop's two messages at both ends (H), and of waking a coordinator that waited (W)."""
LAB_VARIATION = 0.5
"""Lab study, section 6: coefficient of variation of services with which its latencies were reproduced."""
COORDINATOR_PAYLOAD_SHARE = 0.5
"""Share of a write's cost per KiB that falls on the coordinator: no row tells, both handle the payload once."""
LEAST_LOG_STD = 0.3
"""Least relative standard error of a parameter that was not measured on the cluster in question."""


@dataclass(frozen=True)
class Figure:
    """A positive figure from several sources: geometric mean, and standard deviation of its logarithm."""

    value: float
    log_std: float


def between_cases(values: Sequence[float]) -> Figure:
    """Return the middle of figures of some machines; the error is that of one machine more."""
    logs = np.log(values)
    return Figure(float(np.exp(logs.mean())), float(logs.std(ddof=1)))


def agreed(values: Sequence[float]) -> Figure:
    """Return the middle of figures of the same thing; the error is that of their mean."""
    whole = between_cases(values)
    return Figure(whole.value, whole.log_std / np.sqrt(len(values)))


@dataclass(frozen=True)
class CaseWrites:
    """Writes of one case, without payload."""

    local_s: float
    """CPU of a write at one replica on its coordinator."""
    step_s: float
    """CPU that each further replica adds, messages included."""

    @property
    def step_ratio(self) -> float:
        """What a further replica adds, over the write at one."""
        return self.step_s / self.local_s

    @property
    def at_three_s(self) -> float:
        """CPU of a write at three replicas that waits for none of the others."""
        return self.local_s + 2 * self.step_s


def published_calibration(runs: PublishedRuns) -> Calibration:
    """Return the default profile from the published runs."""
    found = figures_of(runs)
    covariance = np.diag([figure.log_std**2 for figure in found.values()])
    result = propagate({name: figure.value for name, figure in found.items()}, covariance, parameters_of)
    return Calibration(
        name="default",
        title="Published runs of Cassandra 3.0 to 4.0 on cloud machines, demands by the utilisation law",
        good_for=(
            "ratios between layouts (nodes, RF, consistency level, in flight) where CPU is the limit; absolute rates "
            "within a factor of 1.7. Rows in memory, up to 16 KiB and 10 columns, on cloud vCPUs. Not for long "
            "collections (p99), CPU quotas, versions before 3.0"
        ),
        cassandra_version="3.0 to 4.0",
        reference="geometric mean of vCPUs of i3.xlarge, Azure D14 v2 class and n1-highmem-32",
        parameters=_parameters(result),
        correlation=result.correlation(),
    )


def figures_of(runs: PublishedRuns) -> dict[str, Figure]:
    """Return the figures that the parameters follow from, without payload where not said otherwise."""
    split = lab_split() | {"wake_ratio": _wake_ratio(runs)}
    slopes = {"write_payload_ratio": _slope_per_kib(runs, C04_WRITE_PAYLOADS)}
    slopes["read_payload_ratio"] = _slope_per_kib(runs, C04_READ_PAYLOADS)
    wake_per_step = split["wake_ratio"].value * split["message_share"].value
    cases = (_c04_writes(runs, slopes["write_payload_ratio"].value, wake_per_step), _c05_writes(runs))
    step_ratio = agreed([case.step_ratio for case in cases])
    read_s, write_s = _c01_operations(runs)
    levels = [*(case.at_three_s for case in cases), write_s]
    return {
        "write_at_three_s": between_cases(levels),
        "step_ratio": step_ratio,
        "read_ratio": Figure(read_s / write_s, 0.0),
        **split,
        **slopes,
    }


def lab_split() -> dict[str, Figure]:
    """Return the replica's share of a local read, and the messages' share of what a further replica adds."""
    reads, hops = LAB_LOCAL_READ_S, LAB_HOP_S
    return {
        "replica_share": agreed([replica / (coordinator + replica) for coordinator, replica in reads.values()]),
        "message_share": agreed([hops[name][0] / (hops[name][0] + reads[name][1]) for name in hops]),
    }


def _wake_ratio(runs: PublishedRuns) -> Figure:
    """Return the CPU of a wake-up over that of a hop's messages, from the lab and from reads of C04.

    From ONE to TWO a read of C04 costs a replica, a hop and the wake-up more, from TWO to THREE a replica and a hop.
    """
    one, two, three = (runs[name].cores_s for name in expand(C04_READ_LEVELS))
    step_s = three - two
    published = (two - one - step_s) / (step_s * lab_split()["message_share"].value)
    return agreed([agreed([wake / hop for hop, wake in LAB_HOP_S.values()]).value, published])


def _slope_per_kib(runs: PublishedRuns, spans: Sequence[str]) -> Figure:
    """Return the cost of one KiB over the cost of an operation without payload.

    The runs are not saturated: the ratio holds as far as all of the response time grows alike.
    """
    named = [runs[name] for name in expand(spans)]
    slope_s, nothing_s = np.polyfit([run.row_kib for run in named], [run.cores_s for run in named], 1)
    return Figure(float(slope_s / nothing_s), 0.0)


def _c05_writes(runs: PublishedRuns) -> CaseWrites:
    """Return writes of C05: RF 1 and RF 2 without waiting; its payload of 170 bytes is neglected (under 1 %)."""
    local_s = cores_s(runs, C05_RF_1)
    return CaseWrites(local_s, cores_s(runs, C05_RF_2) - local_s)


def _c04_writes(runs: PublishedRuns, payload_ratio: float, wake_per_step: float) -> CaseWrites:
    """Return writes of C04: RF 1, and RF 3 at LOCAL_QUORUM, which waits for one other node."""
    kib = runs[C04_RF_1[0]].row_kib
    local_s = cores_s(runs, C04_RF_1) / (1 + payload_ratio * kib)
    payload_s = 2 * (1 - COORDINATOR_PAYLOAD_SHARE) * payload_ratio * kib * local_s
    more_s = cores_s(runs, C04_RF_3) - cores_s(runs, C04_RF_1) - payload_s
    return CaseWrites(local_s, more_s / (2 + wake_per_step))


def _c01_operations(runs: PublishedRuns) -> tuple[float, float]:
    """Return CPU of a read at ONE and of a write at three replicas, by a line over the mixes of C01.

    At three nodes and RF 3 every coordinator is a replica; the payload of 500 bytes is neglected (about 3 %).
    """
    shares = [runs[expand([mix])[0]].write_share for mix in C01_MIXES]
    slope_s, read_s = np.polyfit(shares, [cores_s(runs, [mix]) for mix in C01_MIXES], 1)
    return float(read_s), float(read_s + slope_s)


def parameters_of(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the parameters that follow from the figures."""
    write_s = figures["write_at_three_s"] / (1 + 2 * figures["step_ratio"])
    read_s = figures["write_at_three_s"] * figures["read_ratio"]
    step_s = write_s * figures["step_ratio"]
    hop_s = step_s * figures["message_share"]
    replica_write_s, replica_read_s = step_s - hop_s, read_s * figures["replica_share"]
    write_kib_s, read_kib_s = write_s * figures["write_payload_ratio"], read_s * figures["read_payload_ratio"]
    coordinator_kib_s = COORDINATOR_PAYLOAD_SHARE * write_kib_s
    return {
        "coordinator_read_s": read_s - replica_read_s,
        "coordinator_write_s": write_s - replica_write_s,
        "coordinator_kib_s": coordinator_kib_s,
        "replica_read_s": replica_read_s,
        "replica_write_s": replica_write_s,
        "replica_read_kib_s": read_kib_s - coordinator_kib_s,
        "replica_write_kib_s": write_kib_s - coordinator_kib_s,
        "message_send_s": hop_s / MESSAGE_ENDS,
        "message_receive_s": hop_s / MESSAGE_ENDS,
        "block_and_wake_s": hop_s * figures["wake_ratio"],
    }


PAYLOAD_ROWS = (*C04_WRITE_PAYLOADS, *C04_READ_PAYLOADS)
EVIDENCE: dict[str, tuple[str, tuple[str, ...]]] = {
    "coordinator_read_s": ("C01 mixes at the level of all cases, less the replica's share (lab 6, 10)", LEVEL_ROWS),
    "coordinator_write_s": ("write at one replica (C04, C05), less the replica's share (lab 6, 10)", LEVEL_ROWS),
    "coordinator_kib_s": ("C04 writes by payload, half of the slope", (*LEVEL_ROWS, *C04_WRITE_PAYLOADS)),
    "replica_read_s": ("C01 mixes at the level of all cases, share L / (Q + L) of lab 6 and 10", LEVEL_ROWS),
    "replica_write_s": ("further replica (C04, C05), share L / (L + H) of lab 6 and 10", LEVEL_ROWS),
    "replica_read_kib_s": ("C04 reads by payload, less the coordinator's share", (*LEVEL_ROWS, *PAYLOAD_ROWS)),
    "replica_write_kib_s": ("C04 writes by payload, half of the slope", (*LEVEL_ROWS, *C04_WRITE_PAYLOADS)),
    "message_send_s": ("further replica (C04, C05), share H / (L + H) of lab 6 and 10; four like ends", LEVEL_ROWS),
    "message_receive_s": ("further replica (C04, C05), share H / (L + H) of lab 6 and 10; four like ends", LEVEL_ROWS),
    "block_and_wake_s": ("W / H of lab 6 and 10 and of C04 reads ONE, TWO, THREE", (*LEVEL_ROWS, *C04_READ_LEVELS)),
}
"""Where each parameter comes from, in words, and its rows."""


def _parameters(result: Propagated) -> dict[str, Parameter]:
    valid = "rows of 0.1 to 16 KiB, up to 10 columns, RF 1 to 3, more than 3 requests in flight per core"
    found = {
        name: result.parameter(name, source, rows, LEAST_LOG_STD, valid) for name, (source, rows) in EVIDENCE.items()
    }
    variation = Parameter(
        value=LAB_VARIATION,
        std_err=rounded(LAB_VARIATION * LEAST_LOG_STD),
        unit="1",
        source="lab study of 5.0.6, section 6: variation with which its latencies were reproduced",
        valid="without collections",
    )
    return {**found, "service_variation": variation}
