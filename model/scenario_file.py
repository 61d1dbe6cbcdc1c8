"""Scenario files: from YAML to a scenario and back, with every problem of a file reported at once.

A file holds differences: from the scenario it `extends`, and otherwise from the shipped `default`. What a file
says is read with its lines, laid over what it extends, overridden, validated key by key, and searched for
contradictions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from .cluster import Replication
from .errors import Problem, ScenarioError
from .inheritance import FREE_MAPS, RIVALS, merged, without_empty
from .located import Located, path_of, printable
from .located import Path as KeyPath
from .overrides import apply_overrides
from .scenario import Scenario
from .scenario_problems import problems_of
from .scenario_source import DEFAULT, ScenarioSource, find_source, shipped_label
from .units import READABLE
from .validation import paths_of_error, problems_of_error, shown
from .yaml_source import read_yaml

EXTENDS = "extends"
_LONGEST_CHAIN = 20
_FACTOR: KeyPath = ("cluster", "replication", "factor")


def load_scenario(source: str | Path, overrides: Sequence[str] = ()) -> Scenario:
    """Return the scenario of a shipped name or a file, with overrides (`key=value`) laid over it.

    Raises:
        ScenarioError: all problems of the file, of what it extends, and of the overrides.
    """
    found = find_source(source)
    document = apply_overrides(_complete(found), overrides)
    return _scenario(without_empty(document), found)


def parse_scenario(text: str, label: str, folder: Path | None = None) -> Scenario:
    """Return the scenario of a text, as if it stood in a file of a folder.

    Args:
        text: YAML.
        label: its name in problems.
        folder: where files that it extends are found.

    Raises:
        ScenarioError: all problems of the text and of what it extends.
    """
    found = ScenarioSource(label, label, text.encode(), folder)
    return _scenario(without_empty(_complete(found)), found)


def with_overrides(scenario: Scenario, overrides: Sequence[str]) -> Scenario:
    """Return a scenario with overrides (`key=value`) laid over it, by the same rules as over a file.

    Raises:
        ScenarioError: all problems of the overrides and of what they lead to.
    """
    found = ScenarioSource(scenario.name, scenario.name, dump_scenario(scenario).encode(), None)
    return _scenario(without_empty(apply_overrides(_complete(found), overrides)), found)


def _complete(source: ScenarioSource) -> Located:
    """Return what a source says, laid over all that it extends; the name is its own."""
    chain = [(source, _read(source))]
    while (parent := _parent(chain)) is not None:
        chain.append((parent, _read(parent)))
    document = chain[-1][1]
    for _, child in reversed(chain[:-1]):
        document = merged(document.without([("name",), ("title",)]), child)
    named = document.get(("name",)) or Located(source.name, document.place)
    return document.without([(EXTENDS,)]).with_child("name", named)


def _read(source: ScenarioSource) -> Located:
    document = read_yaml(source.content, source.label, ScenarioError)
    if not isinstance(document.value, dict):
        right = "a map of keys, such as `cluster: {nodes: 4}`"
        raise ScenarioError([Problem("", None, right, source.label, document.place.line)])
    return document


def _parent(chain: Sequence[tuple[ScenarioSource, Located]]) -> ScenarioSource | None:
    """Return what the last of a chain extends.

    Raises:
        ScenarioError: it is no text, cannot be found, or is in the chain already.
    """
    source, document = chain[-1]
    named = document.child(EXTENDS)
    if named is None:
        is_default = source.identity == shipped_label(DEFAULT)
        return None if is_default else find_source(DEFAULT)
    if not isinstance(named.value, str):
        raise _extends_error(named, "the name of a shipped scenario, or a file")
    try:
        parent = find_source(named.value, source.folder)
    except ScenarioError as error:
        raise _extends_error(named, "; ".join(problem.right for problem in error.problems)) from None
    if parent.identity in {earlier.identity for earlier, _ in chain} or len(chain) > _LONGEST_CHAIN:
        raise _extends_error(named, "a scenario that does not lead back here; this one goes round in a circle")
    return parent


def _extends_error(named: Located, right: str) -> ScenarioError:
    return ScenarioError([Problem(EXTENDS, shown(named.plain()), right, named.place.file, named.place.line)])


def _scenario(document: Located, source: ScenarioSource) -> Scenario:
    """Return the scenario that a complete document describes.

    Raises:
        ScenarioError: all problems at once.
    """
    try:
        scenario = _fitted(Scenario.model_validate(document.plain()), document, source)
        problems = [_at_its_place(problem, document) for problem in problems_of(scenario)]
    except ValidationError as error:
        problems = problems_of_error(error, document, Scenario) + _other_problems(error, document)
    if problems:
        raise ScenarioError([_on_a_line(_from_default(problem, source)) for problem in problems])
    return scenario


def _other_problems(error: ValidationError, document: Located) -> list[Problem]:
    """Return the contradictions between the keys that could be read."""
    unread = paths_of_error(error, document)
    try:
        scenario = Scenario.model_validate(document.without(list(unread)).plain())
    except ValidationError:
        return []
    return [_at_its_place(problem, document) for problem in problems_of(scenario, unread)]


def _at_its_place(problem: Problem, document: Located) -> Problem:
    place = document.nearest(path_of(problem.key)).place
    return replace(problem, value=shown(problem.value), file=place.file, line=place.line)


def _from_default(problem: Problem, source: ScenarioSource) -> Problem:
    """Return the problem, said of the user's own file when the key stands in the shipped default only."""
    default = shipped_label(DEFAULT)
    if problem.file != default or source.label == default:
        return problem
    return replace(problem, file=source.label, line=None, right=f"{problem.right} (this is the default)")


def _on_a_line(problem: Problem) -> Problem:
    """Return the problem with the user's own names, which it may quote, made fit for a line."""
    return replace(problem, key=printable(problem.key, 100), right=printable(problem.right))


def _fitted(scenario: Scenario, document: Located, source: ScenarioSource) -> Scenario:
    """Return the scenario with the default RF lowered to the nodes there are; an RF that was given stays."""
    replication = scenario.cluster.replication
    is_default = document.nearest(_FACTOR).place.file == shipped_label(DEFAULT)
    if not is_default or not isinstance(replication.factor, int):
        return scenario
    fewest = _fewest_nodes(scenario)
    if fewest >= replication.factor:
        return scenario
    fitted = Replication(strategy=replication.strategy, factor=fewest)
    return scenario.model_copy(update={"cluster": scenario.cluster.model_copy(update={"replication": fitted})})


def _fewest_nodes(scenario: Scenario) -> int:
    """Return the nodes of the smallest datacenter."""
    counts: dict[str, int] = {}
    for group in scenario.cluster.groups:
        counts[group.datacenter] = counts.get(group.datacenter, 0) + group.nodes
    return min(counts.values(), default=scenario.cluster.node_count)


def dump_scenario(scenario: Scenario, *, differences: bool = False) -> str:
    """Return the scenario as a file that reads back as the same scenario.

    Args:
        scenario: the scenario.
        differences: whether to leave out what is as in the shipped default.
    """
    assumed = _as_written(load_scenario(DEFAULT))
    written = _as_written(scenario)
    kept = _differing(written, assumed, ()) if differences else _stated(written, assumed, ())
    head = {key: written[key] for key in ("format_version", "name", "title") if written[key]}
    text: str = yaml.safe_dump(head | kept, sort_keys=False, allow_unicode=True, width=100)
    return text


def _as_written(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario's keys and values as people write them."""
    written = scenario.model_dump(mode="json", context=READABLE)
    groups = [group.model_dump(mode="json", context=READABLE, exclude_unset=True) for group in scenario.cluster.groups]
    written["cluster"]["groups"] = groups
    return written


def _differing(written: Mapping[str, Any], assumed: Mapping[str, Any], path: KeyPath) -> dict[str, Any]:
    """Return the keys that differ; maps whose keys are the user's are written whole."""
    found: dict[str, Any] = {}
    for key, value in written.items():
        old, here = assumed.get(key), (*path, key)
        if isinstance(value, dict) and isinstance(old, dict) and here not in FREE_MAPS:
            found |= {key: below} if (below := _differing(value, old, here)) else {}
        elif value != old:
            found[key] = _stated(value, {}, here) if isinstance(value, dict) else value
    return _without_replaced(found, path)


def _stated(written: Mapping[str, Any], assumed: Mapping[str, Any], path: KeyPath) -> dict[str, Any]:
    """Return all keys but those that are empty here and in what is assumed."""
    found: dict[str, Any] = {}
    for key, value in written.items():
        old = assumed.get(key)
        if isinstance(value, dict):
            below = _stated(value, old if isinstance(old, dict) else {}, (*path, key))
            found |= {key: below} if below else {}
        elif value not in (None, [], {}) or value != old:
            found[key] = value
    return _without_replaced(found, path)


def _without_replaced(found: dict[str, Any], path: KeyPath) -> dict[str, Any]:
    """Return the keys without empty ones that another key replaces anyway."""
    rivals = RIVALS.get(path, {})
    replaced = {other for key in found if found[key] not in (None, []) for other in rivals.get(key, ())}
    return {key: value for key, value in found.items() if value not in (None, []) or key not in replaced}
