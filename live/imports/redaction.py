"""Passwords out of command lines, before anything else is done with them."""

from __future__ import annotations

import re

HIDDEN = "<redacted>"
_WORD = r"(?:[\w.-]*(?:passw(?:or)?d|passphrase|secret|pwd|token)[\w-]*)"
_ASSIGNED = re.compile(rf"({_WORD}\s*[=:]\s*)(?:\"[^\"]*\"|'[^']*'|[^\s,;)&]+)", re.IGNORECASE)
_OPTION = re.compile(r"((?<!\S)(?:-pw|--?[\w-]*password|--?passwd)\s+)(?:\"[^\"]*\"|'[^']*'|(?!-)\S+)", re.IGNORECASE)
_ADDRESS = re.compile(r"(\w+://[^\s:/@]+:)[^\s@/]+(?=@)")


def redacted(text: str) -> str:
    """Return a command line with what stands at its passwords replaced by `<redacted>`."""
    for pattern in (_ASSIGNED, _OPTION, _ADDRESS):
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return text
