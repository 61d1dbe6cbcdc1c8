"""What a node says of itself in its own log: started, serving clients, which peers it sees up and normal.

Lines are those of Apache Cassandra 4.1 and 5.0: `StartupChecks`, `Startup complete`, `Starting listening for
CQL clients`, `InetAddress /<address>:<port> is now UP` (or `DOWN`), and `Node /<address>:<port> state NORMAL,
token […]`, which StorageService says at level DEBUG when it takes over a peer's tokens (the lab's logback
asks for that level). The node itself is in its log as normal, never as up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LOG_NAME = "system.log"
CONSOLE_NAME = "console.log"
_NORMAL = re.compile(r"Node /([\d.]+):\d+ state NORMAL, token")
_UP_OR_DOWN = re.compile(r"InetAddress /([\d.]+):\d+ is now (UP|DOWN)")
_LONGEST_LINE = 300
"""Characters shown of a line; the one that lists the configuration has ten thousand."""
_NOISE = ("DEBUG ", "Node configuration", "WARNING: ", "CompileCommand", "\tat ")


@dataclass(frozen=True)
class NodeView:
    """What a node has said so far."""

    begun: bool
    """Whether it has passed its checks of the machine, a fifth of its way."""
    started: bool
    """Whether it says that its start is complete."""
    serves: bool
    """Whether it listens for clients."""
    normal: frozenset[str]
    """Addresses that hold their tokens."""
    up: frozenset[str]
    """Addresses of peers that answer."""

    def ready(self, peers: frozenset[str]) -> bool:
        """Return whether the node serves clients and sees all `peers` up and normal."""
        return self.started and self.serves and peers <= self.up and peers <= self.normal


def read_view(home: Path) -> NodeView:
    """Return what the node with its files under `home` has said so far."""
    return view(_text(home / LOG_NAME))


def view(log: str) -> NodeView:
    """Return what a log says; of `UP` and `DOWN` the last word counts."""
    up = {address: word == "UP" for address, word in _UP_OR_DOWN.findall(log)}
    return NodeView(
        begun="StartupChecks" in log,
        started="Startup complete" in log,
        serves="Starting listening for CQL clients" in log,
        normal=frozenset(_NORMAL.findall(log)),
        up=frozenset(address for address, answers in up.items() if answers),
    )


def last_lines(home: Path, count: int = 8) -> list[str]:
    """Return the node's own last words: the end of its log, then of what its JVM printed."""
    return [
        line[:_LONGEST_LINE]
        for name in (LOG_NAME, CONSOLE_NAME)
        for line in [line for line in _text(home / name).splitlines() if _tells(line)][-count:]
    ]


def _tells(line: str) -> bool:
    return bool(line.strip()) and not any(noise in line for noise in _NOISE)


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""
