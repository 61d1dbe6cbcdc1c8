"""`capmodel scenarios`: the shipped scenarios, and the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import scenarios_capture, scenarios_run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.errors import Problem
    from ..scenarios.catalogue import Entry

app = typer.Typer(
    no_args_is_help=True,
    help="List, show, check and run scenario files.",
    epilog="A scenario file holds differences from the scenario it extends, and otherwise from `default`.",
)

ScenarioName = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped scenario's name, or a file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list", epilog="Example:\n\n  capmodel scenarios list --json")
def list_scenarios(json_: Json = False) -> None:
    """List the shipped scenarios."""
    import json

    from ..scenarios.catalogue import catalogue

    entries = catalogue()
    typer.echo(json.dumps([entry.as_dict() for entry in entries], indent=2) if json_ else _table(entries))


def _table(entries: Iterable[Entry]) -> str:
    rows = [("name", "nodes", "RF", "version", "title")]
    rows += [(entry.name, str(entry.nodes), entry.replication, entry.version, entry.title) for entry in entries]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join([*(f"{row[i]:<{width}}" for i, width in enumerate(widths)), row[4]]) for row in rows)


@app.command("show", epilog="Example:\n\n  capmodel scenarios show juho-2-nodes --set cluster.nodes=3 --full")
def show(
    scenario: ScenarioName,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key, such as cluster.nodes=4.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Print every key, not only differences from default.")] = False,
    json_: Json = False,
) -> None:
    """Print a scenario as a file."""
    import json

    from ..model.scenario_file import dump_scenario, load_scenario
    from ..model.scenario_summary import scenario_summary

    loaded = load_scenario(scenario, set_ or [])
    if json_:
        typer.echo(json.dumps(loaded.model_dump(mode="json"), indent=2, ensure_ascii=False))
        return
    typer.echo(f"# {scenario_summary(loaded)}\n{dump_scenario(loaded, differences=not full)}", nl=False)


Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Scenario files or shipped names.")]


@app.command("check", epilog="Example:\n\n  capmodel scenarios check mine.yaml other.yaml")
def check(files: Files) -> None:
    """Check scenario files and print all their problems."""
    from ..model.errors import ScenarioError
    from ..model.scenario_file import load_scenario
    from ..model.scenario_summary import scenario_summary

    problems: list[Problem] = []
    for file in files:
        try:
            typer.echo(f"{file}: {scenario_summary(load_scenario(file))}")
        except ScenarioError as error:
            problems.extend(error.problems)
    if problems:
        raise ScenarioError(problems)


app.command("run", epilog=scenarios_run.EPILOG)(scenarios_run.run)
app.command("capture", epilog=scenarios_capture.EPILOG)(scenarios_capture.capture)
