"""Comparison of any two of predictions and measurements, figure by figure.

Errors of both sides are taken as independent and normal on the logarithm; where two predictions share a profile
their errors have much in common, and the answer errs on the side of "no significant difference".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from .equivalence import Equivalence, equivalence, needed_ratio
from .errors import InputError
from .estimate import Z
from .measured_metrics import PREFERRED, kinds_of, metrics_of
from .measurement import Measurement
from .metrics import Latency, LatencyKind, Metrics, Quantity
from .prediction import Prediction, predicted_metrics
from .value import Value

Compared = Metrics | Prediction | Measurement
Significance = Literal["significant at 95 %", "significant at 90 %", "no significant difference", "cannot tell"]


class Difference(Value):
    """One metric of both sides."""

    metric: str
    """Such as `throughput_per_s` or `latency_s.read.p99`."""
    a: Quantity
    b: Quantity
    difference: float
    """b minus a."""
    ratio: Quantity | None
    """b over a, with its interval; None when a is 0."""
    p_value: float | None = Field(ge=0, le=1)
    """Two-sided probability of so large a ratio without a difference; None when an error is not known."""
    significance: Significance
    equivalence: Equivalence | None = None
    """Whether both are the same within the margin; None when no margin was given."""


class Comparison(Value):
    """All metrics that both sides have."""

    differences: tuple[Difference, ...]
    only_in_a: tuple[str, ...] = ()
    """Metrics that b lacks."""
    only_in_b: tuple[str, ...] = ()
    """Metrics that a lacks."""
    margin: float | None = None
    """Relative difference within which two figures count as the same."""
    words: str
    """The answer in a sentence."""


def compare(a: Compared, b: Compared, margin: float | None = None) -> Comparison:
    """Compare two predictions, measurements or metrics.

    Args:
        a: one side.
        b: the other.
        margin: relative difference within which figures count as the same, to test for that too.

    Raises:
        InputError: latencies of unlike kinds or statistics, or nothing in common.
    """
    left, right = _metrics(a, b), _metrics(b, a)
    _refuse_unlike(left, right)
    first, second = dict(_figures(left)), dict(_figures(right))
    common = [name for name in first if name in second]
    if not common:
        raise InputError("the two sides have no metric in common")
    differences = tuple(difference_of(name, first[name], second[name], margin) for name in common)
    return Comparison(
        differences=differences,
        only_in_a=tuple(name for name in first if name not in second),
        only_in_b=tuple(name for name in second if name not in first),
        margin=margin,
        words=_words(differences) + (_same_words(differences, margin) if margin is not None else ""),
    )


def _metrics(side: Compared, other: Compared) -> Metrics:
    """Return the metrics of a side; where it has several kinds of latency, of one that the other side has too."""
    if isinstance(side, Prediction):
        return predicted_metrics(side)
    if isinstance(side, Metrics):
        return side
    shared = [kind for kind in PREFERRED if kind in _kinds(side) & _kinds(other)]
    return metrics_of(side, shared[0] if shared else None)


def _kinds(side: Compared) -> set[LatencyKind]:
    if isinstance(side, Measurement):
        return kinds_of(side)
    return {side.latency_kind} if isinstance(side, Prediction) else {one.kind for one in side.latency_s.values()}


def _refuse_unlike(a: Metrics, b: Metrics) -> None:
    unlike = [
        f"latency of {name}: {_meaning(a.latency_s[name])} beside {_meaning(b.latency_s[name])}"
        for name in a.latency_s
        if name in b.latency_s and _meaning(a.latency_s[name]) != _meaning(b.latency_s[name])
    ]
    if unlike:
        raise InputError(f"unlike latencies are not compared; {'; '.join(unlike)}")


def _meaning(latency: Latency) -> str:
    return f"{latency.kind} time {latency.statistic.replace('-', ' ')}"


def _figures(metrics: Metrics) -> Iterator[tuple[str, Quantity]]:
    """Yield every figure that has a value, by the path of its key."""
    if metrics.throughput_per_s.value is not None:
        yield "throughput_per_s", metrics.throughput_per_s
    for name, latency in metrics.latency_s.items():
        for statistic, figure in latency.present():
            yield f"latency_s.{name}.{statistic}", figure
    for station, used in metrics.utilisation.items():
        yield f"utilisation.{station}", Quantity(value=used)
    for kind, errors in metrics.errors.items():
        if errors.ratio is not None:
            yield f"errors.{kind}", Quantity(value=errors.ratio)


def difference_of(metric: str, a: Quantity, b: Quantity, margin: float | None = None) -> Difference:
    """Return the difference of one metric; both figures have values."""
    value_a, value_b = a.value or 0.0, b.value or 0.0
    std_err = _ratio_std_err(a, b)
    p_value = None if std_err is None else _p_value(math.log(value_b / value_a), std_err)
    ratio = _ratio(value_a, value_b, std_err)
    return Difference(
        metric=metric,
        a=a,
        b=b,
        difference=value_b - value_a,
        ratio=ratio,
        p_value=p_value,
        significance=_significance(p_value),
        equivalence=None if margin is None else equivalence(ratio, margin),
    )


def _ratio_std_err(a: Quantity, b: Quantity) -> float | None:
    """Return the standard error of the logarithm of the ratio, None when it is not known."""
    parts = (a.log_std_err, b.log_std_err)
    return None if None in parts else math.hypot(*(part for part in parts if part is not None))


def _ratio(value_a: float, value_b: float, std_err: float | None) -> Quantity | None:
    if value_a == 0:
        return None
    ratio = value_b / value_a
    if std_err is None:
        return Quantity(value=ratio, reason="the error of one side is not known")
    factor = math.exp(min(Z * std_err, MOST))
    return Quantity(value=ratio, low=ratio / factor, high=ratio * factor)


MOST = 500.0
"""Logarithm of a factor that a float still holds."""


def _p_value(log_ratio: float, std_err: float) -> float:
    """Return the two-sided probability under the normal distribution."""
    if std_err == 0:
        return 1.0 if log_ratio == 0 else 0.0
    return math.erfc(abs(log_ratio) / (std_err * math.sqrt(2)))


def _significance(p_value: float | None) -> Significance:
    if p_value is None:
        return "cannot tell"
    if p_value < 0.05:
        return "significant at 95 %"
    return "significant at 90 %" if p_value < 0.10 else "no significant difference"


def _words(differences: tuple[Difference, ...]) -> str:
    """Return the answer in a sentence: what differs, or that nothing does."""
    judged = [one for one in differences if one.p_value is not None]
    if not judged:
        return "cannot tell: neither side gives intervals for the same metric"
    found = [one for one in judged if one.significance != "no significant difference"]
    if not found:
        return f"no significant difference in {len(judged)} metrics"
    named = ", ".join(f"{one.metric} {_change(one)}" for one in found)
    chance = "" if len(judged) == 1 else f" (of {len(judged)} metrics about {0.1 * len(judged):.1g} differ by chance)"
    return f"significant: {named}{chance}"


def _same_words(differences: tuple[Difference, ...], margin: float) -> str:
    """Return what is the same within the margin, and how much longer runs would have to be for the rest."""
    same = [one.metric for one in differences if one.equivalence == "same"]
    told = f"; same within {margin:.3g}: {', '.join(same) or 'nothing shown'}"
    open_ = [one for one in differences if one.equivalence == "cannot tell"]
    longer = [ratio for one in open_ if (ratio := needed_ratio(one.ratio, margin)) is not None and ratio > 1]
    return told + (f" (the rest needs runs up to {max(longer):.2g} times as long)" if longer else "")


def _change(one: Difference) -> str:
    assert one.ratio is not None and one.ratio.value is not None
    return f"{100 * (one.ratio.value - 1):+.1f} %"
