"""A sweep: one scenario over a grid of keys and a Latin-hypercube sample of uncertain inputs; version 1 of its file.

    format_version: 1
    name: mine
    scenario: default
    axes: {cluster.nodes: [3, 6, 12], clients.in_flight: [64, 256]}
    samples: {count: 20, ranges: {workload.cache_hit: [0.6, 1.0]}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator
from scipy.stats import qmc

from .document import read_document, upgraded, validated
from .errors import InputError, Problem
from .scenario_file import load_scenario
from .value import Value

FORMAT_VERSION = 1
"""Version of the sweep file format."""
MOST_POINTS = 1_000_000
Number = int | float
Overrides = tuple[str, ...]


class Samples(Value):
    """A Latin-hypercube sample, the same for the same seed."""

    count: int = Field(ge=1, le=100_000)
    seed: int = Field(default=1, ge=0)
    ranges: dict[str, tuple[Number, Number]] = Field(min_length=1)
    """Lowest and highest value of each key."""

    @model_validator(mode="after")
    def _in_order(self) -> Samples:
        wrong = [key for key, (low, high) in self.ranges.items() if not low < high]
        if wrong:
            raise ValueError(f"a lower end below the upper one; not so {', '.join(wrong)}")
        return self

    def overrides(self) -> Iterator[Overrides]:
        """Yield the overrides of each sample."""
        drawn = qmc.LatinHypercube(len(self.ranges), seed=self.seed).random(self.count)
        for row in drawn.tolist():
            yield tuple(
                f"{key}={_between(low, high, share)}"
                for (key, (low, high)), share in zip(self.ranges.items(), row, strict=True)
            )


class Sweep(Value):
    """What is swept."""

    format_version: int = Field(default=FORMAT_VERSION, ge=FORMAT_VERSION, le=FORMAT_VERSION)
    name: str = Field(default="sweep", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    scenario: str = "default"
    """A shipped scenario's name, or a file beside the sweep's."""
    profile: str = "default"
    changes: tuple[str, ...] = Field(default=(), alias="set")
    """Overrides of every point."""
    solver: Literal["mva", "simulate"] = "mva"
    seed: int = Field(default=1, ge=0)
    """Of every point, so that differences between points are not those of draws."""
    neighbours: bool = False
    """Whether every point says what one node more would bring."""
    axes: dict[str, tuple[bool | Number | str, ...]] = Field(default={})
    """Values of each key; every combination is a point."""
    samples: Samples | None = None
    """Inputs that are uncertain; every combination of the axes has all of them."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that differ between points."""
        return (*self.axes, *(self.samples.ranges if self.samples else ()))

    def points(self) -> tuple[Overrides, ...]:
        """Return the overrides of each point."""
        grid = [[f"{key}={_word(value)}" for value in values] for key, values in self.axes.items()]
        samples = list(self.samples.overrides()) if self.samples else [()]
        return tuple((*one, *sample) for one in product(*grid) for sample in samples)


def load_sweep(path: Path) -> Sweep:
    """Return the sweep of a file.

    Raises:
        InputError: a file that is no sweep, sweeps nothing or too much, or whose first point is no scenario.
    """
    document = read_document(path, InputError)
    sweep = validated(Sweep, upgraded(document, {}, FORMAT_VERSION, InputError), InputError)
    count = _count(sweep)
    if not sweep.keys or not 1 <= count <= MOST_POINTS:
        right = f"axes or samples with 1 to {MOST_POINTS} points in all"
        raise InputError([Problem("axes", f"{count if sweep.keys else 0} points", right, str(path))])
    twice = set(sweep.axes) & set(sweep.samples.ranges if sweep.samples else ())
    if twice:
        raise InputError([Problem("samples.ranges", ", ".join(sorted(twice)), "keys that are no axes", str(path))])
    load_scenario(source_of(sweep, path), [*sweep.changes, *next(iter(sweep.points()))])
    return sweep


def source_of(sweep: Sweep, path: Path) -> str:
    """Return the scenario of a sweep as `load_scenario` takes it: files lie beside the sweep's file."""
    beside = path.parent / sweep.scenario
    return str(beside) if Path(sweep.scenario).suffix and beside.exists() else sweep.scenario


def by_key(overrides: Overrides) -> Mapping[str, str]:
    """Return the values of a point by key."""
    return dict(text.split("=", 1) for text in overrides)


def _count(sweep: Sweep) -> int:
    total = sweep.samples.count if sweep.samples else 1
    for values in sweep.axes.values():
        total *= len(values)
    return total


def _between(low: Number, high: Number, share: float) -> str:
    if isinstance(low, int) and isinstance(high, int):
        return str(min(high, low + int(share * (high - low + 1))))
    return f"{low + share * (high - low):.9g}"


def _word(value: bool | Number | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
