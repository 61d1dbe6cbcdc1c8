"""Measurement files in JSON (YAML is read too). Secrets are refused on both ways."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from .document import Data, read_document, upgraded, validated, write_whole
from .errors import MeasurementError, Problem
from .measurement import FORMAT_VERSION, Measurement

_SECRET_KEY = re.compile(
    r"passw(or)?d|passphrase|secret|credential|(^|[_-])pwd$|(api|access|private|encryption)[_-]?key|"
    r"(auth|access|bearer|session|refresh|api)[_-]?token|^token$",
    re.IGNORECASE,
)
"""Keys that hold a secret; `tokens`, `num_tokens` and a `token` that is a number belong to a ring."""
_SECRET_TEXT = re.compile(
    r"(?:passw(?:or)?d|passphrase|secret|pwd)[\w-]*\s*[=:]\s*(?![*<\[])\S|(?<!\S)(?:-pw|--password)\s+(?![*<\[-])\S",
    re.IGNORECASE,
)
"""A secret inside a command line; `***` or `<redacted>` in its place are fine."""


def _from_version_0(data: Data) -> Data:
    """Version 0 held a rate and latencies in milliseconds of all operations together."""
    rest = {key: value for key, value in data.items() if key not in ("throughput", "latency_ms")}
    stated = {name: {"value": value / 1e3} for name, value in data.get("latency_ms", {}).items()}
    operation = {"latency_s": stated} if stated else {}
    return {**rest, "throughput_per_s": {"value": data["throughput"]}, "operations": {"all": operation}}


UPGRADES = {0: _from_version_0}


def load_measurement(path: str | Path) -> Measurement:
    """Return the measurement of a file.

    Raises:
        MeasurementError: a file that is no measurement, with all its problems, or that holds a secret.
    """
    document = read_document(Path(path), MeasurementError)
    _refuse_secrets(document.data, document.file)
    present = upgraded(document, UPGRADES, FORMAT_VERSION, MeasurementError)
    measurement = validated(Measurement, present, MeasurementError)
    _check_histograms(measurement, document.file)
    return measurement


def _check_histograms(measurement: Measurement, file: str | None) -> None:
    """Decode every histogram, so that a broken one is found while its file is known."""
    problems = []
    for name, operation in measurement.operations.items():
        for index, found in enumerate(operation.histograms):
            try:
                _ = found.histogram.n
            except MeasurementError as error:
                key = f"operations.{name}.histograms.{index}.encoded"
                problems.append(Problem(key, f"{found.encoded[:24]}…", str(error).split(":")[0], file))
    if problems:
        raise MeasurementError(problems)


def write_measurement(measurement: Measurement, path: str | Path) -> None:
    """Write a measurement; a reader finds the whole file or none.

    Raises:
        MeasurementError: a measurement that holds a secret.
        InputError: a place that cannot be written to.
    """
    write_whole(dump_measurement(measurement), Path(path))


def dump_measurement(measurement: Measurement) -> str:
    """Return a measurement as JSON text, what is not known left out, its scenario whole.

    Raises:
        MeasurementError: a measurement that holds a secret.
    """
    data = measurement.model_dump(mode="json", exclude_defaults=True)
    if measurement.scenario is not None:
        data["scenario"] = measurement.scenario.model_dump(mode="json", exclude_none=True)
    data = {"format_version": FORMAT_VERSION, **data}
    _refuse_secrets(data, None)
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _refuse_secrets(data: Data, file: str | None) -> None:
    """Refuse keys that look like secrets, without showing what they hold."""
    found = [Problem(key, "(not shown)", "no secret may stand in a measurement", file) for key in _secrets(data, "")]
    if found:
        raise MeasurementError(found)


def _secrets(item: object, path: str) -> Iterator[str]:
    if isinstance(item, dict):
        for key, value in item.items():
            here = f"{path}.{key}" if path else str(key)
            if _SECRET_KEY.search(str(key)) and not (str(key) == "token" and _is_number(value)):
                yield here
            else:
                yield from _secrets(value, here)
    elif isinstance(item, (list, tuple)):
        for index, value in enumerate(item):
            yield from _secrets(value, f"{path}.{index}")
    elif isinstance(item, str) and _SECRET_TEXT.search(item):
        yield path


def _is_number(value: object) -> bool:
    """Return whether a value is a number, as a ring's token is."""
    return isinstance(value, int | float) or (isinstance(value, str) and value.lstrip("-").isdigit())
