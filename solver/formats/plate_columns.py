"""Columns of the force, centre of pressure and free moment of each plate, by the names that programs give them.

OpenSim: ``..._vx`` force, ``..._px`` centre of pressure, ``..._mx`` or ``...torque..._x`` free moment. If no column has
these names: ``FP1_Fx``, ``Fx1``, ``Force_Fx1``, ``FP1_Force_X`` force; ``COP``, ``C`` or ``P`` in its place for the
centre of pressure and ``M``, ``T``, ``Moment`` or ``Torque`` for the moment; x, y and z of each. Vectors flattened by
OpenSim are ``f1_1``, ``f1_2``, ``f1_3``, ``p1_1`` ..., ``m1_1`` ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..base.errors import InputError

FORCE, POINT, MOMENT = "v", "p", "m"
KNOWN_NAMES = "..._vx, ..._vy, ..._vz, or FP1_Fx, Fx1, Force_Fx1, FP1_Force_X and the like for x, y, z"
"""Known names of force columns, for messages."""
MIN_LEVEL_MOMENT = 2.0
"""[N m] Root mean square under load of moments about horizontal axes from which on they are not free moments. Measured
on the recordings of `axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the same."""
_FORCE_COLUMN = re.compile(r"^(?P<stem>.+?)_?(?P<what>[vpm])(?P<axis>[xyz])$", re.IGNORECASE)
_TORQUE_COLUMN = re.compile(r"^(?P<stem>.*(?:torque|moment).*?)_?m?(?P<axis>[xyz])$", re.IGNORECASE)
_DOCUMENTED = re.compile(r"^(?P<stem>.+)\.(?P<what>[fpm])(?P<axis>[xyz])$")
_FLATTENED = re.compile(r"^(?P<what>[fpm])(?P<plate>\d+)_(?P<axis>[123])$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[ _.:\-]+")
_LETTERS = {"f": FORCE, "c": POINT, "cop": POINT, "p": POINT, "m": MOMENT, "t": MOMENT}
_WORDS = {
    "force": FORCE,
    "grf": FORCE,
    "f": FORCE,
    "cop": POINT,
    "p": POINT,
    "moment": MOMENT,
    "torque": MOMENT,
    "m": MOMENT,
}
_AXIS = re.compile(rf"^(?P<what>{'|'.join(_LETTERS)})?(?P<before>\d*)(?P<axis>[xyz])(?P<after>\d*)$")
_WORD = re.compile(rf"^(?P<what>{'|'.join(_WORDS)})(?P<number>\d*)$")
_DISPLAY_NAMES = {FORCE: "F", POINT: "COP", MOMENT: "M"}

Plates = Mapping[str, Mapping[str, tuple[str, ...]]]


def has_force_columns(names: Sequence[str]) -> bool:
    """Whether columns of these names hold forces."""
    return has_free_moments(names) or any(
        set("xyz") <= set(own.get(FORCE, {})) for own in _parse_other_names(names).values()
    )


def has_documented_titles(names: Sequence[str]) -> bool:
    """Whether columns of forces have the titles of this program's own tables."""
    return any(match["what"] == "f" for match in map(_DOCUMENTED.match, names) if match)


def has_only_forces(names: Sequence[str]) -> bool:
    """Whether all columns but the time have names of forces, points and moments."""
    known = (_FORCE_COLUMN.match, _TORQUE_COLUMN.match, _parse_name)
    return all(any(match(name) for match in known) for name in names if name.lower() != "time")


def has_free_moments(names: Sequence[str]) -> bool:
    """Whether columns have OpenSim's names, which identify free moments; other moments may be about any point."""
    return any(match and match["what"].lower() == FORCE for match in map(_FORCE_COLUMN.match, names))


def find_plate_columns(path: str | Path, names: Sequence[str]) -> Plates:
    """Column names (x, y, z) of force "v", point "p" and moment "m" by plate, in the file's order.

    Raises:
        InputError: no column is a force, a plate lacks an axis, or two columns have the same meaning.
    """
    named = any(FORCE in groups for groups in _parse_other_names(names).values())
    return _other_plates(path, names) if named and not has_free_moments(names) else _opensim_plates(path, names)


def check_free_moments(path: str | Path, plate: str, forces: np.ndarray, moments: np.ndarray) -> None:
    """Check that the moments (N, 3) [N m] of a plate with forces (N, 3) [N] are about the centre of pressure.

    Raises:
        InputError: they have horizontal components, unlike moments about the centre of pressure.
    """
    load = np.nan_to_num(forces)
    up = int(np.argmax(np.abs(load.sum(axis=0))))
    loaded = load[:, up] ** 2 > 0.0
    level = np.delete(np.nan_to_num(moments[loaded]), up, axis=1)
    size = float(np.sqrt(np.mean(np.sum(level**2, axis=1)))) if len(level) else 0.0
    if size > MIN_LEVEL_MOMENT:
        problem = f"the moments of plate {plate!r} have horizontal components of {size:.0f} N m: they are not free "
        problem += "moments, and their reference point is unknown"
        remedy = "Remove these columns, or export the free moments at the centre of pressure"
        raise InputError(path, problem, remedy=remedy)


def _opensim_plates(path: str | Path, names: Sequence[str]) -> Plates:
    found: dict[str, dict[str, dict[str, str]]] = {}
    shown: dict[str, str] = {}
    for name in names:
        torque, force = _TORQUE_COLUMN.match(name), _FORCE_COLUMN.match(name)
        if (match := torque or force) is None:
            continue
        what = MOMENT if torque else match["what"].lower()
        stem = match["stem"].rstrip("_")
        key = re.sub("torque|moment", "force", stem, flags=re.IGNORECASE).lower()
        shown.setdefault(key, re.sub("torque|moment", "force", stem, flags=re.IGNORECASE))
        found.setdefault(key, {}).setdefault(what, {})[match["axis"].lower()] = name
    plates: dict[str, dict[str, tuple[str, ...]]] = {}
    for key, groups in found.items():
        if FORCE not in groups and set(groups) == {POINT}:
            continue  # a column whose name happens to end in px, py or pz
        plates[shown[key]] = _require_axes(path, shown[key], {FORCE: {}, **groups}, lambda what, axis: f"{what}{axis}")
    if not plates:
        raise InputError(path, f"has no force columns ({KNOWN_NAMES})", remedy="Name a file of ground reaction forces")
    return plates


def _other_plates(path: str | Path, names: Sequence[str]) -> Plates:
    plates: dict[str, dict[str, tuple[str, ...]]] = {}
    for plate, groups in _parse_other_names(names).items():
        if FORCE not in groups:
            continue
        for axes in groups.values():
            if twice := [each for each in axes.values() if len(each) > 1]:
                problem = f"columns {' and '.join(map(repr, twice[0]))} of plate {plate!r} have the same meaning"
                raise InputError(path, problem, remedy="Remove one of them")
        single = {what: {axis: each[0] for axis, each in axes.items()} for what, axes in groups.items()}
        plates[plate] = _require_axes(path, plate, single, lambda what, axis: f"{_DISPLAY_NAMES[what]}{axis}")
    return plates


def _require_axes(
    path: str | Path, plate: str, groups: Mapping[str, Mapping[str, str]], column_name: Callable[[str, str], str]
) -> dict[str, tuple[str, ...]]:
    """Columns of a plate in the order of the axes; each quantity must have all three."""
    for what, axes in groups.items():
        if set(axes) != set("xyz"):
            lacking = ", ".join(column_name(what, axis) for axis in "xyz" if axis not in axes)
            problem = f"plate {plate!r} lacks the columns {lacking}"
            raise InputError(path, problem, remedy="Export force, point and moment of every plate")
    return {what: tuple(axes[axis] for axis in "xyz") for what, axes in groups.items()}


def _parse_other_names(names: Sequence[str]) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Columns by plate, quantity and axis, for names that are not OpenSim's."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for name in names:
        if (read := _parse_name(name)) is not None:
            plate, what, axis = read
            found.setdefault(plate, {}).setdefault(what, {}).setdefault(axis, []).append(name)
    return found


def _parse_name(name: str) -> tuple[str, str, str] | None:
    """Plate, quantity and axis of one column; None if its name is unknown."""
    if titled := _DOCUMENTED.match(name):
        return titled["stem"], _LETTERS[titled["what"]], titled["axis"]
    if flat := _FLATTENED.match(name):
        return flat["plate"], _LETTERS[flat["what"].lower()], "xyz"[int(flat["axis"]) - 1]
    rest, kinds, letters, axes = [], [], [], []
    for part in filter(None, _SEPARATORS.split(name)):
        plain = part.lower()
        if axis := _AXIS.match(plain):
            axes.append(axis["axis"])
            letters += [_LETTERS[axis["what"]]] if axis["what"] else []
            rest += [number for number in (axis["before"], axis["after"]) if number]
        elif word := _WORD.match(plain):
            kinds.append(_WORDS[word["what"]])
            rest += [word["number"]] if word["number"] else []
        else:
            rest.append(part)
    quantities = letters or kinds
    return ("_".join(rest) or "plate", quantities[0], axes[0]) if len(axes) == 1 and quantities else None
