"""``track``: markers in, joint motion out."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..base.errors import InvalidValue
from ..base.progress import Progress
from ..options.study import Settings
from ..values.person import MASS_GUESS, STATURE_GUESS
from .argument_types import add_options, path, path_ending
from .bodies import add_rig, take_rig
from .foreseen import require_sense
from .options import (
    KEYS,
    Subject,
    add_calibration,
    add_output,
    add_recordings,
    add_subject,
    add_verb,
    calibrated,
    read_options,
    settings_of,
    subject,
)

if TYPE_CHECKING:
    from ..calibration.calibration import Calibration
    from ..skeleton.rig import Rig

EXPLANATION = """
Writes the motion of every trial (.mot, .csv, and .motion.npz for Blender and for `check`, `export` and `perform`) with
the error of every marker. An OpenSim model follows its own markers. Joint coordinates of a rig that is given with --rig
are filtered. Orientations of segments (.bvh, OpenSim's orientation .sto, tables of quaternions, AMASS and SMPL-X .npz)
are followed by a person of the given stature, or by --rig; the mapping of segments to links is proposed from names and
rest pose, and can be saved, corrected and given back.

Examples:
  python -m solver track walk.trc --calibration subject/calibration.json --output tracked
  python -m solver track static.trc walk.trc --height 1.75 --mass 70 --sex male --output tracked
  python -m solver track jump.trc --calibration subject/calibration.json --smooth --output smoothed
  python -m solver track subject.osim walk.trc --output tracked
  python -m solver track robot_angles.csv --rig hoap3 --output motions
  python -m solver track dance.bvh --height 1.75 --mass 70 --sex male --output tracked --save-mapping bones.json
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "track", "turn markers into joint motion", EXPLANATION, run)
    add_recordings(parser)
    add_subject(parser, required=False)
    add_calibration(parser)
    add_rig(parser)
    add_options(parser, Settings, "filter", "smooth", "jobs")
    parser.add_argument("--mapping", type=path, metavar="FILE", help="mapping of recorded segments to links, .json")
    parser.add_argument(
        "--save-mapping", type=path_ending(KEYS), metavar="FILE", help="write the mapping that was used"
    )
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    take_rig(options)
    body: Calibration | Rig | None = require_sense(options, options.files)
    from ..base.progress import halves
    from ..calibration.calibration import Calibration
    from ..formats.text_table import format_table
    from ..scene.study_folder import trial_files
    from ..study.recordings import load, require_rates
    from ..tracking.bone_mapping import MAPPING, guess_mapping
    from ..workflow.pipeline import track
    from .printed import warn
    from .words import removed_trials

    settings = settings_of(options)
    recordings = load(options.files, read_options(options))
    require_rates(recordings, settings)
    segments = next((recording.segments for recording in recordings if recording.segments is not None), None)
    mapping = None if options.mapping is None else MAPPING.read(options.mapping)
    if segments is None and (options.mapping is not None or options.save_mapping is not None):
        raise InvalidValue("no recording holds segments, so a mapping has no use")
    first, second = halves(progress)
    if body is None and (segments is None or options.calibration is not None):
        body = calibrated(options, recordings, first)
    if segments is not None:
        body = body.rig if isinstance(body, Calibration) else body or _person(subject(options))
        mapping = mapping or guess_mapping(segments, body)
    assert body is not None
    study = track(recordings, body, settings, second, mapping)
    before = trial_files(options.output)
    study.write(options.output)
    if mapping is not None:
        print(format_table(("link", "segment"), list(zip(mapping.links, mapping.segments))) + "\n")
        if options.save_mapping is not None:
            print(f"written: {MAPPING.write(options.save_mapping, mapping)}\n")
    warn(study.warnings)
    moved = [(r.name, r.tracked, r.motion) for r in study.records if r.motion is not None]
    rows = [(name, str(len(motion)), f"{1e3 * t.rmse:.1f}" if t else "") for name, t, motion in moved]
    print(format_table(("trial", "frames", "marker RMSE [mm]"), rows))
    print(f"\nwritten: {options.output}{removed_trials(before, options.output)}")


def _person(stated: Subject) -> Rig:
    """The rig of a person without markers, of the given or the average stature and mass."""
    from ..rigs import human

    sex = stated["sex"]
    return human(stated["height"] or STATURE_GUESS[sex], stated["mass"] or MASS_GUESS, sex)
