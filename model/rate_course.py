"""The course of an arrival rate over time: stretches that are level (steps), rise or fall evenly (ramps), or both.

Replayed rates are a course of many short level stretches. After the last stretch its final rate goes on.

Source: inversion of the cumulative rate for a non-stationary arrival process, E. Cinlar, Introduction to Stochastic
Processes (1975), section 4.7; A. M. Law, Simulation Modeling and Analysis, section 8.6.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, Problem
from .units import parse_duration, parse_rate

Floats = NDArray[np.float64]
RIGHT = "stretches such as 10s@500/s (level) or 30s@500/s..2000/s (a ramp), with commas between"


@dataclass(frozen=True)
class Stretch:
    """A time in which the rate is level or changes evenly."""

    lasts_s: float
    rate_per_s: float
    """At its beginning."""
    to_per_s: float
    """At its end."""

    @property
    def starts(self) -> float:
        """Expected number of arrivals in it."""
        return self.lasts_s * (self.rate_per_s + self.to_per_s) / 2


@dataclass(frozen=True)
class RateCourse:
    """Stretches one after the other."""

    stretches: tuple[Stretch, ...]

    @classmethod
    def level(cls, rate_per_s: float) -> RateCourse:
        """Return the course that never changes."""
        return cls((Stretch(1.0, rate_per_s, rate_per_s),))

    @property
    def lasts_s(self) -> float:
        """Length of all stretches."""
        return sum(stretch.lasts_s for stretch in self.stretches)

    @property
    def mean_per_s(self) -> float:
        """Mean rate over all stretches.

        >>> RateCourse((Stretch(1.0, 100.0, 100.0), Stretch(1.0, 100.0, 300.0))).mean_per_s
        150.0
        """
        return sum(stretch.starts for stretch in self.stretches) / self.lasts_s

    def after(self, lead_s: float) -> RateCourse:
        """Return the course with its first rate held for a while before it."""
        first = self.stretches[0].rate_per_s
        return RateCourse((Stretch(lead_s, first, first), *self.stretches)) if lead_s > 0 else self

    def times(self, factor: float) -> RateCourse:
        """Return the course with every rate multiplied."""
        return RateCourse(
            tuple(Stretch(one.lasts_s, one.rate_per_s * factor, one.to_per_s * factor) for one in self.stretches)
        )

    def when_s(self, count: Floats) -> Floats:
        """Return the times at which the expected number of arrivals reaches each of `count`, [count].

        Infinite where it never does. Within a stretch the number is rate · t + slope · t² / 2, solved for t in the
        form that is stable for a slope near 0.
        """
        begins_s, reached, rate, slope = self._pieces
        place = np.clip(np.searchsorted(reached, count, side="right") - 1, 0, reached.size - 1)
        rest = np.maximum(count - reached[place], 0.0)
        root = np.sqrt(np.maximum(rate[place] ** 2 + 2 * slope[place] * rest, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            into_s = np.where(rest > 0, 2 * rest / (rate[place] + root), 0.0)
        return begins_s[place] + into_s

    @cached_property
    def _pieces(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Begin, arrivals before it, rate and slope of each stretch and of what follows the last, [stretches + 1]."""
        lasts_s = np.array([stretch.lasts_s for stretch in self.stretches])
        rate = np.array([stretch.rate_per_s for stretch in self.stretches])
        to = np.array([stretch.to_per_s for stretch in self.stretches])
        begins_s = np.concatenate([[0.0], np.cumsum(lasts_s)])
        reached = np.concatenate([[0.0], np.cumsum(lasts_s * (rate + to) / 2)])
        return begins_s, reached, np.append(rate, to[-1]), np.append((to - rate) / lasts_s, 0.0)


def parse_course(text: str) -> RateCourse:
    """Return a course from text.

    >>> parse_course("10s@500/s, 20s@500..1500").stretches[1]
    Stretch(lasts_s=20.0, rate_per_s=500.0, to_per_s=1500.0)

    Raises:
        InputError: a text that is no course.
    """
    try:
        course = RateCourse(tuple(_stretch(word.strip()) for word in text.split(",")))
    except ValueError:
        raise InputError([Problem("--course", text, RIGHT)]) from None
    return _checked(course, "--course", text)


def _stretch(word: str) -> Stretch:
    length, _, rates = word.partition("@")
    first, _, last = rates.partition("..")
    lasts_s = float(str(parse_duration(length.strip())))
    rate = float(str(parse_rate(first.strip())))
    return Stretch(lasts_s, rate, float(str(parse_rate(last.strip()))) if last else rate)


def read_rates(path: Path) -> RateCourse:
    """Return the course that replays a table with the columns `t_s` and `rate_per_s`: each rate holds to the next time.

    The last rate lasts as long as the one before it.

    Raises:
        InputError: a file that cannot be read, lacks a column, or has fewer than two rows in order of time.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = [(float(row["t_s"]), float(row["rate_per_s"])) for row in csv.DictReader(stream)]
    except OSError as error:
        raise InputError([Problem("--rates", None, f"cannot be read: {error.strerror}", str(path))]) from None
    except (KeyError, TypeError, ValueError):
        raise InputError([Problem("--rates", None, "numbers in the columns t_s and rate_per_s", str(path))]) from None
    times_s = [time_s for time_s, _ in rows]
    if len(rows) < 2 or times_s != sorted(set(times_s)):
        raise InputError([Problem("--rates", len(rows), "two rows or more, in ascending order of t_s", str(path))])
    lengths_s = [late - early for early, late in pairwise(times_s)]
    lengths_s.append(lengths_s[-1])
    stretches = (Stretch(length_s, rate, rate) for length_s, (_, rate) in zip(lengths_s, rows, strict=True))
    return _checked(RateCourse(tuple(stretches)), "--rates", str(path))


def _checked(course: RateCourse, option: str, given: str) -> RateCourse:
    fine = all(one.lasts_s > 0 and one.rate_per_s >= 0 and one.to_per_s >= 0 for one in course.stretches)
    if not fine or course.mean_per_s <= 0:
        raise InputError([Problem(option, given, "times above 0, rates of 0 or more and not all of them 0")])
    return course
