"""The tables of docs/background/juho.md, so that the page and the analysis cannot part.

`python -m capmodel.scenarios.juho_tables` prints them. Rates are in thousands of reads per second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..model.network import Floats
from .juho import (
    PUBLISHED_PER_S,
    READINGS,
    RUN_1,
    RUN_2,
    RUN_3,
    Finding,
    ParameterSets,
    Reading,
    find,
    run_of,
    simulated_per_s,
)
from .juho_limits import limit_of, shares_of_limits
from .juho_questions import Reply, replies, reproducing_all

REQUESTS, SEED = 12_000, 1
"""Simulated requests of a check: about 1 % of throughput."""
RUN_NAMES = {RUN_1: "run 1", RUN_2: "run 2", RUN_3: "run 3"}

Rows = list[tuple[str, ...]]


def findings() -> dict[Reading, Finding]:
    """Return the analysis under both readings."""
    return {reading: find(reading) for reading in READINGS}


def prediction_table(found: Mapping[Reading, Finding]) -> Rows:
    """Return range and point of run 2 under each reading."""
    rows: Rows = [("reading", "sets kept", "least", "largest", "published", "point", "error of the point")]
    for reading, finding in found.items():
        low, high = finding.range_per_s
        rates = (low, high, PUBLISHED_PER_S[RUN_2], finding.point_per_s)
        rows.append((reading.name, str(finding.sets.size), *map(_thousands, rates), f"{finding.point_error:+.0%}"))
    return rows


def parameter_table(found: Mapping[Reading, Finding]) -> Rows:
    """Return what was determined: point and range of each parameter."""
    rows: Rows = [("reading", "parameter", "point", "least", "largest")]
    for reading, finding in found.items():
        for words, name in (
            ("CPU of a read at its node, µs", "read_s"),
            ("CPU of a read at the client, µs", "client_s"),
            ("CPU of a hop at both nodes, µs", "hop_s"),
        ):
            middle, all_sets = getattr(finding.point, name)[0], getattr(finding.sets, name)
            rows.append((reading.name, words, *(f"{x * 1e6:.0f}" for x in (middle, all_sets.min(), all_sets.max()))))
    return rows


def limit_table(found: Mapping[Reading, Finding]) -> Rows:
    """Return what limits each run, for the point and for three of the sets."""
    rows: Rows = [("reading", "set", *RUN_NAMES.values())]
    for reading, finding in found.items():
        for name, one in finding.examples().items():
            rows.append((reading.name, name, *(_limit(one, run) for run in RUN_NAMES)))
    return rows


def _limit(one: ParameterSets, name: str) -> str:
    found = limit_of(one, name)
    return f"{found.words} ({found.elasticity:.1f})"


def count_table(found: Mapping[Reading, Finding]) -> Rows:
    """Return, over the sets that reproduce all three runs, how often each resource is the limit."""
    rows: Rows = []
    for reading, finding in found.items():
        sets = reproducing_all(finding)
        for run, words in RUN_NAMES.items():
            shares = shares_of_limits(sets, run)
            rows = rows or [("reading", "sets", "run", *shares)]
            rows.append((reading.name, str(sets.size), words, *(f"{share:.0%}" for share in shares.values())))
    return rows


def simulation_table(found: Mapping[Reading, Finding]) -> Rows:
    """Return the runs by mean-value analysis and by simulation, for the sets with the least and the largest run 2."""
    rows: Rows = [("reading", "set", "run", "analysis", "simulation", "standard error")]
    for reading, finding in found.items():
        for name in ("least", "largest"):
            one = finding.examples()[name]
            for run, words in RUN_NAMES.items():
                rate, simulated = run_of(run, one).throughput_per_s(one)[0], simulated_per_s(one, run, REQUESTS, SEED)
                rates = (rate, simulated.value, simulated.std_err)
                rows.append((reading.name, name, words, *map(_thousands, rates)))
    return rows


def question_table(found: Mapping[Reading, Finding]) -> Rows:
    """Return the open questions: reads per second at his client, and what the cluster can carry."""
    by_reading = [replies(finding) for finding in found.values()]
    rows: Rows = [("question", "nodes", *(f"{r.name}: {what}" for r in found for what in ("his client", "capacity")))]
    for same in zip(*by_reading, strict=True):
        rows.append((same[0].question.words, str(same[0].question.nodes), *_cells(same)))
    return rows


def _cells(same: Iterable[Reply]) -> Iterable[str]:
    for each in same:
        yield _range(each.at_his_client_per_s)
        yield _range(each.capacity_per_s)


def _range(rates: Floats) -> str:
    """Return the median and the whole range."""
    return f"{_thousands(np.median(rates))} ({_thousands(rates.min())} to {_thousands(rates.max())})"


def _thousands(rate_per_s: float | np.floating) -> str:
    return f"{rate_per_s / 1e3:.{_digits(rate_per_s)}f}"


def _digits(rate_per_s: float | np.floating) -> int:
    """Return the digits after the point that a rate in thousands deserves."""
    return 0 if rate_per_s >= 100_000 else 1 if rate_per_s >= 10_000 else 2


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


TABLES = (prediction_table, parameter_table, simulation_table, limit_table, count_table, question_table)
"""In the order of the page."""


if __name__ == "__main__":
    analysed = findings()
    print("\n\n".join(markdown(table(analysed)) for table in TABLES))
