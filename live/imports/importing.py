"""A file of another tool to measurements: recognise by content, read, fill in what a scenario says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ...model.errors import MeasurementError, Problem
from ...model.measurement import Measurement
from ...model.scenario import Scenario
from ...model.scenario_file import with_overrides
from . import (
    hdr_log,
    jira_table,
    latte_report,
    nosqlbench_stats,
    ruby_benchmark,
    run_table,
    stress_summary,
    tool_comparison,
    ycsb,
)
from .lines import Line, lines_of, read_text
from .reading import Reading


class Kind(NamedTuple):
    """One kind of output."""

    name: str
    recognises: Callable[[Sequence[Line]], bool]
    read: Callable[[Sequence[Line], str], Reading]


_MODULES = (
    latte_report,
    nosqlbench_stats,
    hdr_log,
    run_table,
    ycsb,
    stress_summary,
    jira_table,
    ruby_benchmark,
    tool_comparison,
)
KINDS = tuple(Kind(module.NAME, module.recognises, module.read) for module in _MODULES)
"""In the order in which they are tried."""

SCENARIO_KEYS = {
    "in_flight": "clients.in_flight",
    "replication_factor": "cluster.replication.factor",
    "columns": "workload.columns",
}
"""Keys of a scenario that the facts of a run stand for."""


def read_file(path: Path) -> Reading:
    """Return the runs of a file and what was not read.

    Raises:
        MeasurementError: a file that cannot be opened, is of no known kind, or holds no figure that can be read.
    """
    return read_lines(tuple(lines_of(read_text(path))), path.name)


def read_lines(lines: Sequence[Line], file: str) -> Reading:
    """Return the runs of a text and what was not read; errors as in `read_file`."""
    kind = next((kind for kind in KINDS if kind.recognises(lines)), None)
    if kind is None:
        names = ", ".join(kind.name for kind in KINDS)
        raise MeasurementError([Problem("", None, f"none of the kinds known: {names}", file)])
    reading = kind.read(lines, file)
    if not reading.runs:
        raise MeasurementError([Problem("", None, f"{kind.name}, without a rate that can be read", file)])
    return reading


def with_scenario(measurement: Measurement, scenario: Scenario | None) -> Measurement:
    """Return a measurement with what was measured: a scenario, and over it what the source states.

    Raises:
        ScenarioError: what the source states contradicts the scenario, as an RF above the number of nodes does.
    """
    if scenario is None:
        asked = "what was measured is not stated in full (nodes, hardware): give --scenario"
        return measurement.model_copy(update={"notes": (*measurement.notes, asked)})
    facts = measurement.client.facts if measurement.client else {}
    stated = [f"{key}={facts[name]}" for name, key in SCENARIO_KEYS.items() if name in facts]
    return measurement.model_copy(update={"scenario": with_overrides(scenario, stated)})
