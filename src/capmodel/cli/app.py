"""The command line: a table of commands, each loaded only when it is asked for.

`CapmodelError` becomes a line on standard error for each problem, and its exit code; Ctrl-C a short sentence and
130; a reader that has gone away (`| head`) ends the program quietly. Anything else is a defect of ours and stays
a traceback. To add a command, add a line to `COMMANDS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from ..model.errors import CapmodelError

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""
READER_GONE = 141
"""Exit code after a closed pipe: 128 + SIGPIPE."""


class Command(NamedTuple):
    """Where a command is."""

    module: str
    attribute: str
    """A function, or a Typer application with commands of its own."""
    help: str


COMMANDS: Mapping[str, Command] = {
    "predict": Command("predict_command", "predict", "Throughput, latency, the limit, and what the next node brings."),
    "scale": Command("scale_command", "scale", "What each number of nodes does, and what each step gains."),
    "advise": Command("advise_command", "advise", "What each single change would gain."),
    "plan": Command("plan_command", "plan", "How many nodes of which machine a load needs."),
    "sweep": Command("sweep_command", "sweep", "Many predictions from one file, to one table."),
    "scenarios": Command("scenarios_command", "app", "List, show and check scenario files."),
    "calibrate": Command("calibrate_command", "calibrate", "Measured runs to a calibration."),
    "validate": Command("validate_command", "validate", "A calibration against runs it has not seen."),
    "check": Command("check_command", "check", "The whole promise, tried on real nodes of this machine."),
    "design": Command("design_command", "design", "Which runs to make next."),
    "lab": Command("lab_command", "app", "Real Cassandra nodes on this machine."),
    "load": Command("load_command", "app", "Drive a cluster and measure it."),
    "observe": Command("observe_command", "observe", "What a cluster does, without a load of ours."),
    "import": Command("import_command", "import_", "What other tools measured, to measurement files."),
    "compare": Command("compare_command", "compare", "Two predictions or measurements, figure by figure."),
    "schema": Command("schema_command", "schema", "JSON Schemas of the files."),
}
EPILOG = """Examples:

  capmodel predict --nodes 3 --rf 2

  capmodel scenarios show juho-2-nodes

  capmodel COMMAND --help
"""


def application(**settings: Any) -> typer.Typer:
    """Return an empty Typer application as all commands use it: plain help, plain tracebacks."""
    return typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True, **settings
    )


class CommandTable(TyperGroup):
    """A group whose commands are imported when they are called; the list of commands imports none."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # names only, for suggestions

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, imported now, or None."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write names and help lines from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in COMMANDS.items()])

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and turn what the user can act on into lines and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except CapmodelError as error:
            _complain(str(error))
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            raise typer.Exit(_interrupted()) from None
        except BrokenPipeError:
            raise typer.Exit(_reader_gone()) from None
        return result


def load_command(name: str) -> Any:
    """Return a command of the table, importing its module."""
    module = import_module(f".{COMMANDS[name].module}", __package__)
    target = getattr(module, COMMANDS[name].attribute)
    single = application()
    if isinstance(target, typer.Typer):
        single.add_typer(target, name=name)
        return get_command(single).commands[name]  # type: ignore[attr-defined]
    single.command(name=name, epilog=getattr(module, "EPILOG", None))(target)
    return get_command(single)


def _complain(text: str) -> None:
    for line in text.splitlines() or [""]:
        print(f"capmodel: {line}", file=sys.stderr)


def _interrupted() -> int:
    print("\ncapmodel: interrupted", file=sys.stderr)
    return INTERRUPTED


def _reader_gone() -> int:
    """Point standard output at nothing, so that the interpreter's last flush does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_GONE


app = application(cls=CommandTable, epilog=EPILOG)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"capmodel {version('capmodel')}")
        raise typer.Exit


@app.callback()
def capmodel(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Will adding nodes help? A capacity model of Apache Cassandra clusters, with an interval on every number."""


def main() -> None:
    """Run the command line."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(_interrupted())


if __name__ == "__main__":
    main()
