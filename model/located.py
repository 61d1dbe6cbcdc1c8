"""Values with their places: a tree that remembers where in which file each key stands.

Trees are merged and overridden before they are validated, so every problem can still name file and line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Scalar = bool | int | float | str | None
Path = tuple[str | int, ...]
_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(frozen=True)
class Place:
    """Where a value stands."""

    file: str | None
    """Name of the file, or the option of the command line."""
    line: int | None = None
    """Line, counted from 1."""


@dataclass(frozen=True)
class Located:
    """A value, a list or a map, and its place."""

    value: Scalar | tuple[Located, ...] | dict[str, Located]
    place: Place

    def plain(self) -> Any:
        """Return the value without places."""
        if isinstance(self.value, dict):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [entry.plain() for entry in self.value]
        return self.value

    def child(self, part: str | int) -> Located | None:
        """Return an entry of a map or a list, or None."""
        if isinstance(self.value, dict):
            return self.value.get(str(part))
        if isinstance(self.value, tuple) and isinstance(part, int) and 0 <= part < len(self.value):
            return self.value[part]
        return None

    def nearest(self, path: Path) -> Located:
        """Return the entry at a path, or the nearest one above it."""
        entry = self
        for part in path:
            below = entry.child(part)
            if below is None:
                break
            entry = below
        return entry

    def get(self, path: Path) -> Located | None:
        """Return the entry at a path, or None."""
        entry: Located | None = self
        for part in path:
            entry = entry.child(part) if entry is not None else None
        return entry

    def with_child(self, part: str | int, entry: Located) -> Located:
        """Return the same map or list with another entry; what is neither becomes a map."""
        if isinstance(self.value, tuple) and isinstance(part, int):
            entries = (entry if index == part else old for index, old in enumerate(self.value))
            return Located(tuple(entries), self.place)
        old = self.value if isinstance(self.value, dict) else {}
        return Located({**old, str(part): entry}, self.place)

    def without(self, paths: Sequence[Path]) -> Located:
        """Return the tree without the entries at some paths."""
        if not paths:
            return self
        here = {path[0] for path in paths if len(path) == 1}
        kept = [
            (part, entry.without([path[1:] for path in paths if len(path) > 1 and path[0] == part]))
            for part, entry in self.entries()
            if part not in here
        ]
        if isinstance(self.value, dict):
            return Located({str(part): entry for part, entry in kept}, self.place)
        return Located(tuple(entry for _, entry in kept), self.place) if kept or here else self

    def entries(self) -> Iterator[tuple[str | int, Located]]:
        """Yield the entries of a map or a list with their keys or positions."""
        if isinstance(self.value, dict):
            yield from self.value.items()
        elif isinstance(self.value, tuple):
            yield from enumerate(self.value)


def printable(text: str, longest: int = 300) -> str:
    """Return text that fits on one line: what is not printable is escaped, and what is too long is cut.

    >>> printable("a\\nb")
    'a\\\\nb'
    """
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[:longest]}…"


def path_of(key: str) -> Path:
    """Return the path that a dotted key names.

    >>> path_of("cluster.groups[1].nodes")
    ('cluster', 'groups', 1, 'nodes')
    """
    return tuple(int(index) if index else name for index, name in _PART.findall(key))


def key_of(path: Path) -> str:
    """Return the dotted key of a path.

    >>> key_of(("cluster", "groups", 1, "nodes"))
    'cluster.groups[1].nodes'
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")
