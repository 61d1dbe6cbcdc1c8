"""Every prompt of the documentation is run; what a page shows must be what the command prints.

A block fenced as `console` holds lines `$ command` and what follows. `...` stands for anything, as in doctest. The
commands of a page run in order in one empty folder. Pages that start nodes are run by the live tests.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
LIVE_PAGES = {"docs/how-to/lab.md", "docs/how-to/load.md"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Prompt:
    """A command of a page and what the page shows below it."""

    command: str
    shown: str


def prompts(text: str) -> Iterator[Prompt]:
    """Yield the prompts of a page in order."""
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield Prompt(command, shown)


def pages() -> list[str]:
    """Return the pages that have prompts to be run here."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [str(page.relative_to(ROOT)) for page in found if any(prompts(page.read_text()))]
    return [name for name in names if name not in LIVE_PAGES]


def run(command: str, folder: Path) -> str:
    """Run a command as a reader of the page would, and return what it prints."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "120"}
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


@pytest.mark.skipif(
    shutil.which("capmodel") is None and not (Path(sys.executable).parent / "capmodel").exists(),
    reason="the package is not installed",
)
@pytest.mark.parametrize("page", pages())
def test_a_page_shows_what_its_commands_print(page: str, tmp_path: Path) -> None:
    checker = doctest.OutputChecker()
    for prompt in prompts((ROOT / page).read_text()):
        if prompt.command.startswith(("make ", "pip ", "git ")):
            continue
        printed = run(prompt.command, tmp_path)
        assert checker.check_output(prompt.shown, printed, FLAGS), f"$ {prompt.command}\n{printed}"


def test_a_page_that_shows_something_else_is_found(tmp_path: Path) -> None:
    prompt = next(prompts("```console\n$ echo one\ntwo\n```\n"))
    assert not doctest.OutputChecker().check_output(prompt.shown, run(prompt.command, tmp_path), FLAGS)


def test_pages_are_found() -> None:
    assert "README.md" in pages()
