"""Sizes, durations and rates as people write them, and as the model holds them.

Inside the package everything is SI: seconds, bytes, per second. Text accepts `250ms`, `64MiB`, `10Gbit/s`,
`500/s`; a bare number is in the SI unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, SerializationInfo, WithJsonSchema

_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_BYTES = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "kB": 1e3,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
}
_BYTES_PER_S = {f"{unit}/s": float(factor) for unit, factor in _BYTES.items()} | {
    "bit/s": 1 / 8,
    "kbit/s": 1e3 / 8,
    "Mbit/s": 1e6 / 8,
    "Gbit/s": 1e9 / 8,
}
_PER_S = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600}
_NUMBER = re.compile(r"^\s*([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)\s*$")
_LONGEST = 40
"""Characters of a number with its unit; longer text is no number, and is not searched for one."""


def _parse(text: object, units: Mapping[str, float], example: str) -> object:
    if not isinstance(text, str):
        return text
    match = _NUMBER.match(text) if len(text) <= _LONGEST else None
    unit = match.group(2) if match else None
    if match is None or (unit and unit not in units):
        raise ValueError(f"a number with a unit of {', '.join(units)}, such as {example}")
    return _scaled(float(match.group(1).replace("_", "")), units[unit] if unit else 1.0)


def _scaled(number: float, factor: float) -> float:
    """Return the product; small units divide, so that 100us is the same number as 1e-4."""
    return number * factor if factor >= 1 else number / round(1 / factor)


def parse_duration(text: object) -> object:
    """Return seconds from text such as `250ms`; other types pass through.

    >>> parse_duration("250ms")
    0.25
    """
    return _parse(text, _SECONDS, "250ms")


def parse_size(text: object) -> object:
    """Return bytes from text such as `64MiB`; other types pass through.

    >>> parse_size("64MiB")
    67108864.0
    """
    return _parse(text, _BYTES, "64MiB")


def parse_bandwidth(text: object) -> object:
    """Return bytes per second from text such as `10Gbit/s`; other types pass through.

    >>> parse_bandwidth("8Mbit/s")
    1000000.0
    """
    return _parse(text, _BYTES_PER_S, "10Gbit/s")


def parse_rate(text: object) -> object:
    """Return events per second from text such as `500/s`; other types pass through."""
    return _parse(text, _PER_S, "5000/s")


def format_duration(seconds: float) -> str:
    """Return a duration with three significant digits and a readable unit.

    >>> format_duration(0.00123)
    '1.23 ms'
    """
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return "0 s" if seconds == 0 else f"{seconds / 1e-9:.3g} ns"


def format_rate(per_s: float) -> str:
    """Return a rate as `12,300/s`, rounded to three significant digits."""
    if per_s == 0 or per_s != per_s or abs(per_s) == float("inf"):
        return f"{per_s}/s"
    rounded = float(f"{per_s:.3g}")
    return f"{rounded:,.0f}/s" if abs(rounded) >= 100 else f"{rounded:g}/s"


READABLE = {"readable": True}
"""Context of a `model_dump` that writes values with units, as people do; without it they are numbers in SI."""
_WRITTEN_SECONDS = ("s", "ms", "us", "ns", "h")
_WRITTEN_BYTES = ("B", "GiB", "MiB", "KiB", "TiB", "GB", "MB", "KB", "TB")
_WRITTEN_BYTES_PER_S = ("Gbit/s", "Mbit/s", *(f"{unit}/s" for unit in _WRITTEN_BYTES))


def _written(value: float, units: Mapping[str, float], names: tuple[str, ...]) -> str | float:
    """Return the shortest text that reads back as exactly this value, or the number where there is none."""
    texts = [f"{value / units[name]:.12g}{name}" for name in names if abs(value) >= units[name]]
    exact = [text for text in texts if _parse(text, units, "") == value]
    return min(exact, key=len, default=value)


def write_duration(seconds: float) -> str | float:
    """Return a duration as text that reads back as the same number.

    >>> write_duration(0.0001)
    '100us'
    """
    return _written(seconds, _SECONDS, _WRITTEN_SECONDS)


def write_size(size_bytes: float) -> str | float:
    """Return a size as text that reads back as the same number.

    >>> write_size(32 * 2.0**30)
    '32GiB'
    """
    return _written(size_bytes, _BYTES, _WRITTEN_BYTES)


def write_bandwidth(bytes_per_s: float) -> str | float:
    """Return a bandwidth as text that reads back as the same number.

    >>> write_bandwidth(1.25e9)
    '10Gbit/s'
    """
    return _written(bytes_per_s, _BYTES_PER_S, _WRITTEN_BYTES_PER_S)


def write_rate(per_s: float) -> str | float:
    """Return a rate as text that reads back as the same number.

    >>> write_rate(5000.0)
    '5000/s'
    """
    return _written(per_s, _PER_S, ("/s",))


def _schema(units: Mapping[str, float]) -> WithJsonSchema:
    """Return the schema of a value in a file: a number in the SI unit, or text with a unit."""
    names = "|".join(re.escape(unit) for unit in units)
    pattern = rf"^\s*[-+]?[0-9][0-9_]*\.?[0-9]*([eE][-+]?[0-9]+)?\s*({names})?\s*$"
    return WithJsonSchema({"type": ["number", "string"], "pattern": pattern}, mode="validation")


def _is_readable(info: SerializationInfo) -> bool:
    return bool(info.context) and info.context == READABLE


def _seconds(value: float, info: SerializationInfo) -> str | float:
    return write_duration(value) if _is_readable(info) else value


def _bytes(value: float, info: SerializationInfo) -> str | float:
    return write_size(value) if _is_readable(info) else value


def _bytes_per_s(value: float, info: SerializationInfo) -> str | float:
    return write_bandwidth(value) if _is_readable(info) else value


def _per_s(value: float, info: SerializationInfo) -> str | float:
    return write_rate(value) if _is_readable(info) else value


Seconds = Annotated[
    float, BeforeValidator(parse_duration), PlainSerializer(_seconds, when_used="unless-none"), _schema(_SECONDS)
]
Bytes = Annotated[
    float, BeforeValidator(parse_size), PlainSerializer(_bytes, when_used="unless-none"), _schema(_BYTES)
]
BytesPerS = Annotated[
    float,
    BeforeValidator(parse_bandwidth),
    PlainSerializer(_bytes_per_s, when_used="unless-none"),
    _schema(_BYTES_PER_S),
]
PerS = Annotated[
    float, BeforeValidator(parse_rate), PlainSerializer(_per_s, when_used="unless-none"), _schema(_PER_S)
]
