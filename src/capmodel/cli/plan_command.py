"""`capmodel plan`: how many nodes of which machine a load needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..model.scenario import Scenario

EPILOG = """Examples:

  capmodel plan --reads 20000/s --writes 10000/s --rf 3

  capmodel plan --reads 5000/s --writes 5000/s --rf 3 --objective p99=20ms --set workload.partitions=500000000

  capmodel plan --reads 5000/s --machines offers.yaml --profile ./mine-calibration.yaml --survive 2
"""


def plan(
    reads: Annotated[str | None, typer.Option(help="Reads a second, such as 20000/s.")] = None,
    writes: Annotated[str | None, typer.Option(help="Writes a second.")] = None,
    rf: Annotated[int | None, typer.Option(min=1, help="Replicas of a row.")] = None,
    cl: Annotated[str | None, typer.Option(help="Consistency level of all operations.")] = None,
    machines: Annotated[Path | None, typer.Option(help="File of machine shapes; shipped ones when not given.")] = None,
    survive: Annotated[int, typer.Option(min=0, help="Nodes that may be gone.")] = 1,
    utilisation: Annotated[float, typer.Option(min=0.05, max=1.0, help="Share of the capacity to be used.")] = 0.7,
    disk: Annotated[float, typer.Option(min=0.05, max=1.0, help="Share of the disks that data may fill.")] = 0.5,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="How sure the capacity has to be.")] = 0.8,
    max_nodes: Annotated[int, typer.Option(min=1, max=1000, help="Most nodes of one shape.")] = 60,
    objective: Annotated[list[str] | None, typer.Option(help="Such as p99=20ms, for reads and writes.")] = None,
    scenario: Annotated[str, typer.Option(help="What else is known: a shipped scenario, or a file.")] = "default",
    profile: Annotated[str, typer.Option(help="A shipped profile's name, or a calibration file.")] = "default",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key, such as workload.partitions=1e8.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same seed gives the same bytes.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the smallest number of nodes of each machine shape that carries a load, and what decides it."""
    import json as json_module

    from ..model.calibration_file import load_calibration
    from ..model.findings import Options
    from ..model.machine_file import load_machines
    from ..model.objective import parse_objectives
    from ..model.planning import Requirement
    from ..model.planning import plan as plan_machines
    from ..report.plan_text import plain_plan, plan_text

    shapes = load_machines(machines)
    loaded, rate_per_s = _asked(reads, writes, rf, cl, max_nodes, scenario, set_ or [])
    wanted = Requirement(rate_per_s, survive, utilisation, disk, confidence, max_nodes)
    options = Options(seed=seed, objectives=tuple(parse_objectives(objective or [])))
    found = plain_plan(plan_machines(loaded, shapes.machines, load_calibration(profile), wanted, options), wanted)
    typer.echo(json_module.dumps(found, indent=2, ensure_ascii=False) if json_ else plan_text(found))


def _asked(
    reads: str | None, writes: str | None, rf: int | None, cl: str | None, most: int, scenario: str, changes: list[str]
) -> tuple[Scenario, float]:
    """Return the scenario on as many nodes as may be, and the rate of all operations."""
    from ..model.errors import InputError, Problem
    from ..model.overrides import shorthand_overrides
    from ..model.scenario_file import load_scenario
    from .load_options import rate_of

    reads_per_s = rate_of("--reads", reads) if reads else 0.0
    writes_per_s = rate_of("--writes", writes) if writes else 0.0
    total = reads_per_s + writes_per_s
    if total <= 0:
        raise InputError([Problem("--reads, --writes", None, "a rate such as 20000/s for one of them or both")])
    short = shorthand_overrides(nodes=most, rf=rf, cl=cl, read_ratio=reads_per_s / total)
    return load_scenario(scenario, [*short, *changes]), total
