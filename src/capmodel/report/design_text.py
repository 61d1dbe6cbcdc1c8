"""A plan of runs, as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..model.estimate import Z

WORDS = {"add-node": "the gain of one node more", "throughput": "the throughput"}


def design_text(plan: Mapping[str, Any]) -> str:
    """Return the text of `calibrate.plan_file`, in plain types."""
    return "\n".join(_lines(plan))


def _lines(plan: Mapping[str, Any]) -> Iterator[str]:
    yield f"Asked: {WORDS[plan['question']]}; by the parameters it is known within {_within(plan['std_err_now'])}"
    yield f"{'run':>3}  {'known within':>12}  {'expected':>10}  what"
    for number, run in enumerate(plan["runs"], 1):
        rate = run.get("expected_per_s")
        shown = "" if rate is None else f"{rate:,.0f}/s"
        yield f"{number:>3}  {_within(run['std_err_after']):>12}  {shown:>10}  {run['words']}"
    yield f"{plan['candidates']} runs were looked at; noise, starts and the model's own error come on top"


def _within(std_err: float) -> str:
    """Return the 90 % interval of a positive figure as a factor or in per cent."""
    factor = math.exp(Z * std_err)
    return f"a factor {factor:.1f}" if factor > 2 else f"±{factor - 1:.1%}"
