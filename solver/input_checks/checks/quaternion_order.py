"""Order of the components of segments' quaternions: orientations against positions, or against upright posture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...base.so3 import to_matrix, to_quaternion
from ...formats.axes_and_units import to_z_up
from ...signals.trial import Recording
from ...values.motion import SegmentPoses
from ..body_points import instants
from ..check_definition import InputCheck, InputProblem, InputToCheck, OtherReading

SUSPECT_MARGIN = 0.4
"""A component whose median size exceeds that of the scalar part by more is suspect: most segments would be rotated by
half a turn about a horizontal axis, as no body stands."""
MIN_AGREEMENT = 0.7
"""[1] Smallest median cosine between bones by their orientations and by the positions of their ends.
Measured on nine skeletons in another order: with .5 a jump passes, .9 refuses a further walk."""
MIN_BONE = 0.05
"""[m] Shorter bones have no direction. Measured on the same skeletons: .02 and .1 find the same."""


def _measure(inputs: InputToCheck) -> InputProblem | None:
    if (segments := inputs.recording.segments) is None:
        return None
    if (agreement := _agreement(segments)) is not None:
        if agreement >= MIN_AGREEMENT:
            return None
        text = f"the segments' orientations contradict their positions (median cosine {agreement:.2f})"
        return InputProblem(text, "Write quaternions as x y z w, from the segments' axes to the world's")
    if segments.positions is not None or not (rotations := _known(segments.rotations)).size:
        return None
    up = inputs.recording.up or "z"
    sizes = np.median(np.abs(to_quaternion(to_z_up(up).T @ rotations)), axis=0)
    others = [
        size for name, size in zip("xyz", sizes) if name != up.removeprefix("-")
    ]  # bodies turn about the vertical
    if max(others) - sizes[3] <= SUSPECT_MARGIN:
        return None
    return InputProblem(
        "its quaternions look as if the file held another order: as stated, most segments are half a turn from upright "
        f"(median scalar part {sizes[3]:.2f}, another {max(others):.2f})",
        "If so, every pose is wrong: write them in the stated order",
        is_note=True,
    )


def _known(rotations: np.ndarray) -> np.ndarray:
    """Rotations (k, 3, 3) that are not missing."""
    return np.asarray(rotations[np.isfinite(rotations).all(axis=(-2, -1))])


def _agreement(segments: SegmentPoses) -> float | None:
    """Median cosine between the ways from joint to joint by orientations and by positions; None if unknown."""
    rest, positions = segments.rest, segments.positions
    if rest is None or positions is None or not rest.parents:
        return None
    frames = instants(len(segments))
    bones = [(k, parent) for k, parent in enumerate(rest.parents) if parent >= 0]
    below, above = (list(column) for column in zip(*bones)) if bones else ([], [])
    offsets = np.einsum("bji,bj->bi", rest.rotations[above], rest.heads[below] - rest.heads[above])
    stated = np.einsum("nbij,bj->nbi", segments.rotations[frames][:, above], offsets)
    shown = positions[frames][:, below] - positions[frames][:, above]
    lengths = np.linalg.norm(stated, axis=-1) * np.linalg.norm(shown, axis=-1)
    cosines = (stated * shown).sum(axis=-1)[lengths > MIN_BONE**2] / lengths[lengths > MIN_BONE**2]
    return float(np.median(cosines)) if cosines.size else None


def _read_scalar_first(recording: Recording) -> Recording:
    segments = recording.segments
    assert segments is not None
    rotations = to_matrix(np.roll(to_quaternion(segments.rotations), -1, axis=-1))
    return replace(recording, segments=replace(segments, rotations=rotations))


QUATERNION_ORDER = InputCheck(
    name="quaternion order",
    measures="segments' orientations against the positions of their ends, or without positions against upright posture",
    measure=_measure,
    readings=lambda _: (OtherReading("quaternions as w x y z", "", _read_scalar_first),),
)
