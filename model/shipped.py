"""Files that ship with the package, found by name: scenarios and profiles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import resources
from importlib.resources.abc import Traversable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def _folder(parts: Sequence[str]) -> Traversable:
    package = __package__.rpartition(".")[0]
    folder: Traversable = resources.files(package)
    for part in parts:
        folder = folder / part
    return folder


def shipped_names(*folder: str) -> tuple[str, ...]:
    """Return the names of the YAML files of a folder of the package, without suffix.

    >>> "default" in shipped_names("scenarios")
    True
    """
    files = (entry.name for entry in _folder(folder).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml")))


def shipped_content(name: str, *folder: str) -> bytes | None:
    """Return the bytes of a shipped file, or None when there is no such name."""
    file = _folder(folder) / f"{name}.yaml"
    return file.read_bytes() if _NAME.fullmatch(name) and file.is_file() else None


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return `; did you mean …?` with the nearest known name, or the list of all when none is near."""
    near = get_close_matches(name[:100], known, 1)
    return f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"
