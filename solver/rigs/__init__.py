"""Rigs: a person, HOAP-3, an approximate HRP-2, and any robot from URDF or MJCF.

`build` makes any of them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from ..errors import InvalidValue, UnknownPreset
from ..rig import Rig
from .hoap3 import hoap3
from .hrp2 import hrp2
from .human import human
from .mjcf import from_mjcf
from .urdf import from_urdf

RIG_BUILDERS: dict[str, Callable[..., Rig]] = {
    "human": human, "hoap3": hoap3, "hrp2": hrp2, "urdf": from_urdf, "mjcf": from_mjcf,
}  # fmt: skip
"""Rig builders by ``kind``."""


def builder_arguments(kind: str) -> tuple[str, ...]:
    """Names of what the builder of a kind takes.

    Raises:
        UnknownPreset: no rig of that kind.
    """
    if kind not in RIG_BUILDERS:
        raise UnknownPreset(kind, RIG_BUILDERS)
    return tuple(signature(RIG_BUILDERS[kind]).parameters)


def build_rig(parameters: Mapping[str, Any]) -> Rig:
    """The rig of a ``kind`` (one of `KINDS`), from it and its builder's arguments by name: SI units.

    Raises:
        UnknownPreset: no rig of that kind.
        InvalidValue: no kind given, an argument the kind needs is missing, or one that it does not take.

    Example:
        >>> import solver
        >>> rig = solver.build_rig({"kind": "human", "height": 1.75, "mass": 70.0, "sex": "female"})
        >>> f"{rig.prior.total_mass:.1f} kg"
        '70.0 kg'
    """
    kind = parameters.get("kind")
    if kind is None:
        raise InvalidValue(f"rig parameters need a 'kind': {', '.join(RIG_BUILDERS)}")
    takes = builder_arguments(str(kind))
    arguments = {name: value for name, value in parameters.items() if name != "kind"}
    if odd := [name for name in arguments if name not in takes]:
        raise InvalidValue(f"a rig of kind {kind!r} takes no {', '.join(odd)}; it takes {', '.join(takes)}")
    required = [p.name for p in signature(RIG_BUILDERS[kind]).parameters.values() if p.default is Parameter.empty]
    missing = [name for name in required if name not in arguments]
    if missing:
        raise InvalidValue(f"a rig of kind {kind!r} needs {', '.join(missing)}")
    return RIG_BUILDERS[kind](**arguments)


__all__ = ["RIG_BUILDERS", "build_rig", "from_mjcf", "from_urdf", "hoap3", "hrp2", "human"]
