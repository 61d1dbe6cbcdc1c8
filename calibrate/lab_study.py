"""The shipped profile `lab-5.0.6`: demands of real 5.0.6 nodes under a CPU quota, from the lab study's cells.

One and two nodes of 0.4 core each, a lean client, rows in memory, 4 to 64 in flight. The study found the form
D = Q + L t + H m + W w + (c + ...) n / N of the CPU per operation, with t replicas touched, m of them remote, w the
probability that the answer waits for one. Here the same terms are parameters of the model: Q at the coordinator, L
at the replica, H at the four ends of a hop's messages, W as block and wake, c as the coordinator's wake-up, shared
by the requests that are present at the CPU rather than by all N in flight. They are fitted to throughput by least
squares on its logarithm with mean-value analysis as the forward model.

Assumptions: L is a given share of Q + L (these cells do not separate them); no idle work (with the study's 0.4 core
of it the fit is worse); spread over messages of wake-ups (h, v) is not identified and left out.

Source: the lab study of 5.0.6, sections 2 to 6; docs/background/profiles.md.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from ..model.calibration import Calibration, Discrepancy, Parameter
from ..model.demands import complete
from ..model.ensemble import ensemble
from ..model.mva import solve
from ..model.network import Floats, Network
from ..model.scenario import Scenario
from ..model.study import draw_rings, study
from .propagation import MESSAGE_ENDS, Propagated, propagate, rounded
from .published import LAB_VARIATION, lab_split

QUOTA = {"cores": 0.4, "period": 5e-3, "cpus": 1}
"""CPU quota of every node: 2 of each 5 ms on one core (study, section 2)."""
HOP_S = 15e-6
"""One-way delay over the loopback interface: the default of the same host, not measured."""
CLIENT_CPU_S = 3e-6
"""Client CPU of an operation: 2 to 6 µs at 16 and more in flight (`client_core` over `ops_s` of the cells)."""
FIRST_GUESS_S = (31e-6, 26e-6, 49e-6, 89e-6, 201e-6)
"""Coefficients of the study, section 6: Q + L of a read and of a write, H, W, c."""
UNKNOWNS = ("local_read_s", "local_write_s", "hop_s", "wake_s", "wake_up_s")
OUTLIER_LOG = 0.15
"""Error beyond which a cell counts less: a few cells came out at half or double speed (study, sections 3 and 9)."""
STEP = 0.03
"""Step of the logarithm in a derivative of the forward model, whose throughput has three to four digits."""
RESTART_LOG_STD = 0.1
"""Between restarts the same cell differs by 10 % (study, section 3)."""
NORMAL_MEDIAN = 0.6745
"""Median of the absolute value of a standard normal variable."""
SPLIT_LOG_STD = 0.3
"""Least error of what the split of Q and L decides."""


@dataclass(frozen=True)
class LabCell:
    """One cell of the lab study."""

    id: str
    phase: str
    nodes: int
    replication_factor: int
    operation: str
    consistency: str
    routing: str
    in_flight: int
    throughput_per_s: float
    cpu_s: float
    """CPU of all nodes per operation, what idle workers spin included."""
    p50_s: float
    client_cpu_s: float
    """Client CPU per operation."""


def read_lab_cells(path: Path) -> tuple[LabCell, ...]:
    """Return the cells of a file of the lab study."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_cell(row) for row in csv.DictReader(file))


def _cell(row: Mapping[str, str]) -> LabCell:
    rate_per_s = float(row["ops_s"])
    return LabCell(
        id=row["id"],
        phase=row["phase"],
        nodes=int(row["nodes"]),
        replication_factor=int(row["rf"]),
        operation={"r": "read", "w": "write"}[row["op"]],
        consistency=row["cl"],
        routing={"rr": "round-robin", "ta": "token-aware"}[row["routing"]],
        in_flight=int(row["inflight"]),
        throughput_per_s=rate_per_s,
        cpu_s=float(row["cpu_us_op_total"]) * 1e-6,
        p50_s=float(row["p50_ms"]) * 1e-3,
        client_cpu_s=float(row["client_core"]) / rate_per_s,
    )


def lab_scenario(cell: LabCell, client_cpu_s: float = CLIENT_CPU_S) -> Scenario:
    """Return the scenario of a cell: evenly interleaved tokens, rows in memory, no speculation."""
    operation = {"share": 1.0, "consistency": cell.consistency}
    return Scenario.model_validate({
        "cluster": {
            "nodes": cell.nodes,
            "replication": {"factor": cell.replication_factor},
            "allocation": "even",
            "table": {"speculative_retry": "NONE"},
        },
        "hardware": {"cores": 1, "cpu_quota": QUOTA, "hops": {"client": HOP_S, "same_rack": HOP_S}},
        "workload": {"cache_hit": 1.0, "operations": {cell.operation: operation}},
        "clients": {
            "in_flight": cell.in_flight,
            "routing": cell.routing,
            "processors": 1,
            "cpu_per_operation": client_cpu_s,
        },
    })


def lab_parameters(unknowns: Mapping[str, Floats | float], replica_share: float) -> dict[str, Floats | float]:
    """Return the model's parameters from the terms of the study."""
    end_s = unknowns["hop_s"] / MESSAGE_ENDS
    return {
        "coordinator_read_s": (1 - replica_share) * unknowns["local_read_s"],
        "coordinator_write_s": (1 - replica_share) * unknowns["local_write_s"],
        "replica_read_s": replica_share * unknowns["local_read_s"],
        "replica_write_s": replica_share * unknowns["local_write_s"],
        "message_send_s": end_s,
        "message_receive_s": end_s,
        "block_and_wake_s": unknowns["wake_s"],
        "coordinator_wake_up_s": unknowns["wake_up_s"],
    }


def compiled(scenario: Scenario, values: Mapping[str, float]) -> Network:
    """Return the network of a scenario with even tokens, which need no chance."""
    unused = np.random.default_rng(0)
    return study(scenario, values, draw_rings(scenario, unused), unused).network


class LabFit:
    """Throughput of the cells under many sets of parameters at once; repeats of a cell share a network."""

    def __init__(self, cells: Sequence[LabCell]) -> None:
        self._share = lab_split()["replica_share"].value
        first = self._values(np.array([FIRST_GUESS_S]))
        scenarios = [lab_scenario(cell) for cell in cells]
        unlike = list(dict.fromkeys(scenario.model_dump_json() for scenario in scenarios))
        self._which = [unlike.index(scenario.model_dump_json()) for scenario in scenarios]
        numbers = {name: float(np.ravel(value)[0]) for name, value in first.items()}
        self._networks = [compiled(Scenario.model_validate_json(text), numbers) for text in unlike]
        self._measured_per_s = np.array([cell.throughput_per_s for cell in cells])
        self._solved: dict[bytes, Floats] = {}

    def _values(self, sets: Floats) -> dict[str, Floats]:
        unknowns = dict(zip(UNKNOWNS, sets.T, strict=True))
        values = complete(lab_parameters(unknowns, self._share) | {"service_variation": LAB_VARIATION})  # type: ignore[arg-type]
        return {name: np.broadcast_to(value, len(sets)) for name, value in values.items()}

    def log_errors(self, sets: Floats) -> Floats:
        """Return the logarithm of predicted over measured throughput, [sets, cells]; sets are [sets, unknowns].

        What was solved once is remembered.
        """
        key = sets.tobytes()
        if key not in self._solved:
            self._solved[key] = self._log_errors(sets)
        return self._solved[key]

    def _log_errors(self, sets: Floats) -> Floats:
        values = self._values(sets)
        rates = np.array([solve(ensemble(network, values)).throughput_per_s for network in self._networks])
        return np.asarray(np.log(rates[self._which].T / self._measured_per_s))

    def jacobian(self, logs: Floats) -> Floats:
        """Return the derivatives of the errors by the logarithms of the unknowns, [cells, unknowns]."""
        moved = np.exp(np.vstack([logs, logs + STEP * np.eye(len(logs))]))
        errors = self.log_errors(moved)
        return np.asarray((errors[1:] - errors[0]).T / STEP)

    def fit(self, start_s: Sequence[float] = FIRST_GUESS_S, most_steps: int = 12) -> Floats:
        """Return the unknowns that fit best, [unknowns]."""
        found = least_squares(
            lambda logs: self.log_errors(np.exp(logs)[None])[0],
            np.log(start_s),
            self.jacobian,
            loss="soft_l1",
            f_scale=OUTLIER_LOG,
            max_nfev=most_steps,
        )
        return np.asarray(np.exp(found.x))

    def log_covariance(self, unknowns_s: Floats) -> Floats:
        """Return the covariance of the logarithms of the unknowns, the variation of restarts added to each."""
        jacobian = self.jacobian(np.log(unknowns_s))
        errors = self.log_errors(unknowns_s[None])[0]
        variance = errors @ errors / (len(errors) - len(unknowns_s))
        restarts = RESTART_LOG_STD**2 * np.eye(len(unknowns_s))
        return np.asarray(np.linalg.inv(jacobian.T @ jacobian) * variance + restarts)


def fitted_cells(one_node: Sequence[LabCell], two_nodes: Sequence[LabCell]) -> tuple[LabCell, ...]:
    """Return the cells that the profile is fitted to: the grid and its repeats, nodes on cores of their own."""
    return tuple(cell for cell in (*one_node, *two_nodes) if cell.phase in ("grid", "repeat"))


def sharing_of(two_nodes: Sequence[LabCell]) -> tuple[float, float]:
    """Return by how much two busy nodes on one core are dearer than on two, and its spread over three cells."""
    apart, together = (
        [cell.cpu_s for cell in two_nodes if cell.phase == phase] for phase in ("coloc-2cpu", "coloc-1cpu")
    )
    rise = np.array(together) / np.array(apart) - 1
    return float(rise.mean()), float(rise.std(ddof=1))


def lab_calibration(
    one_node: Sequence[LabCell], two_nodes: Sequence[LabCell], fit: LabFit, unknowns_s: Floats
) -> Calibration:
    """Return the profile of the lab's nodes.

    Args:
        one_node: cells on one node.
        two_nodes: cells on two nodes.
        fit: the fit to these cells.
        unknowns_s: its terms, `fit.fit()`, [unknowns].
    """
    cells = fitted_cells(one_node, two_nodes)
    spread = float(np.median(np.abs(fit.log_errors(unknowns_s[None])[0]))) / NORMAL_MEDIAN
    result = _propagated(fit, unknowns_s)
    return Calibration(
        name="lab-5.0.6",
        title="Real Cassandra 5.0.6 nodes under a CPU quota of 0.4 core on one machine",
        good_for=(
            "the lab itself: one and two nodes of one core each under a quota, Java's client compiler, rows of 170 "
            "bytes in memory, 4 to 64 in flight. Not for production machines, where an operation costs ten times more"
        ),
        cassandra_version="5.0.6",
        reference="one core of a two-core virtual machine, client compiler only, quota 2 of 5 ms",
        parameters=_parameters(result, cells, two_nodes),
        correlation=result.correlation(),
        discrepancy=Discrepancy(throughput=rounded(spread)),
    )


def _propagated(fit: LabFit, unknowns_s: Floats) -> Propagated:
    """Return the parameters with the errors of the fit and of the split of Q and L."""
    share = lab_split()["replica_share"]
    covariance = np.zeros((len(UNKNOWNS) + 1,) * 2)
    covariance[:-1, :-1] = fit.log_covariance(unknowns_s)
    covariance[-1, -1] = max(share.log_std, SPLIT_LOG_STD) ** 2
    figures = dict(zip(UNKNOWNS, unknowns_s.tolist(), strict=True)) | {"replica_share": share.value}

    def derive(each: Mapping[str, float]) -> dict[str, float]:
        return {name: float(value) for name, value in lab_parameters(each, each["replica_share"]).items()}

    return propagate(figures, covariance, derive)


def _parameters(
    result: Propagated, cells: Sequence[LabCell], two_nodes: Sequence[LabCell]
) -> dict[str, Parameter]:
    rows = (f"{cells[0].id}..{cells[-1].id[1:]}",)
    valid = "one core under a quota, 2 to 64 requests in flight for each node"
    source = "lab study of 5.0.6: fit to throughput of grid and repeats; L a share of Q + L from sections 6 and 10"
    found = {name: result.parameter(name, source, rows, RESTART_LOG_STD, valid) for name in result.values}
    rise, spread = sharing_of(two_nodes)
    beside = [cell.id for cell in two_nodes if cell.phase.startswith("coloc")]
    found["sharing_ratio"] = Parameter(
        value=rounded(rise),
        std_err=rounded(max(spread, SPLIT_LOG_STD * rise)),
        unit="1",
        source="lab study, section 5: two nodes on one core over two cores, CPU per operation",
        rows=tuple(beside),
        valid="two nodes on one core",
    )
    found["service_variation"] = Parameter(
        value=LAB_VARIATION,
        std_err=rounded(SPLIT_LOG_STD * LAB_VARIATION),
        unit="1",
        source="lab study, section 6: variation with which its latencies were reproduced",
        valid="without collections",
    )
    return found
