"""`capmodel predict`: the main question, answered at the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

  capmodel predict --nodes 3 --rf 2

  capmodel predict --nodes 6 --cl QUORUM --in-flight 32 --solver mva

  capmodel predict --scenario juho-2-nodes --json

  capmodel predict --nodes 6 --rate 20000 --objective p99=20ms
"""


def predict(
    nodes: Annotated[int | None, typer.Option(help="Number of like nodes.")] = None,
    rf: Annotated[int | None, typer.Option(help="Replication factor.")] = None,
    cl: Annotated[str | None, typer.Option(help="Consistency level of every operation.")] = None,
    read_ratio: Annotated[float | None, typer.Option(help="Share of reads, 0 to 1.")] = None,
    in_flight: Annotated[int | None, typer.Option(help="Requests in flight over all clients.")] = None,
    rate: Annotated[float | None, typer.Option(help="Arrivals per second of an open load.")] = None,
    routing: Annotated[str | None, typer.Option(help="token-aware or round-robin.")] = None,
    cores: Annotated[int | None, typer.Option(help="Cores of a node.")] = None,
    scenario: Annotated[str, typer.Option(help="A shipped scenario's name, or a file.")] = "default",
    profile: Annotated[str, typer.Option(help="A shipped profile's name, or a calibration file.")] = "default",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key, such as cluster.nodes=4.")
    ] = None,
    cassandra_yaml: Annotated[Path | None, typer.Option(help="Settings of a node, from its cassandra.yaml.")] = None,
    solver: Annotated[str, typer.Option(help="bounds, mva or simulate.")] = "simulate",
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same seed gives the same bytes.")] = 1,
    precision: Annotated[
        str | None, typer.Option(help="Wanted half-widths, such as 0.01 or throughput=0.01,p99=0.03.")
    ] = None,
    requests: Annotated[int | None, typer.Option(min=1, help="Simulate exactly so many requests.")] = None,
    time_budget: Annotated[str | None, typer.Option(help="Stop the simulation after this time, such as 30s.")] = None,
    objective: Annotated[list[str] | None, typer.Option(help="Such as p99=20ms; exit code 3 when missed.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show each term of the mean response time.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the published JSON form.")] = False,
) -> None:
    """Predict throughput, latency, the limit, and what the next node brings."""
    import json as json_module

    from ..model.calibration_file import load_calibration
    from ..model.objective import check_objectives, parse_objectives
    from ..model.overrides import shorthand_overrides
    from ..model.predict import predict as predict_scenario
    from ..model.scenario_file import load_scenario
    from ..report.prediction_text import prediction_text
    from .prediction_options import node_overrides, prediction_options
    from .progress import looks

    objectives = parse_objectives(objective or [])
    short = shorthand_overrides(
        nodes=nodes, rf=rf, cl=cl, read_ratio=read_ratio, in_flight=in_flight, rate=rate, routing=routing, cores=cores
    )
    loaded = load_scenario(scenario, [*node_overrides(cassandra_yaml), *short, *(set_ or [])])
    options = prediction_options(solver, seed, precision, requests, time_budget, objectives, explain)
    with looks() as progress:
        prediction = predict_scenario(loaded, load_calibration(profile), options, progress)
    document = prediction.to_json_dict()
    typer.echo(json_module.dumps(document, indent=2, ensure_ascii=False) if json_ else prediction_text(document))
    check_objectives(document, objectives)
