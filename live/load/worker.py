"""What one process does: connect, prepare, wait for the start, run its part, report through a pipe.

The parent sends the time of the start, on the machine's monotonic clock, and later anything at all to stop; a parent
that has gone stops it too. Ctrl-C is the parent's affair.

Its loop waits by select(2), which knows microseconds; epoll rounds up to whole milliseconds, which would be lag.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from selectors import SelectSelector
from typing import Protocol

import numpy as np

from ...model.errors import CapmodelError
from ...model.workload import ConsistencyLevel, Workload
from .client_watch import ClientWatch
from .closed_loop import ClosedLoop
from .event_loop import Loop
from .interval import Interval
from .interval_recorder import IntervalRecorder
from .open_loop import OpenLoop
from .opening import Opening
from .part import Boss, Grid, Part, Sending
from .requests import WRITE, Ask, Request, request_stream, row_binder
from .session import BackendFacts, Session, Statement
from .table import LoadTable

Pause = Callable[[], float]
COLLECTION_THRESHOLDS = (20_000, 20, 100)
"""Allocations before a collection of the youngest objects, and collections before those of older ones.

Python's own (700, 10, 10) spent a tenth of the time in collections of what the Python driver leaves behind."""

SWITCH_INTERVAL_S = 0.001
"""Longest turn of a thread while another waits; Python's own 5 ms is what answers then wait for the loop."""


class Backend(Protocol):
    """Opens sessions; it is sent to the processes, so it can be pickled."""

    @property
    def facts(self) -> BackendFacts:
        """What a measurement says about it."""

    def session(self, loop: asyncio.AbstractEventLoop, part: int) -> AbstractContextManager[Session]:
        """Yield the session of one process."""


class Work(Protocol):
    """What a process sends."""

    @property
    def retry(self) -> bool:
        """Whether a request that failed is sent again."""

    def requests(self, session: Session, part: int) -> Iterator[Request]:
        """Yield the requests of one process."""

    def pause(self, part: int) -> Pause | None:
        """Return what draws the pauses between answer and next request."""


@dataclass(frozen=True)
class Mix:
    """The requests of a workload."""

    asks: tuple[Ask, ...]
    table: LoadTable
    workload: Workload
    think_s: float = 0.0
    """Mean of the exponential pauses."""
    seed: int = 1
    retry: bool = False

    def requests(self, session: Session, part: int) -> Iterator[Request]:
        """Yield requests without end; each process has a stream of its own."""
        rng = np.random.default_rng([self.seed, part, 0])
        return request_stream(self.asks, session, self.table, self.workload, rng)

    def pause(self, part: int) -> Pause | None:
        """Return what draws the pauses."""
        if not self.think_s:
            return None
        rng = np.random.default_rng([self.seed, part, 1])
        return lambda: float(rng.exponential(self.think_s))


@dataclass(frozen=True)
class Fill:
    """Writes of all rows of a range of partitions, dealt to the processes in turn."""

    table: LoadTable
    first: int
    last: int
    """The one after the last partition."""
    processes: int
    consistency: ConsistencyLevel = ConsistencyLevel.ALL
    retry: bool = True

    def requests(self, session: Session, part: int) -> Iterator[Request]:
        """Yield the writes of one process."""
        handle = session.prepare(Statement(self.table.write_cql(), self.consistency))
        bind = row_binder(self.table)
        for partition in range(self.first + part, self.last, self.processes):
            for number in range(self.table.rows_per_partition):
                yield Request(WRITE, handle, bind(partition, number), False)

    def pause(self, part: int) -> None:
        """Return nothing: loading does not pause."""


@dataclass(frozen=True)
class Job:
    """What a process is told."""

    part: int
    backend: Backend
    work: Work
    in_flight: int
    """Requests in flight, or their limit when the load is open."""
    interval_s: float
    opening: Opening | None = None
    """None for a closed load."""


@dataclass(frozen=True)
class Ready:
    """Says that a process can begin."""

    facts: BackendFacts


@dataclass(frozen=True)
class Failed:
    """Says why a process cannot."""

    words: str


@dataclass(frozen=True)
class Over:
    """Says that a process has done its part."""


class PipeBoss:
    """The parent, at the other end of a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._gone = False

    def report(self, interval: Interval) -> None:
        """Send an interval; a parent that has gone is told nothing more."""
        try:
            self._pipe.send(interval)
        except OSError:
            self._gone = True

    def says_stop(self) -> bool:
        """Return whether anything has come, or the parent has gone."""
        return self._gone or self._pipe.poll()


def assemble(
    loop: Loop, session: Session, job: Job, boss: Boss, whole_process: bool
) -> Callable[[float, Callable[[], None]], Part]:
    """Return the function that makes the part of a process, from its start and what is to be called at its end.

    Statements are prepared here.
    """
    recorder = IntervalRecorder(job.opening is not None)
    sending = _sending(loop, session, job, recorder)
    watch = ClientWatch(loop, whole_process)
    return lambda start_s, over: Part(loop, sending, recorder, watch, boss, Grid(start_s, job.interval_s), over)


def _sending(loop: Loop, session: Session, job: Job, recorder: IntervalRecorder) -> Sending:
    requests = _begun(job.work.requests(session, job.part))
    opening = job.opening
    if opening is not None:
        starts_s = opening.starts_s(job.part)
        return OpenLoop(loop, session, requests, recorder, starts_s, job.in_flight, opening.patience_s)
    return ClosedLoop(loop, session, requests, recorder, job.in_flight, job.work.pause(job.part), job.work.retry)


def _begun(requests: Iterator[Request]) -> Iterator[Request]:
    """Return the stream with its first request made, so that its statements are prepared before the start."""
    first = next(requests, None)

    def whole() -> Iterator[Request]:
        if first is not None:
            yield first
            yield from requests

    return whole()


def work(pipe: Connection) -> None:
    """Do what a process does, job after job, until its parent gives no more."""
    loop = asyncio.SelectorEventLoop(SelectSelector())
    try:
        while (job := _next_job(pipe)) is not None:
            with job.backend.session(loop, job.part) as session:
                _run(loop, session, job, pipe)
            pipe.send(Over())
    except CapmodelError as error:
        pipe.send(Failed(str(error)))
    except (EOFError, BrokenPipeError):
        pass  # the parent has gone
    finally:
        loop.close()
        pipe.close()


def _next_job(pipe: Connection) -> Job | None:
    """Return the next job, None when there will be none; words to stop that came after an end are passed over."""
    try:
        while not isinstance(job := pipe.recv(), Job):
            pass
    except (EOFError, ConnectionResetError):
        return None
    return job


def _run(loop: asyncio.AbstractEventLoop, session: Session, job: Job, pipe: Connection) -> None:
    facts = job.backend.facts
    part = assemble(loop, session, job, PipeBoss(pipe), whole_process=facts.processors <= 1)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    gc.collect()
    gc.freeze()
    pipe.send(Ready(facts))
    part(pipe.recv(), loop.stop).start()
    loop.run_forever()
