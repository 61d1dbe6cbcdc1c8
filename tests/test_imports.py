"""The layers go one way, and the links that make one package of the folders are there. Imports nothing of ours."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "capmodel"
LINKED = ("model", "live", "calibrate", "scenarios")
LAYERS: dict[str, set[str]] = {
    "model": set(),
    "live": {"model"},
    "calibrate": {"model"},
    "scenarios": {"model"},
    "report": {"model"},
    "cli": {"model", "live", "calibrate", "scenarios", "report"},
}
"""What each folder may import of the others (DESIGN, "Folders")."""


def imported(source: str, package: tuple[str, ...]) -> Iterator[tuple[int, bool, tuple[str, ...]]]:
    """Yield line, whether it is relative, and full name of all that a module imports from this project."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = tuple(node.module.split(".")) if node.module else ()
            names = [(*start, *module, alias.name) for alias in node.names]
        else:
            continue
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        yield from ((node.lineno, relative, name) for name in names if name[0] == "capmodel")


def violations(source: str, layer: str, package: tuple[str, ...]) -> list[str]:
    """Return what is wrong with the imports of one module of a layer, in sentences."""
    found = []
    for line, relative, name in imported(source, package):
        if not relative:
            found.append(f"line {line}: {'.'.join(name)} by its full name; inside the package imports are relative")
        if name[1] in LAYERS and name[1] != layer and name[1] not in LAYERS[layer]:
            found.append(f"line {line}: {layer} must not import {name[1]}")
    return found


def modules(layer: str) -> list[Path]:
    folder = ROOT / layer if layer in LINKED else PACKAGE / layer
    return sorted(folder.rglob("*.py"))


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_go_one_way(layer: str) -> None:
    folder = ROOT / layer if layer in LINKED else PACKAGE / layer
    wrong = [
        f"{path.relative_to(ROOT)}: {sentence}"
        for path in modules(layer)
        for sentence in violations(
            path.read_text(encoding="utf-8"), layer, ("capmodel", layer, *path.relative_to(folder).parent.parts)
        )
    ]
    assert not wrong, "\n".join(wrong)


def test_every_layer_has_modules() -> None:
    assert all(modules(layer) for layer in LAYERS)


@pytest.mark.parametrize(
    ("source", "layer", "package", "count"),
    [
        ("from ..live.lab import nodes", "model", ("capmodel", "model"), 1),
        ("from ...live import lab", "model", ("capmodel", "model", "simulation"), 1),
        ("from .. import scenarios", "model", ("capmodel", "model"), 1),
        ("def f():\n    from ..calibrate import fit", "live", ("capmodel", "live"), 1),
        ("import capmodel.model.ring", "model", ("capmodel", "model"), 1),
        ("from capmodel.live import lab", "model", ("capmodel", "model"), 2),
        ("from ..model.ring import Ring\nimport numpy", "live", ("capmodel", "live"), 0),
        ("from .ring import Ring\nfrom . import graph", "model", ("capmodel", "model"), 0),
    ],
)
def test_a_wrong_import_is_found(source: str, layer: str, package: tuple[str, ...], count: int) -> None:
    """Negative control of the check above."""
    assert len(violations(source, layer, package)) == count


@pytest.mark.parametrize("name", LINKED)
def test_the_package_is_linked_to_its_folders(name: str) -> None:
    link = PACKAGE / name
    words = (
        f"src/capmodel/{name} is no link to ../../{name}: this checkout has lost its symbolic links. "
        "Say `git config core.symlinks true` and check the files out again (on Windows with developer mode on)."
    )
    assert link.is_symlink() and os.readlink(link) == f"../../{name}", words
    assert (link / "__init__.py").is_file(), f"src/capmodel/{name} leads nowhere: the folder {name}/ is missing."
