"""`capmodel schema`: the JSON Schemas of what is read and written."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = """Examples:

  capmodel schema scenario > scenario.schema.json

  capmodel schema prediction
"""


def schema(
    kind: Annotated[str, typer.Argument(help="scenario, calibration, measurement or prediction.")] = "scenario",
) -> None:
    """Print the JSON Schema of a kind of file."""
    import json

    from ..model.schemas import schema_of

    typer.echo(json.dumps(schema_of(kind), indent=2, ensure_ascii=False))
