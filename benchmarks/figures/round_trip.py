"""Largest difference of any number of a rig after every kind of file, and in another process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from solver.calibration.calibration import CALIBRATION, Calibration
from solver.contacts.schedule import Schedule, anchors_at
from solver.dance.authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Keyframe
from solver.dance.design.dance import DESIGNED_DANCE, Dance
from solver.inertials import InertialParameters
from solver.options.checks import CheckOptions
from solver.rig import Rig
from solver.rigs import hoap3, hrp2, human
from solver.scene.motion import scene_motion
from solver.scene.rig import RIG
from solver.scene.timeline import TIMELINE, SceneTimeline
from solver.storage.codec import FileKind
from solver.trajectory.segment import DanceSegment

SEED = 5
ANOTHER_PROCESS = """
import sys
from solver.scene.rig import RIG
RIG.write(sys.argv[2], RIG.read(sys.argv[1]))
"""


def rigs() -> tuple[Rig, ...]:
    """Bodies whose links identification found heavier and lighter than their makers did."""
    generator = np.random.default_rng(SEED)
    found = []
    for rig in (human(1.75, 70.0, "male"), hoap3(), hrp2()):
        spread = generator.uniform(0.8, 1.3, len(rig.links))
        found.append(rig.with_prior(InertialParameters(rig.links, rig.prior.values * spread[:, None]), "identified"))
    return tuple(found)


def round_trips(folder: Path) -> dict[str, float]:
    """Largest difference of a number of any rig by what it went through; infinite where something else differs."""
    return {name: max(_difference(rig, trip(folder, rig)) for rig in rigs()) for name, trip in TRIPS.items()}


def _difference(one: Rig, other: Rig) -> float:
    """Of the numbers that weigh and hold a body; infinite where names, shapes or anything else are not the same."""
    if one == other:
        return 0.0
    pairs = [(one.prior.values, other.prior.values), (one.boxes, other.boxes), (one.limits.upper, other.limits.upper)]
    if one.links != other.links or len(one.shapes) != len(other.shapes):
        return float("inf")
    return max(float(np.abs(mine - theirs).max()) for mine, theirs in pairs) or float("inf")


def _through(kind: FileKind, name: str, value: Callable[[Rig], object]) -> Callable[[Path, Rig], Rig]:  # type: ignore[type-arg]
    def trip(folder: Path, rig: Rig) -> Rig:
        read = kind.read(kind.write(folder / name, value(rig)))
        return read if isinstance(read, Rig) else read.rig

    return trip


def _keyed(rig: Rig) -> AuthoredDance:
    keys = (Keyframe(0.0, rig.neutral, "fixed"), Keyframe(1.0, rig.neutral, "fixed"))
    return AuthoredDance(rig, keys, Schedule.constant(anchors_at(rig, rig.neutral), 0.0, 1.0))


def _dance(rig: Rig) -> Dance:
    return Dance(rig, (DanceSegment("home", "hold", 1.0, np.zeros((6, rig.nv)), (), ()),), CheckOptions(), None)


def _timeline(rig: Rig) -> SceneTimeline:
    shown = scene_motion(rig, _keyed(rig).motion(10.0))
    return SceneTimeline("shown", rig, shown.times, shown.root, shown.rotations, shown.translations)


def _calibration(rig: Rig) -> Calibration:
    return Calibration(rig, (), "mine", 1.75, {}, {})


def _another_process(folder: Path, rig: Rig) -> Rig:
    there, back = RIG.write(folder / "there.json", rig), folder / "back.json"
    subprocess.run([sys.executable, "-c", ANOTHER_PROCESS, str(there), str(back)], check=True)
    return RIG.read(back)


TRIPS: dict[str, Callable[[Path, Rig], Rig]] = {
    "rig.json": _through(RIG, "rig.json", lambda rig: rig),
    "a calibration": _through(CALIBRATION, "calibration.json", _calibration),
    "an authored dance": _through(AUTHORED_DANCE, "keyed.json", _keyed),
    "a designed dance": _through(DESIGNED_DANCE, "dance.npz", _dance),
    "a timeline": _through(TIMELINE, "scene.timeline.npz", _timeline),
    "a pickle": lambda _, rig: pickle.loads(pickle.dumps(rig)),
    "another process": _another_process,
}
"""Files and processes through which a rig passes, and how."""
