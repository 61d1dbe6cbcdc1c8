"""The base of every value read from a file: frozen, and closed to unknown keys."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Value(BaseModel):
    """A frozen value that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_truth_for_number(cls, value: object, info: ValidationInfo) -> object:
        """Refuse `true` where a number is wanted; pydantic would read it as 1."""
        name = info.field_name
        if isinstance(value, bool) and name and not _takes_truth(cls.model_fields[name].annotation):
            raise ValueError("no true or false here")
        return value


def _takes_truth(annotation: Any) -> bool:
    """Whether a field's type is, or holds among its alternatives, a bool or anything at all."""
    return annotation in (bool, Any, object) or any(_takes_truth(part) for part in get_args(annotation))
