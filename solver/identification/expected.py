"""What a motion will determine of a body, before anybody records it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..dynamics import wrench_regressor
from ..scene.determined import DATA, WRENCH_KIND, DeterminedQuantity
from ..signals.pooling import TWO_SIDED_STDS
from ..signals.trial import Trial
from ..skeleton.rig import Rig
from ..tracking.motion_errors import MotionErrors
from ..values.motion import Motion
from ..values.wrenches import Wrenches
from .accumulate import accumulate_regression
from .error_model.posture_wrenches import posture_wrenches
from .excitation.excitation import INDEPENDENT_RATE, PLATE_NOISE
from .identify import IdentifyOptions, consistent_options
from .posterior import posterior

PERSON_RESIDUALS = np.array([7.0, 2.5, 8.0, 1.2, 2.5, 0.5])
"""[N, N m] Residuals of the wrench of a tracked person: forward, sideways, up. Measured on subject_a's squats, jump,
sit to stand and walk."""

RATE = 12.5
"""[1/s] Samples of a motion that are used. Chosen on dances of HOAP-3 and of a person: at half and at four times the
rate promises are the same within .1 % and .5 %."""


def expect_determined(rig: Rig, motions: Iterable[Motion]) -> tuple[DeterminedQuantity, ...]:
    """What `identify` will determine from recordings of motions, in the classes of `find_determined`, and how far the
    wrench of such motions will be predicted.

    The same equations, errors that follow posture and prior as in `identify`; values are those of the prior, because no
    wrench was measured. The residuals are those of recorded people (`PERSON_RESIDUALS`), or for robots those that
    bonnet2016 reports (`PLATE_NOISE`). As in `identify`, the frames of a person's posture count as one
    (`Regression.frames_per_posture`); of a robot `INDEPENDENT_RATE` a second are independent. So the rate of the
    samples is irrelevant, and at most `RATE` are used. The total mass is taken as weighed. A quantity
    whose ratio is near one will not be better known after the recording than before. Ratios are to the width of the
    prior, not to the tables' actual error, which is smaller: squats alone can leave first moments worse than the tables
    (docs/limits.md).

    The error of the wrench of a motion that was not recorded has the covariance Y C Y', with Y the regressor of these
    motions and C the covariance of the parameters, plus the residuals, which no parameters remove.

    Args:
        rig: a person or robot, with its prior.
        motions: designed or recorded, each at a constant rate.

    Raises:
        InvalidValue: no motion, or a motion of another rig.

    Example:
        >>> import numpy as np
        >>> import solver
        >>> robot = solver.hoap3()
        >>> q, v = np.tile(robot.neutral, (50, 1)), np.zeros((50, robot.nv))
        >>> still = solver.Motion(np.arange(50) / 50.0, q, v, v)
        >>> expected = solver.identification.expect_determined(robot, [still])
        >>> [quantity.name for quantity in expected if quantity.source == "data"]
        ['total mass']
    """
    errors = MotionErrors.of_rig(rig) if rig.is_person else None
    motions = list(motions)
    independent = sum(len(motion) * min(1.0, INDEPENDENT_RATE / motion.rate) for motion in motions)
    motions = [motion.frames(slice(None, None, max(1, round(motion.rate / RATE)))) for motion in motions]
    trials = [
        Trial(
            str(number),
            motion,
            Wrenches(motion.times, ("prior",), np.zeros((len(motion), 1, 6))),
            np.ones(len(motion), bool),
            posture_wrenches=None if errors is None else posture_wrenches(rig, motion, errors),
        )
        for number, motion in enumerate(motions)
    ]
    regression = accumulate_regression(rig, trials, axes="world")
    residuals = PERSON_RESIDUALS if rig.is_person else PLATE_NOISE
    equations = regression.with_weights(1.0 / residuals).equations_with_errors
    options = consistent_options(rig, IdentifyOptions(total_mass=rig.prior.total_mass))
    alike = regression.frames_per_posture if rig.is_person else regression.frames / independent
    found = posterior(equations, alike, rig.prior, rig.prior, rig, options)
    rows = np.concatenate([wrench_regressor(rig, trial.motion, axes="world") for trial in trials])
    known = [np.einsum("mp,mq->pq", *2 * [root.reshape(len(root), -1)]) for root in (found.root, found.prior_root)]
    # frames n, axes a, parameters p and q
    variances = [np.einsum("nap,pq,naq->a", rows, own, rows, optimize=True) / len(rows) for own in known]
    wrench = wrench_quantity(rig, *(np.sqrt(variance + residuals**2) for variance in variances))
    return (*found.determined, wrench)


def wrench_quantity(rig: Rig, errors: np.ndarray, prior_errors: np.ndarray) -> DeterminedQuantity:
    """The wrench of motions that are like those of the data, but no part of them.

    Args:
        rig: that moves.
        errors: (6,) [N, N m] root mean square errors of the wrench by the identified parameters, world axes.
        prior_errors: the same by the prior.
    """
    widths = TWO_SIDED_STDS * np.stack([errors, prior_errors])
    return DeterminedQuantity(WRENCH_KIND, "such motions", rig.links, DATA, np.zeros(6), widths[0], widths[1])
