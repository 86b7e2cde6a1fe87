"""Bipeds of other authors, as packages ship them: each dances by the judge's checks, or its file's defect is reported.

`python -m benchmarks other-bipeds [--only NAME] [--play]` prints the table; all simulated. Models come from
installed packages and from folders in ROBOT_MODELS (of unpacked packages, each robot by the path beside it below);
what is absent is listed as missing. MJCF, and files whose root is not the link between the legs, are judged from the
rig as written to URDF with hulls for meshes.
"""

from __future__ import annotations

import re
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from solver.base.errors import SolverError
from solver.base.threads import one_blas_thread
from solver.dance.design.dance import Dance
from solver.dance.workflows.design import design_dance
from solver.feasibility.collisions import PairDistances
from solver.feasibility.link_pairs import collision_pairs
from solver.formats.urdf_writer import write_urdf
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions
from solver.rigs import from_mjcf, from_urdf
from solver.skeleton.rig import Rig

from ..engine.judge import Finding, Judge, Record
from ..models import model_file, places
from .figure import Figure, at_least, missing
from .foreign_humanoids import KEPT, build_record, count_falls, read_touching_pairs
from .table import FigureTable, table_parser

MENAGERIE = ("mujoco_menagerie",)
DANCERS = {
    "Romeo": ("romeo_description", "urdf", "romeo.urdf"),
    "Alexander's legs": ("alexander_description", "urdf", "alexander_v1.lowerBodyOnly.urdf"),
    "human of 2016": ("human_description", "robots", "human.urdf"),
    "JVRC-1": ("jvrc_description", "urdf", "jvrc1.urdf"),
    "ARMAR-4": ("armar", "description", "urdf", "armar4.urdf"),
    "GR1": ("fourier_robot_descriptions", "assets", "urdf", "gr1t1.urdf"),
    "GR1 with fingers": ("fourier_robot_descriptions", "assets", "urdf", "gr1t2_fourier_hand_12dof.urdf"),
    "GR2": ("fourier_robot_descriptions", "assets", "urdf", "gr2t2.urdf"),
    "GR3": ("fourier_robot_descriptions", "assets", "urdf", "gr3.urdf"),
    "T1, URDF": ("holosoma", "data", "robots", "t1", "t1_29dof.urdf"),
    "T1, MJCF": ("holosoma", "data", "robots", "t1", "t1_29dof.xml"),
    "G1, MJCF": (*MENAGERIE, "unitree_g1", "g1.xml"),
    "Apollo": (*MENAGERIE, "apptronik_apollo", "apptronik_apollo.xml"),
    "OP3": (*MENAGERIE, "robotis_op3", "op3.xml"),
    "Berkeley Humanoid": (*MENAGERIE, "berkeley_humanoid", "berkeley_humanoid.xml"),
    "humanoid of dm_control": ("dm_control", "suite", "humanoid.xml"),
    "CMU's of dm_control": ("dm_control", "suite", "humanoid_CMU.xml"),
    "CMU's with capsules": ("dm_control", "locomotion", "walkers", "assets", "humanoid_CMU_V2020.xml"),
}
REFUSED = {
    "simple humanoid": (("simple_humanoid_description", "urdf", "simple_humanoid.urdf"), "--soles"),
    "Alex without legs": (("alex_description", "urdf", "alex_nub_hands.urdf"), "no legs"),
    "humanoid of Gymnasium": (("gymnasium", "envs", "mujoco", "assets", "humanoid.xml"), "4 joint"),
}
"""Files without shapes, without legs, with legs of four joints: words of the message."""


def read(path: Path) -> Rig:
    """A rig as a user would read it."""
    return from_mjcf(path) if path.suffix == ".xml" else from_urdf(path)


def findings(rig: Rig, dance: Dance, path: Path) -> list[Finding]:
    """What the judge finds, from the robot's own file where its root is the rig's, z up."""
    kinds = {"torque": rig.limits.torque, "speed": rig.limits.speed}
    unstated = [kind for kind, given in kinds.items() if (given == float("inf")).all()]
    own = path.suffix == ".urdf" and not any("root" in note for note in rig.notes)
    with tempfile.TemporaryDirectory() as folder:
        file = _absolute(path, Path(folder)) if own else write_plain_urdf(rig, Path(folder))
        apart = [*rig.excluded, *_overlapping_pairs(rig), *(read_touching_pairs(path) if own else ())]
        judge = Judge(file, [*places(), *path.resolve().parents], dance.checks.friction, unstated, apart)
        return judge.findings(build_record(rig, dance) if own else build_record_by_links(rig, dance))


def _overlapping_pairs(rig: Rig) -> list[tuple[str, str]]:
    """Pairs whose shapes overlap with every joint at zero; replaces `read_touching_pairs` where no SRDF exists."""
    pairs = collision_pairs(rig)
    distances = PairDistances(rig, pairs, 0.01).minimum_distances(rig.neutral[None])[0]
    return [pair for pair, distance in zip(pairs, distances) if distance < 0.0]


def _absolute(path: Path, folder: Path) -> Path:
    """A copy of a URDF whose meshes beside it are named by their whole paths."""
    text = path.read_text(encoding="utf-8")
    place = re.compile(r'filename="(?!/|\w+://)([^"]*)"')
    copy = folder / path.name
    copy.write_text(place.sub(lambda found: f'filename="{(path.parent / found[1]).resolve()}"', text), encoding="utf-8")
    return copy


def write_plain_urdf(rig: Rig, folder: Path) -> Path:
    """Write a rig's URDF with a file beside it for every mesh."""
    path = folder / "robot.urdf"
    write_urdf(rig, path)
    tree = ET.parse(path)
    bodies = {str(body.get("name")): body for body in tree.getroot().iter("link")}
    for number, shape in enumerate(rig.shapes):
        if shape.kind == "mesh":
            corners = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in shape.vertices]
            faces = [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in shape.faces]
            (folder / f"{number}.obj").write_text("\n".join([*corners, *faces, ""]))
            solid = ET.SubElement(ET.SubElement(bodies[shape.link], "collision"), "geometry")
            ET.SubElement(solid, "mesh", {"filename": str(folder / f"{number}.obj")})
    tree.write(path)
    return path


def build_record_by_links(rig: Rig, dance: Dance) -> Record:
    """The record for a rig's own URDF, whose joints are named after their links and whose root stands upright."""
    record = build_record(replace(rig, provenance=dict(rig.provenance) | {"up": "z"}), dance)
    names = {joint.name: link for joint, link in zip(rig.joints, rig.links)}
    return replace(record, joints={names[name]: values for name, values in record.joints.items()})


def figures(names: Sequence[str], play: bool) -> Iterator[Figure]:
    """A row for each biped."""
    for name in names:
        parts, words = (DANCERS[name], "") if name in DANCERS else REFUSED[name]
        what = f"{name}: {f'is refused for {words}' if words else 'dances, by the independent judge'}"
        path = model_file(parts)
        if path is None:
            yield from missing([Figure(what, "simulated", None)], "the model is not there")
            continue
        began = time.process_time()
        good, report = _try_dance(path, play) if not words else _check_refusal(path, words)
        seconds = time.process_time() - began
        yield Figure(what, "simulated", float(good), "", at_least(1.0), note=f"{report}; {seconds:.0f} s of processor")


def _try_dance(path: Path, play: bool) -> tuple[bool, str]:
    try:
        rig = read(path)
        postures = dict.fromkeys(FOOT_CONFIGURATIONS, 1)
        dance = design_dance(rig, DanceOptions(postures=postures, pool=60, rounds=2, workers=1, step=None))
    except SolverError as error:
        return False, str(error)
    found = findings(rig, dance, path)
    wrong = [str(finding) for finding in found if finding.margin < KEPT]
    lost = [note for note in dance.notes if "left out" in note]
    lines = [f"{dance.duration:.0f} s", "; ".join(wrong) or "passes every check", *lost]
    if play:
        lines.append(_play(rig, dance))
    return not wrong, "; ".join(lines)


def _play(rig: Rig, dance: Dance) -> str:
    try:
        return count_falls(rig, dance)[1]
    except SolverError as error:  # inertias that no simulator takes
        return f"not played: {error}"


def _check_refusal(path: Path, words: str) -> tuple[bool, str]:
    try:
        design_dance(read(path), DanceOptions(workers=1))
    except SolverError as error:
        return words in str(error), str(error)
    return False, "it dances"


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 where a biped neither dances nor is refused with its reason."""
    parser = table_parser("other-bipeds", __doc__)
    parser.add_argument("--only", choices=[*DANCERS, *REFUSED], action="append", help="only this; repeatable")
    parser.add_argument("--play", action="store_true", help="in MuJoCo too, on three floors")
    chosen = parser.parse_args(list(arguments))
    table = FigureTable(["other-bipeds", *arguments], chosen.output)
    with one_blas_thread():
        table.measure(lambda: figures(chosen.only or [*DANCERS, *REFUSED], chosen.play))
    return table.close()
