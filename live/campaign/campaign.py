"""A campaign: several starts of labs of several sizes, measured by the protocol of repeatable runs, and kept as files.

Source: DESIGN.md, section 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...model.measurement import Measurement
from ...model.measurement_file import write_measurement
from ..lab.release import Progress
from .cells import ANCHORS, Cell, scenario_of
from .protocol import Protocol
from .start import Start, measure_start


def starts_of(
    cells: Mapping[int, Sequence[Cell]], protocol: Protocol, count: int = 1, seed: int = 1
) -> tuple[Start, ...]:
    """Return `count` starts of each number of nodes; its first anchor is the reference cell."""
    return tuple(
        Start(
            f"{nodes} nodes, start {number}" if nodes > 1 else f"1 node, start {number}",
            tuple(scenario_of(cell, nodes, protocol) for cell in cells[nodes]),
            scenario_of(ANCHORS[0], nodes, protocol),
            seed + number,
        )
        for number in range(1, count + 1)
        for nodes in cells
    )


def measure_campaign(
    starts: Sequence[Start], protocol: Protocol, directory: Path, lab: Path, progress: Progress
) -> Iterator[Path]:
    """Measure starts one after the other, and yield each measurement's file as it is written.

    A start whose cells are all in `directory` already is not measured again.

    Args:
        starts: what is measured.
        protocol: how.
        directory: takes a directory of files for each start.
        lab: directory of the nodes, empty before and after.
        progress: takes a line about each step.

    Raises:
        RunError: a node did not start, or another lab is in `lab`.
        KeyboardInterrupt: ended by somebody; what was measured until then is in its files.
    """
    for start in starts:
        home = directory / start.name.replace(", ", "-").replace(" ", "-")
        if len(files_of(home)) >= len(start.cells) * protocol.repeats:
            progress(f"{start.name}: measured before")
            yield from files_of(home)
            continue
        for old in files_of(home):
            old.unlink()
        home.mkdir(parents=True, exist_ok=True)
        measure_start(start, protocol, lab, progress, _Keeping(home))
        yield from files_of(home)


def files_of(directory: Path) -> tuple[Path, ...]:
    """Return the measurement files of a start."""
    return tuple(sorted(directory.glob("*.json")))


class _Keeping:
    """Writes measurements to a directory, numbered as they come."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._count = 0

    def __call__(self, measurement: Measurement) -> None:
        self._count += 1
        write_measurement(measurement, self._directory / f"{self._count:03d}-{measurement.name}.json")
