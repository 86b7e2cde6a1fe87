"""Hypotheses about recorded joint coordinates of robots: signs, exchanged columns and units.

Encoders are precise, so that smaller residuals than those of tracked people distinguish one reading from another.
"""

from __future__ import annotations

import numpy as np

from ...dynamics import predicted_wrench
from ...dynamics.coordinates import joint_slices
from ...signals.hypotheses import AngleReading, HypothesisScore, compare_residuals, find_best, read_angles
from ...skeleton.rig import GRAVITY, Rig
from ...values.inertials import InertialParameters
from ...values.motion import Motion
from .hypotheses import MAX_RESIDUAL, MOMENT_ARM
from .trial_wrenches import ForceMotionPair

MIN_IMPROVEMENT, MAX_RATIO = 5e-4, 0.5
"""Smallest decrease of the mean squared residual, relative to the weight, and largest ratio at which a reading is
accepted."""
FEW_FRAMES, FRAMES, COMPARED = 40, 300, 6
"""Frames at which all readings are compared, and at which the best of them are."""


def find_joint_reading(
    rig: Rig, motion: Motion, prior: InertialParameters, item: ForceMotionPair
) -> tuple[str, HypothesisScore] | None:
    """The reading of joint coordinates, in words, that explains a trial's forces best; None if none is certain.

    Args:
        rig: a robot.
        motion: N frames, as recorded and filtered.
        prior: of the body's mass.
        item: the trial's forces, and the wrench of the motion as recorded.
    """
    measured = item.measured
    measured[:, 3:] -= np.cross(item.root_positions, measured[:, :3])
    scale = prior.total_mass * GRAVITY * np.repeat([1.0, MOMENT_ARM], 3)
    single = [
        (link, at.start, moves.start) for link, (joint, at, moves) in zip(rig.links, joint_slices(rig)) if joint.nq == 1
    ]
    places, speeds = (np.array(starts, int) for starts in ([at for _, at, _ in single], [at for *_, at in single]))

    def square(reading: AngleReading, frames: np.ndarray) -> np.ndarray:
        _, factors, order = reading
        curves = [values[frames] for values in (motion.q, motion.v, motion.a)]
        for values, columns in zip(curves, (places, speeds, speeds)):
            values[:, columns] = factors * values[:, columns[order]]
        predicted = predicted_wrench(rig, Motion(motion.times[frames], *curves), prior, 0, axes="world")
        residual = (predicted - measured[frames]) / scale
        residual -= np.nanmean(residual, axis=0)  # a wrong centre of mass in the prior
        return np.asarray(np.minimum((residual**2).sum(axis=1), MAX_RESIDUAL**2))

    few, many = (np.unique(np.linspace(0, len(motion) - 1, n).astype(int)) for n in (FEW_FRAMES, FRAMES))
    names = [link for link, *_ in single]
    recorded = square(("as recorded", np.ones(len(names)), np.arange(len(names))), many)
    if not np.nanmean(recorded) > MIN_IMPROVEMENT:
        return None

    def evaluate(reading: AngleReading) -> HypothesisScore:
        found = square(reading, many)
        used = np.isfinite(found) & np.isfinite(recorded)
        return compare_residuals(item.times[many], (recorded, used), (found, used), MIN_IMPROVEMENT)

    readings = list(read_angles(names, range(len(names))))
    best = np.argsort([np.nanmean(square(reading, few)) for reading in readings])[:COMPARED]
    found = find_best((reading[0], evaluate(reading)) for reading in (readings[k] for k in best))
    return found if found is not None and found[1].ratio < MAX_RATIO else None
