"""Lines of a text with their numbers, colours taken off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...model.errors import MeasurementError, Problem

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
MOST_BYTES = 64 * 2**20
"""Largest file that is read whole; summaries of benchmarks are a few KiB."""


@dataclass(frozen=True)
class Line:
    """One line of a file."""

    number: int
    """Counted from 1."""
    text: str
    """Without colours and the space around it."""
    finished: bool = True
    """Whether a line end follows; without one, the last number may have lost digits."""


def lines_of(text: str) -> Iterator[Line]:
    """Yield the lines of a text that hold something."""
    parts = text.split("\n")
    for number, raw in enumerate(parts, 1):
        bare = _ANSI.sub("", raw).strip()
        if bare:
            yield Line(number, bare, finished=number < len(parts))


def read_text(path: Path) -> str:
    """Return a file's text; bytes that are no UTF-8 become replacement characters.

    Raises:
        MeasurementError: a file that cannot be opened, or larger than `MOST_BYTES`.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            right = f"a file of at most {MOST_BYTES >> 20} MiB; this one has {size >> 20} MiB"
            raise MeasurementError([Problem("", None, right, str(path))])
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise MeasurementError([Problem("", None, f"{error.strerror or error}", str(path))]) from None
