"""Reads the recordings of a study, and refuses early those that cannot be processed."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InvalidValue, UnknownLink
from ..files import Paths
from ..formats.read_options import ReadOptions
from ..formats.recording import find_recordings
from ..signals import preset_of, require_rate
from ..trial import Recording
from .values import Settings


def load(paths: Paths, options: ReadOptions | None = None) -> tuple[Recording, ...]:
    """Read the trials in files and folders.

    Args:
        paths: a file or a folder, or several: strings or Paths.
        options: reading options.

    Raises:
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
    return find_recordings(paths, ReadOptions() if options is None else options)


def require_rates(recordings: Sequence[Recording], settings: Settings) -> None:
    """Refuse recordings whose sample rate is too low for the filter, before hours of work.

    Raises:
        InvalidValue: the sample rate of a recording is too low.
    """
    for recording in recordings:
        for part in (recording.markers, recording.joints, recording.segments, recording.wrenches):
            try:
                if part is not None and len(part) > 1:
                    require_rate(preset_of(settings.preset), part.rate)
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
