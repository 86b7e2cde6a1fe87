"""How far skin and skeleton may have led the wrenches that tracked motions seem to need.

A body with other joint centres, whose markers sat on moving skin, needs other wrenches than the body that was tracked.
Every draw of a calibration's `Deviations` is such a body; its poses follow from the tracked ones by the answer of
least squares to points that lie elsewhere. Skin swings in every trial as it did in calibration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ..calibration.calibrated import Calibration
from ..calibration.deviations import Deviations, Swings
from ..calibration.frames import Frames, Unknowns
from ..dynamics import ground_wrench, integrate
from ..identification.equations import moved_here, up_to
from ..identification.limits import Aside, answers, widened_by
from ..identification.result import SKELETON, SKIN, Identification
from ..rig import ROOT_NV, Rig
from ..signals import lighter, smooth_motion
from ..tracking.kinematics import Kinematics
from ..tracking.options import TrackingOptions
from ..tracking.targets import Targets
from ..tracking.track import attached_targets
from ..trial import Trial
from .values import Study, TrialRecord

MOST = 4096
"""Frames of a trial that are looked at, those in its middle: twenty seconds at 200 frames a second."""
CHUNK = 256
"""Frames whose normal equations are held at once."""


def limited(study: Study, calibration: Calibration | None) -> Study:
    """A study whose intervals also hold how far skin and skeleton may have led its motions.

    As it is without intervals, of another method than the consistent one, or where nothing tells of the calibration.
    """
    found = study.identification
    if found is None or found.uncertainty is None or found.covariance_root is None:
        return study
    if calibration is None or calibration.deviations is None:
        return study
    asides = led_aside(study.rig, calibration, study.records, found)
    return replace(study, identification=widened_by(found, answers(study.rig, found, asides))) if asides else study


def led_aside(
    rig: Rig, calibration: Calibration, records: Sequence[TrialRecord], found: Identification
) -> tuple[Aside, ...]:
    """Wrenches that trials seem to need beside those that bodies led aside by skin and skeleton do.

    Args:
        rig: of the trials, of the calibration's joint centres.
        calibration: with its deviations.
        records: with trials or not; those without markers tell nothing.
        found: from them.
    """
    result = []
    for record in records:
        trial, poses, markers = record.trial, record.poses, record.recording.markers
        if trial is None or trial.preset is None or poses is None or markers is None:
            continue
        if not len(markers) == len(poses.times) == len(trial.motion):
            continue
        first = max(0, (len(markers) - MOST) // 2)
        own = slice(first, min(first + MOST, len(markers)))
        if trial.counted[own].any():
            targets, _ = attached_targets(rig, calibration.attachments, markers.part(own.start, own.stop))
            result.append(_aside(rig, calibration, targets, trial, poses.q, own, found))
    return tuple(result)


def _aside(  # noqa: PLR0913 one trial with all that is known of it
    rig: Rig,
    calibration: Calibration,
    targets: Targets,
    trial: Trial,
    q: np.ndarray,
    own: slice,
    found: Identification,
) -> Aside:
    deviations = calibration.deviations
    assert deviations is not None
    body = _Body.of(rig, targets, q[own])
    part, seen = trial.part(own.start, own.stop), trial.counted.sum() / trial.counted[own].sum()
    parameters = found.parameters
    usual = ground_wrench(rig, trial.motion.part(own.start, own.stop), parameters)
    joints = np.array([joint.position for joint in rig.joints])
    errors = {}
    for cause, steps in body.steps(deviations).items():
        others = []
        for points, step in zip(getattr(deviations, cause), steps):
            moved = rig.with_joint_positions(joints + np.vstack([np.zeros(3), points[: len(joints) - 1]]))
            poses = integrate(moved, q[own], step)
            motion = smooth_motion(moved, targets.times, poses, lighter(trial.preset, trial.motion.rate))  # type: ignore[arg-type]
            others.append(ground_wrench(moved, motion, parameters) - usual)
        here = moved_here(rig, part, np.stack(others, axis=1), found.base_link)
        # what is not believed of a motion is neither in the equations' rows nor in what they are to explain
        errors[cause] = _believed(_believed(here, part, found), part, found)
    return Aside(part, float(np.sqrt(seen)), errors)


def _believed(errors: np.ndarray, trial: Trial, found: Identification) -> np.ndarray:
    """Errors (N, K, 6) as far as the motion is believed, the mean of its links by their masses."""
    trust = found.frequency_weights.identified
    if trust is None:
        return errors
    masses = found.parameters.masses / found.parameters.total_mass
    result = np.zeros_like(errors)
    for axis, weights in enumerate(np.einsum("l,lac->ac", masses, trust.weights)):
        for band, weight in zip(trust.bands, weights):
            if weight:
                result[:, :, axis] += weight * up_to(trial, errors[:, :, axis], float(band))
    return result


@dataclass(frozen=True, slots=True)
class _Body:
    """Tracked frames, and how their poses answer to points that lie elsewhere.

    Attributes:
        names: of the markers.
        frames: at their poses.
        unknowns: which point moves which marker.
        swings: of the skin.
    """

    names: tuple[str, ...]
    frames: Frames
    unknowns: Unknowns
    swings: Swings

    @staticmethod
    def of(rig: Rig, targets: Targets, q: np.ndarray) -> _Body:
        """Of frames tracked at configurations (N, nq)."""
        assert targets.positions is not None
        task, measured = targets.positions.task, targets.positions.positions
        kinematics = Kinematics(rig)
        rotations = np.empty((len(q), *kinematics.rotations.shape))
        jacobian = np.empty((len(q), *kinematics.jacobian.shape))
        points = np.empty(measured.shape)
        for k, pose in enumerate(q):
            kinematics.update(pose)
            rotations[k], jacobian[k] = kinematics.rotations, kinematics.jacobian
            points[k] = kinematics.points(task.links, task.offsets)
        seen = np.isfinite(measured).all(axis=2)
        residuals = np.where(seen[:, :, None], measured - points, 0.0)
        price = np.where(np.arange(rig.nv) < ROOT_NV, 0.0, TrackingOptions().posture)
        weights, none = np.where(seen, task.weights, 0.0), np.zeros((len(q), rig.nv))
        own_price = np.broadcast_to(np.diag(price), (len(q), rig.nv, rig.nv))
        frames = Frames(rotations, jacobian, points, residuals, weights, own_price, none)
        return _Body(
            tuple(task.names), frames, Unknowns.of(kinematics, task.links), Swings.of(frames, task.links, task.names)
        )

    def steps(self, deviations: Deviations) -> dict[str, np.ndarray]:
        """Tangent steps (K, N, nv), by cause, to the bodies of the draws."""
        joints, draws = len(self.unknowns.parents), len(deviations.skin)
        place = {name: joints + k for k, name in enumerate(deviations.markers)}
        rows = np.array([*range(joints), *(place.get(name, -1) for name in self.names)])
        both = np.concatenate([deviations.skin, deviations.skeleton])[:, rows]
        theta = np.where(rows[:, None] >= 0, both, 0.0).reshape(len(both), -1)
        skins = np.empty((*self.frames.points.shape, draws))
        for draw in range(draws):
            skins[..., draw] = self.swings.moved(self.frames, draw).residuals
        frames, result = self.frames, np.empty((len(theta), *self.frames.gradient.shape))
        for start in range(0, len(frames.points), CHUNK):
            piece = slice(start, start + CHUNK)
            cut = replace(frames, **{each.name: getattr(frames, each.name)[piece] for each in fields(frames)})
            blocks = cut.blocks(self.unknowns, exact=False)
            right = -blocks.cross[:, :, :-1] @ theta.T
            pulls = cut.weights[:, :, None, None] * skins[piece]
            for axis, pose in enumerate(cut.poses(self.unknowns)):
                right[:, :, :draws] += pose @ pulls[:, :, axis]
            result[:, piece] = np.linalg.solve(blocks.hessian, right).transpose(2, 0, 1)
        return {SKIN: result[:draws], SKELETON: result[draws:]}
