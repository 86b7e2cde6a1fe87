"""Names that files of ours were written with and that have since been replaced: old files keep loading.

A file names the fields of the classes that it holds, members of enumerations, and, where a field admits several
classes, the class. `value_tree` looks up here what it does not find among the present names; files are only ever
written with those.
"""

from __future__ import annotations

from collections.abc import Mapping

CLASSES: Mapping[str, str] = {}
"""Present name of a class, by its former name."""
FIELDS: Mapping[str, Mapping[str, str]] = {}
"""Of a class (by its present name): the present name of a field or member, by its former name."""
REMOVED: Mapping[str, frozenset[str]] = {
    "Motion": frozenset({"shifts"}),
}
"""Of a class (by its present name): entries that files may hold and that nothing reads any more; they are ignored."""


def present_class(name: str) -> str:
    """The present name of a class that a file names."""
    return CLASSES.get(name, name)


def present_field(owner: type, name: str) -> str:
    """The present name of a field, or of a member of an enumeration, that a file names."""
    return FIELDS.get(owner.__name__, {}).get(name, name)


def is_removed(owner: type, name: str) -> bool:
    """Whether an entry is of a field that its class no longer has."""
    return name in REMOVED.get(owner.__name__, ())
