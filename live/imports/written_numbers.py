"""Numbers as people and locales write them: 1,234.5, 1.234,5, 1 234,5 and 0,9.

A single comma or point before three digits says nothing by itself (1,234; 1.234). It is decided by the other
numbers of the same text; where they do not decide either, the number is not read: better none than one a thousand
times off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

TOKEN = r"-?\d[\d.,\u00a0\u202f]*(?:[eE][+-]?\d+)?|nan|NaN|-?inf(?:inity)?"
"""A number inside a line, as a regular expression."""
_SHAPE = re.compile(r"-?\d+(?:[.,\u00a0\u202f]\d+)*(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(
    r"\d\.\d{3},\d|[\u00a0\u202f]\d{3},\d|(?<![\d.,])\d+,(?:\d{1,2}|\d{4,})(?![\d.,])|(?<![\d.,])0,\d"
)
_DECIMAL_POINT = re.compile(
    r"\d,\d{3}\.\d|(?<![\d.,])\d+\.(?:\d{1,2}|\d{4,})(?![\d.,])|(?<![\d.,])0\.\d|\d,\d{3},\d{3}"
)


class Convention(StrEnum):
    """Which sign stands before the decimals."""

    POINT = "decimal point"
    COMMA = "decimal comma"
    UNKNOWN = "not told by the numbers"


def convention_of(tokens: Iterable[str]) -> Convention:
    """Return the convention the numbers of one text agree on; unknown where they contradict each other."""
    text = " ".join(tokens)
    comma, point = bool(_DECIMAL_COMMA.search(text)), bool(_DECIMAL_POINT.search(text))
    if comma == point:
        return Convention.UNKNOWN
    return Convention.COMMA if comma else Convention.POINT


def parse_number(token: str, convention: Convention) -> float | None:
    """Return the number that is written, or None for `nan`, for what is none and for what can be read two ways."""
    text = token.rstrip(".,\u00a0\u202f")
    if not _SHAPE.fullmatch(text):
        return None
    text = re.sub(r"[\u00a0\u202f](?=\d{3}(?!\d))", "", text)
    decimal = _decimal_sign(text, convention)
    if decimal is None:
        return None
    grouping = "," if decimal == "." else "."
    whole, _, _ = text.partition(decimal)
    if grouping in whole and not re.fullmatch(rf"-?\d{{1,3}}(?:{re.escape(grouping)}\d{{3}})+(?:[eE][+-]?\d+)?", whole):
        return None
    try:
        return float(text.replace(grouping, "").replace(decimal, "."))
    except ValueError:
        return None


def _decimal_sign(text: str, convention: Convention) -> str | None:
    """Return the sign before the decimals of one number; None where it cannot be told."""
    points, commas = text.count("."), text.count(",")
    if points and commas:
        return "," if text.rfind(",") > text.rfind(".") else "."
    if commas > 1 or (commas and convention is Convention.POINT):
        return "."
    if points > 1 or commas == 0:
        grouped = bool(re.fullmatch(r"-?[1-9]\d{0,2}(?:\.\d{3})+", text))
        if points == 1 and grouped and convention is Convention.UNKNOWN:
            return None
        return "," if points > 1 or (grouped and convention is Convention.COMMA) else "."
    ambiguous = re.fullmatch(r"-?[1-9]\d{0,2},\d{3}", text) and convention is Convention.UNKNOWN
    return None if ambiguous else ","
