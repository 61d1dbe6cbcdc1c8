"""YAML text read as values with their lines, and refused where it could hang or mislead a reader.

Plain YAML only: one document, maps with names as keys, lists, texts, numbers, true and false. Aliases are
refused, because a few lines of them can stand for billions of values; so are deep nesting and huge files.
Words that YAML 1.1 takes for a date or for a number to base 60 (`1:30`) stay text.
"""

from __future__ import annotations

import yaml

from .errors import InputError, Problem
from .located import Located, Place, Scalar

MAX_BYTES = 4 * 2**20
"""Largest file: twice the tokens of 192 nodes with 256 tokens each."""
MAX_DEPTH = 20
"""Deepest nesting; the formats of this package need 6."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {f"{_TAG}{name}" for name in ("str", "timestamp", "merge", "value")}
_COLLECTION_TAGS = {f"{_TAG}map", f"{_TAG}seq"}
_NUMBER_TAGS = {f"{_TAG}int", f"{_TAG}float"}


def read_yaml(content: bytes, file: str, error: type[InputError]) -> Located:
    """Return the values of a YAML text with their lines.

    Args:
        content: the bytes of the file.
        file: its name in problems.
        error: the exception to raise.

    Raises:
        InputError: of the given type; all duplicate and unreadable keys at once, or the first fault of syntax.
    """
    if len(content) > MAX_BYTES:
        raise error([Problem("", None, f"at most {MAX_BYTES // 2**20} MiB", file)])
    try:
        node = _compose(content.decode("utf-8-sig"))
    except UnicodeDecodeError as fault:
        raise error([Problem("", None, f"text in UTF-8; byte {fault.start} is none", file)]) from None
    except yaml.YAMLError as fault:
        raise error([_syntax_problem(fault, file)]) from None
    reader = _NodeReader(file)
    root = reader.read(node) if node is not None else Located(None, Place(file, 1))
    if reader.problems:
        raise error(reader.problems)
    return root


def _compose(text: str) -> yaml.Node | None:
    """Return the node tree, after a look at the events, which come one by one and cannot run away."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise _RefusedError("no aliases (`*name`); a scenario can extend another with `extends`", event)
        if depth > MAX_DEPTH:
            raise _RefusedError(f"at most {MAX_DEPTH} levels", event)
    node: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    return node


class _RefusedError(yaml.YAMLError):
    """YAML that is right but not read here."""

    def __init__(self, words: str, event: yaml.Event) -> None:
        super().__init__(words)
        self.problem = words
        self.problem_mark = event.start_mark


def _syntax_problem(fault: yaml.YAMLError, file: str) -> Problem:
    mark = getattr(fault, "problem_mark", None)
    words = getattr(fault, "problem", None) or getattr(fault, "reason", None) or "readable YAML"
    return Problem("", None, f"not YAML as read here: {words}", file, None if mark is None else mark.line + 1)


class _NodeReader:
    """Turns nodes into values; collects what cannot be read."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._constructor = yaml.constructor.SafeConstructor()
        self.problems: list[Problem] = []

    def read(self, node: yaml.Node, line: int | None = None) -> Located:
        """Return the value of a node; `line` is that of its key."""
        place = Place(self._file, line or node.start_mark.line + 1)
        if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTION_TAGS:
            self.problems.append(Problem("", None, f"no tag such as {node.tag[:40]!r}", self._file, place.line))
        if isinstance(node, yaml.MappingNode):
            return Located(self._map(node), place)
        if isinstance(node, yaml.SequenceNode):
            return Located(tuple(self.read(entry) for entry in node.value), place)
        return Located(self._scalar(node) if isinstance(node, yaml.ScalarNode) else None, place)

    def _map(self, node: yaml.MappingNode) -> dict[str, Located]:
        entries: dict[str, Located] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self.problems.append(Problem("", None, "a name before the colon", self._file, line))
            elif key.value in entries:
                first = entries[key.value].place.line
                words = f"{key.value[:40]!r} only once; line {first} has it too"
                self.problems.append(Problem("", None, words, self._file, line))
            else:
                entries[key.value] = self.read(value, line)
        return entries

    def _scalar(self, node: yaml.ScalarNode) -> Scalar:
        try:
            return self._constructed(node)
        except (ValueError, KeyError, OverflowError):
            right = "a number of fewer digits" if node.tag in _NUMBER_TAGS else "plain text, a number, true or false"
            line = node.start_mark.line + 1
            self.problems.append(Problem("", None, f"{node.value[:20]!r}: {right}", self._file, line))
            return None

    def _constructed(self, node: yaml.ScalarNode) -> Scalar:
        if node.tag in _TEXT_TAGS or (node.tag in _NUMBER_TAGS and ":" in node.value):
            return str(node.value)
        if node.tag in _NUMBER_TAGS | {f"{_TAG}bool", f"{_TAG}null"}:
            value: Scalar = self._constructor.construct_object(node)
            return value
        raise ValueError(node.tag)
