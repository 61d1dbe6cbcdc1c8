"""The processes of a load: started together, heard through pipes, stopped together; one that is lost is reported.

A process killed by `kill -9` loses what it had not yet sent, the interval it was in. A parent that is killed leaves
none: each process finds its pipe closed at the end of its interval and ends.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import TracebackType

from ...model.errors import RunError
from .interval import Interval
from .session import BackendFacts
from .worker import Failed, Job, Over, Ready

CONNECT_S = 60.0
"""Time for all processes to start, connect and prepare."""
LEAD_S = 0.05
"""From the word to the start, so that all processes begin together."""
END_S = 5.0
"""Time for a process to end by itself; draining takes up to 2 s of it."""
HURRIED_END_S = 0.5
"""The same when the run has failed."""


@dataclass(frozen=True)
class Heard:
    """An interval of one process."""

    part: int
    interval: Interval


@dataclass(frozen=True)
class Left:
    """A process that reports nothing more."""

    part: int
    lost: bool
    """Whether it ended before it was told."""


class Processes:
    """The processes of one run; a context that leaves none behind."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._pipes: dict[Connection, int] = {}
        self._silent: set[Connection] = set()
        self._children: list[subprocess.Popen[bytes]] = []
        self.facts: BackendFacts | None = None
        """What the backend says of itself, once begun."""

    def __enter__(self) -> Processes:
        for job in self._jobs:
            self._start(job)
        return self

    def _start(self, job: Job) -> None:
        """Start a process with a pipe, and give it its job.

        It runs a module of its own and not the program it came from, so that a script or a notebook needs no guard.
        """
        ours, theirs = multiprocessing.Pipe()
        command = [sys.executable, "-m", f"{__package__}.worker_process", str(theirs.fileno())]
        child = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
        theirs.close()
        self._pipes[ours] = job.part
        self._children.append(child)
        ours.send(job)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        deadline_s = time.monotonic() + (END_S if kind is None else HURRIED_END_S)
        for pipe in self._pipes:
            pipe.close()
        for child in self._children:
            _end(child, deadline_s)

    def again(self, jobs: Sequence[Job]) -> None:
        """Give each process that has done its part another job, which `begin` starts.

        Args:
            jobs: one for each process, as at first.
        """
        self._silent.clear()
        for pipe, job in zip(self._pipes, jobs, strict=True):
            pipe.send(job)

    @property
    def pids(self) -> tuple[int, ...]:
        """Ids of the processes."""
        return tuple(child.pid for child in self._children)

    def begin(self) -> float:
        """Wait until all are ready, and start them; return the time of the start.

        Raises:
            RunError: one of them cannot begin.
        """
        deadline_s = time.monotonic() + CONNECT_S
        for pipe in self._pipes:
            self._await_ready(pipe, deadline_s)
        start_s = time.monotonic() + LEAD_S
        for pipe in self._pipes:
            pipe.send(start_s)
        return start_s

    def _await_ready(self, pipe: Connection, deadline_s: float) -> None:
        if not pipe.poll(max(0.0, deadline_s - time.monotonic())):
            raise RunError(f"a process of the load was not ready after {CONNECT_S:.0f} s")
        try:
            answer = pipe.recv()
        except EOFError:
            raise RunError("a process of the load ended before it began") from None
        if isinstance(answer, Failed):
            raise RunError(answer.words)
        assert isinstance(answer, Ready)
        self.facts = answer.facts

    def stop(self) -> None:
        """Tell all to stop at the end of their interval."""
        for pipe in self._pipes:
            try:
                pipe.send(None)
            except OSError:
                continue  # it has gone

    def heard(self) -> Iterator[Heard | Left]:
        """Yield what comes, until no process is left."""
        while speaking := [pipe for pipe in self._pipes if pipe not in self._silent]:
            for pipe in wait(speaking):
                assert isinstance(pipe, Connection)
                message = _received(pipe, self._pipes[pipe])
                if isinstance(message, Left):
                    self._silent.add(pipe)
                yield message


def _end(child: subprocess.Popen[bytes], deadline_s: float) -> None:
    """Wait for a process, and kill it when it does not end in time."""
    try:
        child.wait(max(0.0, deadline_s - time.monotonic()))
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _received(pipe: Connection, part: int) -> Heard | Left:
    try:
        message = pipe.recv()
    except (EOFError, OSError):
        return Left(part, lost=True)
    if isinstance(message, Failed):
        raise RunError(message.words)
    return Left(part, lost=False) if isinstance(message, Over) else Heard(part, message)
