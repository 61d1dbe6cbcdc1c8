"""Names of the files and rows that runs were read from, written short: `file.csv:2-5` for four rows in a row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_ROW = re.compile(r"^(?P<file>.+):(?P<first>\d+)(?:-(?P<last>\d+))?$")


def shortened(sources: Iterable[str]) -> tuple[str, ...]:
    """Return sources with rows that follow each other joined.

    >>> shortened(["a.csv:2", "a.csv:3", "b.json", "a.csv:7"])
    ('b.json', 'a.csv:2-3', 'a.csv:7')
    """
    rows: dict[str, set[int]] = {}
    whole: dict[str, None] = {}
    for source in sources:
        found = _ROW.match(source)
        if found is None:
            whole[source] = None
        else:
            rows.setdefault(found["file"], set()).add(int(found["first"]))
    return (*whole, *(text for file, numbers in rows.items() for text in _ranges(file, sorted(numbers))))


def _ranges(file: str, numbers: list[int]) -> Iterator[str]:
    start = numbers[0]
    for here, following in zip(numbers, [*numbers[1:], None], strict=True):
        if following != here + 1:
            yield f"{file}:{start}" if start == here else f"{file}:{start}-{here}"
            start = following if following is not None else here


def expanded(sources: Iterable[str]) -> frozenset[str]:
    """Return every single source of shortened ones.

    >>> sorted(expanded(["a.csv:2-3", "b.json"]))
    ['a.csv:2', 'a.csv:3', 'b.json']
    """
    found: set[str] = set()
    for source in sources:
        match = _ROW.match(source)
        if match is None or match["last"] is None:
            found.add(source)
        else:
            first, last = int(match["first"]), int(match["last"])
            found |= {f"{match['file']}:{number}" for number in range(first, last + 1)}
    return frozenset(found)
