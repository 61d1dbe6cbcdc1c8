"""Processes by identity: an id alone can be reused, an id with its start time cannot.

Source: proc_pid_stat(5); pidfd_open(2), which makes "check, then signal" safe against reuse in between.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from ...model.errors import RunError
from ...model.value import Value

_PROC = Path("/proc")
_STATE, _FLAGS, _USER_TICKS, _SYSTEM_TICKS, _START_TICKS = 0, 6, 11, 12, 19
"""Places in /proc/<pid>/stat, counted after the command's name, which may hold anything."""
_KERNEL_THREAD = 0x0020_0000
"""The flag PF_KTHREAD of the kernel's include/linux/sched.h."""
_EXEC_S = 0.02
"""A process that turns into another program has no command line for a moment."""
_GONE_S = 20.0
"""Within which a killed process must be gone; a JVM with a few GB takes well under a second."""


class ProcessId(Value):
    """One process, told apart from a later one with the same id."""

    pid: int
    """Process id."""
    start_ticks: int
    """When it started, in clock ticks since the machine's boot."""


def identify(pid: int) -> ProcessId | None:
    """Return the identity of a running process, or None."""
    fields = _stat(pid)
    return None if fields is None else ProcessId(pid=pid, start_ticks=int(fields[_START_TICKS]))


def identify_child(pid: int) -> ProcessId:
    """Return the identity of a process just started by this one, even when it has ended by now."""
    return ProcessId(pid=pid, start_ticks=int(_fields(pid)[_START_TICKS]))


def runs(process: ProcessId) -> bool:
    """Return whether exactly this process still runs."""
    _reap(process.pid)
    return identify(process.pid) == process


def age_s(process: ProcessId) -> float:
    """Return how long ago the process started."""
    since_boot_s = float((_PROC / "uptime").read_text().split()[0])
    return since_boot_s - process.start_ticks / os.sysconf("SC_CLK_TCK")


def cpu_s(process: ProcessId) -> float | None:
    """Return the CPU time the process has used, or None when it is gone."""
    fields = _stat(process.pid)
    if fields is None or identify(process.pid) != process:
        return None
    return (int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(process: ProcessId) -> int | None:
    """Return the memory the process holds, or None when it is gone."""
    try:
        pages = int((_PROC / str(process.pid) / "statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") if runs(process) else None


def send(process: ProcessId, number: signal.Signals) -> bool:
    """Send a signal to exactly this process; return False when it is gone."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        if identify(process.pid) != process:
            return False
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def kill(processes: list[ProcessId]) -> None:
    """Kill processes and wait until they are gone."""
    for process in processes:
        send(process, signal.SIGKILL)
    wait_gone(processes, _GONE_S)


def wait_gone(processes: list[ProcessId], timeout_s: float) -> None:
    """Wait until none of the processes runs.

    Raises:
        RunError: one of them still runs after `timeout_s`.
    """
    deadline_s = time.monotonic() + timeout_s
    while left := [process for process in processes if runs(process)]:
        if time.monotonic() > deadline_s:
            raise RunError(f"process {left[0].pid} did not end within {timeout_s:g} s")
        time.sleep(0.02)


def with_argument(argument: str) -> list[ProcessId]:
    """Return the running processes that have `argument` on their command line."""
    found = (identify(int(entry.name)) for entry in _PROC.iterdir() if _has(entry, argument.encode()))
    return [process for process in found if process is not None]


def pin(process: ProcessId, cores: frozenset[int]) -> None:
    """Move all threads of a process to `cores`; threads started later inherit it."""
    moved: set[str] = set()
    while new := _threads(process) - moved:
        for thread in new:
            _pin_thread(int(thread), cores)
        moved |= new


def _pin_thread(thread: int, cores: frozenset[int]) -> None:
    try:
        os.sched_setaffinity(thread, cores)
    except ProcessLookupError:
        return


def _threads(process: ProcessId) -> set[str]:
    try:
        return set(os.listdir(_PROC / str(process.pid) / "task"))
    except OSError:
        return set()


def _has(entry: Path, argument: bytes) -> bool:
    if not entry.name.isdigit():
        return False
    try:
        words = (entry / "cmdline").read_bytes() or _command_line_after_exec(entry)
    except OSError:
        return False
    return argument in words.split(b"\0")


def _command_line_after_exec(entry: Path) -> bytes:
    fields = _stat(int(entry.name))
    if fields is None or int(fields[_FLAGS]) & _KERNEL_THREAD:
        return b""
    time.sleep(_EXEC_S)
    return (entry / "cmdline").read_bytes()


def _stat(pid: int) -> list[str] | None:
    """Return the fields after the command's name, or None for a process that is gone or a mere zombie."""
    try:
        fields = _fields(pid)
    except OSError:
        return None
    return None if fields[_STATE] in "ZX" else fields


def _fields(pid: int) -> list[str]:
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def _reap(pid: int) -> None:
    """Take the exit status of a child of ours that has ended, so that no zombie stays."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
