"""Frames of the native protocol, version 4, as far as a server that answers drivers needs them.

Source: Apache Cassandra, native_protocol_v4.spec: sections 2 (frame), 3 (notations), 4.2.5 (RESULT).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

REQUEST_VERSION, RESPONSE_VERSION = 0x04, 0x84
HEADER_BYTES = 9
"""Version, flags, stream (2), opcode, length (4)."""
GLOBAL_SPEC, NO_METADATA = 0x0001, 0x0004
"""Flags of result metadata."""
SKIP_METADATA = 0x02
"""Flag of a request that knows the metadata of its result."""
VOID, ROWS, PREPARED = 1, 2, 4
"""Kinds of result."""


class Opcode(IntEnum):
    """What a frame is."""

    ERROR = 0x00
    STARTUP = 0x01
    READY = 0x02
    OPTIONS = 0x05
    SUPPORTED = 0x06
    QUERY = 0x07
    RESULT = 0x08
    PREPARE = 0x09
    EXECUTE = 0x0A
    REGISTER = 0x0B
    BATCH = 0x0D


class Type(IntEnum):
    """Types of columns."""

    BIGINT = 0x0002
    BLOB = 0x0003
    DOUBLE = 0x0007
    INT = 0x0009
    UUID = 0x000C
    VARCHAR = 0x000D
    INET = 0x0010
    SET = 0x0022


class Column(NamedTuple):
    """A column of a result or a bound value."""

    name: str
    type: Type


def short(number: int) -> bytes:
    """Return two bytes."""
    return struct.pack(">H", number)


def integer(number: int) -> bytes:
    """Return four bytes."""
    return struct.pack(">i", number)


def string(text: str) -> bytes:
    """Return a text with its length."""
    data = text.encode()
    return short(len(data)) + data


def value(data: bytes | None) -> bytes:
    """Return a value with its length; None is null."""
    return integer(-1) if data is None else integer(len(data)) + data


def multimap(entries: Mapping[str, Sequence[str]]) -> bytes:
    """Return texts to lists of texts."""
    lists = (string(name) + short(len(texts)) + b"".join(map(string, texts)) for name, texts in entries.items())
    return short(len(entries)) + b"".join(lists)


def text_set(texts: Sequence[str]) -> bytes:
    """Return the value of a set of texts."""
    return integer(len(texts)) + b"".join(value(text.encode()) for text in texts)


def column_specs(columns: Sequence[Column]) -> bytes:
    """Return names and types, for metadata with one table for all columns."""
    inner = {Type.SET: short(Type.VARCHAR)}
    return b"".join(string(name) + short(kind) + inner.get(kind, b"") for name, kind in columns)


def rows_result(table: tuple[str, str], columns: Sequence[Column], rows: Sequence[Sequence[bytes | None]]) -> bytes:
    """Return the body of a result with rows."""
    names = string(table[0]) + string(table[1])
    metadata = integer(GLOBAL_SPEC) + integer(len(columns)) + names + column_specs(columns)
    return integer(ROWS) + metadata + cells(rows)


def bare_rows_result(columns: int, rows: Sequence[Sequence[bytes | None]]) -> bytes:
    """Return the body of a result whose reader knows its metadata."""
    return integer(ROWS) + integer(NO_METADATA) + integer(columns) + cells(rows)


def cells(rows: Sequence[Sequence[bytes | None]]) -> bytes:
    """Return a number of rows and their values."""
    return integer(len(rows)) + b"".join(value(cell) for row in rows for cell in row)


def prepared_result(
    statement: bytes, table: tuple[str, str], bound: Sequence[Column], keys: Sequence[int], answer: Sequence[Column]
) -> bytes:
    """Return the body that names a prepared statement: what is bound, which of it is the key, what comes back."""
    names = string(table[0]) + string(table[1])
    indexes = b"".join(map(short, keys))
    wanted = integer(GLOBAL_SPEC) + integer(len(bound)) + integer(len(keys)) + indexes + names + column_specs(bound)
    returned = integer(GLOBAL_SPEC) + integer(len(answer)) + names + column_specs(answer)
    none = integer(NO_METADATA) + integer(0)
    return integer(PREPARED) + short(len(statement)) + statement + wanted + (returned if answer else none)


class Answer(NamedTuple):
    """A response frame but for its stream."""

    before: bytes
    """Version and flags."""
    after: bytes
    """From the opcode to the end."""


def answer(opcode: Opcode, body: bytes = b"") -> Answer:
    """Return the frame of a response, to be sent with the stream of its request in the middle."""
    return Answer(bytes([RESPONSE_VERSION, 0]), bytes([opcode]) + struct.pack(">I", len(body)) + body)
