"""The load on acsylla, asyncio over the C++ driver: the lean backend, at 20 to 30 µs of client CPU a request.

The driver's own thread does the network; answers reach the loop through a socket, all that have come at once. The one
file that imports acsylla.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import acsylla

from ...model.clients import Routing
from ...model.errors import InputError, RunError
from .access import Access
from .session import Approach, BackendFacts, Done, Statement, Values

PROCESSORS = 2.0
"""The loop's thread and the driver's."""
CONNECT_S = 10.0
PROTOCOL_VERSION = 4
_PREFIXES = ("CassErrorServer", "CassErrorLib", "CassErrorSSL", "CassError")
BATCHES = {
    "unlogged": acsylla.create_batch_unlogged,
    "logged": acsylla.create_batch_logged,
    "counter": acsylla.create_batch_counter,
}
KINDS = {
    "RequestTimedOut": "OperationTimedOut",
    "NoHostsAvailable": "NoHostAvailable",
    "Unavailable": "UnavailableException",
    "WriteError": "ConnectionShutdown",
    "RequestQueueFull": "ConnectionBusy",
}
"""Names of errors that the Python driver calls differently."""
Bind = Callable[[Values], Coroutine[Any, Any, Any]]


def error_kind(error: BaseException) -> str:
    """Return the kind of an error, by the name that all backends share."""
    name = type(error).__name__
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return KINDS.get(name, name)


class AcsyllaSession:
    """Sends by acsylla."""

    def __init__(self, loop: asyncio.AbstractEventLoop, driver: Any) -> None:
        self._loop = loop
        self._driver = driver

    def prepare(self, statement: Statement) -> Bind:
        """Return the function that starts a request with values."""
        level = getattr(acsylla.Consistency, statement.consistency.value)
        prepared = self._loop.run_until_complete(self._driver.create_prepared(statement.cql))
        if statement.batch:
            create = BATCHES[statement.batch_type]
            return lambda rows: self._driver.execute_batch(_batch(create(), prepared, level, rows))
        if (page_rows := statement.page_rows) is not None:
            return lambda values: _paged(self._driver, prepared, level, values, page_rows)
        if statement.conditional:
            serial = acsylla.Consistency.SERIAL
            return lambda values: self._driver.execute(
                prepared.bind(list(values), consistency=level, serial_consistency=serial)
            )
        return lambda values: self._driver.execute(prepared.bind(list(values), consistency=level))

    def send(self, handle: Bind, values: Values, done: Done) -> None:
        """Send a request.

        The coroutine is resumed by hand when its future is done: a task for each request would cost as much again
        (12 µs of 24 a request, docs/decisions/0011-load.md).
        """
        request = handle(values)
        try:
            future = request.send(None)
        except Exception as error:
            self._loop.call_soon(done, self._loop.time(), error_kind(error), 0)
            return
        self._follow(request, future, done)

    def _follow(self, request: Coroutine[Any, Any, Any], future: Any, done: Done) -> None:
        future._asyncio_future_blocking = False
        future.add_done_callback(lambda _: self._advance(request, done))

    def _advance(self, request: Coroutine[Any, Any, Any], done: Done) -> None:
        """Take an answer; a request of several pages then waits for the next."""
        at_s = self._loop.time()
        try:
            future = request.send(None)
        except StopIteration as answer:
            done(at_s, None, answer.value.count())
        except Exception as error:
            done(at_s, error_kind(error), 0)
        else:
            self._follow(request, future, done)


class _Rows:
    """The number of rows of several pages."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def count(self) -> int:
        return self._rows


async def _paged(driver: Any, prepared: Any, level: Any, values: Values, page_rows: int) -> _Rows:
    """Read page after page."""
    rows, state = 0, None
    while True:
        statement = prepared.bind(list(values), page_size=page_rows, page_state=state, consistency=level)
        result = await driver.execute(statement)
        rows += result.count()
        if not result.has_more_pages():
            return _Rows(rows)
        state = result.page_state()


def _batch(batch: Any, prepared: Any, level: Any, rows: Values) -> Any:
    batch.set_consistency(level)
    for row in rows:
        batch.add_statement(prepared.bind(list(row)))
    return batch


@dataclass(frozen=True)
class AcsyllaBackend:
    """Opens sessions on a cluster by acsylla."""

    access: Access
    approach: Approach

    @property
    def facts(self) -> BackendFacts:
        """What a measurement says about it."""
        return BackendFacts("acsylla", PROCESSORS, {"acsylla": version("acsylla")})

    @contextmanager
    def session(self, loop: asyncio.AbstractEventLoop, part: int) -> Iterator[AcsyllaSession]:
        """Yield the session of one process.

        Raises:
            RunError: the cluster does not answer or refuses.
        """
        logging.getLogger("acsylla").addHandler(logging.NullHandler())
        driver = loop.run_until_complete(self._connect())
        try:
            yield AcsyllaSession(loop, driver)
        finally:
            loop.run_until_complete(driver.close())

    async def _connect(self) -> Any:
        try:
            return await acsylla.create_cluster(**self._settings()).create_session()
        except Exception as error:
            words = self.access.hidden(f"{error_kind(error)} {error}")
            points = ", ".join(self.access.contact_points)
            raise RunError(f"cannot connect to {points}, port {self.access.port}: {words}") from None

    def _settings(self) -> dict[str, Any]:
        access, approach = self.access, self.approach
        settings: dict[str, Any] = {
            "contact_points": list(approach.coordinators or access.contact_points),
            "port": access.port,
            "protocol_version": PROTOCOL_VERSION,
            "connect_timeout": CONNECT_S,
            "request_timeout": approach.timeout_s,
            "log_level": "disabled",
            "retry_policy": "fallthrough",
            "token_aware_routing": approach.routing is Routing.TOKEN_AWARE,
            "token_aware_routing_shuffle_replicas": approach.shuffle_replicas,
            "application_name": "capmodel",
        }
        if approach.datacenter and not approach.coordinators:
            settings["load_balance_dc_aware"] = approach.datacenter
        else:
            settings["load_balance_round_robin"] = True
        if approach.coordinators:
            settings["whitelist_hosts"] = ",".join(approach.coordinators)
        if access.credentials:
            settings["username"] = access.credentials.username
            settings["password"] = access.credentials.password.reveal()
        return settings | self._tls_settings()

    def _tls_settings(self) -> dict[str, Any]:
        tls = self.access.tls
        if tls is None:
            return {}
        if tls.ca_file is None and tls.verify:
            raise InputError("the acsylla backend knows no certificates of the system: name a file (--ca-file)")
        flags = acsylla.SSLVerifyFlags
        return {
            "ssl_enabled": True,
            "ssl_cert": _text_of(tls.cert_file),
            "ssl_private_key": _text_of(tls.key_file),
            "ssl_trusted_cert": _text_of(tls.ca_file),
            "ssl_verify_flags": flags.PEER_IDENTITY if tls.verify else flags.NONE,
        }


def _text_of(file: str | None) -> str | None:
    if file is None:
        return None
    try:
        with open(file, encoding="ascii") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{file} cannot be used for TLS: {error}") from None
