"""What the load generator itself costs: CPU time, garbage collections, and how late its event loop runs.

Lag is measured by timers on a fixed grid: a callback that was due at a time and ran later was late by the difference,
as an answer would have been. On a loop whose time is simulated there is nothing to measure.

Assumption: the thread that runs the loop is the one that runs Python code; where a driver has threads of its own for
that (the Python driver's reactor), the process's CPU time counts instead, because they take turns.
"""

from __future__ import annotations

import gc
import time

from .buckets import tally
from .event_loop import Loop, VirtualLoop
from .interval import ClientUse

LAG_PERIOD_S = 0.01
"""A hundred samples a second cost about a thousandth of a processor."""


class ClientWatch:
    """Watches one process; `cut` gives what it used since the last one."""

    def __init__(self, loop: Loop, whole_process: bool) -> None:
        """Begin to watch.

        Args:
            loop: the loop of the process.
            whole_process: whether all threads of the process take turns in running Python code.
        """
        self._loop = loop
        self._simulated = isinstance(loop, VirtualLoop)
        self._busy = time.process_time if whole_process else time.thread_time
        self._stopped = self._simulated
        self._clear()
        if not self._simulated:
            gc.callbacks.append(self._collection)
            self._sample(loop.time())

    def close(self) -> None:
        """Stop watching."""
        self._stopped = True
        if self._collection in gc.callbacks:
            gc.callbacks.remove(self._collection)

    def cut(self, length_s: float) -> ClientUse:
        """Return what was used since the last cut, `length_s` ago."""
        if self._simulated:
            return ClientUse()
        use = ClientUse(
            cpu_s=time.process_time() - self._process_s,
            busiest_ratio=(self._busy() - self._busy_s) / length_s if length_s > 0 else None,
            pauses_s=sum(self._pauses_s),
            longest_pause_s=max(self._pauses_s, default=0.0),
            lag=tally(self._lags_s),
        )
        self._clear()
        return use

    def _clear(self) -> None:
        self._process_s, self._busy_s = time.process_time(), self._busy()
        self._pauses_s: list[float] = []
        self._lags_s: list[float] = []

    def _collection(self, phase: str, info: object) -> None:
        if phase == "start":
            self._collecting_since_s = time.perf_counter()
        else:
            self._pauses_s.append(time.perf_counter() - self._collecting_since_s)

    def _sample(self, due_s: float) -> None:
        if self._stopped:
            return
        now_s = self._loop.time()
        self._lags_s.append(max(0.0, now_s - due_s))
        next_s = max(due_s + LAG_PERIOD_S, now_s)
        self._loop.call_at(next_s, self._sample, next_s)
