"""A motion, markers and forces as a scene editor draws them. SI, world z up, quaternions xyzw."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, Times
from ..base.file_arrays import FileRows, every
from ..base.files import Paths
from ..base.so3 import continuous_signs, to_quaternion
from ..storage.codec import FileKind
from ..values.motion import SegmentPoses, checked_parents
from ..values.wrenches import DRAWN_FORCE

if TYPE_CHECKING:
    from ..skeleton.rig import Rig
    from ..values.inertials import InertialParameters
    from ..values.motion import Markers, Motion, SegmentPoses
    from ..values.wrenches import Wrenches

DRAWN_RATE = 100.0
"""[1/s] Forces are drawn at most so often, more often than a scene has frames."""
NEAR_GROUND = 0.04
"""[m] Height up to which a point of a contact patch counts as on the floor: tracked soles are off by a few cm."""


@dataclass(frozen=True, slots=True)
class SceneMotion(ArrayValue):
    """A motion to draw.

    Attributes:
        times: (N,) [s].
        links: L names.
        root: (N, 3) [m] root link's origin, world.
        rotations: (N, L, 4) rotation of each joint from its neutral pose, in joint axes; the root's in the world.
            Signs are continuous in time.
        translations: (N, L, 3) [m] the same for sliding joints, zero for others and for the root.
        com: (N, 3) [m] the body's centre of mass, world.
        momentum: (N, 6) linear [kg m/s], then angular about the centre of mass [kg m^2/s], world axes.
        standing: (N, P, 3) [m] corners of the contact patches, world; NaN if off the floor. P may be 0.
    """

    times: Annotated[np.ndarray, Times()]
    links: Annotated[tuple[str, ...], Names("L")]
    root: Annotated[np.ndarray, Array("N", 3)]
    rotations: Annotated[np.ndarray, Array("N", "L", 4)]
    translations: Annotated[np.ndarray, Array("N", "L", 3)]
    com: Annotated[np.ndarray, Array("N", 3)]
    momentum: Annotated[np.ndarray, Array("N", 6)]
    standing: Annotated[np.ndarray, Array("N", None, 3, finite=False)]

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True, slots=True)
class SceneRecording(ArrayValue):
    """Measurements to draw. Times are those of each instrument.

    Attributes:
        marker_times: (N,) [s]; empty without markers.
        markers: M names.
        positions: (N, M, 3) [m], world; NaN where missing.
        force_times: (F,) [s]; empty without forces.
        plates: K names.
        centres: (F, K, 3) [m] centre of pressure on the floor, world; NaN if the plate is not loaded.
        forces: (F, K, 3) [N], world; NaN where missing.
        parents: index of the point that each one hangs on, -1 without one; empty if the points are no skeleton.
    """

    marker_times: Annotated[np.ndarray, Times()]
    markers: Annotated[tuple[str, ...], Names("M")]
    positions: Annotated[np.ndarray, Array("N", "M", 3, finite=False)]
    force_times: Annotated[np.ndarray, Times("F")]
    plates: Annotated[tuple[str, ...], Names("P")]
    centres: Annotated[np.ndarray, Array("F", "P", 3, finite=False)]
    forces: Annotated[np.ndarray, Array("F", "P", 3, finite=False)]
    parents: tuple[int, ...] = ()

    def require_consistent(self) -> None:
        object.__setattr__(self, "parents", checked_parents(self.parents, len(self.markers)))


def scene_motion(rig: Rig, motion: Motion, parameters: InertialParameters | None = None) -> SceneMotion:
    """A rig's motion as a scene draws it.

    Args:
        rig: that moves.
        motion: of it.
        parameters: for the centre of mass and the momentum; by default the rig's prior.

    Raises:
        InvalidValue: the motion or the parameters are of another rig.
    """
    from ..dynamics import centroidal_momentum, com_trajectory
    from ..dynamics.kinematics import motion_pieces

    parameters = rig.prior if parameters is None else parameters
    patches = [(rig.index(patch.link), patch.vertices.T) for patch in rig.contacts]
    rows, last = [FileRows() for _ in range(4)], np.zeros((0, len(rig.links), 4))
    for _, links in motion_pieces(rig, motion):
        turns, origins = links.rotation.transpose(3, 2, 0, 1), links.position.transpose(2, 1, 0)
        turned, moved = joint_movements(rig, turns, origins)
        turned = continuous_signs(np.concatenate([last, turned]))[len(last) :]
        last = turned[-1:]
        start = moved[:, 0].copy()
        moved[:, 0] = 0.0
        corners = [(turns[:, k] @ vertices + origins[:, k, :, None]).swapaxes(1, 2) for k, vertices in patches]
        corner = np.concatenate([np.zeros((len(turned), 0, 3)), *corners], axis=1)
        standing = np.where(corner[:, :, 2:] <= NEAR_GROUND, corner, np.nan)
        for row, part in zip(rows, (start, turned, moved, standing), strict=True):
            row.add(part)
    root, rotations, translations, standing = (row.finish() for row in rows)
    return SceneMotion(
        times=motion.times,
        links=rig.links,
        root=root,
        rotations=rotations,
        translations=translations,
        com=com_trajectory(rig, motion, parameters),
        momentum=centroidal_momentum(rig, motion, parameters).momentum,
        standing=standing,
    )


def joint_movements(rig: Rig, turns: np.ndarray, origins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Displacement of each joint from its neutral pose, in joint axes; of the root in the world.

    Args:
        rig: with the links.
        turns: (N, L, 3, 3) link axes in the world.
        origins: (N, L, 3) [m] world.

    Returns:
        rotations (N, L, 4) and translations (N, L, 3) [m].
    """
    moved, translations = np.empty(turns.shape), np.empty(origins.shape)
    for link, joint in enumerate(rig.joints):
        turn, origin = turns[:, link], origins[:, link]
        if joint.parent >= 0:
            back = turns[:, joint.parent].swapaxes(1, 2)
            # frames n, axes i of the parent, axes j of the world
            turn, origin = back @ turn, np.einsum("nij,nj->ni", back, origin - origins[:, joint.parent])
        moved[:, link] = joint.rotation.T @ turn
        translations[:, link] = (origin - joint.position) @ joint.rotation
    return to_quaternion(moved), translations


def scene_recording(points: Markers | SegmentPoses | None, wrenches: Wrenches | None) -> SceneRecording:
    """A recording as a scene draws it: markers or starts of segments, and centres of pressure on the floor z = 0."""
    none, nowhere = np.zeros(0), np.zeros((0, 0, 3))
    seen, names, places = none, tuple[str, ...](), nowhere
    if points is not None and points.positions is not None:
        seen, names, places = points.times, points.names, points.positions
    rest = points.rest if isinstance(points, SegmentPoses) else None
    parents = rest.parents if rest is not None and len(names) else ()
    if wrenches is None:
        return SceneRecording(seen, names, places, none, (), nowhere, nowhere, parents)
    assert wrenches.measured is not None
    step = max(1, int(wrenches.rate / DRAWN_RATE)) if len(wrenches) > 1 else 1
    times, values, measured = wrenches.times[::step], every(wrenches.values, step), wrenches.measured[::step]
    drawn = replace(wrenches, times=times, values=values, measured=measured)
    loaded = (values[:, :, 2] > DRAWN_FORCE) & measured[:, None, 3:5].all(axis=2)
    centres = drawn.centres_of_pressure(loaded)
    return SceneRecording(seen, names, places, drawn.times, drawn.frames, centres, drawn.values[:, :, :3], parents)


def read_trials(paths: Paths) -> dict[str, SceneRecording]:
    """Recordings of all readable formats as scenes draw them, by trial; files of one name are one trial.

    Raises:
        InputError: a file is missing or wrong.
    """
    from ..formats.recording import find_recordings

    return {
        trial.name: scene_recording(trial.markers or trial.segments, trial.wrenches) for trial in find_recordings(paths)
    }


def find_trial_files(paths: Paths) -> dict[str, tuple[Path, ...]]:
    """The files of each trial in files and folders, paired as by `read_trials`, without reading all of them.

    Raises:
        InputError: a path that does not exist, an unknown format, or no trial.
    """
    from ..formats.recording import pair_files

    return dict(pair_files(paths))


RECORDING = FileKind(SceneRecording, "exciting dance recording", remedy="Track the recording again with this version")
"""The file of measurements."""
