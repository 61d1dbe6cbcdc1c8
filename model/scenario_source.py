"""Where a scenario comes from: a shipped name or a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import Problem, ScenarioError
from .located import printable
from .shipped import did_you_mean, shipped_content, shipped_names
from .yaml_source import MAX_BYTES

FOLDER = "scenarios"
DEFAULT = "default"
"""Name of the shipped scenario that every other one extends."""


@dataclass(frozen=True)
class ScenarioSource:
    """A scenario that was found but not read yet."""

    label: str
    """Its name in problems: the path as given, or the shipped file's name."""
    name: str
    """Name of the scenario when the file gives none."""
    content: bytes
    folder: Path | None
    """Folder from which files it extends are found; None for a shipped scenario."""

    @property
    def identity(self) -> str:
        """What tells two sources apart."""
        return self.label if self.folder is None else str((self.folder / Path(self.label).name).resolve())


def shipped_label(name: str) -> str:
    """Return how problems name a shipped scenario."""
    return f"{name}.yaml (shipped)"


def find_source(source: str | Path, folder: Path | None = None) -> ScenarioSource:
    """Return a shipped scenario by its name, or a file.

    Args:
        source: a shipped name; or a path, when it has a suffix or a separator, or when such a file exists.
        folder: where relative paths start; the current folder when not given.

    Raises:
        ScenarioError: neither a shipped scenario nor a readable file.
    """
    text = str(source)
    content = shipped_content(text, FOLDER) if isinstance(source, str) else None
    if content is not None:
        return ScenarioSource(shipped_label(text), text, content, None)
    path = Path(text) if folder is None else folder / text
    if isinstance(source, str) and not _is_path(text) and not _exists(path):
        right = f"no shipped scenario and no file{did_you_mean(text, shipped_names(FOLDER))}"
        raise ScenarioError([Problem("", None, right, printable(text, 100))])
    return ScenarioSource(str(path), path.stem, _content(path), path.parent)


def _is_path(text: str) -> bool:
    return "/" in text or "\\" in text or bool(Path(text).suffix)


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _content(path: Path) -> bytes:
    """Return the bytes of a file, and one more than allowed of one that is too large."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        right = "no such file"
    except IsADirectoryError:
        right = "a file, not a folder"
    except (OSError, ValueError) as fault:
        right = f"a file that can be read ({getattr(fault, 'strerror', None) or fault})"
    raise ScenarioError([Problem("", None, right, printable(str(path)))])
