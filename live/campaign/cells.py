"""The cells of the lab's campaigns: which are fitted, and which are predicted and then measured.

At most ten cells, on one and two nodes, are fitted: they separate what a request costs its coordinator from what it
costs a replica (two nodes at RF 2: through both and through one), what waiting for a replica costs (writes at ONE and
at QUORUM send the same messages), reads from writes, and few in flight from many.
What is predicted has sizes, factors, levels, routings, mixes and loads that the fit has not seen.

Source: DESIGN.md, sections 4.3 and 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ...model.lab_scenario import LabHardware, lab_scenario
from ...model.scenario import Scenario
from .protocol import Protocol

CLIENT_CPU_S = 50e-6
"""Of the load generator for one operation, measured at 27 to 70 µs: far from a limit at the rates of a lab."""
PARTITIONS = 30_000
"""Rows of some 200 bytes: a few megabytes, in memory on every node."""
MIDDLE = 32
"""In flight of most cells: every node of the lab is busy then, and none is swamped."""


class Cell(NamedTuple):
    """A cell by what tells it apart from others of its number of nodes."""

    factor: int
    mix: str
    consistency: str
    routing: str = "ta"
    in_flight: int = MIDDLE
    through: int = 0


@dataclass(frozen=True)
class Plan:
    """Cells by number of nodes."""

    fitted: Mapping[int, tuple[Cell, ...]]
    predicted: Mapping[int, tuple[Cell, ...]]


def _crossed(factor: int, levels: Iterable[str], mixes: str = "r w", routings: str = "ta rr") -> tuple[Cell, ...]:
    return tuple(
        Cell(factor, mix, level, routing)
        for level in levels
        for mix in mixes.split()
        for routing in routings.split()
    )


FITTED: Mapping[int, tuple[Cell, ...]] = MappingProxyType(
    {
        1: (Cell(1, "r", "ONE", in_flight=4), Cell(1, "r", "ONE"), Cell(1, "w", "ONE")),
        2: (
            Cell(1, "r", "ONE", "rr"),
            Cell(2, "r", "QUORUM", in_flight=4),
            Cell(2, "r", "QUORUM"),
            Cell(2, "r", "QUORUM", in_flight=128),
            Cell(2, "w", "QUORUM"),
            Cell(2, "w", "ONE"),
            Cell(2, "r", "QUORUM", through=1),
        ),
    }
)
"""Ten cells."""
ANCHORS = (Cell(1, "r", "ONE"), Cell(1, "w", "ONE"))
"""Local work only: what a layout costs that is more than a node alone (`calibrate/anchors.py`)."""
FOUR = (
    *_crossed(1, ["ONE"]),
    *_crossed(2, ["ONE", "QUORUM"]),
    *_crossed(3, ["ONE", "QUORUM"]),
    Cell(1, "r", "ONE", in_flight=4),
    Cell(1, "r", "ONE", in_flight=128),
    Cell(3, "r", "QUORUM", in_flight=4),
    Cell(3, "r", "QUORUM", in_flight=128),
    Cell(3, "w", "QUORUM", in_flight=4),
    Cell(3, "w", "QUORUM", in_flight=128),
    Cell(2, "r", "QUORUM", "rr", in_flight=128),
    Cell(3, "rw", "QUORUM"),
    Cell(3, "rw", "QUORUM", "rr"),
)
THREE = (
    *ANCHORS,
    *_crossed(3, ["ONE", "QUORUM"]),
    Cell(2, "r", "QUORUM", "rr"),
    Cell(3, "r", "QUORUM", in_flight=128),
    Cell(3, "rw", "QUORUM"),
)
CHECK = Plan(FITTED, {4: FOUR, 3: THREE})
"""What `capmodel check` measures."""
QUICK = Plan(
    FITTED,
    {4: (*ANCHORS, Cell(3, "r", "QUORUM"), Cell(3, "r", "QUORUM", "rr"), Cell(3, "w", "QUORUM"), Cell(2, "r", "ONE"))},
)
"""A short form, for a test."""
STUDY = Plan(
    {
        1: (
            *FITTED[1],
            Cell(1, "r", "ONE", in_flight=128),
            Cell(1, "w", "ONE", in_flight=4),
            Cell(1, "w", "ONE", in_flight=128),
        ),
        2: (
            *_crossed(1, ["ONE"]),
            *_crossed(2, ["ONE", "QUORUM"]),
            *(Cell(2, mix, level, through=1) for level in ("ONE", "QUORUM") for mix in "rw"),
            Cell(1, "r", "ONE", through=1),
            Cell(1, "r", "ONE", in_flight=4),
            Cell(1, "r", "ONE", in_flight=128),
            *(Cell(2, mix, "QUORUM", in_flight=load) for mix in "rw" for load in (4, 128)),
        ),
    },
    CHECK.predicted,
)
"""More than a user needs: the runs by which the model is judged in the repository."""


def scenario_of(cell: Cell, nodes: int, protocol: Protocol) -> Scenario:
    """Return the scenario of a cell on a number of nodes."""
    hardware = LabHardware(protocol.cores_per_node, protocol.period_s, CLIENT_CPU_S, PARTITIONS)
    return lab_scenario(hardware, nodes, *cell)
