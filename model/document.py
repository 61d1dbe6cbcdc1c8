"""Files that hold one value: read as YAML or JSON, brought up to the present version, checked, written whole.

All problems of a file are reported together, each with file, key, line where known, value, and what would be
right; an unknown key with the nearest known one.
"""

from __future__ import annotations

import difflib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .errors import InputError, Problem

Data = dict[str, Any]
Upgrades = Mapping[int, Callable[[Data], Data]]
"""By version, the function from a document of that version to one of the next."""
_Model = TypeVar("_Model", bound=BaseModel)

RIGHT = {
    "missing": "this key is needed",
    "finite_number": "a finite number",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "model_type": "a map of keys",
    "model_attributes_type": "a map of keys",
    "dict_type": "a map of keys",
    "tuple_type": "a list",
    "list_type": "a list",
}
"""What would be right, by pydantic's type of error; its own words otherwise."""


@dataclass(frozen=True)
class Document:
    """What a file holds, before it is checked."""

    data: Data
    file: str | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    """Line of each key by dotted path, where known."""


def read_document(path: Traversable, error: type[InputError]) -> Document:
    """Return what a YAML or JSON file holds; it may lie in an archive.

    Raises:
        InputError: of the type `error`, when the file cannot be read or is no map.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise error([Problem("", None, "there is no such file", str(path))]) from None
    except (OSError, UnicodeDecodeError, ValueError) as cause:
        raise error([Problem("", None, f"cannot be read: {cause}", str(path))]) from cause
    return parse_document(text, str(path), error)


def parse_document(text: str, file: str, error: type[InputError]) -> Document:
    """Return what a text in YAML or JSON holds; a text that begins with a brace is JSON."""
    try:
        data, lines = (json.loads(text), {}) if text.lstrip().startswith("{") else _parse_yaml(text)
    except json.JSONDecodeError as cause:
        raise error([Problem("", None, f"is no JSON: {cause.msg}", file, cause.lineno)]) from cause
    except yaml.YAMLError as cause:
        line = getattr(cause, "problem_mark", None)
        words = getattr(cause, "problem", None) or "a character that is not allowed"
        raise error([Problem("", None, f"is no YAML: {words}", file, line and line.line + 1)]) from cause
    except (RecursionError, ValueError) as cause:
        raise error([Problem("", None, f"cannot be read: {cause}", file)]) from cause
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise error([Problem("", None, "a map of keys is needed", file)])
    return Document(data, file, lines)


def _parse_yaml(text: str) -> tuple[Any, dict[str, int]]:
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        lines = dict(_lines(node, "", set())) if node is not None else {}
        return (loader.construct_document(node) if node is not None else None), lines
    finally:
        loader.dispose()


def _lines(node: yaml.Node, prefix: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Yield key path and line of all keys below a node; what an alias repeats is visited once."""
    if id(node) in seen or not isinstance(node, (yaml.MappingNode, yaml.SequenceNode)):
        return
    seen.add(id(node))
    items = node.value if isinstance(node, yaml.MappingNode) else enumerate(node.value)
    for key, item in items:
        path = f"{prefix}{key.value if isinstance(key, yaml.Node) else key}"
        yield path, (key if isinstance(key, yaml.Node) else item).start_mark.line + 1
        yield from _lines(item, f"{path}.", seen)


def upgraded(document: Document, upgrades: Upgrades, version: int, error: type[InputError]) -> Document:
    """Return a document in the present version; one without `format_version` is of version 0."""
    data, found = document.data, document.data.get("format_version", 0)
    oldest = min(upgrades, default=version)
    if isinstance(found, bool) or not isinstance(found, int) or not oldest <= found <= version:
        right = f"{oldest} to {version}" if oldest < version else f"{version}"
        newer = "; a newer capmodel may read it" if isinstance(found, int) and found > version else ""
        line = document.lines.get("format_version")
        raise error([Problem("format_version", found, right + newer, document.file, line)])
    for step in range(found, version):
        try:
            data = {**upgrades[step](data), "format_version": step + 1}
        except (KeyError, TypeError, ValueError, AttributeError) as cause:
            right = f"a document of version {step}, which {cause} does not fit"
            raise error([Problem("format_version", found, right, document.file)]) from cause
    return Document(data, document.file, document.lines)


def validated(model: type[_Model], document: Document, error: type[InputError]) -> _Model:
    """Return the value of a document.

    Raises:
        InputError: of the type `error`, with all problems.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as cause:
        raise error(_merged(_problem(model, document, item) for item in cause.errors(include_url=False))) from None
    except RecursionError:
        raise error([Problem("", None, "is nested too deeply", document.file)]) from None


def _merged(problems: Iterator[Problem]) -> list[Problem]:
    """Return one problem a key: where alternatives are allowed, each is named as right."""
    by_key: dict[str, Problem] = {}
    for problem in problems:
        first = by_key.setdefault(problem.key, problem)
        if problem.right not in first.right:
            by_key[problem.key] = replace(first, right=f"{first.right}, or {problem.right}")
    return list(by_key.values())


def _problem(model: type[BaseModel], document: Document, item: ErrorDetails) -> Problem:
    known, path = _descend(model, item["loc"])
    key = ".".join(path)
    line = next((document.lines[k] for k in _parents(path) if k in document.lines), None)
    value = "(missing)" if item["type"] == "missing" else _short(item["input"])
    return Problem(key, value, _right(item, path, known), document.file, line)


def _parents(path: Sequence[str]) -> Iterator[str]:
    return (".".join(path[:length]) for length in range(len(path), 0, -1))


def _short(value: object) -> object:
    text = repr(value)
    return value if len(text) <= 60 else f"{text[:57]}…"


def _right(item: ErrorDetails, path: Sequence[str], known: Sequence[str]) -> str:
    if item["type"] == "extra_forbidden":
        nearest = difflib.get_close_matches(path[-1], known, n=1, cutoff=0.0)
        return f"no such key; the nearest is `{nearest[0]}`" if nearest else "no such key"
    if item["type"] == "string_pattern_mismatch":
        return f"text of the form {item['ctx']['pattern']}"
    words = item["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return RIGHT.get(item["type"], words)


def _descend(model: type[BaseModel], loc: Sequence[int | str]) -> tuple[Sequence[str], list[str]]:
    """Return the keys known where an error lies, and the path of keys without pydantic's names of alternatives."""
    types: list[Any] = [model]
    path: list[str] = []
    known: list[str] = []
    for step in loc:
        if step == "[key]":
            break
        if len(types) > 1:
            types = [one for one in types if _is_model(one) or get_origin(one) in _HOLDERS][:1]
            continue
        fields = {name: f.annotation for one in types if _is_model(one) for name, f in one.model_fields.items()}
        known = list(fields)
        path.append(str(step))
        types = _alternatives(fields[str(step)]) if step in fields else [a for one in types for a in _items(one)]
    return known, path


_HOLDERS = (dict, tuple, list)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _items(annotation: Any) -> list[Any]:
    """Return the types of what a map or list holds."""
    arguments = get_args(annotation)
    held = arguments[1:2] if get_origin(annotation) is dict else arguments[:1]
    return [one for argument in held for one in _alternatives(argument)]


def _alternatives(annotation: Any) -> list[Any]:
    """Return the types of a union without None, or the one type."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        arguments = [one for one in get_args(annotation) if one is not NoneType]
        return [one for argument in arguments for one in _alternatives(argument)]
    return _alternatives(get_args(annotation)[0]) if origin is Annotated else [annotation]


def write_whole(text: str, path: Path) -> None:
    """Write a file so that a reader finds the old text or the new one, never a part.

    Raises:
        InputError: a place that cannot be written to.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as cause:
        raise InputError(f"{path}: cannot be written: {cause.strerror}") from cause
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException as cause:
        Path(name).unlink(missing_ok=True)
        if isinstance(cause, OSError):
            raise InputError(f"{path}: cannot be written: {cause.strerror}") from cause
        raise
