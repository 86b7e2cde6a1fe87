"""Reads the recordings of a study, and refuses early those that cannot be processed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..base.errors import InvalidValue, UnknownLink, checked
from ..base.files import AnyPath, Paths
from ..calibration.calibration import CALIBRATION, Calibration
from ..formats.file_formats import recording_suffixes
from ..formats.recording import find_recordings
from ..options.reading import ReadOptions
from ..options.study import Settings
from ..scene.rig import RIG, load_rig
from ..signals import preset_of, require_rate
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..storage.codec import JSON_SUFFIX, read_one_of
from ..values.rig_kinds import robot_suffixes

Body = TypeVar("Body")

HELD, HELD_RATE = 1.0, 60.0
"""[s], [1/s] A skeleton's only posture becomes a motion of this duration and rate."""


@checked
def load(paths: Paths, options: ReadOptions | None = None) -> tuple[Recording, ...]:
    """Read the trials in files and folders.

    Args:
        paths: a file or a folder, or several: strings or Paths.
        options: reading options.

    Raises:
        InvalidValue: not a path, or not reading options.
        InputError: see `formats.recording.find_recordings`.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> folder = Path(tempfile.mkdtemp())
        >>> solver.demo.simulated_robot().write(folder)  # a table of joint coordinates and one of wrenches
        >>> solver.load(folder)
        (Recording 'dance'; 0 warnings
          30 joint coordinates, with the root's pose: 0.00 to 5.99 s at 100 Hz, 600 frames
          Wrenches of right_sole, left_sole: 0.00 to 5.99 s at 100 Hz, 600 frames,)
    """
    return tuple(map(_hold_posture, find_recordings(paths, options or ReadOptions())))


def _hold_posture(recording: Recording) -> Recording:
    """A recording whose skeleton, if it has one frame, stays in this posture for a while."""
    segments = recording.segments
    if segments is None or len(segments) > 1:
        return recording
    times = segments.times[0] + np.arange(round(HELD * HELD_RATE) + 1) / HELD_RATE
    positions = None if segments.positions is None else np.repeat(segments.positions, len(times), axis=0)
    rotations = np.repeat(segments.rotations, len(times), axis=0)
    note = f"{recording.name}: its only frame is a posture, which is held for {HELD:g} s"
    held = replace(segments, times=times, rotations=rotations, positions=positions)
    return replace(recording, segments=held, warnings=(*recording.warnings, note))


def take_model(
    recordings: Recording | Sequence[Recording] | Paths, rig: Body
) -> tuple[Sequence[Recording] | Paths, Body | AnyPath]:
    """Recordings without the file of a model among them, and that file as the rig; both as given without one.

    Raises:
        InvalidValue: several rigs.
    """
    given = _listed(recordings)
    models = [
        each for each in given if isinstance(each, str | os.PathLike) and Path(each).suffix.lower() in robot_suffixes()
    ]
    if not models:
        return given, rig
    if len(models) > 1 or rig is not None:
        named = [*(() if rig is None else (rig,)), *models]
        raise InvalidValue(f"{', '.join(map(str, named))}: name one rig for all recordings")
    return tuple(each for each in given if each not in models), models[0]


def _listed(recordings: Any) -> tuple[Any, ...]:
    """The recordings or paths given: one, or any iterable of them."""
    is_single = isinstance(recordings, Recording | str | os.PathLike) or not isinstance(recordings, Iterable)
    return (recordings,) if is_single else tuple(recordings)


def load_recordings(recordings: Recording | Sequence[Recording] | Paths) -> tuple[Recording, ...]:
    """Recordings by value, or read from files and folders with the default options.

    Raises:
        InvalidValue: neither recordings nor paths, or none at all.
        InputError: see `load`.
    """
    given = _listed(recordings)
    if not given:
        suffixes = ", ".join(recording_suffixes())
        raise InvalidValue(f"no recordings given; give recordings, or files or folders with {suffixes}")
    if all(isinstance(each, Recording) for each in given):
        return given
    if any(isinstance(each, Recording) for each in given):
        raise InvalidValue("recordings and paths are mixed; read the files first with solver.load")
    return load(given)


def load_body(body: Calibration | Rig | AnyPath | None) -> Calibration | Rig:
    """A calibrated person or a rig by value, by the name of a built-in robot, or from a file.

    Raises:
        InvalidValue: None, or an unknown name; the message lists the names and suffixes.
        InputError: the file is missing, or neither a calibration nor a rig.
    """
    if body is None:
        models = ", ".join(robot_suffixes())
        raise InvalidValue(f"no body given; give a calibration or a rig, or a model ({models}) among the recordings")
    if isinstance(body, Calibration):
        return body
    if isinstance(body, str | os.PathLike) and Path(body).suffix.lower() == JSON_SUFFIX:
        found: Calibration | Rig = read_one_of(Path(body), (CALIBRATION, RIG))
        return found
    return load_rig(body)


def require_rates(recordings: Sequence[Recording], settings: Settings) -> None:
    """Refuse recordings whose sample rate is too low for the filter, before hours of work.

    Raises:
        InvalidValue: the sample rate of a recording is too low.
    """
    for recording in recordings:
        for part in (recording.markers, recording.joints, recording.segments, recording.wrenches):
            try:
                if part is not None and len(part) > 1:
                    require_rate(preset_of(settings.filter), part.rate)
            except InvalidValue as error:
                raise InvalidValue(f"{recording.name}: {error}") from None


def require_base(links: Sequence[str], settings: Settings) -> None:
    if settings.base is not None and settings.base not in links:
        raise UnknownLink(settings.base, links)


def require_markers(recordings: Sequence[Recording]) -> None:
    """Refuse joint coordinates that come without their rig.

    Raises:
        InvalidValue: no trial has markers, and some have joint coordinates.
    """
    jointed = [recording.name for recording in recordings if recording.joints is not None]
    if jointed and not any(recording.markers is not None for recording in recordings):
        raise InvalidValue(f"{', '.join(jointed)}: joint coordinates need the rig that they belong to; specify it")


def require_sex(sex: str | None) -> str:
    """Refuse a new subject without a sex.

    Raises:
        InvalidValue: it is None.
    """
    if sex is None:
        raise InvalidValue("the segment tables of a new subject differ by sex: state 'female', 'male' or 'unknown'")
    return sex
