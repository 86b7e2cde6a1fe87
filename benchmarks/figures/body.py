"""The body mesh over the postures of three dances: joint centres, skin seen from inside, and volume lost at joints.

A person's mesh is closed, and stays closed however it bends. It looks broken where skin folds over so far that its
inside faces the viewer: that is counted in pictures from all around, where the outline's rounding is 10 to 30 parts per
million. The volume that a joint loses is the difference of the enclosed volume between standing and a posture in which
this joint alone moves, over the volume of the skin that follows both of its sides.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from addon.drawing.painting.rasterise import front_faces, rasterise
from solver.base import so3
from solver.cli import OK
from solver.cli import main as run
from solver.dynamics import link_poses
from solver.rigs import human
from solver.scene.body_mesh import ASSET, BodyMesh, BodyShapes, enclosed_volume, fit_body_mesh, read_body_shapes
from solver.scene.motion_record import MOTION
from solver.scene.study_folder import MOTION_END
from solver.skeleton.rig import Rig
from solver.values.person import SIDES

from .figure import Figure, at_most, missing

DESIGNED = (
    ("designed", ("--height", "1.8", "--mass", "80", "--sex", "male", "--seed", "1")),
    ("designed, shoulder girdle", ("--height", "1.6", "--mass", "50", "--sex", "female", "--trunk", "three",
                                   "--shoulders", "girdle", "--seed", "2")),
)  # fmt: skip
"""Names of designed dances and their options."""
RECORDED = "clips/deepmimic_dance.bvh"
PERSON = ("--height", "1.75", "--mass", "70", "--sex", "male")
POSTURES = 20
"""Number of postures of each dance, evenly spaced."""
EXTREMES = (
    ("female", 1.2, 25.0), ("male", 1.2, 25.0), ("male", 2.1, 140.0), ("unknown", 1.7, 120.0), ("male", 1.9, 55.0),
    ("female", 1.5, 40.0), ("female", 1.75, 110.0), ("unknown", 1.65, 65.0),
)  # fmt: skip
"""Sex, stature [m] and mass [kg] of people that repeat the postures of the first dance."""
MOVED = {
    "elbow": ("forearm", "hand"),
    "knee": ("shank", "foot"),
    "hip": ("thigh", "shank", "foot"),
    "armpit": ("upper_arm", "forearm", "hand"),
}
"""Segments beyond each joint, the one that it moves first."""
GIRDLE_JOINTS = ("clavicle", "scapula")
SHARED = 0.02
"""Least weight on both sides of a joint of the skin around it."""
JOINTS = {
    "shoulder": ("scapula", "upper_arm"), "elbow": ("upper_arm", "forearm"), "wrist": ("forearm", "hand"),
    "hip": ("thigh", "thigh"), "knee": ("thigh", "shank"), "ankle": ("shank", "foot"),
}  # fmt: skip
"""Joint centres, and the stored links that share the skin there: above and below."""
DIRECTIONS = ((0, 0), (90, 0), (180, 0), (270, 0), (45, 40), (225, 40), (135, -30), (315, -30))
"""[deg] Azimuth and elevation of the pictures."""
PIXELS = 400
PART_PER_MILLION = 1e-6
SEEN = 100.0
"""[ppm] Skin seen from inside: a pixel of a body that covers 10,000."""


@dataclass(frozen=True, slots=True)
class DancePostures:
    """Postures of a dance.

    Attributes:
        name: of the row.
        rig: of the person who dances.
        q: (N, nq).
    """

    name: str
    rig: Rig
    q: np.ndarray


def body_figures(data: Path) -> list[Figure]:
    """Rows of the body mesh; rows that need recordings say so where they are missing.

    Args:
        data: folder of the recordings.
    """
    if not ASSET.is_file():
        return missing([Figure("body mesh", "simulated", None, must=at_most(0.0))], f"{ASSET.name} is missing")
    dances = list(read_dances(data))
    figures = [_time_figure(), _joint_figure(dances)]
    for dance in dances:
        figures += _dance_figures([dance], dance.name)
    others = [
        DancePostures(f"{sex} {height:g} m {mass:g} kg", human(height, mass, sex), dances[0].q)
        for sex, height, mass in EXTREMES
    ]
    figures += _dance_figures(others, f"{DESIGNED[0][0]}, {len(others)} other people")
    if len(dances) == len(DESIGNED):
        figures.append(Figure(WHAT["inside"], "a recorded dance", None, "ppm", note=f"no {RECORDED} in {data}"))
    return figures


WHAT = {
    "time": "add a person with skin, bones and material slots",
    "joints": "joint centres of the skin against the rig's, largest distance",
    "inside": "skin seen from inside, of all skin in 8 pictures a posture, largest share",
    "volume": "largest loss of volume: {joint}",
}
"""Words of the rows."""


def read_dances(data: Path) -> Iterable[DancePostures]:
    """The postures of designed dances, and of a recorded one where it exists."""
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, options) in enumerate(DESIGNED):
            yield _read_postures(name, ["dance", "human", *options, "--postures", "12"], Path(folder) / str(k))
        if (data / RECORDED).is_file():
            words = ["track", str(data / RECORDED), *PERSON]
            yield _read_postures(f"recorded, {Path(RECORDED).stem}", words, Path(folder) / "recorded")


def _read_postures(name: str, words: Sequence[str], folder: Path) -> DancePostures:
    with redirect_stdout(StringIO()) as printed:
        status = run([*words, "--progress", "none", "--output", str(folder)])
    if status != OK:
        raise RuntimeError(printed.getvalue())
    record = MOTION.read(next(folder.glob(f"*{MOTION_END}")))
    chosen = np.linspace(0, len(record.motion.q) - 1, POSTURES).astype(int)
    return DancePostures(name, record.rig, record.motion.q[chosen])


def _time_figure() -> Figure:
    """Needs the `bpy` package."""
    import bpy

    from addon.scene.armature import build_armature

    bpy.ops.wm.read_factory_settings(use_empty=True)
    began = time.process_time()
    build_armature(bpy.context, human(1.75, 70.0, "male"))
    return Figure(WHAT["time"], "Blender without a window", time.process_time() - began, "s", at_most(1.0), timed=True)


def _joint_figure(dances: Sequence[DancePostures]) -> Figure:
    errors = {dance.name: 1e3 * joint_centre_error(dance) for dance in dances}
    note = ", ".join(f"{name} {error:.2g}" for name, error in errors.items())
    return Figure(WHAT["joints"], "postures of all dances", max(errors.values()), "mm", at_most(1.0), note=note)


def _dance_figures(dances: Sequence[DancePostures], data: str) -> list[Figure]:
    """Rows of the worst of some dances."""
    inside: dict[str, float] = {}
    losses: dict[str, dict[str, np.ndarray]] = {joint: {} for joint in MOVED}
    for dance in dances:
        mesh = fit_body_mesh(dance.rig)
        inside[dance.name] = max(inside_share(mesh, skin_vertices(mesh, dance.rig, q)) for q in dance.q)
        found = volume_losses(dance.rig, mesh, dance.q)
        for joint in MOVED:
            losses[joint][dance.name] = 100.0 * np.concatenate([found[side, joint] for side in SIDES])
    worst = max(inside, key=lambda name: inside[name])
    figures = [Figure(WHAT["inside"], data, inside[worst] / PART_PER_MILLION, "ppm", at_most(SEEN), note=worst)]
    for joint, by_dance in losses.items():
        worst = max(by_dance, key=lambda name: by_dance[name].max())
        found_there = by_dance[worst]
        note = f"{worst}: median {np.median(found_there):.1f} %, largest gain {max(-found_there.min(), 0.0):.1f} %"
        words = WHAT["volume"].format(joint=joint)
        figures.append(Figure(words, data, float(found_there.max()), "%", None, at_most(15.0), note))
    return figures


def joint_centre_error(dance: DancePostures) -> float:
    """Largest distance [m] of points of the skin, at the joint centres of the stored body, from those of the rig."""
    shapes = read_body_shapes()
    joints = {
        f"{side}_{joint}": [f"{side}_{link}" for link in pair] for side in SIDES for joint, pair in JOINTS.items()
    }
    mesh = fit_body_mesh(dance.rig, _with_points(shapes, joints))
    points = slice(len(shapes.weights), len(shapes.weights) + len(joints))
    below = [dance.rig.index(pair[1]) for pair in joints.values()]
    return max(
        float(
            np.linalg.norm(skin_vertices(mesh, dance.rig, q)[points] - link_poses(dance.rig, q)[1][below], axis=1).max()
        )
        for q in dance.q
    )


def _with_points(shapes: BodyShapes, joints: Mapping[str, Sequence[str]]) -> BodyShapes:
    """The shapes with a vertex at each joint centre, moved by two links in equal parts."""
    rows = np.array([[0.5 * list(pair).count(link) for link in shapes.links] for pair in joints.values()])
    points = {
        name: np.concatenate([surface, [shapes.joints[name][joint] for joint in joints]])
        for name, surface in shapes.shapes.items()
    }
    return replace(shapes, shapes=points, weights=np.concatenate([shapes.weights, rows]))


def skin_vertices(mesh: BodyMesh, rig: Rig, q: np.ndarray) -> np.ndarray:
    """Vertices (V, 3) [m] of a mesh in a posture (nq,), as Blender's armature modifiers place them.

    Linear blend skinning, and the fraction `BodyMesh.dual` of dual-quaternion skinning (Kavan et al. 2008).
    """
    rotations, origins = link_poses(rig, q)
    turned = rotations @ rig.rest[0].transpose(0, 2, 1)
    moved = origins - np.einsum("lij,lj->li", turned, rig.rest[1])
    linear = np.einsum("vij,vj->vi", np.tensordot(mesh.weights, turned, 1), mesh.vertices) + mesh.weights @ moved
    real = np.array([so3.to_quaternion(rotation) for rotation in turned])  # (L, 4) xyzw
    dual = 0.5 * _multiply(np.column_stack([moved, np.zeros(len(moved))]), real)
    same_side = np.sign(real[mesh.weights.argmax(axis=1)] @ real.T)
    weights = mesh.weights * np.where(same_side == 0.0, 1.0, same_side)
    real, dual = weights @ real, weights @ dual
    length = np.linalg.norm(real, axis=1, keepdims=True)
    real, dual = real / length, dual / length
    axis, angle = real[:, :3], real[:, 3:]
    rotated = mesh.vertices + 2.0 * np.cross(axis, np.cross(axis, mesh.vertices) + angle * mesh.vertices)
    shifted = 2.0 * _multiply(dual, real * [-1.0, -1.0, -1.0, 1.0])[:, :3]
    return np.asarray(linear + mesh.dual[:, None] * (rotated + shifted - linear))


def _multiply(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Products (N, 4) of quaternions xyzw."""
    vector = one[:, 3:] * other[:, :3] + other[:, 3:] * one[:, :3] + np.cross(one[:, :3], other[:, :3])
    scalar = one[:, 3] * other[:, 3] - np.einsum("ni,ni->n", one[:, :3], other[:, :3])
    return np.column_stack([vector, scalar])


def inside_share(mesh: BodyMesh, vertices: np.ndarray) -> float:
    """Share of the visible skin whose inside faces the viewer, in pictures of `DIRECTIONS`."""
    triangles, inside, seen = _triangles(mesh.faces), 0, 0
    for azimuth, elevation in np.radians(DIRECTIONS):
        back = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        flat = vertices @ np.stack([right, -np.cross(back, right), -back], axis=1)
        flat = (flat - flat.min(axis=0)) * (PIXELS / np.ptp(flat[:, :2], axis=0).max())
        found = rasterise(flat.astype(np.float32), triangles, (PIXELS, PIXELS)).triangles
        inside += int((~front_faces(flat, triangles)[found]).sum())
        seen += len(found)
    return inside / seen


def volume_losses(rig: Rig, mesh: BodyMesh, postures: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Volume (N,) that each joint loses in postures (N, nq), by side and joint, over that of the skin around it."""
    standing = np.array(rig.provenance["standing"])
    vertices = skin_vertices(mesh, rig, standing)
    whole, result = enclosed_volume(vertices, mesh.faces), {}
    for side in SIDES:
        for joint, segments in MOVED.items():
            around = _volume_around(mesh, vertices, [rig.index(f"{side}_{segment}") for segment in segments])
            girdle = GIRDLE_JOINTS if joint == "armpit" else ()
            names = [f"{side}_{segment}" for segment in (*girdle, segments[0])]
            moved = [rig.q_slices[rig.index(name)] for name in names if name in rig.links]
            losses = []
            for q in postures:
                alone = standing.copy()
                for part in moved:
                    alone[part] = q[part]
                losses.append((whole - enclosed_volume(skin_vertices(mesh, rig, alone), mesh.faces)) / around)
            result[side, joint] = np.array(losses)
    return result


def _volume_around(mesh: BodyMesh, vertices: np.ndarray, beyond: Sequence[int]) -> float:
    """Volume [m^3] of the skin that follows both sides of a joint, with flat lids.

    Args:
        mesh: of the body.
        vertices: (V, 3) [m].
        beyond: indices of the links beyond the joint.
    """
    share = mesh.weights[:, list(beyond)].sum(axis=1)
    triangles = _triangles(mesh.faces)
    triangles = triangles[((share > SHARED) & (share < 1.0 - SHARED))[triangles].any(axis=1)]
    one, two, three = vertices[triangles].transpose(1, 0, 2)
    volume = float(np.einsum("ij,ij->", one, np.cross(two, three)))
    edges = {(a, b) for corners in triangles.tolist() for a, b in pairwise([*corners, corners[0]])}
    border = np.array([(b, a) for a, b in edges if (b, a) not in edges], int).reshape(-1, 2)
    count = len(vertices)
    graph = sparse.coo_matrix((np.ones(len(border)), (border[:, 0], border[:, 1])), shape=(count, count))
    loops = connected_components(graph, directed=False)[1][border[:, 0]]
    for loop in np.unique(loops):
        start, end = vertices[border[loops == loop].T]
        volume += float(np.sum(np.cross(start, end) @ start.mean(axis=0)))
    return volume / 6.0


def _triangles(faces: np.ndarray) -> np.ndarray:
    """Triangles (T, 3) of faces (F, 4) that may repeat their last corner."""
    found = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    return found[found[:, 1] != found[:, 2]]
