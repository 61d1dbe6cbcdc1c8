"""Ctrl-C and the request to terminate, taken as the wish to end a run early and keep what there is.

The first one sets a flag, so that nothing is broken off in the middle of a message between processes; the second
ends the program. Outside the main thread signals cannot be taken, and nothing is changed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Whether somebody wants a run to end."""

    def __init__(self) -> None:
        self.asked = False

    def ask(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def interruptions() -> Iterator[Interruption]:
    """Yield what knows of interruptions; signals mean afterwards what they meant before."""
    found = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield found
        return
    before = {number: signal.signal(number, found.ask) for number in _SIGNALS}
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
