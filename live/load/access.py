"""How to reach a cluster: addresses, port, user and password, TLS. Secrets show up nowhere.

A `Secret` prints as asterisks, and `Access.hidden` takes secrets out of text that others wrote, such as the messages
of a driver.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from ...model.errors import InputError, Problem

DEFAULT_PORT = 9042
"""Port of the native protocol. Source: `native_transport_port` in Cassandra's `cassandra.yaml`."""
HIDDEN = "***"


class Secret:
    """A text that is shown only to who asks for it by name."""

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def __repr__(self) -> str:
        return HIDDEN


@dataclass(frozen=True)
class Credentials:
    """User and password."""

    username: str
    password: Secret


@dataclass(frozen=True)
class Tls:
    """How the connection is encrypted."""

    ca_file: str | None = None
    """Certificates that are trusted; those of the system when not given."""
    cert_file: str | None = None
    """The client's own certificate, where the cluster asks for one."""
    key_file: str | None = None
    """Its private key."""
    verify: bool = True
    """Whether the node's certificate and name are checked."""


@dataclass(frozen=True)
class Access:
    """How to reach a cluster."""

    contact_points: tuple[str, ...]
    port: int = DEFAULT_PORT
    datacenter: str | None = None
    """The clients' datacenter; that of the first contact point when not given."""
    credentials: Credentials | None = field(default=None, repr=False)
    tls: Tls | None = None

    def hidden(self, text: str) -> str:
        """Return a text without the secrets in it."""
        password = self.credentials.password.reveal() if self.credentials else ""
        return text.replace(password, HIDDEN) if password else text


def credentials_from_environment(username_variable: str, password_variable: str) -> Credentials:
    """Return user and password from two environment variables, named by the user.

    Raises:
        InputError: a variable that is not set.
    """
    wanted = {"--username-env": username_variable, "--password-env": password_variable}
    missing = [
        Problem(option, name, "the name of an environment variable that is set")
        for option, name in wanted.items()
        if name not in os.environ
    ]
    if missing:
        raise InputError(missing)
    return Credentials(os.environ[username_variable], Secret(os.environ[password_variable]))


def credentials_from_file(path: Path) -> Credentials:
    """Return user and password from a file with a line `username = …` and a line `password = …`.

    Raises:
        InputError: a file that cannot be read or lacks one of the two; what it holds is not shown.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError([Problem("--credentials-file", str(path), "a file that can be read")]) from None
    pairs = (line.partition("=") for line in lines)
    found = {name.strip(): text.strip() for name, sign, text in pairs if sign}
    if not {"username", "password"} <= set(found):
        right = "a file with a line `username = …` and a line `password = …`"
        raise InputError([Problem("--credentials-file", str(path), right)])
    return Credentials(found["username"], Secret(found["password"]))
