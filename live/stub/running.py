"""A stub as a process of its own, for as long as a context lasts, and what it says of itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...model.errors import RunError
from ..load.access import Access
from ..load.console import Console

ADDRESS = "127.0.0.1"
COUNTS = "SELECT frames, cpu_s, running_s FROM capmodel.stub"


@dataclass(frozen=True)
class StubCounts:
    """What a stub has done since it began."""

    frames: int
    cpu_s: float
    running_s: float

    def since(self, before: StubCounts) -> StubCounts:
        """Return what was done between two readings."""
        return StubCounts(
            self.frames - before.frames, self.cpu_s - before.cpu_s, self.running_s - before.running_s
        )

    @property
    def busy_ratio(self) -> float:
        """Share of the time in which it was on its processor."""
        return self.cpu_s / self.running_s if self.running_s > 0 else 0.0

    @property
    def ceiling_per_s(self) -> float | None:
        """Frames that it could answer per second at this cost a frame; None when it did nothing."""
        return self.frames / self.cpu_s if self.cpu_s > 0 else None


@dataclass(frozen=True)
class Stub:
    """A stub that runs."""

    access: Access
    pid: int


@contextmanager
def running_stub(core: int | None = None, cell_bytes: int = 34) -> Iterator[Stub]:
    """Yield a stub in a process of its own.

    Args:
        core: the only processor that it runs on; any when not given.
        cell_bytes: size of each column of the row that a read returns.
    """
    command = [sys.executable, "-m", f"{__package__}.stub_process", "--cell-bytes", str(cell_bytes)]
    command += [] if core is None else ["--core", str(core)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        port = process.stdout.readline()
        if not port:
            raise RunError("the stub did not start")
        try:
            yield Stub(Access((ADDRESS,), int(port)), process.pid)
        finally:
            process.stdin.close()
            process.stdout.close()


def read_counts(console: Console) -> StubCounts:
    """Return what a stub says of itself."""
    row = console.ask(COUNTS)[0]
    return StubCounts(int(row["frames"]), float(row["cpu_s"]), float(row["running_s"]))
