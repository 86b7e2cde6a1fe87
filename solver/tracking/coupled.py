"""Limits that several joints share: A s <= b of rapetti2020 (11), as of shoulders that are moved by tendons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import frozen
from ..errors import InvalidValue, UnknownName
from ..rig import ROOT_NV, Rig


@dataclass(frozen=True, slots=True)
class CoupledLimits:
    """A s <= b on the angles s of some joints.

    Attributes:
        joints: J names of joints with one coordinate each.
        coefficients: (M, J) A.
        bounds: (M,) b [rad].
    """

    joints: tuple[str, ...]
    coefficients: np.ndarray
    bounds: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(
            self, "coefficients", frozen("shares of coupled limits", self.coefficients, (None, len(self.joints)))
        )
        object.__setattr__(self, "bounds", frozen("coupled limits", self.bounds, (len(self.coefficients),)))

    def matrix(self, rig: Rig) -> np.ndarray:
        """A over all joint coordinates of a rig (M, nv - 6).

        Raises:
            UnknownName: the rig lacks a joint.
            InvalidValue: a joint has more than one coordinate.
        """
        names = [joint.name for joint in rig.joints]
        starts = np.cumsum([0, *(joint.nv for joint in rig.joints)])
        result = np.zeros((len(self.bounds), rig.nv - ROOT_NV))
        for name, column in zip(self.joints, self.coefficients.T):
            if name not in names:
                raise UnknownName(name, names)
            index = names.index(name)
            if rig.joints[index].nv != 1:
                raise InvalidValue(f"joint {name!r} has {rig.joints[index].nv} coordinates; coupled limits take angles")
            result[:, starts[index] - ROOT_NV] += column
        return result
