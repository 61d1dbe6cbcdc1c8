"""How a file that holds only differences is laid over the one it extends.

Maps are merged key by key, everything else is replaced. Three exceptions, because the keys exclude each other:
`nodes` replaces `groups` and the reverse; a kind of load replaces the other kinds; and an operation mix that
states a share is the whole mix (consistency levels that it does not state are kept).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .located import Located, Path

_OPEN_ONLY = ("rate", "max_in_flight", "arrivals", "burst_size")
RIVALS: Mapping[Path, Mapping[str, tuple[str, ...]]] = {
    ("cluster",): {"nodes": ("groups",), "groups": ("nodes", "racks")},
    ("clients",): {
        "in_flight": ("in_flight_per_node", *_OPEN_ONLY),
        "in_flight_per_node": ("in_flight", *_OPEN_ONLY),
        "rate": ("in_flight", "in_flight_per_node", "think_time"),
    },
}
"""For each map and key: the keys of the extended file that it replaces."""
OPERATIONS: Path = ("workload", "operations")
FREE_MAPS: tuple[Path, ...] = (OPERATIONS, ("cluster", "replication", "factor"), ("cluster", "settings"))
"""Maps whose keys are the user's; an empty value (`write:`) takes a key of the extended file away."""


def merged(parent: Located, child: Located, path: Path = ()) -> Located:
    """Return `parent` with the differences of `child` laid over it."""
    if not (isinstance(parent.value, dict) and isinstance(child.value, dict)):
        return child
    gone = set(_replaced(parent.value, child.value, path))
    entries = {key: entry for key, entry in parent.value.items() if key not in gone}
    for key, entry in child.value.items():
        entries[key] = merged(entries[key], entry, (*path, key)) if key in entries else entry
    return Located(entries, child.place)


def _replaced(parent: Mapping[str, Located], child: Mapping[str, Located], path: Path) -> Iterator[str]:
    """Yield the keys of the parent that the child's keys replace."""
    given = {key for key, entry in child.items() if entry.value not in (None, ())}
    for key in given:
        yield from RIVALS.get(path, {}).get(key, ())
    if path == OPERATIONS and any(operation.child("share") is not None for operation in child.values()):
        yield from set(parent) - set(child)


def without_empty(document: Located) -> Located:
    """Return the document without the empty entries of maps whose keys are the user's."""
    empty = [
        (*path, key)
        for path in FREE_MAPS
        if (entries := document.get(path)) is not None
        for key, entry in entries.entries()
        if entry.value is None
    ]
    return document.without(empty) if empty else document
