"""Request graphs as flat integer and float tables, for the engines that run them.

Each instruction is a row `(code, a, b, c)` of integers and one float. The meaning of the columns stands
beside each code. A program is a walk of the graph in order; branches, bodies and alternatives follow the
instruction that starts them, so that a reader needs one counter and no recursion.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from .graph import After, Choice, Delay, Detach, Fork, Graph, Hold, Link, Series, Timeout, Visit


class Code(IntEnum):
    """Codes of instructions, with their columns a, b, c and x."""

    VISIT = 0  # a resource, b role, c demand row
    LINK = 1  # a sender role, b receiver role, c whether it counts as a message
    DELAY = 2  # x seconds
    FORK = 3  # a needed, b number of branches, c first row of `branches`; goes on at `branches[c + b]`
    END_BRANCH = 4
    HOLD = 5  # a resource, b role
    RELEASE = 6  # a resource, b role
    CHOICE = 7  # x probability of the next instruction, a where to go otherwise
    JUMP = 8  # a where to go
    DETACH = 9  # a where to go on; the body is next
    END_DETACHED = 10
    AFTER = 11  # x seconds, or a percentile in x with a = 1; b fork instruction it belongs to
    TIMEOUT = 12  # x seconds
    END_TIMEOUT = 13
    ANSWER = 14


@dataclass(frozen=True)
class Program:
    """All request graphs of a network as tables."""

    code: npt.NDArray[np.int32]
    """[instructions, 4]: code, a, b, c."""
    number: npt.NDArray[np.float64]
    """[instructions]: the column x."""
    branches: npt.NDArray[np.int32]
    """Instruction of each branch of each fork, then where the fork goes on."""
    entry: npt.NDArray[np.int32]
    """[graphs]: first instruction of each graph."""


class ProgramRecorder:
    """Collects graphs and gives their program."""

    def __init__(self) -> None:
        self._rows: list[list[int]] = []
        self._number: list[float] = []
        self._branches: list[int] = []
        self._entry: list[int] = []

    def add(self, graph: Graph) -> int:
        """Append a graph and return its position in `Program.entry`."""
        self._entry.append(len(self._rows))
        self._walk(graph, fork=-1)
        self._emit(Code.ANSWER)
        return len(self._entry) - 1

    def finish(self) -> Program:
        """Return the tables."""
        return Program(
            code=np.array(self._rows, dtype=np.int32).reshape(-1, 4),
            number=np.array(self._number, dtype=np.float64),
            branches=np.array(self._branches, dtype=np.int32),
            entry=np.array(self._entry, dtype=np.int32),
        )

    def _emit(self, code: Code, a: int = 0, b: int = 0, c: int = 0, x: float = 0.0) -> int:
        self._rows.append([int(code), int(a), int(b), int(c)])
        self._number.append(x)
        return len(self._rows) - 1

    def _walk(self, graph: Graph, fork: int) -> None:
        match graph:
            case Visit(resource, role, demand):
                self._emit(Code.VISIT, resource, role, demand)
            case Link(sender, receiver, counts):
                self._emit(Code.LINK, sender, receiver, int(counts))
            case Delay(delay_s):
                self._emit(Code.DELAY, x=delay_s)
            case Series(parts):
                for part in parts:
                    self._walk(part, fork)
            case Choice():
                self._choice(graph, fork)
            case Fork(needed, branches):
                self._fork(needed, branches)
            case Hold(resource, role, body):
                self._emit(Code.HOLD, resource, role)
                self._walk(body, fork)
                self._emit(Code.RELEASE, resource, role)
            case Detach(body):
                start = self._emit(Code.DETACH)
                self._walk(body, fork=-1)
                self._emit(Code.END_DETACHED)
                self._rows[start][1] = len(self._rows)
            case After(body, delay_s, percentile):
                self._after(body, delay_s, percentile, fork)
            case Timeout(limit_s, body):
                self._emit(Code.TIMEOUT, x=limit_s)
                self._walk(body, fork)
                self._emit(Code.END_TIMEOUT)

    def _choice(self, graph: Choice, fork: int) -> None:
        start = self._emit(Code.CHOICE, x=graph.probability)
        self._walk(graph.then, fork)
        jump = self._emit(Code.JUMP)
        self._rows[start][1] = len(self._rows)
        self._walk(graph.otherwise, fork)
        self._rows[jump][1] = len(self._rows)

    def _fork(self, needed: int, branches: tuple[Graph, ...]) -> None:
        first = len(self._branches)
        start = self._emit(Code.FORK, needed, len(branches), first)
        self._branches.extend([0] * (len(branches) + 1))
        for position, branch in enumerate(branches):
            self._branches[first + position] = len(self._rows)
            self._walk(branch, fork=start)
            self._emit(Code.END_BRANCH)
        self._branches[first + len(branches)] = len(self._rows)

    def _after(self, body: Graph, delay_s: float, percentile: float | None, fork: int) -> None:
        if fork < 0:
            raise ValueError("`After` stands only as a branch of a fork")
        if percentile is None:
            self._emit(Code.AFTER, 0, fork, x=delay_s)
        else:
            self._emit(Code.AFTER, 1, fork, x=percentile)
        self._walk(body, fork)
