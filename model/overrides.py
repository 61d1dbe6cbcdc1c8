"""Single keys over a scenario: `--set cluster.nodes=4`, and the short options that stand for such keys.

A key is a dotted path; `[1]` (or a number) is a position in a list, `*` stands for every key of a map. Values
are YAML: `0.5`, `99p`, `[0, 1]`, `{dc1: 3, dc2: 2}`. All overrides together are laid over the scenario by the
rules of `inheritance.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from .errors import InputError, Problem, ScenarioError
from .inheritance import merged
from .located import Located, Path, Place, path_of
from .yaml_source import read_yaml

EVERY = "*"
OPTION = "--set"
_DEEPEST = 10
"""Parts of the deepest key that is read; the deepest there is has five."""
_LONGEST_KEY = 200


class Shorthand(str):
    """An override that came from a short option, which problems then name."""

    option: str

    def __new__(cls, option: str, text: str) -> Self:
        """Return the override `text` of an option."""
        override = super().__new__(cls, text)
        override.option = option
        return override


@dataclass(frozen=True)
class Override:
    """A key and its value."""

    path: Path
    value: Located

    @property
    def is_plain(self) -> bool:
        """Whether the path has names only."""
        return all(isinstance(part, str) and part != EVERY for part in self.path)


def shorthand_overrides(
    *,
    nodes: int | None = None,
    rf: int | None = None,
    cl: str | None = None,
    read_ratio: float | None = None,
    in_flight: int | None = None,
    rate: float | None = None,
    routing: str | None = None,
    cores: int | None = None,
) -> list[str]:
    """Return the overrides that the short options of the commands stand for, in a fixed order.

    >>> shorthand_overrides(nodes=4, cl="one")
    ['cluster.nodes=4', 'workload.operations.*.consistency=ONE']
    """
    given = [
        ("--nodes", "cluster.nodes", nodes),
        ("--rf", "cluster.replication.factor", rf),
        *_mix(read_ratio),
        ("--cl", "workload.operations.*.consistency", None if cl is None else cl.upper()),
        ("--in-flight", "clients.in_flight", in_flight),
        ("--rate", "clients.rate", rate),
        ("--routing", "clients.routing", routing),
        ("--cores", "hardware.cores", cores),
    ]
    return [Shorthand(option, f"{key}={value}") for option, key, value in given if value is not None]


def _mix(read_ratio: float | None) -> Iterator[tuple[str, str, float]]:
    """Yield the shares of a mix of reads and writes; an operation without a share is left out."""
    if read_ratio is None:
        return
    if not 0 <= read_ratio <= 1:
        raise ScenarioError([Problem("", None, f"{read_ratio} is not between 0 and 1", "--read-ratio")])
    for operation, share in (("read", read_ratio), ("write", round(1 - read_ratio, 12))):
        if share > 0:
            yield "--read-ratio", f"workload.operations.{operation}.share", share


def apply_overrides(document: Located, overrides: Sequence[str]) -> Located:
    """Return the document with overrides laid over it.

    Args:
        document: a scenario's values with their places.
        overrides: each `key=value`.

    Raises:
        ScenarioError: overrides that are no `key=value`, have no YAML value, or point into nothing.
    """
    parsed = _parsed(overrides)
    overlay = Located({}, Place(OPTION))
    for override in parsed:
        if override.is_plain:
            overlay = _placed(overlay, override.path, override.value)
    document = merged(document, overlay) if overlay.value else document
    for override in parsed:
        if not override.is_plain:
            document = _placed(document, override.path, override.value)
    return document


def _parsed(overrides: Sequence[str]) -> list[Override]:
    parsed: list[Override] = []
    problems: list[Problem] = []
    for text in overrides:
        try:
            parsed.append(_override(text))
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise ScenarioError(problems)
    return parsed


def _override(text: str) -> Override:
    option = text.option if isinstance(text, Shorthand) else OPTION
    key, equals, value = text.partition("=")
    path = _path(key.strip()[:_LONGEST_KEY])
    if not equals or not path or len(path) > _DEEPEST:
        right = f"{text[:60]!r} is not key=value, such as cluster.nodes=4"
        raise ScenarioError([Problem("", None, right, option)])
    entry = read_yaml(value.encode(errors="replace"), option, ScenarioError)
    return Override(path, _on_command_line(entry, Place(option)))


def _path(key: str) -> Path:
    """Return the path of a key; a number between dots is a position too."""
    return tuple(int(part) if str(part).isdecimal() else part for part in path_of(key))


def _on_command_line(entry: Located, place: Place) -> Located:
    """Return the value with places that name the option, without a line."""
    if isinstance(entry.value, dict):
        return Located({key: _on_command_line(part, place) for key, part in entry.value.items()}, place)
    if isinstance(entry.value, tuple):
        return Located(tuple(_on_command_line(part, place) for part in entry.value), place)
    return Located(entry.value, place)


def _placed(tree: Located, path: Path, value: Located) -> Located:
    """Return the tree with a value at a path; maps on the way are made, positions and `*` must be there."""
    if not path:
        return value
    part, rest = path[0], path[1:]
    if part == EVERY:
        for key, entry in tree.entries():
            tree = tree.with_child(key, _placed(entry, rest, value))
        return tree
    below = tree.child(part)
    if below is None and isinstance(part, int):
        count = sum(1 for _ in tree.entries())
        right = f"position {part} is not there; the list has {count}, counted from 0"
        raise ScenarioError([Problem("", None, right, value.place.file)])
    below = below or Located({}, value.place)
    return tree.with_child(part, _placed(below, rest, value))
