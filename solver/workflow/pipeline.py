"""The main job as one list of steps, from recordings to identified inertial parameters.

The steps are in the package `study`:

1. read: `recordings.load` reads the files; `check_recordings` refuses unusable ones early
2. calibrate: `subject_calibration.calibrate` fits a person's rig to the markers
3. track: `tracking.compute_poses` finds the configurations of every recording
4. filter: `preparation.filter_trial`, and `plates.checks.check_recordings` compares forces with motion
5. weigh: `weighing.weigh` estimates the body mass and the offsets of the plates
6. fit the plates: `plates.plate_fit.fit_plates` finds the errors of plates and of their time
7. correct: `preparation.build_trial` removes them
8. identify: `identification.identify_prepared`
9. compare: `identification.warn_of_result`
10. report: `Study.write` writes the result

`identify` does steps 1 to 9, `identify_motions` steps 4 to 9, `prepare` steps 4 to 7, and `track` steps 3 to 7.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..base.errors import InvalidValue, checked
from ..base.files import AnyPath, Paths
from ..base.progress import PartialProgress, Progress, silent
from ..base.threads import one_blas_thread
from ..calibration.calibration import Calibration
from ..identification.prior import replace_impossible_prior
from ..options.study import Settings
from ..scene.rig import load_rig
from ..signals import FilterPreset, preset_of, smooth_motion
from ..signals.trial import Recording, Trial
from ..skeleton.rig import Rig
from ..study.identification import identify_prepared, list_assumptions, warn_of_result
from ..study.plates.finding import format_warnings
from ..study.prepare import prepare
from ..study.recordings import (
    load_body,
    load_recordings,
    require_base,
    require_markers,
    require_rates,
    require_sex,
    take_model,
)
from ..study.residuals import compute_residuals
from ..study.subject_calibration import calibrate
from ..study.tracking import collect_warnings, compute_poses
from ..study.values import TrialRecord
from ..tracking.bone_mapping import BoneMapping
from ..values.inertials import InertialParameters
from ..values.person import LINKS
from .study import Study


@dataclass
class StageTimer:
    """Wall time of each stage [s], by its name."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Measure a stage, which uses one thread for linear algebra."""
        began = time.perf_counter()
        with one_blas_thread():
            yield
        self.seconds[stage] = time.perf_counter() - began


@checked
def identify(  # noqa: PLR0913 the user's own words: a person's data, or a rig
    recordings: Sequence[Recording] | Paths,
    *,
    rig: Rig | AnyPath | None = None,
    sex: str | None = None,
    height: float | None = None,
    mass: float | None = None,
    trunk: str = "one",
    shoulders: str = "fixed",
    marker_set: str | Path | None = None,
    static: str | Sequence[str] = (),
    settings: Settings | None = None,
    calibration: Calibration | AnyPath | None = None,
    prior: InertialParameters | None = None,
    progress: Progress = silent,
) -> Study:
    """Identify the inertial parameters of every link from a person's or a robot's recordings.

    Args:
        recordings: by value or as files and folders, see `load`; markers of a person, or joint coordinates of a rig,
            with forces. The file of a model among them (``.osim``, ``.urdf``, ``.xml``) is the rig.
        rig: that the joint coordinates belong to: a rig, ``"hoap3"`` or ``"hrp2"``, or a file; None for a person with
            markers.
        sex, height, mass, trunk, shoulders, marker_set, static: see `calibrate`, [m] and [kg]; a given mass is compared
            with the plates. A new subject needs its sex, which no recording contains.
        settings: of the study.
        calibration: of an earlier run, or its file; then the subject's data are not needed.
        prior: of the rig's links, in place of the rig's own, which for a person is that of the segment tables.
        progress: receives progress.

    Raises:
        InvalidValue: neither a rig nor a calibration nor a sex; no trial with motion, none with forces, or no frame
            that counts; joint coordinates that are not the rig's.
        SolverError: any error of a step.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> quick = solver.Settings(no_cross_validation=True)
        >>> study = solver.identify(robot.recordings, rig=robot.rig, settings=quick)
        >>> hand = study.identification["right_hand"]  # mass [kg], centre of mass [m], inertia [kg m^2], prior
        >>> abs(hand.mass - robot.truth["right_hand"].mass) < 0.2
        True
    """
    settings = settings or Settings()
    timer = StageTimer()
    recordings, rig = take_model(recordings, rig)
    recordings = load_recordings(recordings)
    rig = None if rig is None else load_rig(rig)
    require_rates(recordings, settings)
    require_base(LINKS if rig is None else rig.links, settings)
    if rig is None and calibration is None:
        require_markers(recordings)
        stated_sex = require_sex(sex)
        with timer.measure("calibration"):
            calibration = calibrate(
                recordings,
                sex=stated_sex,
                height=height,
                mass=mass,
                trunk=trunk,
                shoulders=shoulders,
                marker_set=marker_set,
                static=static,
                progress=PartialProgress(progress, 0.0, 0.3),
            )
    body = load_body(calibration) if rig is None and calibration is not None else rig
    assert body is not None
    calibration = body if isinstance(body, Calibration) else None
    with timer.measure("tracking"):
        rig, records = compute_poses(recordings, body, settings, PartialProgress(progress, 0.3, 0.6))
    rig = rig if prior is None else rig.with_prior(prior)
    moved = [record for record in records if record.poses is not None]
    remaining = PartialProgress(progress, 0.6, 1.0)
    study = identify_motions(rig, moved, stated_mass=mass, settings=settings, progress=remaining)
    return replace(
        study,
        calibration=calibration,
        warnings=tuple(dict.fromkeys([*collect_warnings(records, calibration), *study.warnings])),
        assumptions=(*(() if calibration is None else calibration.assumptions), *study.assumptions),
        seconds={**timer.seconds, **study.seconds},
    )


@checked
def identify_motions(
    rig: Rig,
    records: Sequence[TrialRecord],
    *,
    stated_mass: float | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Study:
    """Identify inertial parameters from trials whose motion is known; without forces, the study has no identification.

    Args:
        rig: of the person or robot.
        records: with poses, tracked or given.
        stated_mass: mass that the user specifies [kg]; None: estimated from the plates.
        settings: of the study.
        progress: receives progress.

    Raises:
        InvalidValue: no frame counts in any trial.

    Example:
        >>> import numpy as np, solver
        >>> robot = solver.demo.simulated_robot()
        >>> poses = solver.study.poses_of(robot.rig, robot.recordings[0].joints)
        >>> record = solver.study.TrialRecord(robot.recordings[0], given=poses)
        >>> quick = solver.Settings(no_cross_validation=True)
        >>> solver.workflow.identify_motions(robot.rig, [record], settings=quick).identification.trials
        ('dance',)
    """
    settings = settings or Settings()
    timer = StageTimer()
    rig, replaced = replace_impossible_prior(rig)
    with timer.measure("preparation"):
        progress(0.0, "filters, windows, body mass, time lag")
        study = Study.of(prepare(rig, records, settings, stated_mass=stated_mass))
    warnings = (*format_warnings(study.findings), *study.warnings, *replaced)
    if settings.flight_only or study.trials:
        with timer.measure("identification"):
            remaining = PartialProgress(progress, 0.2, 1.0)
            identified, flights = identify_prepared(study, stated_mass, remaining)
        study = replace(
            study,
            identified=identified,
            assumptions=list_assumptions(study, stated_mass),
            flights=flights,
            residuals=compute_residuals(study.rig, study.trials, identified),
        )
        warnings = (*warnings, *warn_of_result(study, identified, flights))
    return replace(study, warnings=warnings, seconds=timer.seconds)


@checked
def track(
    recordings: Sequence[Recording] | Paths,
    body: Calibration | Rig | AnyPath | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
    mapping: BoneMapping | None = None,
) -> Study:
    """Filtered motion of every recording without identification, with synchronised forces without plate offsets.

    Args:
        recordings: by value or as files and folders, see `load`; with markers of a calibrated person, or joint
            coordinates or segments of a rig. The file of a model among them (``.osim``, ``.urdf``, ``.xml``) is the
            rig.
        body: the calibrated person, or the rig: a value, its file, ``"hoap3"`` or ``"hrp2"``.
        settings: filter, standing patch, number of processes, smoothing.
        progress: receives progress.
        mapping: of recorded segments to links; None: guessed from their names and rest poses, with notes.

    Raises:
        InvalidValue: no recording has a motion; no body, or several.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> study = solver.track(robot.recordings, robot.rig)
        >>> study.record("dance").motion
        Motion of 36 degrees of freedom: 0.00 to 5.99 s at 100 Hz, 600 frames
    """
    settings = settings or Settings()
    recordings, body = take_model(recordings, body)
    recordings, body = load_recordings(recordings), load_body(body)
    require_rates(recordings, settings)
    preset = preset_of(settings.filter)
    rig, records = compute_poses(recordings, body, settings, progress, mapping)
    trials, warnings = _build_force_trials(rig, records, preset)
    moved = [
        replace(r, motion=smooth_motion(rig, p.times, p.q, preset), trial=trials.get(r.name)) if (p := r.poses) else r
        for r in records
    ]
    calibration = body if isinstance(body, Calibration) else None
    warnings = (*collect_warnings(records, calibration), *warnings)
    return Study(rig, settings, tuple(moved), calibration, warnings=warnings)


def _build_force_trials(
    rig: Rig, records: Sequence[TrialRecord], preset: FilterPreset
) -> tuple[dict[str, Trial], tuple[str, ...]]:
    """Trials with motion and forces, by name; and warnings about their forces."""
    moved = [record for record in records if record.poses is not None]
    if all(record.recording.wrenches is None for record in moved):
        return {}, ()
    try:
        prepared = prepare(rig, moved, Settings(filter=preset.name))
    except InvalidValue as error:
        return {}, (f"the motions have no forces: {error}",)
    return {trial.name: trial for trial in prepared.trials}, prepared.warnings
