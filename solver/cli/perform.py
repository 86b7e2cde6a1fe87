"""``perform``: how closely a dance was performed, and what its performance excites."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..dance.workflows.performed import Recorded, as_tree, differences, joint_table, message, report
from ..errors import InputError
from ..progress import Progress
from .options import add_output, add_verb

if TYPE_CHECKING:
    from ..motion import Motion
    from ..rig import Rig

MOTION, RIG = ".motion.npz", "rig.json"
RATE = 100.0
EXPLANATION = """
Aligns the performance with the plan in time (when it began, and at what pace), then compares every joint: root mean
square error, constant offset, correlation and gain (performed over planned amplitude); and what both excite, as
condition number by link and by how many base parameters are determined.

PLAN is a dance (.npz), an authored dance (.json), a timeline (.timeline.npz) or another recording's .motion.npz.
PERFORMED is the folder written by `track` or `identify`, or a .motion.npz in it. A recorded person is calibrated and
so has other lengths than the planned rig: joint angles are compared by the links' names, and both excitations are those
of the performer's body.

Written to DIR: performance.json, performance.csv (a row for each joint) and report.txt.

Examples:
  python -m solver perform dance/dance.npz tracked --trial squats --output performance
  python -m solver perform first/squats.motion.npz second/squats.motion.npz --output repeated
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "perform", "say how closely a dance was performed", EXPLANATION, run)
    parser.add_argument("plan", type=Path, metavar="PLAN", help="dance, timeline or .motion.npz")
    parser.add_argument("performed", type=Path, metavar="PERFORMED", help="folder of a study, or a .motion.npz")
    parser.add_argument("--trial", metavar="NAME", help="of the folder, where it holds several")
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Read both, compare, write, tell."""
    from ..dance.workflows.performance import compare
    from ..formats.atomic import write_atomically
    from ..formats.folder import write_folder
    from ..formats.plain import plain
    from ..identification.base_parameters import base_parameters
    from ..tracking.retargeting import common_links, transferred

    progress(0.0, "reading")
    plan, performed = planned(options.plan), recorded(options.performed, options.trial)
    rig = performed.rig
    progress(0.2, "aligning and comparing")
    on_performer = transferred(plan.rig, plan.motion, rig)
    require_movement(plan, on_performer, rig)
    found = compare(rig, on_performer, performed.motion, structure=base_parameters(rig))
    shared = common_links(plan.rig, rig)
    compared = [k for k, name in enumerate(found.joints) if name.split(" ")[0] in shared]
    notes = differences(plan, performed, shared)
    said = message(plan, performed, found, compared)
    text = report(said, notes, found, compared)
    progress(0.9, "writing")
    with write_folder(options.output) as folder:
        tree = plain(as_tree(said, notes, plan, performed, found, compared))
        with write_atomically(folder / "performance.json") as stream:
            stream.write(json.dumps(tree, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        (folder / "performance.csv").write_text(joint_table(found, compared), "utf-8")
        (folder / "report.txt").write_text(text + "\n", "utf-8")
    progress(1.0, "done")
    print(f"{text}\n\nwritten: {options.output}")


def require_movement(plan: Recorded, transferred: Motion, rig: Rig) -> None:
    """Refuse a plan that moves no joint of the performer.

    Raises:
        InvalidValue: it keeps still, or moves other joints.
    """
    from ..dance.workflows.performance import STILL, continuous_coordinates
    from ..errors import InvalidValue

    if (continuous_coordinates(rig, transferred.q).std(axis=0) > STILL).any():
        return
    if (continuous_coordinates(plan.rig, plan.motion.q).std(axis=0) > STILL).any():
        raise InvalidValue(f"{plan.name!r} moves joints of {plan.rig.name} that {rig.name} does not have")
    raise InvalidValue(f"{plan.name!r} keeps every joint still: there is nothing to perform")


def planned(path: Path) -> Recorded:
    """The plan's motion.

    Raises:
        InputError: no dance and no motion.
    """
    if path.name.endswith(MOTION):
        return recorded(path, None)
    from .dances import load

    found = load(path, RATE)
    return Recorded(found.rig, found.motion, path.name if found.keyed is None else found.keyed.name)


def recorded(path: Path, trial: str | None) -> Recorded:
    """A motion from the folder of a study, or from one of its files.

    Raises:
        InputError: no motion, no rig beside it, or several trials and none named.
    """
    from ..dance.authoring.timeline import configurations
    from ..errors import SolverError
    from ..inertials import InertialParameters
    from ..rigs import build
    from ..scene.motion import read_motion
    from ..scene.rig import read_rig
    from ..signals import smooth_motion

    file = _motion_file(path, trial)
    rig_file = file.parent / RIG
    if not rig_file.is_file():
        raise InputError(file, f"has no {RIG} beside it that tells whose motion it is", remedy="Name a study's folder")
    scene = read_motion(file)
    if len(scene) < 2:
        raise InputError(file, f"holds {len(scene)} frames, a motion needs two", remedy="Name another trial")
    try:
        described = read_rig(rig_file)
        rig = build(described.parameters)
        if described.links == rig.links:
            rig = rig.with_prior(InertialParameters(rig.links, described.prior))
        places = [scene.links.index(link) for link in rig.links if link in scene.links]
        if len(places) != len(rig.links):
            raise InputError(file, f"is not the motion of the rig in {RIG}", remedy="Name a study's folder")
        q = configurations(rig, scene.root, scene.rotations[:, places], scene.translations[:, places])
        motion = smooth_motion(rig.model, scene.times, q, None)
    except InputError:
        raise
    except SolverError as error:
        raise InputError(file, str(error).rstrip("."), remedy="Track the recording again") from error
    return Recorded(rig, motion, file.name.removesuffix(MOTION))


def _motion_file(path: Path, trial: str | None) -> Path:
    if path.is_file():
        if not path.name.endswith(MOTION):
            raise InputError(path, f"is neither the folder of a study nor a {MOTION}", remedy="Name one of them")
        return path
    if not path.is_dir():
        raise InputError(path, "is not there", remedy=f"Name the folder of a study, or a {MOTION}")
    trials = sorted(file.name.removesuffix(MOTION) for file in path.glob(f"*{MOTION}"))
    if not trials:
        raise InputError(path, f"holds no {MOTION}", remedy="Name the --output of `track` or `identify`")
    if trial is None and len(trials) > 1:
        raise InputError(path, f"holds several trials, {', '.join(trials)}", remedy="Choose one with --trial")
    if trial is not None and trial not in trials:
        raise InputError(path, f"holds no trial {trial!r}", remedy=f"It holds {', '.join(trials)}")
    return path / f"{trial or trials[0]}{MOTION}"
