"""The commands of docs/how-to/load.md, run in order on a node of their own."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from capmodel.live.lab.release import cache_directory
from capmodel.live.lab.teardown import tear_down

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "load.md"
pytestmark = [pytest.mark.live, pytest.mark.slow]
pytest.importorskip("cassandra", reason="the Python driver is not installed")
pytest.importorskip("acsylla", reason="acsylla is not installed")


@pytest.fixture
def environment(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Give an environment whose lab is its own, with the machine's labs to itself."""
    with (tmp_path_factory.getbasetemp().parent / "labs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = {"XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache_directory().parent)}
        try:
            yield {**os.environ, **state}
        finally:
            tear_down(tmp_path / "capmodel" / "lab")


def beginnings(text: str) -> list[str]:
    """Return the first word of each line, which no figure changes; a verdict is whatever it is."""
    return [line.split()[0] for line in text.splitlines() if line.strip() and line.strip() != "..."]


def test_the_how_to_works_as_it_says(tmp_path: Path, environment: dict[str, str]) -> None:
    blocks = re.findall(r"^```console\n(.*?)^```", HOW_TO.read_text(), re.MULTILINE | re.DOTALL)
    prompts = [part.partition("\n") for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(prompts) == 5
    for command, _, shown in prompts:
        words = [sys.executable, "-m", "capmodel", *shlex.split(command)[1:]]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        told = beginnings(done.stdout)
        missing = [word for word in beginnings(shown) if word not in told]
        assert not missing, f"{command}\n{done.stdout}"
    assert (tmp_path / "second.hlog").read_text().startswith("#[")
