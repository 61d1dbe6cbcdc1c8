"""Progress of long work on standard error, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def looks(what: str = "simulating") -> Iterator[Callable[[int, float], None]]:
    """Yield a function that shows requests and the share of the wanted precision, and clear its line at the end."""
    shown = sys.stderr.isatty()

    def show(requests: int, share: float) -> None:
        if shown:
            sys.stderr.write(f"\r{what}: {requests:,} requests, {share:.0%} of the wanted precision ")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


@contextmanager
def stages() -> Iterator[Callable[[str, float], None]]:
    """Yield a function that shows what is being done and how far it is, and clear its line at the end."""
    shown = sys.stderr.isatty()

    def show(what: str, share: float) -> None:
        if shown:
            sys.stderr.write(f"\r\033[K{what}: {share:.0%} ")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
