"""`capmodel advise`: what each single change would gain."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = """Examples:

  capmodel advise --nodes 3 --rf 2

  capmodel advise --scenario mine.yaml --profile ./mine-calibration.yaml --objective p99=20ms
"""


def advise(
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes of the cluster.")] = None,
    rf: Annotated[int | None, typer.Option(min=1, help="Replicas of a row.")] = None,
    scenario: Annotated[str, typer.Option(help="A shipped scenario's name, or a file.")] = "default",
    profile: Annotated[str, typer.Option(help="A shipped profile's name, or a calibration file.")] = "default",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key, such as clients.in_flight=32.")
    ] = None,
    objective: Annotated[list[str] | None, typer.Option(help="Such as p99=20ms; capacity is then within it.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same seed gives the same bytes.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Rank single changes to a cluster or its clients by what they gain, with what each gives up."""
    import json as json_module

    from ..model.advice import advise as advise_scenario
    from ..model.calibration_file import load_calibration
    from ..model.findings import Options
    from ..model.gain import threshold
    from ..model.objective import parse_objectives
    from ..model.overrides import shorthand_overrides
    from ..model.plain_points import plain_advice
    from ..model.scenario_file import load_scenario
    from ..model.scenario_summary import scenario_summary
    from ..report.advice_text import advice_text

    loaded = load_scenario(scenario, [*shorthand_overrides(nodes=nodes, rf=rf), *(set_ or [])])
    options = Options(seed=seed, objectives=tuple(parse_objectives(objective or [])))
    found = advise_scenario(loaded, load_calibration(profile), options)
    plain = plain_advice(found, threshold(loaded.cluster.node_count))
    typer.echo(
        json_module.dumps(plain, indent=2, ensure_ascii=False)
        if json_
        else advice_text(plain, f"{scenario_summary(loaded)}; profile {profile}")
    )
