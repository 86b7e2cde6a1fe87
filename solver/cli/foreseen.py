"""Checks of options and file names before anything is read or computed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InvalidValue, UnknownLink, UnknownName
from ..base.files import check_file
from ..values.person import LINKS, require_person
from .bodies import rig_of
from .options import subject

if TYPE_CHECKING:
    from ..signals.trial import Recording
    from ..skeleton.rig import Rig


def require_sense(options: argparse.Namespace, *recordings: Sequence[Path]) -> Rig | None:
    """Refuse options that could only fail after long work, and outputs that must not be replaced.

    Args:
        options: of the verb.
        recordings: its files, those whose trials give results their names first.

    Returns:
        the rig that is named with ``--rig``.

    Raises:
        InputError: no recordings; a file that is not this program's has the name of one of the results; no marker set.
        InvalidValue: no sex of a new subject, a body that no person has, a standing patch of a person.
        UnknownName: a trial that was not given, or a link that the body does not have.
    """
    rig = _require_body(options)
    from ..formats.model_writer import identified_model_name
    from ..formats.recording import pair_files
    from ..rigs.robot_files import model_file
    from ..scene.study_folder import study_files
    from ..storage.output_folder import check_reserved_names

    trials, *_ = ([name for name, _ in pair_files(files)] for files in recordings)
    for name in options.static:
        if name not in trials:
            raise UnknownName(name, trials)
    if options.marker_set is not None:
        from ..calibration import load_marker_set

        load_marker_set(options.marker_set)
    written = study_files(trials)
    model = getattr(options, "write_into", None)
    if model is None and rig is not None:
        model = model_file(rig)
    if model is not None:
        written = (*written, identified_model_name(model))
    check_reserved_names(options.output, written)
    return rig


def _require_body(options: argparse.Namespace) -> Rig | None:
    """The rig that is named, after checking the options that refer to its links."""
    calibration = getattr(options, "calibration", None)
    named = (*filter(None, [getattr(options, "base", None)]), *(getattr(options, "candidates", None) or ()))
    standing = getattr(options, "planted_foot", None)
    if getattr(options, "rig", None) is not None:
        rig = rig_of(options)
        assert rig is not None
        for link in named:
            rig.index(link)
        if standing is not None:
            rig.find_patch(standing)
        return rig
    if standing is not None:
        raise InvalidValue("--planted-foot applies to recorded joint coordinates: give the rig with --rig")
    if calibration is not None:
        check_file(calibration)
        return None
    for link in named:
        if link not in LINKS:
            raise UnknownLink(link, LINKS)
    stated = subject(options)
    require_person(stated["height"], stated["mass"])
    return None


def require_forces(recordings: Sequence[Recording]) -> None:
    """Check before long work that a trial has motion and forces.

    Raises:
        InvalidValue: none has both; what each lacks is listed, and the warnings about files whose forces were not read.
    """
    if any(r.wrenches is not None and _has_motion(r) for r in recordings):
        return
    lacking = ", ".join(f"{r.name} has no {'motion' if r.wrenches is not None else 'forces'}" for r in recordings)
    reasons = "".join(f". {text}" for r in recordings if r.wrenches is None for text in r.warnings)
    raise InvalidValue(
        f"no trial has motion and forces: {lacking}. Files of one trial have the same name, as walk.trc and walk.mot "
        f"or walk_grf.mot; `track` needs no forces{reasons}"
    )


def _has_motion(recording: Recording) -> bool:
    return any(part is not None for part in (recording.markers, recording.joints, recording.segments))
