"""Other operations than plain reads and writes: what is prepared, what is bound, and how often."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from capmodel.live.load.carried import Carried, parse_carried
from capmodel.live.load.plan import LoadPlan
from capmodel.live.load.requests import Batches, Request, mix_of, request_stream
from capmodel.live.load.run import tables_of
from capmodel.live.load.session import Done, Statement, Values
from capmodel.live.load.table import LoadTable, Mark
from capmodel.model.errors import InputError
from capmodel.model.scenario_file import load_scenario

TABLE = LoadTable("ks", "t", columns=2, column_bytes=3)
WORKLOAD = load_scenario("default", ["workload.partitions=100", "workload.columns=2"]).workload
REQUESTS = 8_000


class Deaf:
    """Prepares by returning the statement, and sends nothing."""

    def prepare(self, statement: Statement) -> Any:
        return statement

    def send(self, handle: Any, values: Values, done: Done) -> None:
        raise AssertionError("nothing is sent here")


def drawn(*texts: str) -> list[Request]:
    mix = mix_of(WORKLOAD, TABLE, TABLE, Batches(), [parse_carried(text) for text in texts])
    return list(islice(request_stream(mix, Deaf(), TABLE, WORKLOAD, np.random.default_rng(1)), REQUESTS))


@pytest.mark.parametrize(
    ("text", "cql", "values"),
    [
        ("write=delete", "DELETE FROM ks.t WHERE key = ?", 1),
        ("write=ttl", "INSERT INTO ks.t (key, c0, c1) VALUES (?, ?, ?) USING TTL 3600", 3),
        ("write=lwt", "INSERT INTO ks.t (key, c0, c1) VALUES (?, ?, ?) IF NOT EXISTS", 3),
        ("write=counter", "UPDATE ks.t_n SET c0 = c0 + 1, c1 = c1 + 1 WHERE key = ?", 1),
        ("read=range:500/50", "SELECT c0, c1 FROM ks.t WHERE token(key) >= token(?) LIMIT 500", 1),
    ],
)
def test_each_kind_is_what_cql_calls_it(text: str, cql: str, values: int) -> None:
    """Source: CQL documentation, "Data manipulation" and "Counters"."""
    kind = text.partition("=")[2].partition(":")[0]
    request = next(one for one in drawn(text) if one.operation == kind)
    assert request.handle.cql == cql and len(request.values) == values and not request.finds
    assert request.handle.conditional == (kind == "lwt")
    assert request.handle.page_rows == (50 if kind == "range" else None)


def test_batches_over_partitions_hold_as_many_partitions() -> None:
    for kind in ("unlogged", "logged"):
        batch = next(one for one in drawn(f"write={kind}-batch:7") if one.operation == f"{kind}-batch")
        assert len({row[0] for row in batch.values}) == 7 and batch.handle.batch_type == kind


def test_shares_are_those_that_were_asked_for() -> None:
    """Half of the requests are writes; of these a fifth and 30 %; within four standard errors of the counts."""
    found = [one.operation for one in drawn("write=delete@20%", "write=lwt@0.3", "read=range@1%")]
    for name, share in {"delete": 0.1, "lwt": 0.15, "write": 0.25, "range": 0.005, "read": 0.495}.items():
        assert abs(found.count(name) / REQUESTS - share) < 4 * np.sqrt(share * (1 - share) / REQUESTS)
    assert abs(found.count("lwt") / REQUESTS - 0.1) > 4 * np.sqrt(0.09 / REQUESTS), "negative control"




@pytest.mark.parametrize(("kind", "apart"), [("delete", True), ("ttl", True), ("lwt", False)])
def test_rows_are_taken_away_only_from_a_table_that_is_not_read(kind: str, apart: bool) -> None:
    scenario = load_scenario("default", ["cluster.replication.factor=1", "cluster.replication.strategy=SimpleStrategy"])
    nodes = type("One", (), {"nodes": [type("Node", (), {"datacenter": "dc1"})()]})()
    reads, writes = tables_of(nodes, scenario, LoadPlan(carried=(Carried("write", kind),)))
    assert (reads.name != writes.name) == apart


def test_a_table_of_counters_has_a_mark_of_its_own_and_others_keep_theirs() -> None:
    counters = TABLE.of_counters()
    assert "c0 counter, c1 counter" in counters.create_cql(Mark.of(counters))
    assert "counters" in Mark.of(counters).shape and "counters" not in Mark.of(TABLE).shape


@pytest.mark.parametrize(
    "text", ["", "write", "write=read", "read=counter", "write=lwt@2", "write=lwt@x", "read=range:0", "write=insert"]
)
def test_what_is_no_operation_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--as"):
        parse_carried(text)


def test_shares_beyond_the_whole_are_refused() -> None:
    with pytest.raises(InputError, match="at most 1"):
        LoadPlan(carried=(Carried("write", "lwt", 0.6), Carried("write", "delete", 0.6)))
