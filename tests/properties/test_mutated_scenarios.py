"""Mutated scenario files: read, or refused with a scenario error in words; never another exception, never a hang."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capmodel.model.errors import ScenarioError
from capmodel.model.scenario import Scenario
from capmodel.model.scenario_file import dump_scenario, load_scenario
from capmodel.model.scenario_summary import scenario_summary
from capmodel.model.shipped import shipped_names

NAMES = shipped_names("scenarios")
FULL = {name: yaml.safe_load(dump_scenario(load_scenario(name))) for name in NAMES}
TEXTS = {name: dump_scenario(load_scenario(name)).encode() for name in NAMES}
QUICK = settings(
    derandomize=True,
    max_examples=120,
    deadline=2000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    database=None,
)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**3), 10**3),
    st.integers(-(10**60), 10**60),
    st.sampled_from([10**9, -1, 0, 2**63, 10**400, float("inf"), float("nan"), 1e308, 5e-324, -0.0]),
    st.floats(),
    st.sampled_from(["", "64MiB", "250ms", "5000/s", "99p", "NONE", "ONE", "dc1", "shared", "zipf", "\0", "é" * 50]),
    st.text(max_size=12),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
KEYS = st.one_of(
    st.sampled_from(["nodes", "groups", "in_flight", "rate", "extends", "read", "factor", "<<", "x", ""]),
    st.text(max_size=8),
)
OVERRIDES = st.one_of(st.text(max_size=30), st.tuples(KEYS, st.text(max_size=10)).map("=".join))


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all entries below a value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, entry in entries:
        yield (*path, part)
        yield from paths(entry, (*path, part))


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """Return the keys of a shipped scenario after one to four deletions, exchanges, insertions or renamings."""
    values = copy.deepcopy(FULL[draw(st.sampled_from(NAMES))])
    for _ in range(draw(st.integers(1, 4))):
        all_paths = list(paths(values))
        if not all_paths:
            break
        path = draw(st.sampled_from(all_paths))
        holder = values
        for part in path[:-1]:
            holder = holder[part]
        _mutate(draw, holder, path[-1])
    return values


def _mutate(draw: st.DrawFn, holder: Any, part: Any) -> None:
    kind = draw(st.sampled_from(["delete", "exchange", "exchange", "insert", "rename"]))
    if kind == "delete":
        del holder[part]
    elif kind == "exchange" or isinstance(holder, list):
        holder[part] = draw(VALUES)
    elif kind == "insert":
        holder[draw(KEYS)] = draw(VALUES)
    else:
        holder[draw(KEYS)] = holder.pop(part)


def outcome(path: Path) -> Scenario | ScenarioError:
    """Return what reading a file gives, after a look at it."""
    try:
        scenario = load_scenario(path)
    except ScenarioError as error:
        assert error.exit_code == 2 and error.problems
        for problem in error.problems:
            assert problem.right and problem.file
            assert len(str(problem).splitlines()) == 1 and len(str(problem)) < 1000
        return error
    assert scenario_summary(scenario)
    return scenario


@given(values=mutated())
@QUICK
def test_mutated_values(values: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "mutated.yaml"
    path.write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")
    read = outcome(path)
    if isinstance(read, Scenario):
        path.write_text(dump_scenario(read, differences=True), encoding="utf-8")
        assert load_scenario(path) == read


@given(
    name=st.sampled_from(NAMES),
    start=st.floats(0, 1),
    length=st.integers(0, 40),
    piece=st.one_of(st.binary(max_size=30), st.text(max_size=20).map(lambda text: text.encode(errors="replace"))),
)
@QUICK
def test_mutated_bytes(name: str, start: float, length: int, piece: bytes, tmp_path: Path) -> None:
    content, path = TEXTS[name], tmp_path / "mutated.yaml"
    at = int(start * len(content))
    path.write_bytes(content[:at] + piece + content[at + length :])
    outcome(path)


@given(content=st.one_of(st.binary(max_size=200), st.text(alphabet="{}[]:,-?&*!|>'\"%@` \n\tab0.", max_size=200)))
@QUICK
def test_garbage(content: bytes | str, tmp_path: Path) -> None:
    path = tmp_path / "garbage.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    outcome(path)


@given(overrides=st.lists(OVERRIDES, max_size=4))
@QUICK
def test_any_override(overrides: list[str]) -> None:
    try:
        load_scenario("default", overrides)
    except ScenarioError as error:
        assert error.problems


@given(path=st.sampled_from(list(paths(FULL["default"]))), value=VALUES)
@QUICK
def test_any_value_for_any_key(path: tuple[Any, ...], value: Any) -> None:
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True).removesuffix("\n...\n")
    try:
        load_scenario("default", [f"{'.'.join(map(str, path))}={text}"])
    except ScenarioError as error:
        assert error.problems


DEEP = 2000
BOMBS = {
    "aliases": "\n".join(["a0: &a0 x", *(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 200))]),
    "self": "a: &a [*a]",
    "flow": "[" * DEEP,
    "flow maps": "{a: " * DEEP,
    "blocks": "\n".join(" " * depth + "a:" for depth in range(DEEP)),
    "sequences": "- " * DEEP,
    "keys": "? " * DEEP,
    "tags": "!a " * DEEP,
    "anchors": "&a " * DEEP,
    "quotes": "'" * (DEEP + 1),
    "long key": f"{'k' * 10**6}: 1",
    "long number": f"cluster: {{nodes: {'9' * 10**6}}}",
    "long size": f"hardware: {{ram: {'1' * 10**6} x y}}",
    "many keys": "\n".join(f"k{i}: 1" for i in range(20_000)),
    "many groups": "cluster: {groups: [" + "{nodes: 4096}, " * 3000 + "]}",
    "many tokens": "cluster: {tokens: [" + "[1, 2, 3, 4], " * 20_000 + "]}",
    "chains": "extends: bomb.yaml",
    "endless words": "title: " + "x" * 10**6 + "\nrf: 3",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_text(BOMBS[name], encoding="utf-8")
    assert isinstance(outcome(path), ScenarioError)


def test_the_mutations_bite_and_the_unmutated_pass(tmp_path: Path) -> None:
    """Negative control: of the mutants a good share is refused and a good share is read."""
    seen = {Scenario: 0, ScenarioError: 0}

    @given(values=mutated())
    @settings(QUICK, max_examples=250)
    def count(values: dict[str, Any]) -> None:
        path = tmp_path / "mutated.yaml"
        path.write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")
        seen[type(outcome(path))] += 1

    count()
    assert min(seen.values()) > 15
    for name in NAMES:
        (tmp_path / "own.yaml").write_bytes(TEXTS[name])
        assert isinstance(outcome(tmp_path / "own.yaml"), Scenario)
