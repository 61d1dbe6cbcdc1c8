"""A comparison as text for a terminal: every metric of both sides, and the answer in a sentence last."""

from __future__ import annotations

from ..model.compare import Comparison, Difference
from ..model.metrics import Quantity
from .measurement_text import table


def comparison_text(comparison: Comparison, names: tuple[str, str]) -> str:
    """Return a comparison as lines of text."""
    tested = comparison.margin is not None
    same = [f"same within {100 * comparison.margin:.3g} %"] if comparison.margin is not None else []
    rows = [["Metric", *names, "B over A", "90 % interval", "significance", *same]]
    rows += [[*_row(one), *([one.equivalence or "-"] if tested else [])] for one in comparison.differences]
    lines = list(table(rows))
    for name, only in zip(names, (comparison.only_in_a, comparison.only_in_b), strict=True):
        if only:
            lines.append(f"only in {name}: {', '.join(only)}")
    return "\n".join([*lines, "", comparison.words[0].upper() + comparison.words[1:]])


def _row(difference: Difference) -> list[str]:
    ratio = difference.ratio
    return [
        difference.metric,
        _number(difference.a),
        _number(difference.b),
        "-" if ratio is None or ratio.value is None else f"{ratio.value:.3f}",
        _ends(ratio),
        difference.significance,
    ]


def _number(figure: Quantity) -> str:
    return "-" if figure.value is None else f"{figure.value:.4g}"


def _ends(ratio: Quantity | None) -> str:
    if ratio is None or ratio.low is None or ratio.high is None:
        return "-"
    return f"[{ratio.low:.3f}, {ratio.high:.3f}]"
