"""The nine constructs as the simulation runs them: one small handler per instruction.

A handler takes a token and either passes it to the next handler or puts it into the event list and returns.
Consecutive delays (network interfaces without queueing, hops) are one event: merging them changes no result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappush
from math import inf
from typing import TYPE_CHECKING

from simpy.events import NORMAL

from .stations import Handler, Join, Permits, Token

if TYPE_CHECKING:
    from .engine import Engine


def travelling(engine: Engine, steps: list[Callable[[Token], float]], following: Handler) -> Handler:
    """Return the handler of some delays in a row: one event for their sum."""
    env, events, number = engine.env, engine.env._queue, engine.env._eid
    callbacks = [following]

    def travel(token: Token) -> None:
        delay_s = 0.0
        for step in steps:
            delay_s += step(token)
        if delay_s:
            token.callbacks = callbacks
            heappush(events, (env._now + delay_s, NORMAL, next(number), token))
        else:
            following(token)

    return travel


def forking(engine: Engine, needed: int, branches: list[Handler], following: Handler) -> Handler:
    """Return the handler that starts all branches; the first goes on with the token itself."""
    env = engine.env
    first, rest = branches[0], branches[1:]

    def fork(token: Token) -> None:
        join = Join(needed, following, token.join, env._now)
        request = token.request
        token.join = join
        first(token)
        for branch in rest:
            branch(Token(request, join))

    return fork


def end_branch(token: Token) -> None:
    """Join: the branch that completes the number needed goes on as the fork's token, others end."""
    join = token.join
    join.arrived += 1
    if join.arrived == join.needed:
        token.join = join.outer
        join.next(token)


def after(engine: Engine, threshold_s: Callable[[], float], body: Handler) -> Handler:
    """Return the handler that waits for the threshold and starts the body unless the fork has joined."""
    env, events, number = engine.env, engine.env._queue, engine.env._eid

    def fire(token: Token) -> None:
        if token.join.arrived < token.join.needed:
            engine.speculations += 1
            body(token)

    callbacks: list[Handler] = [fire]

    def wait(token: Token) -> None:
        delay_s = threshold_s()
        if delay_s < inf:  # otherwise it never fires: no threshold is known yet
            token.callbacks = callbacks
            heappush(events, (env._now + delay_s, NORMAL, next(number), token))

    return wait


def timed_forking(
    engine: Engine, needed: int, branches: list[Handler], following: Handler, durations: list[float]
) -> Handler:
    """Return a fork that also notes how long each of its joins took (for speculation)."""
    env = engine.env

    def fork(token: Token) -> None:
        start_s = env._now

        def joined(last: Token) -> None:
            durations.append(env._now - start_s)
            following(last)

        forking(engine, needed, branches, joined)(token)

    return fork


def choosing(engine: Engine, probability: float, then: Handler, otherwise: Handler) -> Handler:
    """Return the handler of a choice."""
    stream = engine.choices

    def choose(token: Token) -> None:
        if stream.next() < probability:
            then(token)
        else:
            otherwise(token)

    return choose


def holding(table: list[Permits | None], role: int, following: Handler) -> Handler:
    """Return the handler that takes a permit of a pool, or waits in line for it."""

    def hold(token: Token) -> None:
        pool = table[token.request.units[role]]
        if pool is None:
            following(token)
            return
        pool.visits += 1
        if pool.free:
            pool.free -= 1
            following(token)
        else:
            pool.waited += 1
            pool.queue.append((token, following))

    return hold


def releasing(table: list[Permits | None], role: int, following: Handler) -> Handler:
    """Return the handler that gives a permit to the next in line, or back to the pool."""

    def release(token: Token) -> None:
        pool = table[token.request.units[role]]
        if pool is not None:
            if pool.queue:
                waiting, go_on = pool.queue.popleft()
                go_on(waiting)
            else:
                pool.free += 1
        following(token)

    return release


def detaching(body: Handler, following: Handler) -> Handler:
    """Return the handler that starts work for which nobody waits."""

    def detach(token: Token) -> None:
        body(Token(token.request, token.join))
        following(token)

    return detach


def accounting(steps: list[Callable[[Token], float]], following: Handler) -> Handler:
    """Return the handler of detached work that consists of delays alone: it is accounted, nothing waits."""

    def account(token: Token) -> None:
        for step in steps:
            step(token)
        following(token)

    return account


def ended(_: Token) -> None:
    """End detached work."""


class Deadlines:
    """Requests of one timeout instruction in order of their deadlines; one event watches the earliest."""

    def __init__(self, engine: Engine, limit_s: float, following: Handler, expired: Handler) -> None:
        self._engine = engine
        self._limit_s = limit_s
        self._following = following
        self._expired = expired
        self._line: deque[tuple[float, Join, Token]] = deque()
        self._watching = False

    def guard(self, body: Handler) -> Handler:
        """Return the handler of the timeout's body."""
        env, line = self._engine.env, self._line

        def begin(token: Token) -> None:
            join = Join(1, self._following, token.join, env._now)
            while line and line[0][1].arrived:
                line.popleft()
            line.append((env._now + self._limit_s, join, token))
            if not self._watching:
                self._watch()
            token.join = join
            body(token)

        return begin

    def _watch(self) -> None:
        env = self._engine.env
        self._watching = True
        deadline_s, join, token = self._line[0]
        alarm = Token(token.request, join)
        alarm.callbacks = [self._expire]
        heappush(env._queue, (deadline_s, NORMAL, next(env._eid), alarm))

    def _expire(self, _: Token) -> None:
        now = self._engine.env._now
        self._watching = False
        while self._line and (self._line[0][1].arrived or self._line[0][0] <= now):
            join, token = self._line.popleft()[1:]
            if not join.arrived:
                token.request.error = True
                join.arrived = 1
                self._expired(Token(token.request, join.outer))
        if self._line:
            self._watch()
