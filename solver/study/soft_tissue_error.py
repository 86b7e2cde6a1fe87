"""Wrench error caused by soft-tissue motion and joint-centre error.

If the joint centres are elsewhere, or the markers move with the skin, the true motion differs from the tracked one and
needs other wrenches. Every draw of a calibration's `CalibrationErrorDraws` is one such body. Its poses follow from the
tracked ones by the linear response of the least-squares tracker to displaced points. The skin is assumed to move in
every trial as it did in calibration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ..calibration.calibration import Calibration
from ..calibration.error_draws import CalibrationErrorDraws, ResidualDraws
from ..calibration.normal_equations import LinearisedFrames, Unknowns
from ..dynamics import ground_wrench, integrate
from ..filter_presets import FilterPreset
from ..identification.equations import low_pass_at, wrenches_about_base
from ..identification.error_model.error_propagation import WrenchErrors, add_error_sources, propagate_wrench_errors
from ..identification.result import SKELETON, SKIN, Identification
from ..motion import Motion
from ..rig import ROOT_NV, Rig
from ..signals import light_preset, smooth_motion
from ..tracking.kinematics import Kinematics
from ..tracking.options import TrackingOptions
from ..tracking.targets import Targets
from ..tracking.track import targets_from_attachments
from ..trial import Trial
from .values import Study, TrialRecord

MAX_FRAMES = 4096
"""Frames of a trial that are used, from its middle: twenty seconds at 200 frames a second."""
CHUNK_FRAMES = 256
"""Frames whose normal equations are in memory at once."""


def add_soft_tissue_error(study: Study, calibration: Calibration | None) -> Study:
    """A study whose intervals include the soft-tissue and joint-centre error of its motions.

    The study is returned unchanged if it has no intervals, if the method is not the consistent one, or if the
    calibration has no draws.
    """
    found = study.identification
    if found is None or found.uncertainty is None or found.covariance_root is None:
        return study
    if calibration is None or calibration.error_draws is None:
        return study
    wrench_errors = compute_soft_tissue_errors(study.rig, calibration, study.records, found)
    return (
        replace(
            study, identification=add_error_sources(found, propagate_wrench_errors(study.rig, found, wrench_errors))
        )
        if wrench_errors
        else study
    )


def compute_soft_tissue_errors(
    rig: Rig, calibration: Calibration, records: Sequence[TrialRecord], found: Identification
) -> tuple[WrenchErrors, ...]:
    """Wrench errors of trials for every sample of skin motion and joint centres.

    Args:
        rig: of the trials, with the calibration's joint centres.
        calibration: with its draws.
        records: of all trials; those without a trial or without markers are ignored.
        found: identification from these trials.
    """
    result = []
    for record in records:
        trial, poses, markers = record.trial, record.poses, record.recording.markers
        if trial is None or trial.preset is None or poses is None or markers is None:
            continue
        if not len(markers) == len(poses.times) == len(trial.motion):
            continue
        first = max(0, (len(markers) - MAX_FRAMES) // 2)
        own = slice(first, min(first + MAX_FRAMES, len(markers)))
        if trial.counted[own].any():
            targets, _ = targets_from_attachments(rig, calibration.attachments, markers.part(own.start, own.stop))
            result.append(_compute_soft_tissue_error(rig, calibration, targets, trial, poses.q, own, found))
    return tuple(result)


def _compute_soft_tissue_error(  # noqa: PLR0913 one trial and what is known about it
    rig: Rig,
    calibration: Calibration,
    targets: Targets,
    trial: Trial,
    q: np.ndarray,
    frames: slice,
    found: Identification,
) -> WrenchErrors:
    part, frame_ratio = trial.part(frames.start, frames.stop), trial.counted.sum() / trial.counted[frames].sum()
    parameters = found.parameters
    tracked_wrench = ground_wrench(rig, trial.motion.part(frames.start, frames.stop), parameters)
    assert trial.preset is not None
    light = light_preset(trial.preset, trial.motion.rate)
    others: dict[str, list[np.ndarray]] = {}
    for cause, moved, motion in draw_motions(rig, calibration, targets, q[frames], light):
        others.setdefault(cause, []).append(ground_wrench(moved, motion, parameters) - tracked_wrench)
    errors = {}
    for cause, differences in others.items():
        here = wrenches_about_base(rig, part, np.stack(differences, axis=1), found.base_link)
        # twice: the frequency weights scale both the equations' rows and the wrenches that they are fitted to
        errors[cause] = _apply_frequency_weights(_apply_frequency_weights(here, part, found), part, found)
    return WrenchErrors(part, float(np.sqrt(frame_ratio)), errors)


def draw_motions(
    rig: Rig, calibration: Calibration, targets: Targets, q: np.ndarray, preset: FilterPreset
) -> Iterator[tuple[str, Rig, Motion]]:
    """Cause, body and filtered motion of every draw of skin motion and joint centres.

    Args:
        rig: with the calibration's joint centres.
        calibration: with its draws.
        targets: N frames of measured markers.
        q: (N, nq) configurations tracked from them.
        preset: filter of the motions.
    """
    draws = calibration.error_draws
    assert draws is not None
    joints = np.array([joint.position for joint in rig.joints])
    for cause, steps in _TrackedBody.from_configurations(rig, targets, q).pose_changes(draws).items():
        for points, step in zip({SKIN: draws.soft_tissue, SKELETON: draws.prior}[cause], steps):
            moved = rig.with_joint_positions(joints + np.vstack([np.zeros(3), points[: len(joints) - 1]]))
            yield cause, moved, smooth_motion(moved, targets.times, integrate(moved, q, step), preset)


def _apply_frequency_weights(errors: np.ndarray, trial: Trial, found: Identification) -> np.ndarray:
    """Errors (N, K, 6) scaled by the frequency weights, averaged over links by their masses."""
    frequency_weights = found.frequency_weights.identified
    if frequency_weights is None:
        return errors
    masses = found.parameters.masses / found.parameters.total_mass
    result = np.zeros_like(errors)
    weights = np.einsum("l,lac->ca", masses, frequency_weights.low_pass_weights)
    for band, of_axes in zip(frequency_weights.bands, weights):
        if of_axes.any():
            result += low_pass_at(trial, errors * of_axes, float(band))
    return result


@dataclass(frozen=True, slots=True)
class _TrackedBody:
    """Tracked frames, with the linear response of their poses to displaced points.

    Attributes:
        names: of the markers.
        frames: linearised at their poses.
        unknowns: which point moves which marker.
        skin_motion: of the skin.
    """

    names: tuple[str, ...]
    frames: LinearisedFrames
    unknowns: Unknowns
    skin_motion: ResidualDraws

    @staticmethod
    def from_configurations(rig: Rig, targets: Targets, q: np.ndarray) -> _TrackedBody:
        """From frames tracked at configurations (N, nq)."""
        assert targets.positions is not None
        task, measured = targets.positions.task, targets.positions.positions
        kinematics = Kinematics(rig)
        rotations = np.empty((len(q), *kinematics.rotations.shape))
        jacobian = np.empty((len(q), *kinematics.jacobian.shape))
        points = np.empty(measured.shape)
        for k, pose in enumerate(q):
            kinematics.update_kinematics(pose)
            rotations[k], jacobian[k] = kinematics.rotations, kinematics.jacobian
            points[k] = kinematics.points(task.links, task.offsets)
        visible = np.isfinite(measured).all(axis=2)
        residuals = np.where(visible[:, :, None], measured - points, 0.0)
        price = np.where(np.arange(rig.nv) < ROOT_NV, 0.0, TrackingOptions().posture_weight)
        weights, none = np.where(visible, task.weights, 0.0), np.zeros((len(q), rig.nv))
        own_price = np.broadcast_to(np.diag(price), (len(q), rig.nv, rig.nv))
        frames = LinearisedFrames(rotations, jacobian, points, residuals, weights, own_price, none)
        return _TrackedBody(
            tuple(task.names),
            frames,
            Unknowns.from_kinematics(kinematics, task.links),
            ResidualDraws.from_fit(frames, task.links, task.names),
        )

    def pose_changes(self, error_draws: CalibrationErrorDraws) -> dict[str, np.ndarray]:
        """Pose changes (K, N, nv) in the tangent space, by cause, for the K error draws."""
        joints, count = len(self.unknowns.parents), len(error_draws.soft_tissue)
        place = {name: joints + k for k, name in enumerate(error_draws.markers)}
        rows = np.array([*range(joints), *(place.get(name, -1) for name in self.names)])
        both = np.concatenate([error_draws.soft_tissue, error_draws.prior])[:, rows]
        theta = np.where(rows[:, None] >= 0, both, 0.0).reshape(len(both), -1)
        skins = np.empty((*self.frames.points.shape, count))
        for draw in range(count):
            skins[..., draw] = self.skin_motion.with_draw(self.frames, draw).residuals
        frames, result = self.frames, np.empty((len(theta), *self.frames.gradient.shape))
        for start in range(0, len(frames.points), CHUNK_FRAMES):
            piece = slice(start, start + CHUNK_FRAMES)
            cut = replace(frames, **{each.name: getattr(frames, each.name)[piece] for each in fields(frames)})
            blocks = cut.build_equations(self.unknowns, exact=False)
            right = -blocks.cross[:, :, :-1] @ theta.T
            pulls = cut.weights[:, :, None, None] * skins[piece]
            for axis, pose in enumerate(cut.marker_jacobians(self.unknowns)):
                right[:, :, :count] += pose @ pulls[:, :, axis]
            result[:, piece] = np.linalg.solve(blocks.pose_hessian, right).transpose(2, 0, 1)
        return {SKIN: result[:count], SKELETON: result[count:]}
