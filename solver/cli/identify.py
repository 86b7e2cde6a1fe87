"""``identify``: from recordings to the inertial parameters of every link."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InvalidValue
from ..base.progress import Progress
from ..options.study import Settings
from ..values.person import LINKS
from .argument_types import add_options, path
from .bodies import add_rig, take_rig
from .exit_codes import INCOMPLETE, OK
from .foreseen import require_forces, require_sense
from .options import (
    add_output,
    add_plates,
    add_recordings,
    add_subject,
    add_verb,
    read_options,
    settings_of,
    subject,
)
from .settings_file import show_only

if TYPE_CHECKING:
    from ..skeleton.rig import Rig
    from ..workflow.study import Study

EXPLANATION = """
Calibrates the subject, estimates the body mass, tracks the markers, checks the force plates, selects the frames in
which every contact is measured, identifies, and tests the result on trials left out. Writes result.json, result.csv,
rig.urdf, the motions and report.html. With --rig the recordings hold joint coordinates instead of markers: encoders of
a robot, or a motion that `track` or `export` wrote. With an OpenSim model they hold the joint angles of OpenSim's
inverse kinematics (.mot), the poses of its BodyKinematics (.sto), or the model's own markers, and
MODEL_identified.osim is written, too; of a robot's file ROBOT_identified.urdf or .xml. Both differ from
the file in mass, centre of mass and inertia alone.

Examples:
  python -m solver identify recordings/ --height 1.75 --mass 70 --sex female --output results
  python -m solver identify static.trc squats.trc squats.mot --mass 70 --sex male --method hierarchical --output results
  python -m solver identify walk.c3d --height 1.8 --mass 82 --sex male --no-cross-validation --output quick
  python -m solver identify robot_angles.csv robot_wrenches.csv --rig hoap3 --output results
  python -m solver identify subject.osim walk_ik.mot walk_grf.mot --output results
  python -m solver identify subject.osim walk.trc walk_grf.mot --output results
  python -m solver identify recordings/ --mass 70 --sex female --write-into scaled.osim --output results
  python -m solver identify jumps.trc --mass 64 --sex female --flight-only --output from_flight
  python -m solver identify dance.joints.mot dance_wrenches.csv --rig robot.urdf --filter human_8hz --output results
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "identify", "identify mass, centre of mass and inertia of every link", EXPLANATION, run)
    add_recordings(parser)
    add_subject(parser, required=False)
    add_rig(parser)
    add_plates(parser)
    group = parser.add_argument_group("identification")
    add_options(group, Settings, without=("planted_foot",))  # with the rig
    words = "OpenSim model of the person, scaled in OpenSim: MODEL_identified.osim is it with the identified inertials"
    group.add_argument("--write-into", type=path, metavar="MODEL", help=words)
    group.add_argument("--title", help="title of the report")
    add_output(parser)
    show_only(parser, "sex", "height", "mass", "marker_set", "static", "rig", "planted_foot")


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb."""
    take_rig(options)
    rig = require_sense(options, options.files)

    from ..report import REPORT_FILE
    from ..scene.study_folder import trial_files
    from ..study.recordings import load
    from ..workflow.pipeline import identify
    from .printed import warn
    from .words import identified, removed_trials

    if options.write_into is not None:
        _require_match(options.write_into, rig)
    settings = settings_of(options)
    person, reading = None if rig is not None else subject(options), read_options(options)
    recordings = load(options.files, reading)
    if not options.flight_only:
        require_forces(recordings)
    if person is None:
        study = identify(recordings, rig=rig, mass=options.mass, settings=settings, progress=progress)
    else:
        study = identify(recordings, **person, settings=settings, progress=progress)
    progress(1.0, "writing")
    before = trial_files(options.output)
    if options.write_into is not None:
        _show_matches(options.write_into, study)
    reasons: list[str] = []
    study.write(
        options.output,
        title=options.title,
        write_into=options.write_into,
        warn=reasons.append,
    )
    warn((*study.warnings, *reasons))
    print(identified(study))
    for text in study.assumptions:
        print(f"assumed: {text}")
    report = "" if study.identified is None else f", the report is {options.output / REPORT_FILE}"
    if not options.flight_only and (unused := [r.name for r in recordings if r.wrenches is None]):
        print(f"without forces, not used to identify: {', '.join(unused)}")
    print(f"\nwritten: {options.output}{report}{removed_trials(before, options.output)}")
    return OK if study.identified is not None else INCOMPLETE


def _require_match(model: Path, rig: Rig | None) -> None:
    """Check before long work that an OpenSim model can take the inertials of the person.

    Raises:
        InvalidValue: a rig is given, or the model's bodies do not match a person's links.
    """
    from ..rigs.opensim.matching import match_bodies
    from ..rigs.opensim.rig import from_opensim

    if rig is not None:
        raise InvalidValue("--write-into takes the result of a person with markers; name the model itself as the rig")
    match_bodies(LINKS, from_opensim(model, meshes="none"))


def _show_matches(model: Path, study: Study) -> None:
    """Print which links become which bodies of the model, before it is written."""
    from ..rigs.opensim.matching import transfer_inertials
    from ..rigs.opensim.rig import from_opensim

    if study.identified is None:
        return
    groups, _ = transfer_inertials(study.rig, study.identification.parameters, from_opensim(model, meshes="none"))
    print(f"links of {study.rig.name} and bodies of {model.name}:")
    for group in groups:
        print(f"  {group.sentence}")
    print()
