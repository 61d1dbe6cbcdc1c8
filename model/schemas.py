"""JSON Schemas of the files that are read and written."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Literal, NamedTuple

from .attribute_docs import describe
from .errors import InputError
from .shipped import did_you_mean

Schema = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}


class _Kind(NamedTuple):
    module: str
    value: str
    mode: Literal["validation", "serialization"]


_KINDS = {
    "scenario": _Kind("scenario", "Scenario", "validation"),
    "calibration": _Kind("calibration", "Calibration", "validation"),
    "measurement": _Kind("measurement", "Measurement", "validation"),
    "prediction": _Kind("prediction", "Prediction", "serialization"),
}
KINDS = tuple(_KINDS)


def schema_of(kind: str) -> Schema:
    """Return the JSON Schema of a kind of file.

    Raises:
        InputError: a kind that is not among `KINDS`.
    """
    if kind not in _KINDS:
        raise InputError(f"no schema {kind!r}{did_you_mean(kind, KINDS)}")
    found = _KINDS[kind]
    value = getattr(import_module(f".{found.module}", __package__), found.value)
    schema: Schema = value.model_json_schema(mode=found.mode)
    describe(schema, value)
    _tidy(schema)
    if kind == "scenario":
        _as_differences(schema)
    return {"$schema": _DIALECT, **schema}


def _as_differences(schema: Schema) -> None:
    """Let a scenario file hold only differences: it may extend another, and no key outside a list is needed."""
    words = "Shipped scenario or file (relative to this one) that this one differs from; `default` when not given."
    schema["properties"] = {"extends": {"type": "string", "description": words}, **schema["properties"]}
    schema.pop("required", None)
    schema["$defs"]["Operation"].pop("required", None)


def _tidy(schema: Schema) -> None:
    """Turn pydantic's bounds on a choice of types into those of JSON Schema."""
    for part in _parts(schema):
        for name, keyword in _BOUNDS.items():
            if name in part and ("type" in part or "anyOf" in part):
                part[keyword] = part.pop(name)


def _parts(value: Any) -> Iterator[Schema]:
    if isinstance(value, dict):
        yield value
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(entry)
