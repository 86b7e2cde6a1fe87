"""A person's calibrated rig, from what was recorded and what is stated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..calibration import fit_calibration
from ..calibration.calibration import Calibration
from ..calibration.subject import SubjectData
from ..errors import InvalidValue, UnknownName
from ..person import MASSES
from ..progress import Progress, silent
from ..trial import Recording
from .rough_mass import estimate_rough_mass

DEFAULT_MASS = 70.0
"""[kg] With neither a stated mass nor plates only the prior's inertias depend on it, and they do not move markers."""


def calibrate(  # noqa: PLR0913 what a user types of a person, word by word
    recordings: Sequence[Recording],
    *,
    sex: str,
    height: float | None = None,
    mass: float | None = None,
    trunk: str = "one",
    shoulders: str = "fixed",
    marker_set: str | Path | None = None,
    static: Sequence[str] = (),
    progress: Progress = silent,
) -> Calibration:
    """A person's rig from all trials with markers, or from the named ones only.

    Args:
        recordings: static trial and others.
        sex: ``"male"`` or ``"female"``: the segment tables that the prior is made of differ by it; ``"unknown"``
            takes the mean of both and doubts it the more.
        height: [m]; None estimates it from the markers.
        mass: [kg]; None reads it roughly off the plates.
        trunk: ``"one"`` (pelvis and torso) or ``"three"`` (pelvis, abdomen and thorax).
        shoulders: ``"fixed"`` (upper arms on the torso) or ``"girdle"`` (on clavicle and scapula).
        marker_set: name or file; None finds out.
        static: names of the only trials to calibrate with; all by default.
        progress: receives progress.

    Raises:
        InvalidValue: no trial has markers.
        UnknownName: ``static`` names a trial that was not given.

    Example:
        >>> import solver
        >>> person = solver.simulated_person()
        >>> found = solver.calibrate(person.recordings, sex="male", mass=71.0, static=("static",))
        >>> 1.70 < found.height < 1.82  # m; estimated, as `found.assumed` says: he is 1.76 m
        True
    """
    SubjectData(DEFAULT_MASS if mass is None else mass, sex, height, trunk, shoulders)
    names = [recording.name for recording in recordings]
    for name in static:
        if name not in names:
            raise UnknownName(name, names)
    chosen = [r for r in recordings if r.markers is not None and (not static or r.name in static)]
    if not chosen:
        raise InvalidValue("a subject cannot be calibrated without a trial that has markers")
    weighed = estimate_rough_mass(recordings) if mass is None else mass
    if mass is None and weighed is not None and not MASSES[0] <= weighed <= MASSES[1]:
        weighed = None  # forces in another unit, as is told where the plates are judged
    guess = DEFAULT_MASS if weighed is None else weighed
    found = fit_calibration(
        chosen,
        mass=guess,
        sex=sex,
        height=height,
        trunk=trunk,
        shoulders=shoulders,
        marker_set=marker_set,
        progress=progress,
    )
    if mass is not None:
        return found
    source = "a guess, for want of plates that weigh a person" if weighed is None else "read off the plates"
    told = f"calibrated with {guess:.1f} kg: none was stated, this is {source} (markers hardly feel it)"
    return replace(found, assumptions=(*found.assumptions, told))
