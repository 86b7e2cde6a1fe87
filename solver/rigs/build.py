"""Builds a rig of any kind by its name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

from ..base.errors import InvalidValue, UnknownRig, checked
from ..base.files import AnyPath
from ..skeleton.rig import Rig
from ..values.rig_kinds import RIG_KINDS, RigKind, find_rig_kind
from .robot_files import find_file_kind


def builder_arguments(kind: str) -> tuple[str, ...]:
    """Names of the parameters of a kind's builder.

    Raises:
        UnknownRig: no rig of that kind.
    """
    return tuple(signature(_require_kind(kind).load_builder()).parameters)


@checked
def build_rig(parameters: AnyPath | Mapping[str, Any]) -> Rig:
    """The rig of a kind.

    Args:
        parameters: ``kind`` (a name of `RIG_KINDS`) and its builder's arguments by name, SI units; or the name alone
            for a kind that needs no arguments, such as ``"hoap3"``; or a robot's file.

    Raises:
        UnknownRig: no rig of that kind.
        InvalidValue: no kind given, an argument is missing or unknown, or neither a name nor a mapping.

    Example:
        >>> import solver
        >>> rig = solver.build_rig({"kind": "human", "height": 1.75, "mass": 70.0, "sex": "female"})
        >>> f"{rig.prior.total_mass:.1f} kg"
        '70.0 kg'
        >>> solver.build_rig("hoap3") == solver.hoap3()
        True
    """
    if isinstance(parameters, str | os.PathLike):
        if (row := find_file_kind(parameters)) is not None:
            read: Rig = row.load_builder()(parameters)
            return read
        parameters = {"kind": os.fspath(parameters)}
    if not isinstance(parameters, Mapping):
        raise InvalidValue(
            f"{parameters!r} is neither a name nor a mapping with a 'kind': {', '.join(row.name for row in RIG_KINDS)}"
        )
    if (kind := parameters.get("kind")) is None:
        raise InvalidValue(f"rig parameters need a 'kind': {', '.join(row.name for row in RIG_KINDS)}")
    takes = builder_arguments(str(kind))
    arguments = {name: value for name, value in parameters.items() if name != "kind"}
    if odd := [name for name in arguments if name not in takes]:
        raise InvalidValue(f"a rig of kind {kind!r} takes no {', '.join(odd)}; it takes {', '.join(takes)}")
    builder = _require_kind(str(kind)).load_builder()
    required = [p.name for p in signature(builder).parameters.values() if p.default is Parameter.empty]
    if missing := [name for name in required if name not in arguments]:
        raise InvalidValue(f"a rig of kind {kind!r} needs {', '.join(missing)}")
    rig: Rig = builder(**arguments)
    return rig


def _require_kind(name: str) -> RigKind:
    if (row := find_rig_kind(name)) is None:
        raise UnknownRig(name, [row.name for row in RIG_KINDS])
    return row
