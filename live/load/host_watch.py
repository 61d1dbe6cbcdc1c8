"""How idle this machine was, where nodes of the cluster run on it too. Source: proc(5), /proc/stat."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

_STAT = Path("/proc/stat")
_IDLE, _IO_WAIT = 3, 4
"""Columns of the line `cpu`."""
_COUNTED = 8
"""Columns that add up to all time; guest time, which follows, is part of user time."""


class HostWatch:
    """Counts idle and all time since it was made."""

    def __init__(self) -> None:
        self._before = _times()

    def idle_ratio(self) -> float | None:
        """Return the idle share since the beginning, None where the system does not tell."""
        before, after = self._before, _times()
        if before is None or after is None:
            return None
        spent = [last - first for first, last in zip(before, after, strict=True)]
        return (spent[_IDLE] + spent[_IO_WAIT]) / sum(spent) if sum(spent) else None


def on_this_host(addresses: Sequence[str]) -> bool:
    """Return whether an address is one of this machine's loopback range."""
    return any(_is_loopback(address) for address in addresses)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _times() -> list[int] | None:
    try:
        first = _STAT.read_text(encoding="ascii").split("\n", 1)[0]
    except OSError:
        return None
    return [int(word) for word in first.split()[1 : 1 + _COUNTED]]
