"""The live view of a load on standard error: one line that changes on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from ..model.units import format_duration, format_rate

if TYPE_CHECKING:
    from ..live.load.look import Look

EVERY_S = 0.5
"""Between changes on a terminal."""
RARELY_S = 10.0
"""Between lines elsewhere."""


class LoadView:
    """Shows looks at a run, not too often; a new phase is shown at once."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._every_s = EVERY_S if self._terminal else RARELY_S
        self._shown_s = -self._every_s
        self._phase = ""

    def show(self, look: Look) -> None:
        """Show a look when it is time."""
        now_s = time.monotonic()
        if look.phase == self._phase and now_s - self._shown_s < self._every_s:
            return
        self._shown_s, self._phase = now_s, look.phase
        begin, end = ("\r\033[K", "") if self._terminal else ("", "\n")
        sys.stderr.write(f"{begin}{look_text(look)}{end}")
        sys.stderr.flush()

    def close(self) -> None:
        """Clear the line."""
        if self._terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def look_text(look: Look) -> str:
    """Return a look as one line."""
    parts = [f"{look.phase} {_progress(look)}"]
    if look.rate_per_s:
        parts.append(format_rate(look.rate_per_s))
    for name, latency_s in (("p50", look.p50_s), ("p99", look.p99_s)):
        if latency_s is not None:
            parts.append(f"{name} {format_duration(latency_s)}")
    parts.append(f"{look.in_flight} in flight, {look.errors} errors")
    if look.node_cores:
        parts.append("CPU " + " ".join(f"{cores:.2f}" for cores in look.node_cores.values()))
    return ", ".join(parts)


def _progress(look: Look) -> str:
    if look.planned is None:
        return f"{look.done:.1f} s"
    if look.phase == "loading":
        return f"{look.done:,.0f} of {look.planned:,.0f} partitions"
    unit = " s" if look.planned < 1e4 else ""
    return f"{look.done:,.1f} of {look.planned:,.6g}{unit}"
