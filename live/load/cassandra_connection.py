"""Connections by the Python driver, `cassandra-driver`: the one file of the load that imports it.

Nothing is retried, because a load has to see every failure, and no metrics are kept. The protocol is version 4, as
the C++ driver speaks it too: the checksums of version 5 cost the Python driver more than the request itself.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

from cassandra import ConsistencyLevel, DriverException, RequestExecutionException
from cassandra import __version__ as driver_version
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.connection import ConnectionBusy, ConnectionException, ProtocolError
from cassandra.policies import (
    DCAwareRoundRobinPolicy,
    FallthroughRetryPolicy,
    LoadBalancingPolicy,
    RoundRobinPolicy,
    TokenAwarePolicy,
    WhiteListRoundRobinPolicy,
)
from cassandra.pool import NoConnectionsAvailable
from cassandra.protocol import ErrorMessage
from cassandra.query import BatchStatement, BatchType, dict_factory, tuple_factory

from ...model.clients import Routing
from ...model.errors import RunError
from .access import Access, Tls
from .console import FoundNode, Row
from .session import Approach, Done, Statement, Values

PROTOCOL_VERSION = 4
CONNECT_S = 10.0
ASK_S = 60.0
BATCHES = {"unlogged": BatchType.UNLOGGED, "logged": BatchType.LOGGED, "counter": BatchType.COUNTER}
PATIENCE_S, RETRY_S = 4.0, 0.5
"""How long a console waits for a node that the driver takes for down: a busy node that was late with one answer is
back after the driver's first reconnection, a second later."""
FAILURES = (
    DriverException,
    RequestExecutionException,
    ConnectionBusy,
    ConnectionException,
    ProtocolError,
    ErrorMessage,
    NoConnectionsAvailable,
    NoHostAvailable,
    OSError,
)
"""What the driver raises when a cluster cannot be reached or refuses; none of it is a defect of ours."""
KINDS = {"Unavailable": "UnavailableException", "OverloadedErrorMessage": "Overloaded"}
"""Names of errors that other backends call differently."""


def error_kind(error: BaseException) -> str:
    """Return the kind of an error of the driver, by the name that all backends share."""
    name = type(error).__name__
    return KINDS.get(name, name)


@contextmanager
def connected(
    access: Access, approach: Approach, row_factory: Callable[..., Any], timeout_s: float | None
) -> Iterator[Any]:
    """Yield a session of the driver.

    A timeout is a timer for each request, which ties the request into a ring of references: collecting those took a
    tenth of the time, so a load goes without and keeps deadlines itself.

    Raises:
        RunError: the cluster does not answer or refuses; no secret is in the message.
    """
    logging.getLogger("cassandra").addHandler(logging.NullHandler())
    cluster = _cluster(access, approach, row_factory, timeout_s)
    try:
        try:
            session = cluster.connect()
        except FAILURES as error:
            points = ", ".join(access.contact_points)
            words = access.hidden(_words(error))
            raise RunError(f"cannot connect to {points}, port {access.port}: {words}") from None
        session.default_fetch_size = None
        yield session
    finally:
        cluster.shutdown()


def _cluster(
    access: Access, approach: Approach, row_factory: Callable[..., Any], timeout_s: float | None
) -> Cluster:
    profile = ExecutionProfile(
        load_balancing_policy=_policy(approach),
        retry_policy=FallthroughRetryPolicy(),
        row_factory=row_factory,
        request_timeout=timeout_s,
    )
    return Cluster(
        approach.coordinators or access.contact_points,  # the driver starts only from nodes that it may talk to
        port=access.port,
        auth_provider=_authentication(access),
        ssl_context=_tls_context(access.tls) if access.tls else None,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        protocol_version=PROTOCOL_VERSION,
        connect_timeout=CONNECT_S,
        monitor_reporting_enabled=False,
    )


def _authentication(access: Access) -> PlainTextAuthProvider | None:
    credentials = access.credentials
    return PlainTextAuthProvider(credentials.username, credentials.password.reveal()) if credentials else None


def _tls_context(tls: Tls) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=tls.ca_file)
        if tls.cert_file:
            context.load_cert_chain(tls.cert_file, tls.key_file)
    except (OSError, ssl.SSLError) as error:
        raise RunError(f"the files for TLS cannot be used: {error}") from None
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _policy(approach: Approach) -> LoadBalancingPolicy:
    """Return the driver's way of picking coordinators."""
    if approach.coordinators:
        nodes: LoadBalancingPolicy = WhiteListRoundRobinPolicy(list(approach.coordinators))
    elif approach.datacenter:
        nodes = DCAwareRoundRobinPolicy(local_dc=approach.datacenter)
    else:
        nodes = RoundRobinPolicy()
    token_aware = approach.routing is Routing.TOKEN_AWARE
    return TokenAwarePolicy(nodes, shuffle_replicas=approach.shuffle_replicas) if token_aware else nodes


def _words(error: BaseException) -> str:
    """Return what an error says: of several nodes, the first."""
    if isinstance(error, NoHostAvailable) and error.errors:
        errors = error.errors.values() if isinstance(error.errors, dict) else error.errors
        return str(next(iter(errors)))
    return str(error)


class DriverConsole:
    """Asks a cluster by the Python driver."""

    def __init__(self, session: Any, access: Access) -> None:
        self._session = session
        self._access = access

    @property
    def nodes(self) -> Sequence[FoundNode]:
        """All nodes, in the order of their addresses."""
        hosts = self._session.cluster.metadata.all_hosts()
        return [_found(host) for host in sorted(hosts, key=lambda host: ip_address(host.address))]

    def ask(self, cql: str, address: str | None = None) -> Sequence[Row]:
        """Return the rows of a statement, executed by the node of that address or by any."""
        hosts = self._session.cluster.metadata.all_hosts()
        host = next((one for one in hosts if one.address == address), None)
        if address is not None and host is None:
            raise RunError(f"the cluster has no node {address}")
        patient_until_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                return list(self._session.execute(cql, host=host))
            except FAILURES as error:
                if isinstance(error, NoHostAvailable) and time.monotonic() < patient_until_s:
                    time.sleep(RETRY_S)
                    continue
                raise RunError(self._access.hidden(f"{cql}: {_words(error)}")) from None


def _found(host: Any) -> FoundNode:
    """Return a node as the driver knows it."""
    names = (host.datacenter or "", host.rack or "", host.release_version or "")
    return FoundNode(host.address, *names, up=bool(host.is_up))


@contextmanager
def console(access: Access) -> Iterator[DriverConsole]:
    """Yield a console on a cluster.

    Raises:
        RunError: the cluster does not answer or refuses.
    """
    with connected(access, Approach(), dict_factory, ASK_S) as session:
        yield DriverConsole(session, access)


class Sender:
    """Sends requests by the Python driver; answers come on the driver's own thread."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def prepare(self, statement: Statement) -> Callable[[Values], Any]:
        """Return the function that binds values to a statement."""
        prepared = self._session.prepare(statement.cql)
        level = getattr(ConsistencyLevel, statement.consistency.value)
        prepared.consistency_level = level
        if statement.batch:
            kind = BATCHES[statement.batch_type]
            return lambda rows: _batch(kind, prepared, level, rows)
        prepared.fetch_size = statement.page_rows
        if statement.conditional:
            prepared.serial_consistency_level = ConsistencyLevel.SERIAL
        return prepared.bind  # type: ignore[no-any-return]

    def send(self, bind: Callable[[Values], Any], values: Values, answered: Done, now_s: Callable[[], float]) -> None:
        """Send a request; `answered` is called on the driver's thread, or at once when it cannot be sent."""
        try:
            future = self._session.execute_async(bind(values))
        except FAILURES as error:
            answered(now_s(), error_kind(error), 0)
            return
        future.add_callbacks(
            lambda rows: None if _next_page(future) else answered(now_s(), None, len(rows) if rows else 0),
            lambda error: answered(now_s(), error_kind(error), 0),
        )


def _next_page(future: Any) -> bool:
    """Ask for the next page when there is one; the callbacks are then called again."""
    if not future.has_more_pages:
        return False
    future.start_fetching_next_page()
    return True


def _batch(kind: Any, prepared: Any, level: int, rows: Values) -> BatchStatement:
    batch = BatchStatement(kind, consistency_level=level)
    for row in rows:
        batch.add(prepared, row)
    return batch


@contextmanager
def sender(access: Access, approach: Approach) -> Iterator[tuple[Sender, str]]:
    """Yield a sender, and the name of the driver's reactor.

    Raises:
        RunError: the cluster does not answer or refuses.
    """
    with connected(access, approach, tuple_factory, None) as session:
        yield Sender(session), session.cluster.connection_class.__name__


__all__ = ["DriverConsole", "Sender", "connected", "console", "driver_version", "error_kind", "sender"]
