"""The command line: what it imports, how it ends, and the commands on scenario files and schemas."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from capmodel.cli.app import COMMANDS, app, load_command
from capmodel.model import schemas
from capmodel.model.errors import InputError, RunError
from capmodel.model.scenario_file import load_scenario

HEAVY = ("numpy", "scipy", "simpy", "yaml", "pydantic")
_HELP = f"""
import sys
sys.argv = ["capmodel", *sys.argv[1:]]
from capmodel.cli.app import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("LOADED", *[name for name in {HEAVY!r} if name in sys.modules])
"""


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments), prog_name="capmodel")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def loaded_by(*arguments: str) -> list[str]:
    """Return the heavy packages that a command loads in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", _HELP, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["predict", "--help"], ["scenarios", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    """Some versions of typer load pydantic themselves for a command that has options."""
    assert set(loaded_by(*arguments)) <= ({"pydantic"} if len(arguments) > 1 else set())


def test_commands_do_load_what_they_need() -> None:
    """Negative control of the check above."""
    assert {"numpy", "pydantic", "yaml"} <= set(loaded_by("scenarios", "list"))


def test_help_lists_every_command_of_the_table() -> None:
    code, out, _ = run("--help")
    words = " ".join(out.split())
    assert code == 0 and all(f"{name} {command.help}" in words for name, command in COMMANDS.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_is_there(name: str) -> None:
    assert load_command(name).help
    code, out, _ = run(name, "--help")
    assert code == 0 and f"Usage: capmodel {name}" in out


def test_a_slip_gets_a_suggestion_and_code_2() -> None:
    code, _, err = run("predikt")
    assert code == 2 and "'predict'" in err


class TestEnds:
    def test_each_problem_is_a_line_on_standard_error(self, tmp_path: Path) -> None:
        path = tmp_path / "wrong.yaml"
        path.write_text("cluster: {nods: 3}\nhardware: {cores: 0}\n")
        code, out, err = run("scenarios", "show", str(path))
        assert (code, out) == (2, "")
        assert len(err.splitlines()) == 2
        assert all(line.startswith(f"capmodel: {path}:") for line in err.splitlines())

    @pytest.mark.parametrize(
        ("error", "code", "words"),
        [(RunError("failed"), 1, "failed"), (InputError("no"), 2, "no"), (KeyboardInterrupt(), 130, "interrupted")],
    )
    def test_codes(self, error: BaseException, code: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(kind: str) -> None:
            raise error

        monkeypatch.setattr(schemas, "schema_of", fail)
        found, _, err = run("schema")
        assert found == code and err.strip().endswith(words)
        assert "Traceback" not in err

    def test_a_defect_stays_a_traceback(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(kind: str) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(schemas, "schema_of", fail)
        with pytest.raises(ZeroDivisionError):
            run("schema")

    def test_a_reader_that_goes_away_is_no_complaint(self) -> None:
        command = [sys.executable, "-m", "capmodel.cli.app", "schema", "scenario"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141


class TestScenarios:
    def test_list(self) -> None:
        code, out, _ = run("scenarios", "list")
        assert code == 0 and out.splitlines()[1].startswith("default")
        entries = json.loads(run("scenarios", "list", "--json")[1])
        assert {"name", "title", "nodes", "replication", "version"} == set(entries[0])
        assert len(out.splitlines()) == len(entries) + 1

    def test_show_prints_a_file_that_reads_back(self, tmp_path: Path) -> None:
        for options in ([], ["--full"]):
            code, out, _ = run("scenarios", "show", "juho-2-nodes", "--set", "cluster.nodes=3", *options)
            assert code == 0
            (tmp_path / "shown.yaml").write_text(out)
            assert load_scenario(tmp_path / "shown.yaml") == load_scenario("juho-2-nodes", ["cluster.nodes=3"])

    def test_show_as_json(self) -> None:
        assert json.loads(run("scenarios", "show", "default", "--json")[1])["cluster"]["nodes"] == 3

    def test_check_reports_all_problems_of_all_files(self, tmp_path: Path) -> None:
        paths = [tmp_path / f"{name}.yaml" for name in ("a", "b")]
        for path in paths:
            path.write_text("hardware: {cores: 0, ram: lots}")
        code, out, err = run("scenarios", "check", "default", *map(str, paths))
        assert code == 2 and out.startswith("default: 3 nodes, RF 3")
        assert [sum(str(path) in line for line in err.splitlines()) for path in paths] == [2, 2]
        assert run("scenarios", "check", "default")[0] == 0


@pytest.mark.parametrize("kind", schemas.KINDS)
def test_schema_prints_json(kind: str) -> None:
    code, out, _ = run("schema", kind)
    assert code == 0 and json.loads(out) == schemas.schema_of(kind)
