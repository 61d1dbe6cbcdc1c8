"""The command line of the lab, without a node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from capmodel.cli.lab_command import app
from capmodel.live.lab.cql import Rows, prompt, statements, table
from capmodel.model.errors import InputError, RunError


def run(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_no_lab_is_said_and_made_nowhere(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "lab")

    for words in (["status"], ["add"], ["stop", "node1"], ["cql", "-e", "SELECT 1"]):
        with pytest.raises(RunError, match="capmodel lab up"):
            run(*words, "--directory", nowhere)
    assert "no lab in" in run("down", "--directory", nowhere)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--nodes", "0"], "--nodes = 0"),
        (["--memory", "lots"], "--memory = 'lots'.*such as 64MiB"),
        (["--cores-per-node", "2"], "--cores-per-node = 2.0"),
        (["--first-address", "10.1.2.3"], "loopback"),
        (["--layout", "round"], "'alone' or 'equal'"),
        (["--set-yaml", "x"], "key=value"),
    ],
)
def test_bad_options_name_themselves(words: list[str], says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        run("up", *words, "--directory", str(tmp_path / "lab"))
    assert list(tmp_path.iterdir()) == []


def test_status_is_a_table_or_json(tmp_path: Path) -> None:
    from capmodel.live.lab.layout import lay_out
    from capmodel.live.lab.record import Lab, NodeRecord, save
    from capmodel.live.lab.release import Release
    from capmodel.live.lab.spec import LabSpec

    spec = LabSpec(nodes=2)
    nodes = tuple(NodeRecord(plan=plan) for plan in lay_out(spec, (0, 1)))
    release = Release(version="5.0.6", jars="/jars", source="maven")
    save(
        Lab(directory=tmp_path, id="x", spec=spec, release=release, nodes=nodes, cores=(0, 1), notes=("so",))
    )

    lines = run("status", "--directory", str(tmp_path)).splitlines()
    assert lines[0].startswith("Apache Cassandra 5.0.6, uncapped")
    assert lines[2].split()[:6] == ["node1", "lab", "127.0.0.1", "0", "1", "not"]
    assert lines[-1] == "note: so"
    found = json.loads(run("status", "--directory", str(tmp_path), "--json"))
    assert [node["address"] for node in found["nodes"]] == ["127.0.0.1", "127.0.0.2"]
    assert found["nodes"][0]["limits"]["cpu_cores"] is None


def test_a_statement_may_span_lines_and_the_last_needs_no_semicolon() -> None:
    typed = iter(["SELECT *", "  FROM t;", "", "SELECT 2;", "SELECT 3"])

    assert list(statements(typed)) == ["SELECT * FROM t", "SELECT 2", "SELECT 3"]


def test_the_prompt_goes_on_after_an_error_and_ends_at_exit() -> None:
    asked: list[str] = []

    def execute(statement: str) -> Rows:
        asked.append(statement)
        if statement == "bad":
            raise RunError("bad: no such thing")
        return Rows(("n",), ((len(asked),),))

    answers: Iterator[str] = prompt(execute, iter(["a;", "bad;", "c;", "exit", "d;"]))
    assert list(answers) == ["n\n1", "error: bad: no such thing", "n\n3"]
    assert asked == ["a", "bad", "c"]


def test_a_statement_without_rows_is_done() -> None:
    assert table(Rows((), ())) == "done"
    assert table(Rows(("a", "b"), ())) == "a | b"
