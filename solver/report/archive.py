"""The content of a report in one .npz file, so that the page can be made again without the recordings."""

from __future__ import annotations

import json
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from ..errors import InputError
from ..formats.atomic import write_atomically
from .content import Content

FORMAT = "exciting_dance report"
VERSION = 1
TREE = "content"
REMEDY = "Name the report.npz that identify wrote beside its report.html"


def save_content(content: Content, path: str | Path) -> None:
    """Write a report's content, whole or not at all."""
    arrays: dict[str, np.ndarray] = {}
    tree = {"format": FORMAT, "version": VERSION, TREE: _to_tree(content, arrays)}
    with write_atomically(path, binary=True) as stream:
        arrays["tree"] = np.array(json.dumps(tree))
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]  # NumPy's stub takes the names for options


def load_content(path: str | Path) -> Content:
    """Read what `save_content` wrote.

    Raises:
        InputError: missing, or not such a file.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            tree = json.loads(str(archive["tree"]))
            if tree.get("format") != FORMAT or tree.get("version") != VERSION:
                raise InputError(path, "holds no report of this version", remedy=REMEDY)
            result = _from_tree(Content, tree[TREE], archive)
    except FileNotFoundError:
        raise InputError(path, "the file does not exist", remedy=REMEDY) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(path, f"cannot be read as a report ({error})", remedy=REMEDY) from error
    assert isinstance(result, Content)
    return result


def _to_tree(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return name
    if is_dataclass(value):
        return {field.name: _to_tree(getattr(value, field.name), arrays) for field in fields(value)}
    if isinstance(value, tuple):
        return [_to_tree(entry, arrays) for entry in value]
    return value.item() if isinstance(value, np.generic) else value


def _from_tree(kind: Any, tree: Any, arrays: Any) -> Any:
    """The value of a declared type behind its tree."""
    if kind is np.ndarray:
        return arrays[tree]
    if get_origin(kind) is UnionType:
        return None if tree is None else _from_tree(get_args(kind)[0], tree, arrays)
    if get_origin(kind) is tuple:
        inner = get_args(kind)
        kinds = [inner[0]] * len(tree) if inner[-1] is Ellipsis else list(inner)
        return tuple(_from_tree(each, entry, arrays) for each, entry in zip(kinds, tree, strict=True))
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: _from_tree(hints[field.name], tree[field.name], arrays) for field in fields(kind)})
    return kind(tree)
