"""Bodies ready to use: people, HOAP-3, a stand-in of HRP-2, and any URDF.

`build` makes any of them again from the parameters a rig carries.
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
from .urdf import from_urdf

KINDS: dict[str, Callable[..., Rig]] = {"human": human, "hoap3": hoap3, "hrp2": hrp2, "urdf": from_urdf}
"""Rig builders by the ``kind`` in their parameters."""
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "human": ("height", "mass", "sex", "variant", "table", "lengths", "joints"),
    "hoap3": ("payload", "torque"),
    "hrp2": ("mass",),
    "urdf": ("path", "packages", "meshes", "feet", "base_link"),
}
"""What each builder takes; anything else in a rig's parameters is what the builder found out."""


def build(parameters: Mapping[str, Any]) -> Rig:
    """The rig that `Rig.parameters` describe.

    Raises:
        UnknownPreset: no rig of that kind.
        InvalidValue: no kind given, or an argument the kind needs is missing.
    """
    kind = parameters.get("kind")
    if kind is None:
        raise InvalidValue(f"rig parameters need a 'kind': {', '.join(KINDS)}")
    if kind not in KINDS:
        raise UnknownPreset(str(kind), KINDS)
    arguments = {name: parameters[name] for name in ARGUMENTS[kind] if name in parameters}
    required = [p.name for p in signature(KINDS[kind]).parameters.values() if p.default is Parameter.empty]
    missing = [name for name in required if name not in arguments]
    if missing:
        raise InvalidValue(f"a rig of kind {kind!r} needs {', '.join(missing)}")
    return KINDS[kind](**arguments)


__all__ = ["KINDS", "build", "from_urdf", "hoap3", "hrp2", "human"]
