"""`capmodel design`: which runs to make next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

  capmodel design --set cluster.nodes=6 --runs 8

  capmodel design --scenario mine.yaml --profile ./mine-calibration.yaml --question throughput -o plan.yaml
"""


def design(
    scenario: Annotated[str, typer.Option(help="What is asked about: a shipped scenario, or a file.")] = "default",
    profile: Annotated[str, typer.Option(help="A calibration, or the profile to start from.")] = "default",
    question: Annotated[str, typer.Option(help="add-node or throughput.")] = "add-node",
    runs: Annotated[int, typer.Option(min=1, max=100, help="How many runs can be made.")] = 10,
    most_nodes: Annotated[int, typer.Option("--max-nodes", min=1, max=12, help="Nodes that can be had for them.")] = 2,
    in_flight: Annotated[
        list[int] | None, typer.Option(min=1, help="Requests in flight a node that runs may have; 4, 32 and 128.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key, such as cluster.nodes=4.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the plan: a YAML file, or a folder of scenarios for `load run`."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Choose the runs that narrow the interval of an answer most."""
    import json as json_module

    from ..calibrate.design import LOADS, QUESTIONS
    from ..calibrate.design import design as design_runs
    from ..calibrate.plan_file import plan_of, scenario_files
    from ..model.calibration_file import load_calibration
    from ..model.document import write_whole
    from ..model.errors import InputError, Problem
    from ..model.run_plan import dump_run_plan, plain_run_plan
    from ..model.scenario_file import load_scenario
    from ..report.design_text import design_text

    asked = next((known for known in QUESTIONS if known == question), None)
    if asked is None:
        raise InputError([Problem("--question", question, f"one of {', '.join(QUESTIONS)}")])
    about = load_scenario(scenario, set_ or [])
    found = design_runs(about, load_calibration(profile), asked, runs, most_nodes, tuple(in_flight or LOADS))
    if output is not None:
        files = {output: dump_run_plan(plan_of(found))}
        if output.suffix not in (".yaml", ".yml"):
            output.mkdir(parents=True, exist_ok=True)
            files = {output / name: text for name, text in scenario_files(found).items()}
        for path, text in files.items():
            write_whole(text, path)
        typer.echo(f"capmodel: wrote {output}", err=True)
    plan = plain_run_plan(plan_of(found))
    typer.echo(json_module.dumps(plan, indent=2, ensure_ascii=False) if json_ else design_text(plan))
