"""Where parts of the recorded body are in some of the frames, whatever was recorded: markers, segments or joints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ..dynamics import Workspace
from ..formats.axes_and_units import find_landmarks
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..values.motion import JointCoordinates, Markers, SegmentPoses
from ..values.person import CHAINS, SIDES
from .joint_configurations import compute_configurations
from .opensim_configurations import is_opensim_motion

SAMPLES = 100
"""Instants that are examined. Measured on 42 recordings as they are, mirrored, on their side and upside down, as the
constants of the checks: 50 and 200 find the same problems."""
LEAST_LEG = 0.1
"""[m] Legs are taken to be at least so long: a root may lie on the floor."""
SHOULDER_HEIGHT, LEG_LENGTH = 0.78, 0.49
"""[1] Relative to the stature, with thigh and shank of 24.5 and 24.6 %: D. A. Winter, Biomechanics and Motor Control of
Human Movement, 4th edition, figure 4.1; the shoulders are seen from the middle of ankle, heel and toe."""
BACK_AND_FRONT = tuple(
    (re.compile(back, re.IGNORECASE), re.compile(front, re.IGNORECASE))
    for back, front in (
        ("heel?|calc|cal$|(?<!sh)ank|mall?$|malleol", "toe|mt[1-5p]|[1-5]mt|meta?(?![a-z])|hallux"),
        ("psi", "asi"),
        ("bhd|head_?back", "fhd|head_?front"),
    )
)
"""Names of markers at the back and at the front of one part of the body."""


@dataclass(frozen=True, slots=True)
class BodyPoints:
    """Points of a body at n instants.

    Attributes:
        positions: (n, P, 3) [m] world, z up; NaN where unknown.
        low, high: indices of points of the feet, and of head, shoulders or pelvis; of a rig, the root and a point
            that is the legs' length above it at rest.
        pairs: (K, 2) indices of points of the left side, and of their partners on the right.
        ahead: (A, 2) indices of points at the back of the body, and of others in front of them on the same part.
        stature: [m] of the body by the lengths of the legs, or by the way from feet to shoulders; NaN if unknown.
    """

    positions: np.ndarray
    low: tuple[int, ...]
    high: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    ahead: tuple[tuple[int, int], ...] = ()
    stature: float = np.nan

    @property
    def body_axis(self) -> np.ndarray:
        """(n, 3) [m] from the feet to the head, or to the highest known part."""
        feet, head = (np.nanmedian(self.positions[:, part], axis=1) for part in (self.low, self.high))
        return np.asarray(head - feet)

    def mean_way(self, pairs: Sequence[tuple[int, int]]) -> np.ndarray:
        """(n, 3) [m] Mean way from the first to the second point of pairs; NaN in instants that show none."""
        ends = np.array(pairs)
        ways = self.positions[:, ends[:, 1]] - self.positions[:, ends[:, 0]]
        known = np.isfinite(ways)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(known, ways, 0.0).sum(axis=1) / known.sum(axis=1))


def find_points(
    recording: Recording, rig: Rig | None = None, parts: Mapping[str, str] = MappingProxyType({})
) -> BodyPoints | None:
    """Points of the body that a recording shows; None if feet or head are unknown.

    Args:
        recording: of any kind.
        rig: of joint coordinates.
        parts: segment of each part of a person.
    """
    if recording.markers is not None:
        return _of_markers(recording.markers)
    if recording.segments is not None:
        return _of_segments(recording.segments, parts)
    joints = recording.joints
    if joints is None or rig is None or (joints.root is None and not is_opensim_motion(rig, joints.names)):
        return None
    return _of_joints(joints, rig)


def instants(count: int) -> np.ndarray:
    """(n,) frames of the instants."""
    return np.unique(np.linspace(0, count - 1, SAMPLES).astype(int))


def _of_markers(markers: Markers) -> BodyPoints | None:
    frames = instants(len(markers))
    landmarks = find_landmarks(markers.names)
    high = landmarks.high or landmarks.middle
    pairs = _sided_pairs(markers.names)
    ahead = [
        (back, front)
        for side in zip(*pairs)
        for behind, before in BACK_AND_FRONT
        for back in side
        for front in side
        if behind.search(markers.names[back]) and before.search(markers.names[front])
    ]
    points = _visible(markers.positions[frames], landmarks.low, high, pairs, ahead)
    if points is None or not landmarks.high:
        return points
    length = np.quantile(np.linalg.norm(points.body_axis, axis=1), 0.9)
    return replace(points, stature=float(length) / SHOULDER_HEIGHT)


def _sided_pairs(names: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """(K, 2) markers of the left side, each with the one whose name has the other side in its place."""
    numbers = {name.lower(): k for k, name in enumerate(names)}
    found: dict[int, int] = {}
    for name, left in numbers.items():
        for word, other in (("left", "right"), ("l", "r")):
            for match in re.finditer(word, name):
                if (partner := numbers.get(name[: match.start()] + other + name[match.end() :])) is not None:
                    found.setdefault(left, partner)
    return tuple(found.items())


def _of_segments(segments: SegmentPoses, parts: Mapping[str, str]) -> BodyPoints | None:
    if segments.rest is None or segments.positions is None:
        return None
    frames = instants(len(segments))
    positions, rotations = np.array(segments.positions[frames]), segments.rotations[frames]
    rest = segments.rest
    for k, parent in enumerate(rest.parents):  # of files without lengths, those of the rest pose
        if parent >= 0:
            offset = rest.rotations[parent].T @ (rest.heads[k] - rest.heads[parent])
            placed = positions[..., parent, :] + rotations[..., parent, :, :] @ offset
            positions[..., k, :] = np.where(np.isfinite(positions[..., k, :]), positions[..., k, :], placed)
    ways = np.einsum("bji,bj->bi", rest.rotations, rest.tips - rest.heads)
    tips = positions + np.einsum("nbij,bj->nbi", rotations, ways)
    count, at = len(segments.names), {part: segments.names.index(name) for part, name in parts.items()}
    legs = [[f"{side}_{part}" for part in CHAINS[1]] for side in SIDES]
    legs = [leg for leg in legs if all(part in at for part in leg)]
    feet = [at[leg[2]] for leg in legs]
    middles = [(positions[..., at[leg[0]], :] + positions[..., at[leg[2]], :]) / 2.0 for leg in legs]
    ahead = [(foot, count + foot) for foot in feet]
    ahead += [(2 * count + k, at[leg[1]]) for k, leg in enumerate(legs)]  # a knee is before the line hip to ankle
    high = [at[part] for part in ("head", "torso", "pelvis") if part in at][:1]
    pairs = tuple(
        (at[part], at[part.replace("left", "right")])
        for part in at
        if part.startswith("left") and part.replace("left", "right") in at
    )
    points = np.concatenate([positions, tips, *([np.stack(middles, axis=1)] if legs else [])], axis=1)
    found = _visible(points, feet, high, pairs, ahead)
    if found is None or not legs:
        return found
    chains = np.array([[positions[..., at[part], :] for part in leg] for leg in legs])
    length = np.nanmedian(np.linalg.norm(np.diff(chains, axis=1), axis=-1).sum(axis=1))
    return replace(found, stature=float(length) / LEG_LENGTH)


def _of_joints(joints: JointCoordinates, rig: Rig) -> BodyPoints | None:
    frames = instants(len(joints))
    root = None if joints.root is None else joints.root[frames]
    some = JointCoordinates(joints.times[frames], joints.names, joints.values[frames], joints.units, root)
    q, workspace = compute_configurations(rig, some)[0], Workspace(rig)
    owners = [rig.index(patch.link) for patch in rig.soles for _ in patch.vertices]
    corners = np.concatenate([patch.vertices for patch in rig.soles]) if owners else np.empty((0, 3))
    points = np.full((len(q), len(rig.links) + len(corners) + 1, 3), np.nan)
    above = rig.rest[0][0].T @ [0.0, 0.0, max(rig.leg_length, LEAST_LEG)]
    for frame in np.flatnonzero(np.isfinite(q).all(axis=1)):
        workspace.update_positions(q[frame])
        soles = np.einsum("cij,cj->ci", workspace.rotations[owners], corners) + workspace.positions[owners]
        top = workspace.positions[0] + workspace.rotations[0] @ above
        points[frame] = np.concatenate([workspace.positions, soles, top[None]])
    return _visible(points, (0,), (points.shape[1] - 1,))  # the root is upright or not, wherever the head is


def _visible(
    positions: np.ndarray,
    low: Sequence[int],
    high: Sequence[int],
    pairs: Sequence[tuple[int, int]] = (),
    ahead: Sequence[tuple[int, int]] = (),
) -> BodyPoints | None:
    """Points at the instants in which feet and head are known; None without any."""
    if not low or not high:
        return None
    known = np.isfinite(positions).all(axis=2)
    shown = known[:, list(low)].any(axis=1) & known[:, list(high)].any(axis=1)
    return BodyPoints(positions[shown], tuple(low), tuple(high), tuple(pairs), tuple(ahead)) if shown.any() else None
