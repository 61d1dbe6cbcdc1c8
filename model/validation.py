"""What pydantic finds wrong with a file, in words: key, value, what would be right, the nearest known key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .errors import Problem
from .located import Located, Path, key_of

_WORDS: Mapping[str, str] = {
    "missing": "this key is needed",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "model_type": "a map of keys",
    "model_attributes_type": "a map of keys",
    "dict_type": "a map of keys",
    "tuple_type": "a list",
    "list_type": "a list",
    "greater_than": "above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "value_error": "{error}",
}
"""What would be right, by pydantic's type of error; names in braces are those of its context."""
_SPOKEN = {
    "rf": "cluster.replication.factor",
    "replication_factor": "cluster.replication.factor",
    "cl": "workload.operations.read.consistency",
    "consistency_level": "workload.operations.read.consistency",
    "threads": "clients.in_flight",
    "memory": "hardware.ram",
    "disks": "hardware.data_disks",
}
"""Keys that people try, and what they are called in a scenario."""
MOST_PROBLEMS = 200
"""Problems that are put into words; a file with more of them is no scenario."""
_LONGEST_SHOWN = 60
_LONGEST_BITS = 160
"""Bits of the longest whole number that is shown: Python refuses to print some of the longer ones."""


class Brief(str):
    """Text that stands for a value too large to be shown; printed without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def shown(value: object) -> object:
    """Return a value, or a few words for one that is too large to be printed."""
    if isinstance(value, Mapping):
        return Brief(f"a map of {len(value)} keys")
    if isinstance(value, list | tuple) and len(repr(value[:20])) > _LONGEST_SHOWN:
        return Brief(f"a list of {len(value)}")
    if isinstance(value, int) and value.bit_length() > _LONGEST_BITS:
        return Brief("a number of very many digits")
    text = repr(value)
    return value if len(text) <= _LONGEST_SHOWN else Brief(f"{text[:_LONGEST_SHOWN]}…")


def problems_of_error(error: ValidationError, document: Located, model: type[BaseModel]) -> list[Problem]:
    """Return the problems of a document that a model refuses, one for each key.

    Args:
        error: what the model raised.
        document: what was validated.
        model: the model; its fields are the known keys.
    """
    words: dict[Path, list[str]] = {}
    alternatives: set[Path] = set()
    for details in error.errors(include_url=False, include_input=False)[:MOST_PROBLEMS]:
        path, is_alternative = _path(details, document)
        words.setdefault(path, []).append(_right(details, path, document, model))
        alternatives |= {path} if is_alternative else set()
    deeper = {path[:length] for path in words for length in range(len(path))}
    found = [
        _problem(path, list(dict.fromkeys(right)), document)
        for path, right in words.items()
        if not (path in alternatives and path in deeper)
    ]
    left = error.error_count() - MOST_PROBLEMS
    return found if left <= 0 else [*found, Problem("", None, f"{left} more problems", document.place.file)]


def paths_of_error(error: ValidationError, document: Located) -> set[Path]:
    """Return the paths of the keys that a model refuses."""
    return {_path(details, document)[0] for details in error.errors(include_url=False, include_input=False)}


def _path(details: ErrorDetails, document: Located) -> tuple[Path, bool]:
    """Return the path in the document, without pydantic's marks for alternatives of a union, and whether it had any."""
    path: Path = ()
    entry = document
    for part in details["loc"]:
        below = entry.child(part)
        if below is not None:
            path, entry = (*path, part), below
    if details["type"] == "missing":
        return (*path, details["loc"][-1]), False
    return path, len(path) < len(details["loc"])


def _right(details: ErrorDetails, path: Path, document: Located, model: type[BaseModel]) -> str:
    if details["type"] == "extra_forbidden":
        return unknown_key(path, model)
    context = details.get("ctx", {})
    right = _WORDS.get(details["type"], details["msg"]).format_map(context)
    given = document.nearest(path).value
    if "expected" in context and isinstance(given, str):
        near = get_close_matches(given[:_LONGEST_SHOWN].lower(), _lowered(context["expected"]), 1)
        right += f"; did you mean {_lowered(context['expected'])[near[0]]}?" if near else ""
    return right


def _lowered(expected: str) -> dict[str, str]:
    """Return the quoted names of pydantic's list, by their lower case."""
    return {name.lower(): name for name in expected.split("'")[1::2]}


def _problem(path: Path, right: list[str], document: Located) -> Problem:
    entry = document.get(path)
    place = document.nearest(path).place
    value = Brief("nothing") if entry is None else shown(entry.plain())
    return Problem(key_of(path), value, " or ".join(right), place.file, place.line)


def unknown_key(path: Path, model: type[BaseModel]) -> str:
    """Return the words for a key that is not known, with the nearest one that is."""
    known = sorted({name for part in _models(model, path[:-1]) for name in part.model_fields})
    name = str(path[-1])[:_LONGEST_SHOWN]
    near = get_close_matches(name, known, 1)
    elsewhere = [key_of(full) for full in _known_paths(model) if full[-1] == name]
    elsewhere += [_SPOKEN[name]] if name in _SPOKEN else []
    if near:
        return f"no such key; did you mean {near[0]}?"
    if elsewhere:
        return f"no such key here; did you mean {' or '.join(elsewhere[:3])}?"
    return f"no such key; known here: {', '.join(known)}" if known else "no such key"


def _models(annotation: Any, path: Path) -> Iterator[type[BaseModel]]:
    """Yield the models that can stand at a path below a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if not path:
            yield annotation
        elif (field := annotation.model_fields.get(str(path[0]))) is not None:
            yield from _models(field.annotation, path[1:])
        return
    is_collection = getattr(annotation, "__origin__", None) in (dict, tuple, list)
    for part in get_args(annotation):
        yield from _models(part, path[1:] if is_collection and path else path)


def _known_paths(annotation: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all keys that are not in a list or in a map of the user's keys."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return
    for name, field in annotation.model_fields.items():
        yield (*path, name)
        yield from _known_paths(field.annotation, (*path, name))
