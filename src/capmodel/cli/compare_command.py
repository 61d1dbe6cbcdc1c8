"""`capmodel compare`: any two predictions or measurements, figure by figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..model.measurement import Measurement
    from ..model.prediction import Prediction

EPILOG = """Examples:

  capmodel compare before.json after.json

  capmodel compare prediction.json measurement.json --json
"""
File = Annotated[Path, typer.Argument(metavar="FILE", help="A measurement or a prediction, as JSON.")]


def compare(
    a: File,
    b: File,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two predictions or measurements; "no significant difference" is an answer."""
    from ..model.compare import compare as compare_sides
    from ..report.comparison_text import comparison_text

    comparison = compare_sides(read_side(a), read_side(b))
    typer.echo(comparison.model_dump_json(indent=2) if json_ else comparison_text(comparison, ("A", "B")))


def read_side(path: Path) -> Measurement | Prediction:
    """Return the measurement or prediction in a file: a prediction names its solver."""
    from ..model.document import read_document
    from ..model.errors import MeasurementError
    from ..model.measurement_file import load_measurement
    from ..model.prediction import load_prediction

    is_prediction = "solver" in read_document(path, MeasurementError).data
    return load_prediction(path) if is_prediction else load_measurement(path)
