"""``calibrate``: a subject's rig and marker locations from recordings."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from .foreseen import require_sense
from .options import add_output, add_recordings, add_subject, add_verb, read_options, subject

EXPLANATION = """
Estimates segment lengths, joint centres and marker locations from a static trial and any other trials given. Writes
calibration.json, which `track --calibration` takes, and rig.json for Blender. `identify` includes this step.

Example:
  python -m solver calibrate static.trc squats.trc --height 1.75 --mass 70 --sex male --output subject
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "calibrate", "fit a person's rig and marker locations to recordings", EXPLANATION, run)
    add_recordings(parser)
    add_subject(parser)
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    require_sense(options, options.files)
    from ..calibration.calibration import CALIBRATION
    from ..formats.text_table import format_table
    from ..scene.rig import write_rig
    from ..scene.study_folder import CALIBRATION_FILE, RIG_FILE
    from ..storage.output_folder import write_folder
    from ..study.recordings import load
    from ..study.subject_calibration import calibrate
    from .printed import warn

    person = subject(options)
    recordings = load(options.files, read_options(options))
    calibration = calibrate(recordings, **person, progress=progress)
    with write_folder(options.output) as folder:
        CALIBRATION.write(folder / CALIBRATION_FILE, calibration)
        write_rig(folder / RIG_FILE, calibration.rig)
    warn((*(text for recording in recordings for text in recording.warnings), *calibration.warnings))
    print(f"marker set {calibration.marker_set}, {len(calibration.attachments)} markers, ", end="")
    print(f"RMSE {1e3 * calibration.rmse:.1f} mm, height {calibration.height:.3f} m\n")
    lengths = [(name, f"{1e3 * value:.0f}") for name, value in calibration.lengths.items()]
    print(format_table(("segment", "length [mm]"), lengths))
    print(f"\nwritten: {options.output}")
