"""The server itself: one thread, pre-encoded frames, and counts of what it did that anybody can read.

`SELECT frames, cpu_s, running_s FROM capmodel.stub` tells the frames answered, the CPU time spent on them and the
time since the start. Differences of two readings give the busy share, and frames over CPU time the ceiling.

Code bent for speed: a frame costs a few slices and one dictionary look-up, so that one thread outruns a load of ours.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Mapping

from .notation import HEADER_BYTES, SKIP_METADATA, Answer, Column, Opcode, Type, answer, multimap
from .statements import VOID, PreparedStatement, local_row, query_answer

RECEIVE_BYTES = 1 << 18
OWN_TABLE = ("capmodel", "stub")
_ID_BYTES = 16
_FLAGS_AT = HEADER_BYTES + 2 + _ID_BYTES + 2
"""Place of the flags of an EXECUTE frame: after the statement's id and the consistency level."""
_SUPPORTED = answer(Opcode.SUPPORTED, multimap({"CQL_VERSION": ["3.4.4"], "COMPRESSION": []}))
_READY = answer(Opcode.READY)
_LENGTH = struct.Struct(">I")


class Connection:
    """One client: what has come and is no whole frame yet, and what could not be sent yet."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.received = b""
        self.unsent = b""


class StubServer:
    """Answers drivers on one address."""

    def __init__(self, address: str, port: int = 0, cell_bytes: int = 34) -> None:
        """Listen.

        Args:
            address: of the machine.
            port: any free one when 0.
            cell_bytes: size of each column of the row that a read returns.
        """
        self._listener = socket.create_server((address, port), backlog=64)
        self._listener.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._local = local_row(address)
        self._cell = bytes(cell_bytes)
        self._statements: dict[bytes, PreparedStatement] = {}
        self._frames = 0
        self._began_s = time.monotonic()
        self.port: int = self._listener.getsockname()[1]

    def serve(self) -> None:
        """Answer for ever."""
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    self._accept()
                else:
                    self._turn(key.data)

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(sock, selectors.EVENT_READ, Connection(sock))

    def _turn(self, client: Connection) -> None:
        """Take what has come from a client and send what can be sent."""
        try:
            if not client.unsent:
                data = client.sock.recv(RECEIVE_BYTES)
                if not data:
                    raise ConnectionResetError
                client.received, client.unsent = self._answers(client.received + data)
            sent = client.sock.send(client.unsent) if client.unsent else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self._selector.unregister(client.sock)
            client.sock.close()
            return
        client.unsent = client.unsent[sent:]
        self._selector.modify(
            client.sock, selectors.EVENT_WRITE if client.unsent else selectors.EVENT_READ, client
        )

    def _answers(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the rest that is no whole frame, and the answers to all whole ones."""
        out: list[bytes] = []
        at, end = 0, len(data)
        statements = self._statements
        while end - at >= HEADER_BYTES:
            opcode = data[at + 4]
            next_at = at + HEADER_BYTES + _LENGTH.unpack_from(data, at + 5)[0]
            if next_at > end:
                break
            if opcode == Opcode.EXECUTE:
                known = statements[data[at + HEADER_BYTES + 2 : at + HEADER_BYTES + 2 + _ID_BYTES]]
                found = known.bare if data[at + _FLAGS_AT] & SKIP_METADATA else known.full
            else:
                found = self._other(opcode, data[at + HEADER_BYTES : next_at])
            out += (found.before, data[at + 2 : at + 4], found.after)
            at = next_at
        self._frames += len(out) // 3
        return data[at:], b"".join(out)

    def _other(self, opcode: int, body: bytes) -> Answer:
        """Return the answer to a frame that is not part of the load, or a batch."""
        if opcode == Opcode.BATCH:
            return VOID
        if opcode == Opcode.PREPARE:
            return self._prepare(_long_text(body))
        if opcode == Opcode.QUERY:
            return query_answer(_long_text(body), {("system", "local"): self._local, OWN_TABLE: self._counts()})
        return _SUPPORTED if opcode == Opcode.OPTIONS else _READY

    def _prepare(self, cql: str) -> Answer:
        statement = PreparedStatement(cql, self._cell)
        self._statements[statement.id] = statement
        return statement.prepared

    def _counts(self) -> Mapping[Column, bytes]:
        return {
            Column("frames", Type.BIGINT): struct.pack(">q", self._frames),
            Column("cpu_s", Type.DOUBLE): struct.pack(">d", time.process_time()),
            Column("running_s", Type.DOUBLE): struct.pack(">d", time.monotonic() - self._began_s),
        }


def _long_text(body: bytes) -> str:
    length = _LENGTH.unpack_from(body)[0]
    return body[4 : 4 + length].decode()
