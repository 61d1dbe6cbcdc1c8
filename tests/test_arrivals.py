"""Arrival processes and courses of rates: their counts against theory, their times against hand-made ones."""

from __future__ import annotations

import math
from itertools import islice, takewhile
from pathlib import Path

import numpy as np
import pytest

from capmodel.model.arrivals import Arrivals
from capmodel.model.errors import InputError
from capmodel.model.rate_course import RateCourse, Stretch, parse_course, read_rates

LEVEL = RateCourse.level(100.0)


def starts(arrivals: Arrivals, until_s: float, seed: int = 1) -> list[float]:
    return list(takewhile(lambda at_s: at_s < until_s, arrivals.starts_s(np.random.default_rng(seed))))


def dispersion(arrivals: Arrivals, until_s: float = 400.0) -> float:
    """Return variance over mean of the counts in windows of a second."""
    counts = np.bincount(np.array(starts(arrivals, until_s)).astype(int), minlength=int(until_s))
    return float(counts.var(ddof=1) / counts.mean())


def test_constant_starts_are_evenly_spaced_and_begin_within_a_gap() -> None:
    assert starts(Arrivals(LEVEL, "constant"), 0.05) == pytest.approx([0.005, 0.015, 0.025, 0.035, 0.045])


def test_dealt_constant_starts_interleave() -> None:
    parts = Arrivals(LEVEL, "constant").dealt(4)
    found = sorted(
        at_s
        for part in range(4)
        for at_s in islice(parts.starts_s(np.random.default_rng(part), (part + 0.5) / 4), 10)
    )
    assert np.diff(found) == pytest.approx([0.01] * 39)


@pytest.mark.parametrize(("kind", "expected"), [("poisson", 1.0), ("bursts", 2 * 10 - 1.0), ("constant", 0.0)])
def test_counts_scatter_as_theory_says(kind: str, expected: float) -> None:
    """Variance over mean of a count: 1 for Poisson; for geometric bursts of mean b, E[size²] / E[size] = 2 b - 1.

    Source: compound Poisson process, Kleinrock, Queueing Systems 1, section 4.5. The error of a variance over 400
    windows is about sqrt(2 / 400) of it, more for bursts.
    """
    found = dispersion(Arrivals(LEVEL, kind, 10))  # type: ignore[arg-type]
    assert found == pytest.approx(expected, rel=0.35, abs=0.02)


def test_a_ramp_has_half_of_its_starts_after_the_square_root_of_a_half() -> None:
    """From 0 evenly upwards the number grows with the square of the time."""
    ramp = RateCourse((Stretch(10.0, 0.0, 200.0),))
    found = starts(Arrivals(ramp, "constant"), 10.0)
    assert len(found) == 1000
    assert found[499] == pytest.approx(10 * math.sqrt(0.4995), rel=1e-3)


def test_steps_pauses_and_the_rate_after_the_end() -> None:
    course = parse_course("1s@10, 2s@0, 1s@20")
    counts = np.bincount(np.array(starts(Arrivals(course, "constant"), 6.0)).astype(int))
    assert counts.tolist() == [10, 0, 0, 20, 20, 20]
    assert course.mean_per_s == pytest.approx(30 / 4)


def test_a_course_that_ends_in_nothing_ends() -> None:
    assert len(list(Arrivals(parse_course("2s@50..0"), "constant").starts_s(np.random.default_rng(1)))) == 50


def test_a_poisson_process_follows_its_course() -> None:
    """Within four standard errors of the expected number, in every stretch; negative control: another stretch's."""
    course = parse_course("20s@50/s, 20s@50/s..250/s, 20s@250/s")
    found = np.histogram(starts(Arrivals(course), 60.0), bins=[0, 20, 40, 60])[0]
    for count, expected in zip(found, (1000, 3000, 5000), strict=True):
        assert abs(count - expected) < 4 * math.sqrt(expected)
    assert abs(found[1] - 5000) > 4 * math.sqrt(5000)


def test_the_lead_holds_the_first_rate() -> None:
    counts = np.bincount(np.array(starts(Arrivals(parse_course("1s@30").after(2.0), "constant"), 3.0)).astype(int))
    assert counts.tolist() == [30, 30, 30]


def test_rates_are_replayed_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text("t_s,rate_per_s\n0,10\n1,30\n3,5\n")
    course = read_rates(tmp_path / "rates.csv")
    assert [stretch.lasts_s for stretch in course.stretches] == [1.0, 2.0, 2.0]
    assert len(starts(Arrivals(course, "constant"), 5.0)) == 10 + 60 + 10


@pytest.mark.parametrize("text", ["t_s\n1\n", "t_s,rate_per_s\n0,1\n", "t_s,rate_per_s\n1,1\n0,1\n"])
def test_tables_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "rates.csv").write_text(text)
    with pytest.raises(InputError, match=r"rates\.csv"):
        read_rates(tmp_path / "rates.csv")


@pytest.mark.parametrize("text", ["", "10s", "10s@x", "0s@5", "10s@0", "5s@-1"])
def test_courses_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="--course"):
        parse_course(text)
