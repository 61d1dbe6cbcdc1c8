"""The shape of the code: short functions, short modules, one tree. Imports nothing of ours."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("model", "live", "calibrate", "scenarios", "src/capmodel/cli", "src/capmodel/report")
MODULES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
MOST_LINES, MOST_FUNCTION_LINES = 350, 50
BAD_NAMES = {"utils", "helpers", "common", "core", "manager"}


def function_lines(source: str) -> dict[str, int]:
    """Return the length of each function, its docstring included."""
    return {
        f"{node.name}:{node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def too_long(source: str) -> list[str]:
    return [name for name, lines in function_lines(source).items() if lines > MOST_FUNCTION_LINES]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_are_short(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= MOST_LINES
    assert not too_long(source)
    assert path.stem not in BAD_NAMES, "name it by a noun of the domain"


def test_a_long_function_is_found() -> None:
    """Negative control of the check above."""
    assert too_long("def long():\n" + "    x = 1\n" * MOST_FUNCTION_LINES) == ["long:1"]


def test_most_functions_are_a_few_lines() -> None:
    lengths = [lines for path in MODULES for lines in function_lines(path.read_text(encoding="utf-8")).values()]
    assert statistics.median(lengths) <= 8
    assert statistics.quantiles(lengths, n=10)[-1] <= 25
