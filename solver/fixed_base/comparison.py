"""How well identified inertials of a fixed-base robot explain trials that were not used, compared with the prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import frozen
from ..base.errors import InvalidValue
from ..values.inertials import InertialParameters
from .identify import FixedBaseOptions, FixedBaseTrial, accumulate
from .robot import DRIVES, FixedBaseRobot


@dataclass(frozen=True, slots=True)
class FixedBaseModel:
    """Inertials of the links, and the parameters of the drives that were identified with them.

    Attributes:
        parameters: of the links.
        drives: (n, 4) by joint, columns `DRIVES`, SI; (0, 4) without drives.
    """

    parameters: InertialParameters
    drives: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "drives", frozen("drives", np.reshape(self.drives, (-1, len(DRIVES))), (None, None)))


@dataclass(frozen=True, slots=True)
class FixedBaseComparison:
    """Residuals of one trial.

    Attributes:
        trial: name.
        frames: number of them.
        identified: (R,) root mean square per measured row [N m, N].
        prior: (R,) the same of the prior, with the drives that fit the training trials best with it.
    """

    trial: str
    frames: int
    identified: np.ndarray
    prior: np.ndarray


def compare_fixed_base(
    robot: FixedBaseRobot,
    trials: Sequence[FixedBaseTrial],
    identified: FixedBaseModel,
    prior: FixedBaseModel,
    options: FixedBaseOptions | None = None,
) -> tuple[FixedBaseComparison, ...]:
    """Residuals of trials to which nothing is fitted.

    Args:
        robot: of the trials.
        trials: one or more.
        identified: see `FixedBaseModel`.
        prior: the same of the prior.
        options: the filter of the identification.

    Raises:
        InvalidValue: no trial, other joints than the robot has, or drives of another number of joints.
    """
    options = FixedBaseOptions() if options is None else options
    for model in (identified, prior):
        if model.drives.size != robot.drive_columns:
            raise InvalidValue(f"drives of {len(model.drives)} joints, the robot has {len(robot.names)} moving ones")
    found = []
    for trial in trials:
        equations = accumulate(robot, [trial], options)
        rmse = [
            equations.axis_rmse_with_drives(model.parameters, model.drives.ravel()) for model in (identified, prior)
        ]
        found.append(FixedBaseComparison(trial.name, equations.frames, *rmse))
    if not found:
        raise InvalidValue("no trial to compare")
    return tuple(found)
