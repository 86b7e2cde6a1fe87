"""``retarget``: what a person or a rig did, danced by a robot or any rig with two feet."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InvalidValue
from ..base.progress import Progress, halves
from ..options.authoring import RepairOptions, RetargetOptions
from ..options.checks import CheckOptions
from ..options.reading import ReadOptions, watched
from ..options.study import Settings
from .argument_types import add_options, by_name, given, path
from .bodies import body_of
from .dances import add_checks, repair_options
from .exit_codes import INCOMPLETE, OK
from .options import (
    PARTS,
    add_calibration,
    add_output,
    add_parts,
    add_reading,
    add_subject,
    add_verb,
    calibrated,
    read_options,
    settings_of,
)

if TYPE_CHECKING:
    from ..tracking.retargeting.performer import Performer
    from ..values.wrenches import Wrenches

EXPLANATION = """
Transfers a motion (.motion.npz, a study's folder with --trial, a dance), segments with positions (.bvh), orientations
with a root position (AMASS, SMPL-X .npz; segment lengths are those of a person of --height, 1.7 m by default) or
markers (with --calibration, or the subject's --sex, --height and --mass) to another rig. Feet stand where the recorded
feet do: those with toes roll, rigid soles of robots lie flat, or roll with --roll. Joint limits hold, collisions are
avoided, and the motion is slowed down where joints would be too fast or too weak. The centre of mass is moved over what
touches of the feet where the body would fall. What still fails is repaired with the least change if soles stay flat.
Feasibility is reported before and after.

The motion begins and ends as the recording does; with --from-rest it begins and ends on both feet, and a step that the
recording cuts off is completed. Contacts are found from the motion of the feet, and from force plates
if --forces is given.

The motion as retargeted is written first, so that it is there while the repair takes its time, or if it is stopped.

The mapping of segments to links is a preset (HRP-2, HOAP-3, iCub, G1, people), or proposed from names and joints. It is
printed and written to mapping.json, and can be corrected and given back with --mapping.

Written to DIR: dance.motion.npz (Blender and the other verbs), NAME_RATEhz.csv (no header: root position, quaternion
x y z w, joints in the robot's order), NAME.bodies.npz (poses and speeds of all bodies), NAME.joints.mot, mapping.json,
summary.json (status and message) and report.txt.

Exit codes: 0 feasible, 1 not feasible (the motion is written all the same), 2 wrong input, 130 stopped.

Examples:
  python -m solver retarget tracked hrp2 --trial squats --output squats_hrp2
  python -m solver retarget walk.trc g1.urdf --calibration subject/calibration.json --output walk_g1
  python -m solver retarget jump.trc hrp2 --forces jump.mot --calibration subject/calibration.json --output jump_hrp2
  python -m solver retarget walk_poses.npz hrp2 --height 1.8 --output walk_hrp2
  python -m solver retarget dance.bvh hoap3 --no-repair --output dance_hoap3
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "retarget", "transfer a motion to another body, such as a robot", EXPLANATION, run)
    parser.add_argument("recording", type=path, metavar="RECORDING", help="a motion, segments or markers")
    words = "human (with --mass and --sex; by default as tall as the performer), hoap3, hrp2, a .urdf file, a rig.json"
    parser.add_argument("target", metavar="RIG", help=words)
    parser.add_argument(
        "--packages", nargs="+", default=(), metavar="DIR", help="folders in which package:// paths are searched"
    )
    parser.add_argument("--trial", metavar="NAME", help="trial, if the folder holds several")
    parser.add_argument("--mapping", type=path, metavar="FILE", help="mapping of segments to links, .json")
    add_parts(parser)
    words = "ground reaction forces of the recording (.mot, .csv, .c3d), from which contacts are found"
    parser.add_argument("--forces", type=path, metavar="FILE", help=words)
    add_options(parser, RetargetOptions)
    parser.add_argument("--no-repair", action="store_true", help="check the motion without repairing it")
    add_options(parser, RepairOptions)
    add_checks(parser, "override the default conditions")
    add_reading(parser)
    add_calibration(parser)
    add_subject(parser, required=False)
    add_options(parser, Settings, "filter")
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns the exit code."""
    from ..dance.workflows.loading import load_dance
    from ..dance.workflows.retarget import CHECKS, RetargetLimits, load_performer, retarget
    from ..storage.codec import is_own_file
    from ..tracking.bone_mapping import MAPPING

    mapping = None if options.mapping is None else MAPPING.read(options.mapping)
    progress(0.0, "reading the recording")
    first, second = halves(progress)
    file: Path = options.recording
    with watched(read_options(options), [file]) as reading:
        source = (
            load_performer(load_dance(file, options.trial))
            if os.path.isdir(file) or is_own_file(file)
            else performer(options, reading, first)
        )
        if options.forces is not None:
            source = source.with_plate_contacts(forces(options.forces, reading))
    size = {"height": options.height or source.stature, "mass": options.mass, "sex": options.sex}
    target = {"body": options.target, "packages": options.packages}
    rig = body_of(argparse.Namespace(**target, **(size if options.target == "human" else {})))
    rig.require_contacts()
    followed = retarget(
        source,
        rig,
        mapping,
        RetargetOptions(**given(options, RetargetOptions)),
        RetargetLimits(
            CHECKS.changed(**given(options, CheckOptions)), None if options.no_repair else repair_options(options)
        ),
        second,
        lambda unchecked: unchecked.write(options.output),
    )
    followed.write(options.output)
    summary = followed.summary()
    print(f"{followed.report}\n\n{summary.message}\nwritten: {options.output}")
    return OK if summary.delivered else INCOMPLETE


def forces(file: Path, reading: ReadOptions) -> Wrenches:
    """What the plates of a recording measured.

    Raises:
        InputError: the file holds no forces.
    """
    from ..base.errors import InputError
    from ..formats.recording import read_recording

    wrenches = read_recording(file, reading).wrenches
    if wrenches is None:
        raise InputError(file, "holds no forces of plates", remedy="Name a .mot, .csv or .c3d file of forces")
    return wrenches


def performer(options: argparse.Namespace, reading: ReadOptions, progress: Progress) -> Performer:
    """Whom a recording shows: segments as they are, markers by a person who is calibrated.

    Raises:
        InvalidValue: it holds neither, or nobody says whose markers they are.
    """
    from ..input_checks import check_recording
    from ..skeleton.match import match_recording
    from ..study.recordings import load
    from ..tracking.retargeting.performer import Performer
    from ..tracking.retargeting.rotation_recordings import DEFAULT_STATURE, lacks_lengths, performer_of_stature
    from ..workflow.pipeline import track

    recordings = load([options.recording], reading)
    if recordings[0].segments is not None:
        stated = by_name(options.parts, *PARTS)
        checked = check_recording(
            recordings[0], parts=match_recording(recordings[0].segments, stated) if stated else None
        )
        assert checked.segments is not None
        assert checked.found is not None
        if lacks_lengths(checked.segments):
            found = performer_of_stature(checked.segments, options.height or DEFAULT_STATURE, checked.name)
        else:
            found = Performer.from_segments(checked.segments, checked.name, checked.found.parts)
        notes = [note for note in checked.warnings if note not in recordings[0].warnings]
        return replace(found, notes=(*found.notes, *notes))
    if recordings[0].markers is None:
        reason = "holds neither markers nor segments: `track` it with its --rig, and name the motion that is written"
        raise InvalidValue(f"the recording {reason}")
    first, second = halves(progress)
    body = calibrated(options, recordings, first)
    study = track(recordings, body, settings_of(options), second)
    motion = study.records[0].motion
    if motion is None:
        raise InvalidValue("; ".join(study.warnings) or "the recording could not be tracked")
    return Performer.from_motion(study.rig, motion, recordings[0].name)
