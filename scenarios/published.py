"""Published figures of shipped scenarios, to be set beside predictions.

`published.csv` holds one figure a row, as published: the scenario, which figure it is (`throughput_per_s`, or
`utilisation of` a station), its value, the profile to predict it with, and its role. A figure that determined a
parameter of that profile tests nothing when it comes out; only one whose role is `predicted` does.
"""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from ..model.calibration_file import load_calibration
from ..model.errors import InputError, Problem
from ..model.findings import Options
from ..model.predict import predict
from ..model.prediction import Prediction
from ..model.scenario_file import load_scenario

FILE = "published.csv"
THROUGHPUT = "throughput_per_s"
UTILISATION = "utilisation of "
PREDICTED = "predicted"
ALL = "all"


@dataclass(frozen=True)
class Published:
    """One published figure."""

    scenario: str
    figure: str
    value: float
    profile: str
    """Profile to predict it with."""
    role: str
    """`predicted`, or which parameter it determined."""
    source: str


@dataclass(frozen=True)
class Beside:
    """A published figure and what is predicted for it."""

    published: Published
    predicted: float
    low: float | None
    high: float | None
    """Interval at 90 %, where the prediction has one."""

    @property
    def error(self) -> float:
        """Relative error, positive when the prediction is larger."""
        return self.predicted / self.published.value - 1

    def as_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        prediction = {"value": self.predicted, "low": self.low, "high": self.high}
        return {**asdict(self.published), "prediction": prediction, "error": self.error}


def published_figures() -> tuple[Published, ...]:
    """Return all published figures that ship, in the order of the file."""
    text = (resources.files(__package__) / FILE).read_text(encoding="utf-8")
    return tuple(_published(row) for row in csv.DictReader(text.splitlines()))


def _published(row: dict[str, str]) -> Published:
    return Published(
        row["scenario"], row["figure"], float(row["value"]), row["profile"], row["role"], row["source"]
    )


def figures_of(name: str) -> tuple[Published, ...]:
    """Return the figures of a scenario, or of `all`.

    Raises:
        InputError: a scenario without published figures.
    """
    figures = published_figures()
    found = tuple(figure for figure in figures if name in (ALL, figure.scenario))
    if not found:
        known = ", ".join(dict.fromkeys(figure.scenario for figure in figures))
        raise InputError([Problem("scenario", name, f"a scenario with published figures: {known}, or {ALL}")])
    return found


def set_beside(name: str, options: Options, profile: str | None = None) -> tuple[Beside, ...]:
    """Predict a scenario, or all, and return the predictions beside the published figures.

    Args:
        name: a shipped scenario with published figures, or `all`.
        options: how to predict.
        profile: a profile to use instead of the one that goes with a figure.

    Raises:
        InputError: a scenario without published figures; an unknown profile.
    """
    figures = figures_of(name)
    wanted = dict.fromkeys((figure.scenario, profile or figure.profile) for figure in figures)
    predictions = {pair: predict(load_scenario(pair[0]), load_calibration(pair[1]), options) for pair in wanted}
    return tuple(_beside(figure, predictions[figure.scenario, profile or figure.profile]) for figure in figures)


def _beside(figure: Published, prediction: Prediction) -> Beside:
    if figure.figure.startswith(UTILISATION):
        return Beside(figure, prediction.utilisation[figure.figure.removeprefix(UTILISATION)], None, None)
    rate = prediction.throughput_per_s
    if rate is None or rate.value is None:
        return Beside(figure, float("nan"), None, None)
    return Beside(figure, rate.value, rate.low, rate.high)
