"""Calibrates a person's rig from recordings and the subject's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..base.errors import InvalidValue, UnknownTrial, checked
from ..base.files import Paths
from ..base.progress import Progress, silent
from ..calibration import fit_calibration
from ..calibration.calibration import Calibration
from ..calibration.subject import SubjectData
from ..input_checks.check_recording import check_recording
from ..signals.trial import Recording
from ..values.person import MASS_GUESS, MASSES, require_person
from .recordings import load_recordings
from .rough_mass import estimate_rough_mass


@checked
def calibrate(  # noqa: PLR0913 the user's own words about a person
    recordings: Sequence[Recording] | Paths,
    *,
    sex: str,
    height: float | None = None,
    mass: float | None = None,
    trunk: str = "one",
    shoulders: str = "fixed",
    marker_set: str | Path | None = None,
    static: str | Sequence[str] = (),
    progress: Progress = silent,
) -> Calibration:
    """Calibrate a person's rig from all trials with markers, or from the named ones only.

    Args:
        recordings: static trial and others.
        sex: ``"male"`` or ``"female"``, because the segment tables of the prior differ by sex; ``"unknown"``: mean of
            both tables, with a wider prior.
        height: [m]; None: estimated from the markers.
        mass: [kg]; None: estimated roughly from the plates.
        trunk: ``"one"`` (pelvis and torso) or ``"three"`` (pelvis, abdomen and thorax).
        shoulders: ``"fixed"`` (upper arms on the torso) or ``"girdle"`` (on clavicle and scapula).
        marker_set: name or file; None: recognised from the marker names.
        static: names of the trials to calibrate with; all by default.
        progress: receives progress.

    Raises:
        InvalidValue: no trial has markers.
        UnknownTrial: ``static`` contains a trial that was not given.
        InputError: a recording fails a check, see `input_checks.check_recording`.

    Example:
        >>> import solver
        >>> person = solver.demo.simulated_person()
        >>> found = solver.calibrate(person.recordings, sex="male", mass=71.0, static=("static",))
        >>> 1.70 < found.height < 1.82  # m; estimated, as `found.assumptions` says: he is 1.76 m
        True
    """
    SubjectData(MASS_GUESS if mass is None else mass, sex, height, trunk, shoulders)
    require_person(height, mass)
    recordings = load_recordings(recordings)
    names = [recording.name for recording in recordings]
    static = (static,) if isinstance(static, str) else tuple(static)
    for name in static:
        if name not in names:
            raise UnknownTrial(name, names)
    chosen = [r for r in recordings if r.markers is not None and (not static or r.name in static)]
    if not chosen:
        raise InvalidValue("no trial has markers: a subject can only be calibrated with markers")
    checked = [check_recording(recording) for recording in chosen]
    notes = [note for old, new in zip(chosen, checked) for note in new.warnings if note not in old.warnings]
    rough_mass = estimate_rough_mass(recordings) if mass is None else mass
    if mass is None and rough_mass is not None and not MASSES[0] <= rough_mass <= MASSES[1]:
        rough_mass = None  # forces in another unit; the plate checks report it
    guess = MASS_GUESS if rough_mass is None else rough_mass
    found = fit_calibration(
        checked,
        mass=guess,
        sex=sex,
        height=height,
        trunk=trunk,
        shoulders=shoulders,
        marker_set=marker_set,
        progress=progress,
    )
    found = replace(found, warnings=tuple(dict.fromkeys((*found.warnings, *notes))))
    if mass is not None:
        return found
    source = "a default, because no plates weigh the person" if rough_mass is None else "estimated from the plates"
    assumption = (
        f"calibrated with {guess:.1f} kg: no mass was specified, this is {source} (it hardly affects the markers)"
    )
    return replace(found, assumptions=(*found.assumptions, assumption))
