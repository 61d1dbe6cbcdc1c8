"""`capmodel scale`: one key of a scenario taken through its values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..model.scenario import Scenario

EPILOG = """Examples:

  capmodel scale --nodes 3..12

  capmodel scale --nodes 3,6,12 --clients growing --plot scale.svg

  capmodel scale --axis clients.in_flight=16,32,64,128 --set cluster.nodes=6 --profile ./mine.yaml
"""
FIXED, GROWING = "fixed", "growing"


def scale(
    nodes: Annotated[str | None, typer.Option(help="Numbers of nodes, as 3..24, 3..24..3 or 3,6,12.")] = None,
    axis: Annotated[
        str | None, typer.Option(metavar="KEY=VALUES", help="Any other key, as clients.in_flight=16,32,64.")
    ] = None,
    scenario: Annotated[str, typer.Option(help="A shipped scenario's name, or a file.")] = "default",
    profile: Annotated[str, typer.Option(help="A shipped profile's name, or a calibration file.")] = "default",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key, such as cluster.nodes=4.")
    ] = None,
    clients: Annotated[str, typer.Option(help="fixed, or growing with the nodes.")] = FIXED,
    objective: Annotated[list[str] | None, typer.Option(help="Such as p99=20ms; capacity is then within it.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same seed gives the same bytes.")] = 1,
    plot: Annotated[Path | None, typer.Option(help="Write the curve as an SVG picture.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the points as CSV.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a cluster does for each number of nodes, or along any other key, and what each step gains."""
    import json as json_module

    from ..model.calibration_file import load_calibration
    from ..model.document import write_whole
    from ..model.findings import Options
    from ..model.objective import parse_objectives
    from ..model.plain_points import plain_scale
    from ..model.scaling import scale as scale_scenarios
    from ..report.scale_text import scale_csv, scale_svg, scale_text
    from .progress import stages

    key, points = _points(nodes, axis, scenario, set_ or [], clients)
    options = Options(seed=seed, objectives=tuple(parse_objectives(objective or [])))
    with stages() as told:
        found = plain_scale(key, scale_scenarios(points, load_calibration(profile), options, told))
    for place, write in ((plot, scale_svg), (csv, scale_csv)):
        if place is not None:
            write_whole(write(found), place)
    words = "the same clients throughout" if clients == FIXED else "clients growing with the nodes"
    words = "clients as the axis says" if key.startswith("clients.") else words
    typer.echo(json_module.dumps(found, indent=2, ensure_ascii=False) if json_ else scale_text(found, words))


def _points(
    nodes: str | None, axis: str | None, scenario: str, changes: list[str], clients: str
) -> tuple[str, tuple[tuple[str, Scenario], ...]]:
    """Return the key of the axis and its scenarios, with the clients that were asked for."""
    from ..model.axis import RIGHT, along, axis_values
    from ..model.errors import InputError, Problem

    if clients not in (FIXED, GROWING):
        raise InputError([Problem("--clients", clients, f"{FIXED} or {GROWING}")])
    if (nodes is None) == (axis is None):
        raise InputError([Problem("--nodes, --axis", None, f"one of them: --nodes with {RIGHT}")])
    key, _, text = ("cluster.nodes", "", nodes) if nodes is not None else (axis or "").partition("=")
    if not key or not text:
        raise InputError([Problem("--axis", axis, "KEY=VALUES, such as clients.in_flight=16,32,64")])
    values = axis_values("--nodes" if nodes is not None else "--axis", text)
    points = along(scenario, changes, key, values)
    return key, points if key.startswith("clients.") else tuple(_with_clients(points, clients == GROWING))


def _with_clients(points: tuple[tuple[str, Scenario], ...], growing: bool) -> Any:
    """Yield the scenarios with the load of the first, or with one that grows with the nodes."""
    from ..model.growth import resolved_clients

    first = resolved_clients(points[0][1])
    for value, scenario in points:
        ratio = scenario.cluster.node_count / first.cluster.node_count if growing else 1.0
        in_flight, rate = first.clients.in_flight, first.clients.rate
        update = {
            "in_flight": None if in_flight is None else max(1, round(in_flight * ratio)),
            "rate": None if rate is None else rate * ratio,
        }
        kept = {name: number for name, number in update.items() if number is not None} | {"in_flight_per_node": None}
        yield value, scenario.model_copy(update={"clients": scenario.clients.model_copy(update=kept)})
