"""Calibration files in YAML or JSON, and the shipped profiles by name.

Profiles lie beside this package in `calibrate/profiles`; they are found as data of the package, not imported.
"""

from __future__ import annotations

import difflib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import yaml

from .calibration import FORMAT_VERSION, Calibration
from .document import Data, read_document, upgraded, validated
from .errors import CalibrationError, Problem

SUFFIXES = (".yaml", ".yml", ".json")
UNSTATED_ERROR = 0.3
"""Relative standard error of a parameter without one: the least that defaults from evidence get."""


def _from_version_0(data: Data) -> Data:
    """Version 0 held bare numbers as parameters, no errors and no sources."""
    parameters = {
        name: {"value": value, "std_err": abs(value) * UNSTATED_ERROR, "unit": _unit(name), "source": "not stated"}
        for name, value in data["parameters"].items()
    }
    return {"good_for": "not stated", "cassandra_version": "not stated", **data, "parameters": parameters}


def _unit(name: str) -> str:
    """Return the unit a parameter's name ends with."""
    return "s" if name.endswith("_s") else "1"


UPGRADES = {0: _from_version_0}


def shipped_profiles(profiles: Path | None = None) -> tuple[str, ...]:
    """Return the names of the shipped profiles, or of those in a directory."""
    place = profiles or _shipped()
    names = (entry.name for entry in place.iterdir()) if place.is_dir() else ()
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def _shipped() -> Traversable:
    """Return the directory of the shipped profiles, which may lie in an archive."""
    package = (__package__ or "").rpartition(".")[0]
    return resources.files(package) / "calibrate" / "profiles"


def load_calibration(source: str | Path, profiles: Path | None = None) -> Calibration:
    """Return a calibration.

    Args:
        source: name of a shipped profile, or a file (it has a suffix or a separator, or exists).
        profiles: directory in which to look for names instead of the shipped ones.

    Raises:
        CalibrationError: an unknown name, or a file that is no calibration, with all its problems.
    """
    document = read_document(_place(source, profiles), CalibrationError)
    present = upgraded(document, UPGRADES, FORMAT_VERSION, CalibrationError)
    return validated(Calibration, present, CalibrationError)


def _place(source: str | Path, profiles: Path | None) -> Traversable:
    if _is_file(source):
        return Path(source)
    name, known = str(source), shipped_profiles(profiles)
    if name not in known:
        raise CalibrationError([_unknown(name, known)])
    return (profiles or _shipped()) / f"{name}.yaml"


def _is_file(source: str | Path) -> bool:
    text = str(source)
    return isinstance(source, Path) or text.endswith(SUFFIXES) or "/" in text or "\\" in text


def _unknown(name: str, known: tuple[str, ...]) -> Problem:
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean `{nearest[0]}`?" if nearest else ""
    return Problem("profile", name, f"one of {', '.join(known) or '(none shipped)'}, or a file{hint}")


def dump_calibration(calibration: Calibration) -> str:
    """Return a calibration as YAML text that `load_calibration` reads back to the same value."""
    data = calibration.model_dump(mode="json", exclude_none=True)
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110)
