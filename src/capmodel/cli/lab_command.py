"""`capmodel lab`: real Cassandra nodes on this machine, with capped hardware."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..live.lab.record import Lab
    from ..live.lab.spec import LabSpec
    from ..live.lab.status import LabStatus

app = typer.Typer(no_args_is_help=True, help="Run real Cassandra nodes on this machine.")

Directory = Annotated[
    Path | None,
    typer.Option("--directory", help="The lab's record and files. [default: in the user's state folder]"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Node = Annotated[str, typer.Argument(help="Name of a node, such as node2.")]
_COLUMNS = (
    "node",
    "cluster",
    "address",
    "core",
    "shared by",
    "state",
    "start",
    "cap",
    "CPU s",
    "off s",
    "MiB",
)


@app.command()
def up(
    nodes: Annotated[int, typer.Option(help="Nodes of the cluster in question.")] = 1,
    layout: Annotated[str, typer.Option(help="alone, or equal: twins fill the cores up.")] = "alone",
    nodes_per_core: Annotated[int, typer.Option(help="Nodes a core under --layout equal.")] = 2,
    cores_per_node: Annotated[float | None, typer.Option(help="CPU cap, in cores.")] = None,
    period: Annotated[str, typer.Option(help="Period of the CPU quota.")] = "5ms",
    memory: Annotated[str | None, typer.Option(help="Memory cap with page cache, such as 2.5GiB.")] = None,
    read_iops: Annotated[str | None, typer.Option(help="Cap on reads per second from disk.")] = None,
    write_iops: Annotated[str | None, typer.Option(help="Cap on writes per second to disk.")] = None,
    heap: Annotated[str, typer.Option(help="Java heap.")] = "1200MiB",
    set_yaml: Annotated[list[str] | None, typer.Option(help="A cassandra.yaml setting, key=value.")] = None,
    jvm_option: Annotated[list[str] | None, typer.Option(help="One more option for the JVM.")] = None,
    cassandra_version: Annotated[str, typer.Option(help="Version to fetch by Maven.")] = "5.0.6",
    cassandra_home: Annotated[str | None, typer.Option(help="Use this installation.")] = None,
    first_address: Annotated[str, typer.Option(help="Address of the first node.")] = "127.0.0.1",
    uncapped: Annotated[bool, typer.Option("--uncapped", help="Leave the caps off for now.")] = False,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Start a lab, or find the one that runs."""
    from ..live.lab.cassandra_yaml import parse_override
    from ..live.lab.startup import bring_up

    spec = _spec(
        nodes=nodes,
        layout=layout,
        nodes_per_core=nodes_per_core,
        cores_per_node=cores_per_node,
        period=period,
        memory=memory,
        read_iops=read_iops,
        write_iops=write_iops,
        heap=heap,
        settings=dict(map(parse_override, set_yaml or [])),
        jvm_options=tuple(jvm_option or ()),
        version=cassandra_version,
        cassandra_home=cassandra_home,
        first_address=first_address,
    )
    _print(bring_up(spec, _directory(directory), _progress, capped=not uncapped), as_json)


@app.command()
def status(directory: Directory = None, as_json: AsJson = False) -> None:
    """Show what the nodes do."""
    from ..live.lab.record import required_lab

    _print(required_lab(_directory(directory)), as_json)


@app.command()
def add(
    cluster: Annotated[str, typer.Option(help="Cluster that the node joins.")] = "lab",
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Join one more node to a running cluster; it streams its share of the data."""
    from ..live.lab.startup import join

    _print(join(_directory(directory), cluster, _progress), as_json)


@app.command()
def stop(
    node: Node,
    hard: Annotated[bool, typer.Option("--hard", help="Kill it, as a machine that loses power.")] = False,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Stop one node; `lab up` starts it again."""
    from ..live.lab.stopping import stop as stop_node

    _print(stop_node(_directory(directory), node, hard), as_json)


@app.command()
def down(directory: Directory = None) -> None:
    """Remove the lab: processes, control groups, files."""
    from ..live.lab.teardown import tear_down

    place = _directory(directory)
    _progress(f"removed the lab in {place}" if tear_down(place) else f"no lab in {place}")


@app.command()
def cql(
    execute: Annotated[str | None, typer.Option("--execute", "-e", help="Run one statement.")] = None,
    node: Annotated[str, typer.Option(help="Node to ask.")] = "node1",
    directory: Directory = None,
) -> None:
    """Ask a node in CQL: one statement, or a prompt."""
    from ..live.lab.cql import connection, prompt, table
    from ..live.lab.record import required_lab

    lab = required_lab(_directory(directory))
    with connection(lab, lab.node(node)) as run:
        if execute is not None:
            typer.echo(table(run(execute.rstrip("; "))))
            return
        for text in prompt(run, _typed_lines()):
            typer.echo(text)


def _spec(**fields: Any) -> LabSpec:
    from pydantic import ValidationError

    from ..live.lab.spec import LabSpec
    from ..model.errors import InputError, Problem

    try:
        return LabSpec(**fields)
    except ValidationError as error:
        raise InputError(
            [Problem(_option(each["loc"][0]), each["input"], each["msg"]) for each in error.errors()]
        ) from error


def _option(field: int | str) -> str:
    return "--" + str(field).replace("_", "-")


def _directory(directory: Path | None) -> Path:
    from ..live.lab.record import default_directory

    return (directory or default_directory()).expanduser().resolve()


def _progress(line: str) -> None:
    typer.echo(line, err=True)


def _typed_lines() -> Iterator[str]:
    """Yield lines from standard input; a prompt is shown where a person types."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    import readline  # noqa: F401  (gives `input` editing and history)

    while True:
        try:
            yield input("cql> ")
        except EOFError:
            typer.echo()
            return


def _print(lab: Lab, as_json: bool) -> None:
    from ..live.lab.status import lab_status

    status = lab_status(lab)
    typer.echo(status.model_dump_json(indent=2) if as_json else _table(status))


def _table(status: LabStatus) -> str:
    caps = f"control groups {status.groups}" if status.groups else "uncapped"
    rows = [_COLUMNS, *_rows(status)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    notes = [f"note: {note}" for note in status.notes]
    return "\n".join([f"Apache Cassandra {status.version}, {caps}, in {status.directory}", *lines, *notes])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _rows(status: LabStatus) -> Iterator[tuple[str, ...]]:
    for node in status.nodes:
        yield (
            node.name,
            node.cluster,
            node.address,
            str(node.core),
            str(node.nodes_on_core),
            node.state,
            _number(node.start_s, " s"),
            _number(node.limits.cpu_cores, " core"),
            _number(node.cpu_s),
            _number(node.throttled_s),
            _number(node.memory_bytes and node.memory_bytes / 2**20),
        )


def _number(value: float | None, unit: str = "") -> str:
    return "-" if value is None else f"{value:.3g}{unit}" if value < 100 else f"{value:.0f}{unit}"


def _main() -> None:
    from ..model.errors import CapmodelError

    try:
        app()
    except CapmodelError as error:
        typer.echo(f"capmodel: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    _main()
