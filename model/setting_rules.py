"""The `cassandra.yaml` settings that change a prediction, and what each may be.

Other settings are refused: they would be read and then change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from .errors import Problem
from .shipped import did_you_mean
from .units import parse_duration

_MAX_THREADS = 100_000


def _threads(value: object) -> str:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MAX_THREADS
    return "" if is_count else f"a whole number, 1 to {_MAX_THREADS}"


def _sync(value: object) -> str:
    modes = ("periodic", "batch", "group")
    return "" if value in modes else f"one of {', '.join(modes)}"


def _duration(value: object) -> str:
    right = "a duration above zero, such as 250ms"
    try:
        seconds = parse_duration(value)
    except ValueError:
        return right
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return "" if is_number and 0 < seconds < float("inf") else right  # type: ignore[operator]


def _milliseconds(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_duration = is_number and 0 < value < float("inf")  # type: ignore[operator]
    return "" if is_duration else "a number of milliseconds above zero"


_DURATIONS = ("commitlog_sync_group_window", "read_request_timeout", "write_request_timeout")
RULES: Mapping[str, Callable[[object], str]] = {
    "concurrent_reads": _threads,
    "concurrent_writes": _threads,
    "native_transport_max_threads": _threads,
    "commitlog_sync": _sync,
    **dict.fromkeys(_DURATIONS, _duration),
    **{f"{name}_in_ms": _milliseconds for name in _DURATIONS},
}
"""What is wrong with a value of each setting, in words; empty when nothing is."""


def setting_problems(settings: Mapping[str, object]) -> Iterator[Problem]:
    """Yield what is wrong with a scenario's settings."""
    for name, value in settings.items():
        key = f"cluster.settings.{name}"
        if name not in RULES:
            yield Problem(key, value, f"not a setting that the model uses{did_you_mean(name, list(RULES))}")
        elif right := RULES[name](value):
            yield Problem(key, value, right)
