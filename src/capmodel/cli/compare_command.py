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

  capmodel compare before.json after.json --same-within 3%

  capmodel compare prediction.json measurement.json --json
"""
File = Annotated[Path, typer.Argument(metavar="FILE", help="A measurement or a prediction, as JSON.")]


def compare(
    a: File,
    b: File,
    same_within: Annotated[
        str | None, typer.Option(help="Test too whether figures are the same within a margin, such as 3%.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two predictions or measurements; "no significant difference" is an answer."""
    from ..model.compare import compare as compare_sides
    from ..report.comparison_text import comparison_text

    comparison = compare_sides(read_side(a), read_side(b), margin_of(same_within))
    typer.echo(comparison.model_dump_json(indent=2) if json_ else comparison_text(comparison, ("A", "B")))


def margin_of(text: str | None) -> float | None:
    """Return a margin from text such as `3%` or `0.03`.

    Raises:
        InputError: no number above 0.
    """
    from ..model.errors import InputError, Problem

    if text is None:
        return None
    try:
        margin = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        margin = 0.0
    if not 0 < margin < 10:
        raise InputError([Problem("--same-within", text, "a share above 0, such as 3%")])
    return margin


def read_side(path: Path) -> Measurement | Prediction:
    """Return the measurement or prediction in a file: a prediction names its solver."""
    from ..model.document import read_document
    from ..model.errors import MeasurementError
    from ..model.measurement_file import load_measurement
    from ..model.prediction import load_prediction

    is_prediction = "solver" in read_document(path, MeasurementError).data
    return load_prediction(path) if is_prediction else load_measurement(path)
