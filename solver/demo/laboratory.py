"""Simulated recordings of a motion laboratory: markers, force plates, their noise and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..dynamics import ground_wrench, link_motions
from ..skeleton.rig import Rig
from ..storage.atomic import write_atomically
from ..values.inertials import InertialParameters
from ..values.motion import Markers, Motion
from ..values.wrenches import Wrenches

MARKER_NOISE = 0.002
"""[m] standard deviation per coordinate and frame."""
FORCE_NOISE, MOMENT_NOISE = 1.0, 1.0
"""[N], [N m] standard deviation per component and sample of each plate."""
LIFTED_HEIGHT = 1e-3
"""[m] Height of an ankle above its standing height from which the foot counts as lifted."""
MIN_LOAD_SHARE = 0.15
"""Least fraction of the load on a standing foot; less would look like the offset of an unloaded plate."""


@dataclass(frozen=True, slots=True)
class MarkerPlacement:
    """A marker attached to a link at a point (3,) [m] of its frame."""

    marker: str
    link: str
    position: np.ndarray


def record_markers(
    rig: Rig,
    motion: Motion,
    placements: Sequence[MarkerPlacement],
    generator: np.random.Generator,
    noise: float = MARKER_NOISE,
) -> Markers:
    """Marker positions with white noise of a standard deviation ``noise`` [m]."""
    motions = link_motions(rig, motion)
    index = [rig.index(placement.link) for placement in placements]
    local = np.array([placement.position for placement in placements])
    rotation, origin = motions.rotation[:, :, index], motions.position[:, index]
    # axes r of the world, axes c of the link, markers m, frames n
    positions = np.einsum("rcmn,mc->nmr", rotation, local) + np.moveaxis(origin, 0, -1).transpose(1, 0, 2)
    errors = noise * generator.standard_normal(positions.shape)
    return Markers(motion.times, tuple(placement.marker for placement in placements), positions + errors)


def sole_centres(rig: Rig, motion: Motion) -> dict[str, np.ndarray]:
    """Middle of each sole on the ground (3,) [m], world, at the start of a motion."""
    first = link_motions(rig, motion.part(0, 2))
    result = {}
    for contact in rig.soles:
        index = rig.index(contact.link)
        middle = first.rotation[:, :, index, 0] @ contact.centroid + first.position[:, index, 0]
        result[contact.name] = middle * [1.0, 1.0, 0.0]
    return result


def find_lifted_feet(rig: Rig, motion: Motion) -> np.ndarray:
    """(N, 2) True where the foot of each sole of the rig is higher than at the start."""
    heights = link_motions(rig, motion).position[2, [rig.index(contact.link) for contact in rig.soles]].T
    return heights > heights[0] + LIFTED_HEIGHT


@dataclass(frozen=True, slots=True)
class PlateNoise:
    """White noise of each component and sample of each plate.

    Attributes:
        generator: of the noise.
        force, moment: [N], [N m] standard deviations.
    """

    generator: np.random.Generator
    force: float = FORCE_NOISE
    moment: float = MOMENT_NOISE


def record_plates(
    rig: Rig,
    motion: Motion,
    truth: InertialParameters,
    feet: Mapping[str, np.ndarray],
    lifted: np.ndarray | None = None,
    noise: PlateNoise | None = None,
) -> Wrenches:
    """One plate under each of two feet, which together measure the wrench of the motion, with white noise if requested.

    The foot nearer to the centre of pressure carries proportionally more, the intended meaning of bonnet2016 (2); the
    remaining moment is distributed in the same proportion.

    Args:
        rig: that moves.
        motion: of it.
        truth: its true inertials.
        feet: plate name -> middle of the foot on the ground (3,) [m], world.
        lifted: (N, 2) True where a foot is lifted and the other carries all the load.
        noise: of the plates.
    """
    wrench = ground_wrench(rig, motion, truth)
    force, moment = wrench[:, :3], wrench[:, 3:]
    pressure = np.column_stack([-moment[:, 1], moment[:, 0]]) / force[:, 2:]
    names = tuple(feet)
    first, second = (np.asarray(feet[name]) for name in names)
    line = (first - second)[:2]
    share = np.clip((pressure - second[:2]) @ line / (line @ line), MIN_LOAD_SHARE, 1.0 - MIN_LOAD_SHARE)[:, None]
    if lifted is not None:
        share[lifted[:, 0]], share[lifted[:, 1]] = 0.0, 1.0
    shares = (share, 1.0 - share)
    rest = moment - sum(np.cross(point, part * force) for point, part in zip((first, second), shares, strict=True))
    values = np.stack(
        [
            np.hstack([part * force, np.cross(point, part * force) + part * rest])
            for point, part in zip((first, second), shares, strict=True)
        ],
        axis=1,
    )
    if noise is not None:
        values = values + noise.generator.standard_normal(values.shape) * ([noise.force] * 3 + [noise.moment] * 3)
    return Wrenches(motion.times, names, values)


def write_trc(path: Path, markers: Markers) -> None:
    """Markers as a laboratory exports them: y up, millimetres."""
    positions = 1e3 * to_y_up(markers.positions)
    rate, count = markers.rate, len(markers.names)
    with write_atomically(path) as stream:
        stream.write(f"PathFileType\t4\t(X/Y/Z)\t{path.name}\n")
        stream.write(
            "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
        )
        stream.write(f"{rate:g}\t{rate:g}\t{len(markers)}\t{count}\tmm\t{rate:g}\t1\t{len(markers)}\n")
        stream.write("Frame#\tTime\t" + "\t\t\t".join(markers.names) + "\n")
        stream.write("\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, count + 1)) + "\n\n")
        for frame, (time, row) in enumerate(zip(markers.times, positions.reshape(len(markers), -1), strict=True), 1):
            stream.write(f"{frame}\t{time:.6f}\t" + "\t".join(f"{value:.2f}" for value in row) + "\n")


def write_forces(path: Path, wrenches: Wrenches) -> None:
    """Plates as force, centre of pressure and free moment: y up, metres."""
    columns, names = [wrenches.times[:, None]], ["time"]
    for index, name in enumerate(wrenches.frames):
        force, moment = wrenches.values[:, index, :3], wrenches.values[:, index, 3:]
        point = np.column_stack([-moment[:, 1], moment[:, 0], np.zeros(len(force))]) / force[:, 2:]
        for kind, values in (("v", force), ("p", point), ("m", moment - np.cross(point, force))):
            columns.append(to_y_up(values))
            names += [f"{name}_{kind}{axis}" for axis in "xyz"]
    table = np.hstack(columns)
    with write_atomically(path) as stream:
        stream.write(f"{path.name}\nversion=1\nnRows={len(table)}\nnColumns={len(names)}\ninDegrees=yes\nendheader\n")
        stream.write("\t".join(names) + "\n")
        for row in table:
            stream.write("\t".join(f"{value:.6f}" for value in row) + "\n")


def to_y_up(vectors: np.ndarray) -> np.ndarray:
    """(..., 3) from x forward, y left, z up to x forward, y up, z right."""
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], axis=-1)
