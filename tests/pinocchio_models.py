"""Descriptions of rigs from Pinocchio's models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from solver.base.errors import InvalidValue
from solver.values.inertials import PER_LINK, InertialParameters
from solver.values.joints import KINDS, Joint
from tests.pinocchio import pin


def kinds_by_name() -> dict[str, str]:
    """Kind of joint by Pinocchio's name."""
    from solver.engine.pinocchio_model import ALIGNED, ALONG, WITHOUT_AXIS

    return {
        **{kind().shortname(): name for name, kinds in ALIGNED.items() for kind in kinds},
        **{kind(np.array([1.0, 0.0, 0.0])).shortname(): name for name, kind in ALONG.items()},
        "JointModelRevoluteUnboundedUnaligned": "continuous",
        **{kind().shortname(): name for name, kind in WITHOUT_AXIS.items()},
        "JointModelUniversal": "universal",
    }


def joints_of(model: Any) -> tuple[Joint, ...]:
    """The joints of a Pinocchio model, in its order.

    Raises:
        InvalidValue: a joint of a kind that rigs do not have.
    """
    result, known = [], kinds_by_name()
    for index in range(1, model.njoints):
        name, called = model.names[index], model.joints[index].shortname()
        if called not in known:
            raise InvalidValue(f"joint {name!r} is a {called}, none of {', '.join(known)}")
        kind = known[called]
        directions = motion_subspace(model, index)
        axes = directions[:3].T if kind == "prismatic" else directions[3:].T[: KINDS[kind][2]]
        place = model.jointPlacements[index]
        result.append(Joint(name, kind, int(model.parents[index]) - 1, place.translation, place.rotation, axes))
    return tuple(result)


def inertials_of(links: Sequence[str], model: Any) -> InertialParameters:
    """The inertial parameters of a Pinocchio model; joint k + 1 moves link k."""
    values = [model.inertias[joint].toDynamicParameters() for joint in range(1, model.njoints)]
    return InertialParameters(tuple(links), np.array(values).reshape(-1, PER_LINK))


def motion_subspace(model: Any, joint: int) -> np.ndarray:
    """(6, nv) of a joint at its neutral position: linear rows, then angular ones, axes of the link it moves."""
    data = model.joints[joint].createData()
    model.joints[joint].calc(data, pin.neutral(model))
    return np.array(data.S).reshape(6, -1)
