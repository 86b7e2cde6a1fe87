"""Mirror images of postures and segments in the x-z plane: left and right are exchanged."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from ...base.errors import InvalidValue
from ...dynamics import link_poses
from ...dynamics.coordinates import coordinate_names, joint_slices, to_manifold
from ...identification.base_parameters import BaseParameters
from ...identification.excitation.excitation import base_regressor
from ...skeleton.rig import ROOT_NV
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import DanceSegment
from ...values.motion import Motion

MIRRORED_VECTOR = np.array([1.0, -1.0, 1.0])
"""Factors that mirror a position or a translation. By definition."""
MIRRORED_ROTATION = np.array([-1.0, 1.0, -1.0])
"""Factors that mirror a rotation's axis. By definition: an axis of rotation keeps its sense in a mirror that it is
normal to."""
AXIS_TOLERANCE = 1e-6
"""Largest difference of mirrored axes."""
PARAMETER_TOLERANCE = 0.02
"""Largest error of a mirrored regressor, relative to its largest entry. Chosen on a person, HOAP-3 and HRP-2,
whose errors are of rounding; sides of other robots differ by a few millimetres."""
WORDS = re.compile(r"(\W)")
MIRRORED_SIDE = {"right": "left", "left": "right", "both": "both"}


class Mirror:
    """The mirror image of a rig's flat coordinates (D,).

    Raises:
        InvalidValue: the rig's sides do not mirror each other, with the joint or link that differs.
    """

    def __init__(self, legged: LeggedRig) -> None:
        rig = legged.rig
        self._legged = legged
        partner = {a: b for pair in rig.pairs for a, b in (pair, pair[::-1])}
        names = coordinate_names(rig)
        turns = link_poses(rig, rig.neutral)[0]
        spans = {rig.links[k]: span for k, (_, _, span) in enumerate(joint_slices(rig))}
        self._source, self._sign = np.arange(legged.size), np.ones(legged.size)
        self._sign[:ROOT_NV] = np.concatenate([MIRRORED_VECTOR, MIRRORED_ROTATION])
        for number, (joint, _, span) in enumerate(joint_slices(rig)):
            if number == 0:
                continue
            link = rig.links[number]
            other = partner.get(link, link)
            there = spans[other]
            if there.stop - there.start != span.stop - span.start:
                raise InvalidValue(f"rig {rig.name!r} cannot be mirrored: {link} and {other} have other joints")
            flip = MIRRORED_VECTOR if joint.kind == "prismatic" else MIRRORED_ROTATION
            own = flip * (turns[number] @ _joint_axes(joint.axes).T).T
            theirs = (turns[rig.index(other)] @ _joint_axes(rig.joints[rig.index(other)].axes).T).T
            for axis, match, column, source in zip(own, theirs, np.r_[span], np.r_[there]):
                sign = float(np.sign(axis @ match))
                if np.abs(sign * axis - match).max() > AXIS_TOLERANCE:
                    name = names[column - ROOT_NV]
                    raise InvalidValue(
                        f"rig {rig.name!r} cannot be mirrored: the axis of {name} does not mirror that of its partner"
                    )
                self._source[source], self._sign[source] = column, sign
        self._feet = list(legged.foot_columns.values())
        self._planted = legged.with_feet(np.zeros(legged.size), legged.get_footing("both").anchors)
        feet = legged.foot_columns
        for side, columns in feet.items():
            self._source[columns], self._sign[columns] = (
                feet[MIRRORED_SIDE[side]],
                np.concatenate([MIRRORED_VECTOR, MIRRORED_ROTATION]),
            )

    def image(self, y: np.ndarray) -> np.ndarray:
        """The mirror image of coordinates (..., D)."""
        result: np.ndarray = self._sign * np.asarray(y)[..., self._source]
        for foot in self._feet:  # the rotation vector of the same rotation that is nearer to the planted foot's
            turn, planted = result[..., foot[3:]], self._planted[foot[3:]]
            angle = np.maximum(np.linalg.norm(turn, axis=-1, keepdims=True), AXIS_TOLERANCE)
            other = turn * (1.0 - 2.0 * np.pi / angle)
            nearer = np.linalg.norm(other - planted, axis=-1) < np.linalg.norm(turn - planted, axis=-1)
            result[..., foot[3:]] = np.where(nearer[..., None], other, turn)
        return result

    def map_parameters(self, structure: BaseParameters) -> np.ndarray:
        """(B, B) map of base parameters to those of the mirrored body, from random frames and their mirror images.

        Raises:
            InvalidValue: the regressors of the mirror images do not follow from those of the frames.
        """
        rig, generator = self._legged.rig, np.random.default_rng(0)
        rates = 0.5 * generator.standard_normal((3, 2 * len(structure), self._legged.size))
        rows = []
        for y, dy, ddy in (rates, self.image(rates)):
            curves = to_manifold(rig, y[:, : rig.nv], dy[:, : rig.nv], ddy[:, : rig.nv])
            rows.append(base_regressor(rig, Motion(np.arange(float(len(y))), curves.q, curves.v, curves.a), structure))
        images = rows[1] * np.concatenate([MIRRORED_VECTOR, MIRRORED_ROTATION])[:, None]
        own, images = (part.reshape(-1, len(structure)) for part in (rows[0], images))
        result = np.linalg.lstsq(own, images, rcond=None)[0]
        if np.abs(own @ result - images).max() > PARAMETER_TOLERANCE * np.abs(images).max():
            raise InvalidValue(f"rig {rig.name!r} cannot be mirrored: its base parameters are not symmetric")
        return result

    def mirror_segment(
        self, segment: DanceSegment, footing: Footing, start: np.ndarray, stop: np.ndarray
    ) -> DanceSegment:
        """A segment's mirror image on the mirrored footing, from posture to posture (D,) of the other side, where legs
        of other lengths have other angles.
        """
        control = self._legged.with_feet(self.image(segment.control), footing.anchors)
        control += segment.spline_space.straight_line(start - control[0], stop - control[-1])
        name = "".join(MIRRORED_SIDE.get(word, word) for word in WORDS.split(segment.name))
        return replace(segment, name=name, control=control, solved=footing.solved, anchors=footing.anchors)


def _joint_axes(axes: np.ndarray) -> np.ndarray:
    """(k, 3) Axes of a joint's coordinates; those of its own frame for a spherical joint."""
    return axes if len(axes) else np.eye(3)
