"""Sizes, durations and rates as people write them, and as the model holds them.

Inside the package everything is SI: seconds, bytes, per second. Text accepts `250ms`, `64MiB`, `10Gbit/s`,
`500/s`; a bare number is in the SI unit.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

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


def _parse(text: object, units: dict[str, float], example: str) -> object:
    if not isinstance(text, str):
        return text
    match = _NUMBER.match(text)
    unit = match.group(2) if match else None
    if match is None or (unit and unit not in units):
        raise ValueError(f"a number with a unit of {', '.join(units)}, such as {example}")
    return float(match.group(1).replace("_", "")) * (units[unit] if unit else 1.0)


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
    return _parse(text, {unit: float(factor) for unit, factor in _BYTES.items()}, "64MiB")


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


Seconds = Annotated[float, BeforeValidator(parse_duration)]
Bytes = Annotated[float, BeforeValidator(parse_size)]
BytesPerS = Annotated[float, BeforeValidator(parse_bandwidth)]
PerS = Annotated[float, BeforeValidator(parse_rate)]
