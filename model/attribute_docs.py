"""The strings below the fields of a value, for its JSON Schema.

pydantic can collect them when a class is made, but then every command reads the source of every value as it starts;
here they are collected when a schema is asked for.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from textwrap import dedent
from typing import Any

from .value import Value


def attribute_docs(value: type[Value]) -> dict[str, str]:
    """Return the docstring of each field of a value's own class and its bases, by name."""
    found: dict[str, str] = {}
    for base in reversed(value.__mro__):
        if issubclass(base, Value):
            found |= dict(_own_docs(base))
    return found


def _own_docs(value: type[Value]) -> Iterator[tuple[str, str]]:
    (class_,) = ast.parse(dedent(inspect.getsource(value))).body
    for field, text in pairwise(class_.body if isinstance(class_, ast.ClassDef) else ()):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str):
            yield field.target.id, inspect.cleandoc(text.value.value)


def describe(schema: dict[str, Any], value: type[Value]) -> None:
    """Write the docstrings of fields into the schema of a value and of the values it holds."""
    classes = {one.__name__: one for one in _subclasses(Value)}
    parts = {value.__name__: schema, **schema.get("$defs", {})}
    for name, part in parts.items():
        if name in classes and "properties" in part:
            for field, text in attribute_docs(classes[name]).items():
                if field in part["properties"]:
                    part["properties"][field].setdefault("description", text)


def _subclasses(value: type[Value]) -> Iterator[type[Value]]:
    for one in value.__subclasses__():
        yield one
        yield from _subclasses(one)
