"""Humanoids of other authors: a dance without options, checked by independent code, and danced in MuJoCo.

`python -m benchmarks dance --only foreign` prints the table; all simulated. Models
come from installed packages (example-robot-data, icub-models), from folders in ROBOT_MODELS, and ../shared/models.
"""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from solver.base.errors import SolverError
from solver.dance.design.dance import Dance
from solver.dance.workflows.design import design_dance
from solver.dynamics.coordinates import joint_slices
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions
from solver.rigs import from_urdf
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters, symmetric_entries

from ..engine.judge import Judge, Record
from ..models import G1, HUMANS, ICUB, model_file, places
from .figure import Figure, at_least, at_most, missing

FOREIGN = {
    "TALOS reduced": ("talos_data", "robots", "talos_reduced.urdf"),
    "TALOS full": ("talos_data", "robots", "talos_full_v2.urdf"),
    "G1": G1,
    "iCub": ICUB,
    "human48": HUMANS[48],
    "human66": HUMANS[66],
}
MUST, AIM = 5, 6
RATE, PLAY_RATE = 200.0, 500.0
SEEDS = (0, 1)
AXIS = 1e-3
"""Share of the mean link's mass that a link without mass, an axis of a compound joint, has in the simulator."""
TOUCHING = ("Adjacent", "Default")
"""Reasons in an SRDF for pairs that touch by construction."""
KEPT = -1e-6
"""A margin down to this counts as satisfied: rounding."""


@dataclass(frozen=True, slots=True)
class HumanoidResult:
    """Result of one humanoid.

    Attributes:
        rig: None where its file could not be read.
        dance: None where none could be designed.
        note: what the judge found, or why there is nothing to check.
        failing: what fails, by the judge or because a foot configuration is missing; empty for a feasible dance.
        seconds: of processor.
    """

    rig: Rig | None
    dance: Dance | None
    note: str
    failing: str
    seconds: float


def read_touching_pairs(path: Path) -> list[tuple[str, str]]:
    """Read pairs that touch by construction from the SRDF beside a robot's file.

    Adjacent ones, and those that its maker found touching in the default posture; not those that he never saw touching.
    """
    name = ET.parse(path).getroot().get("name")
    files = [found for folder in path.resolve().parents[1:3] for found in sorted(folder.glob("srdf/*.srdf"))]
    roots = [root for root in (ET.parse(file).getroot() for file in files) if root.get("name") == name]
    said = [own for root in roots for own in root.iter("disable_collisions") if own.get("reason") in TOUCHING]
    return [(own.get("link1", ""), own.get("link2", "")) for own in said]


@cache
def try_humanoid(name: str, seed: int) -> HumanoidResult:
    """Read a humanoid, design a dance with one posture on each foot configuration, and check it."""
    began, path = time.process_time(), model_file(FOREIGN[name])
    assert path is not None
    rig = dance = None
    try:
        rig = from_urdf(path)
        postures = dict.fromkeys(FOOT_CONFIGURATIONS, 1)
        options = DanceOptions(postures=postures, pool=60, rounds=2, workers=1, step=None, seed=seed)
        dance = design_dance(rig, options)
    except SolverError as error:
        return HumanoidResult(rig, None, str(error), str(error), time.process_time() - began)
    limits = rig.limits
    unstated = [kind for kind, given in (("torque", limits.torque), ("speed", limits.speed)) if np.isinf(given).all()]
    judge = Judge(path, places(), dance.checks.friction, unstated, read_touching_pairs(path))
    findings = judge.findings(build_record(rig, dance))
    wrong = [str(finding) for finding in findings if finding.margin < KEPT]
    if not dance.complete:
        lost = [note for note in dance.notes if "left out" in note or "wanted" in note]
        wrong.append(f"not every foot configuration:  {'; '.join(lost)}")
    return HumanoidResult(rig, dance, "; ".join(map(str, findings)), "; ".join(wrong), time.process_time() - began)


def build_record(rig: Rig, dance: Dance) -> Record:
    """Convert a dance to plain numbers, joints by the names of the robot's file."""
    motion, schedule = dance.sample(rig, RATE), dance.schedule
    joints = {}
    for joint, own, _ in joint_slices(rig)[1:]:
        values = motion.q[:, own]
        joints[joint.name] = np.arctan2(values[:, 1], values[:, 0]) if values.shape[1] == 2 else values[:, 0]
    phases = [schedule.phases[k] for k in schedule.index_at(motion.times)]
    planted = {
        rig.patch(patch).link: np.array([any(anchor.patch == patch for anchor in phase.anchors) for phase in phases])
        for patch in rig.sides.values()
    }
    root = np.array(motion.q[:, :7])
    if rig.provenance.get("up") == "y":  # the rig's root link stands upright, the file's lies
        root[:, 3:] = (Rotation.from_quat(root[:, 3:]) * Rotation.from_euler("x", 90.0, degrees=True)).as_quat()
    return Record(motion.times, root, joints, planted)


def add_axis_inertias(rig: Rig) -> InertialParameters:
    """Prior with a small ball at each massless axis, which simulators require."""
    mass = AXIS * float(rig.prior.total_mass / len(rig.links))
    ball = np.concatenate([[mass, 0.0, 0.0, 0.0], symmetric_entries(mass * 1e-3 * np.eye(3))])
    values = np.where((rig.masses == 0.0)[:, None], ball, rig.prior.values)
    return InertialParameters(rig.links, values)


def dance_figures(names: Sequence[str] = tuple(FOREIGN), seed: int = 0) -> Iterator[Figure]:
    """One row for each humanoid, and how many of them dance."""
    good, there = 0, [name for name in names if model_file(FOREIGN[name]) is not None]
    for name in names:
        what = f"{name}: dances (1) by the independent judge, one posture a foot configuration"
        if name not in there:
            yield from missing([Figure(what, "simulated", None)], "the model is not installed")
            continue
        result = try_humanoid(name, seed)
        good += not result.failing
        length = "no dance" if result.dance is None else f"{result.dance.duration:.0f} s"
        status = f"FAILS: {result.failing}" if result.failing else "passes every check"
        note = f"{status}; {result.note}; {result.seconds:.0f} s of processor"
        yield Figure(what, f"simulated, {length}", float(not result.failing), "", note=note)
    data = f"simulated, {len(there)} of {len(names)} installed"
    total = Figure("foreign humanoids with a feasible dance", data, float(good), "", at_least(MUST), at_least(AIM))
    yield total if len(there) == len(FOREIGN) else replace(total, must=None, aim=None)


def play_figures(names: Sequence[str] = tuple(FOREIGN), seeds: Sequence[int] = SEEDS) -> Iterator[Figure]:
    """Falls of each humanoid's dances in MuJoCo, on three floors."""
    for name in names:
        what = f"{name}: falls in MuJoCo, floors as usual, mu = 1, stiffer"
        danced = [] if model_file(FOREIGN[name]) is None else [try_humanoid(name, seed) for seed in seeds]
        if not all(result.dance is not None for result in danced) or not danced:
            yield from missing([Figure(what, "simulated", None, "", at_most(0.0))], "no dance")
            continue
        plays = [count_falls(result.rig, result.dance) for result in danced if result.rig and result.dance]
        falls = sum(count for count, _ in plays)
        yield Figure(what, f"simulated, {len(seeds)} seeds", float(falls), "", at_most(0.0),
                     note="; ".join(text for _, text in plays))  # fmt: skip


def count_falls(rig: Rig, dance: Dance) -> tuple[int, str]:
    """Falls of one dance, played from its exported table, on the floors, and a description."""
    from ..engine.exported import exported_plan
    from ..engine.measure import measure
    from ..engine.mjcf import Ground
    from ..engine.performance import PlayOptions
    from ..engine.simulate import play

    stiff = Ground(time_constant=0.0025, rigidity=(0.99, 0.999))
    floors = {
        "usual": PlayOptions(),
        "mu 1": PlayOptions(ground=Ground(friction=1.0)),
        "stiff": PlayOptions(ground=stiff),
    }
    intended, truth = exported_plan(dance, PLAY_RATE), add_axis_inertias(rig)
    falls, lines = 0, []
    for floor, options in floors.items():
        shown = measure(rig, intended, play(rig, intended, options, truth))
        falls += shown.fell is not None
        ended = f"slip {1e3 * shown.slip:.1f} mm" if shown.fell is None else f"FELL after {shown.fell:.1f} s"
        lines.append(f"{floor}: {ended}")
    return falls, ", ".join(lines)
