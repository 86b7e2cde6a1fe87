"""The main job: recordings in, identified masses out. Every step is a function that can be called on its own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..calibration import calibrate
from ..calibration.calibrated import Calibration
from ..calibration.subject import SubjectData
from ..errors import InvalidValue, UnknownLink, UnknownName
from ..formats.recording import ReadOptions, find_recordings
from ..identification.comparison import Comparison, compare
from ..identification.identify import IdentifyOptions, identify
from ..identification.result import Identification
from ..identification.trust import Trust
from ..inertials import InertialParameters
from ..person import LINKS
from ..progress import Part, Progress, silent
from ..rig import Rig
from ..signals import preset_of, require_rate, smooth_motion
from ..threads import one_blas_thread
from ..tracking import TrackingOptions, attached_targets, track
from ..tracking.bone_mapping import BoneMapping
from ..tracking.smoothing import SmoothingOptions, smooth
from ..tracking_methods import DYNAMICAL
from ..trial import Recording
from ..workers import shared
from .airborne import identify_flights
from .joint_motion import pose_all
from .plates.finding import told
from .preparation import Prepared, first_mass, prepare
from .segment_motion import followed_all
from .softness import softened
from .together.leading import learnt, led
from .together.rounds import Work
from .together.unseen import hidden, sources
from .values import Settings, Study, TrialRecord

FALLBACK_MASS = 70.0
"""[kg] With neither a stated mass nor plates only the prior's inertias depend on it, and they do not move markers."""
NO_BETTER = 1.1
"""Mean RMSE of trials not used over the prior's: a tenth more or less is what a single walk leaves to chance."""
LEAST_FRAMES_TO_SHARE = 3000
"""Fewer frames are tracked sooner by one process than worker processes start."""


def load(paths: Sequence[str | Path], options: ReadOptions | None = None) -> tuple[Recording, ...]:
    """Trials in files and folders.

    Raises:
        InputError: see `io.recording.find_recordings`.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> folder = Path(tempfile.mkdtemp())
        >>> solver.simulated_robot().write(folder)  # a table of joint coordinates and one of wrenches
        >>> solver.load([folder])
        (Recording 'dance'; 0 warnings
          30 joint coordinates, with the root's pose: 0.00 to 5.99 s at 100 Hz, 600 frames
          Wrenches of right_sole, left_sole: 0.00 to 5.99 s at 100 Hz, 600 frames,)
    """
    return find_recordings(paths, ReadOptions() if options is None else options)


def calibrate_subject(  # noqa: PLR0913 what a user types of a person, word by word
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
        sex: ``"male"`` or ``"female"``: the segment tables that the prior is made of differ by it.
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
        >>> found = solver.calibrate_subject(person.recordings, sex="male", mass=71.0, static=("static",))
        >>> 1.70 < found.height < 1.82  # m; estimated, as `found.assumed` says: he is 1.76 m
        True
    """
    SubjectData(FALLBACK_MASS if mass is None else mass, sex, height, trunk, shoulders)
    names = [recording.name for recording in recordings]
    for name in static:
        if name not in names:
            raise UnknownName(name, names)
    chosen = [r for r in recordings if r.markers is not None and (not static or r.name in static)]
    if not chosen:
        raise InvalidValue("a subject cannot be calibrated without a trial that has markers")
    weighed = first_mass(recordings) if mass is None else mass
    guess = FALLBACK_MASS if weighed is None else weighed
    found = calibrate(
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
    source = "a guess, for want of plates" if weighed is None else "read off the plates"
    told = f"calibrated with {guess:.1f} kg: none was stated, this is {source} (markers hardly feel it)"
    return replace(found, assumed=(*found.assumed, told))


def track_all(
    calibration: Calibration,
    recordings: Sequence[Recording],
    *,
    method: str = DYNAMICAL,
    smoothing: SmoothingOptions | None = None,
    jobs: int | None = None,
    progress: Progress = silent,
) -> tuple[TrialRecord, ...]:
    """Joint motion of every recording with markers; the others are passed on without.

    A recording that shows too few of the calibration's markers (another subject, another marker set) is passed on
    without motion too, and says so in its warnings.

    Args:
        calibration: of the person.
        recordings: see `load`.
        method: how every frame is followed, one of `tracking_methods.TRACKING_METHODS`.
        smoothing: how then each recording is taken as a whole, see `tracking.smoothing.smooth`; None: every frame
            stays as it was found by itself.
        jobs: processes at once; None leaves it to joblib.
        progress: receives progress.

    Raises:
        InvalidValue: no recording with markers could be tracked.

    Example:
        >>> import solver
        >>> person = solver.simulated_person()
        >>> found = solver.calibrate_subject(person.recordings, sex="male", mass=71.0, static=("static",))
        >>> records = solver.track_all(found, person.recordings[1:])
        >>> records[0].tracked.rmse < 0.01  # m, distance of the markers from the tracked body
        True
    """
    progress(0.0, f"tracking {len(recordings)} trials")
    found = list(
        shared(_track, [(calibration, item, method, smoothing) for item in recordings], _workers(jobs, recordings))
    )
    progress(1.0, "tracked")
    if all(record.tracked is None for record in found):
        told = "; ".join(warning for record in found for warning in record.recording.warnings)
        raise InvalidValue(f"no recording could be tracked{': ' + told if told else ''}")
    return tuple(found)


def track_study(
    recordings: Sequence[Recording],
    body: Calibration | Rig,
    settings: Settings | None = None,
    progress: Progress = silent,
    mapping: BoneMapping | None = None,
) -> Study:
    """Filtered motion of every recording, identifying nothing.

    Args:
        recordings: see `load`; with markers of a calibrated person, or joint coordinates or segments of a rig.
        body: the calibrated person, or the rig.
        settings: filter, standing patch, number of processes, smoothing; with it ``soft`` is what the joints of every
            link are worth against its own markers, in the motion itself.
        progress: receives progress.
        mapping: of recorded segments to links; None: guessed from their names and pose at rest, and told.

    Raises:
        InvalidValue: no recording has a motion, or links should be soft in motions that are not smoothed.

    Example:
        >>> import solver
        >>> robot = solver.simulated_robot()
        >>> study = solver.track_study(robot.recordings, robot.rig)
        >>> study.record("dance").motion
        Motion of 36 degrees of freedom: 0.00 to 5.99 s at 100 Hz, 600 frames
    """
    settings = Settings() if settings is None else settings
    if settings.soft is not None and not settings.smooth:
        raise InvalidValue("links are soft where recordings are smoothed: ask for --smooth too, or for rigid links")
    require_rates(recordings, settings)
    preset = preset_of(settings.preset)
    rig, records = posed(recordings, body, settings, progress, mapping, settings.soft)
    moved = [replace(r, motion=smooth_motion(rig, p.times, p.q, preset)) if (p := r.poses) else r for r in records]
    calibration = body if isinstance(body, Calibration) else None
    return Study(rig, settings, tuple(moved), calibration, warnings=warnings_of(records, calibration))


def compare_study(
    recordings: Sequence[Recording],
    body: Calibration | Rig,
    identified: InertialParameters,
    prior: InertialParameters,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """How well identified parameters explain further trials, beside the prior; and warnings.

    Args:
        recordings: see `track_study`.
        body: the calibrated person, or the rig.
        identified, prior: parameters to compare, of the rig's links.
        settings: as the identification had them: filter, base link, standing patch; what it believes and found of its
            plates.
        progress: receives progress.

    Raises:
        InvalidValue: no trial has motion, forces and a frame that counts.

    Example:
        >>> import solver
        >>> robot = solver.simulated_robot()
        >>> found, warnings = solver.compare_study(robot.recordings, robot.rig, robot.truth, robot.rig.prior)
        >>> bool((found[0].ratio < 1.0).all())  # RMSE of the truth over RMSE of the prior, per axis
        True
    """
    settings = Settings() if settings is None else settings
    require_rates(recordings, settings)
    rig, records = posed(recordings, body, settings, Part(progress, 0.0, 0.9))
    rig, base = rig.with_prior(prior), _base(rig, settings)
    moved = [record for record in records if record.poses is not None]
    if settings.lead is not None and isinstance(body, Calibration):
        moved = list(led(body, moved, np.array(settings.lead), preset_of(settings.preset)))
    prepared = prepare(
        rig,
        softened(rig, moved, settings.soft),
        preset_of(settings.preset),
        stated_mass=prior.total_mass,
        plates=settings.plates,
    )
    believed = _trust(settings)
    found = tuple(
        compare(rig, record.trial, identified, prior, base=base, believed=believed)
        for record in prepared.records
        if record.trial is not None and record.trial.counted.any()
    )
    if not found:
        raise InvalidValue("no trial has motion, forces and a frame that counts")
    calibration = body if isinstance(body, Calibration) else None
    return found, (*warnings_of(records, calibration), *told(prepared.findings), *prepared.warnings)


def posed(
    recordings: Sequence[Recording],
    body: Calibration | Rig,
    settings: Settings,
    progress: Progress,
    mapping: BoneMapping | None = None,
    soft: float | None = None,
) -> tuple[Rig, tuple[TrialRecord, ...]]:
    """The rig, and every recording with its configurations: tracked, following its segments, or the recording's own.

    Where recordings are smoothed, every link gives way to its own markers against joints worth ``soft`` markers.

    Raises:
        InvalidValue: no recording has any.
    """
    if isinstance(body, Calibration):
        method, jobs = settings.tracking, settings.jobs
        smoothing = SmoothingOptions(stiffness=soft) if settings.smooth else None
        return body.rig, track_all(body, recordings, method=method, smoothing=smoothing, jobs=jobs, progress=progress)
    given = pose_all(body, recordings, settings.standing)
    following = followed_all(body, recordings, mapping, progress)
    records = tuple(turned if turned.poses is not None else own for turned, own in zip(following, given))
    if all(record.poses is None for record in records):
        raise InvalidValue(f"no trial has joint coordinates of {body.name}; markers need a person's calibration")
    return body, records


def identify_study(  # noqa: PLR0913 what a user types: a person's words, or a rig
    recordings: Sequence[Recording],
    *,
    rig: Rig | None = None,
    sex: str | None = None,
    height: float | None = None,
    mass: float | None = None,
    trunk: str = "one",
    shoulders: str = "fixed",
    marker_set: str | Path | None = None,
    static: Sequence[str] = (),
    settings: Settings | None = None,
    calibration: Calibration | None = None,
    progress: Progress = silent,
) -> Study:
    """From a person's or a robot's recordings to the identified inertial parameters of every link.

    Args:
        recordings: see `load`; markers of a person, or joint coordinates of a rig, with forces.
        rig: whose joint coordinates the recordings hold; None for a person with markers.
        sex, height, mass, trunk, shoulders, marker_set, static: see `calibrate_subject`, [m] and [kg]; a stated mass is
            compared with the plates. A new subject needs its sex: nothing in a recording tells it.
        settings: every choice of method.
        calibration: of an earlier run; then the subject's data are not needed.
        progress: receives progress.

    Raises:
        InvalidValue: neither a rig nor a calibration nor a sex; no trial with motion, none with forces, or no frame
            that counts; joint coordinates that are not the rig's.
        SolverError: whatever a step refuses.

    Example:
        >>> import solver
        >>> robot = solver.simulated_robot()
        >>> quick = solver.Settings(bootstrap=0, cross_validate=False)
        >>> study = solver.identify_study(robot.recordings, rig=robot.rig, settings=quick)
        >>> hand = study.identification["right_hand"]  # mass [kg], centre of mass [m], inertia [kg m^2], prior
        >>> abs(hand.mass - robot.truth["right_hand"].mass) < 0.2
        True
    """
    settings = Settings() if settings is None else settings
    require_rates(recordings, settings)
    _require_base(LINKS if rig is None else rig.links, settings)
    clock = _Clock()
    if rig is None and calibration is None:
        _require_markers(recordings)
        if sex is None:
            raise InvalidValue("the segment tables of a new subject differ by sex: state 'female' or 'male'")
        with clock.measured("calibration"):
            calibration = calibrate_subject(
                recordings,
                sex=sex,
                height=height,
                mass=mass,
                trunk=trunk,
                shoulders=shoulders,
                marker_set=marker_set,
                static=static,
                progress=Part(progress, 0.0, 0.3),
            )
    body = rig or calibration
    assert body is not None
    with clock.measured("tracking"):
        rig, records = posed(recordings, body, settings, Part(progress, 0.3, 0.6))
    calibration = body if isinstance(body, Calibration) else None
    moved = tuple(record for record in records if record.poses is not None)
    if settings.together:
        study = _together(body, moved, mass, settings, Part(progress, 0.6, 1.0))
    else:
        study = study_motions(rig, moved, stated_mass=mass, settings=settings, progress=Part(progress, 0.6, 1.0))
    return replace(
        study,
        calibration=calibration,
        warnings=tuple(dict.fromkeys([*warnings_of(records, calibration), *study.warnings])),
        assumed=(*(() if calibration is None else calibration.assumed), *study.assumed),
        seconds={**clock.seconds, **study.seconds},
    )


def _together(
    body: Calibration | Rig,
    records: tuple[TrialRecord, ...],
    mass: float | None,
    settings: Settings,
    progress: Progress,
) -> Study:
    """`study_motions` of motions that are led by what the plates tell of their markers."""
    if not isinstance(body, Calibration):
        raise InvalidValue("--together leads a person's motion by markers: recordings of joint coordinates have none")
    clock, rig = _Clock(), body.rig
    with clock.measured("together"):
        progress(0.0, "what the plates tell of the markers")
        before = _prepared(rig, records, settings, mass)
        work = Work(
            body,
            records,
            lambda moved: _prepared(rig, moved, settings, mass),
            _options(before, settings),
            preset_of(settings.preset),
        )
        slopes, unused = None, []
        if trials := sources(before):
            slopes = learnt(work, before.rig.with_prior(work.identified(before).parameters), trials)
            hide = Part(progress, 0.1, 0.5)
            unused = [each.comparison for each in hidden(work, before, hide)] if settings.cross_validate else []
    moved = led(body, records, slopes, work.preset)
    alone = replace(settings, cross_validate=False)
    study = study_motions(rig, moved, stated_mass=mass, settings=alone, progress=Part(progress, 0.5, 1.0))
    result = study.identification
    if result is not None:
        result = replace(result, comparisons=(*result.comparisons, *unused))
    told = "the trials agree on nothing by which markers could lead the motion: it stays as it was tracked"
    if not trials:
        told = "no trial has forces that tell where markers lead: the motion stays as it was tracked"
    return replace(
        study,
        settings=settings,
        identification=result,
        lead=slopes,
        warnings=(*study.warnings, *unexplained(unused), *([told] if slopes is None else [])),
        seconds={**clock.seconds, **study.seconds},
    )


def warnings_of(records: Sequence[TrialRecord], calibration: Calibration | None) -> tuple[str, ...]:
    """What reading, calibrating and tracking went on past, each sentence once with all trials that it is about."""
    told = [warning for record in records for warning in record.recording.warnings]
    if calibration is None:
        told += [f"{r.name}: no joint coordinates, left out" for r in records if r.recording.joints is None]
    else:
        told += [f"{r.name}: no markers, left out" for r in records if r.recording.markers is None]
        told += calibration.warnings
    about: dict[str, list[str]] = {}
    for record in records:
        for text in record.tracked.warnings if record.tracked else ():
            about.setdefault(text, []).append(record.name)
    told += [f"{', '.join(names)}: {text}" for text, names in about.items()]
    return tuple(dict.fromkeys(told))


def require_rates(recordings: Sequence[Recording], settings: Settings) -> None:
    """Refuse recordings of too few samples a second for the filter, before hours of work.

    Raises:
        InvalidValue: one of them.
    """
    for recording in recordings:
        for part in (recording.markers, recording.joints, recording.segments, recording.wrenches):
            try:
                if part is not None and len(part) > 1:
                    require_rate(preset_of(settings.preset), part.rate)
            except InvalidValue as error:
                raise InvalidValue(f"{recording.name}: {error}") from None


def _require_base(links: Sequence[str], settings: Settings) -> None:
    if settings.base is not None and settings.base not in links:
        raise UnknownLink(settings.base, links)


def _require_markers(recordings: Sequence[Recording]) -> None:
    """Say what is missing where there are joint coordinates without a rig.

    Raises:
        InvalidValue: no trial has markers, some have joint coordinates.
    """
    jointed = [recording.name for recording in recordings if recording.joints is not None]
    if jointed and not any(recording.markers is not None for recording in recordings):
        raise InvalidValue(f"{', '.join(jointed)}: joint coordinates mean nothing without their rig: name it")


def study_motions(
    rig: Rig,
    records: Sequence[TrialRecord],
    *,
    stated_mass: float | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Study:
    """From trials whose motion is known (tracked, or given) to a study; without forces, one without a result.

    Args:
        rig: of the person or robot.
        records: see `preparation.prepare`.
        stated_mass: [kg]
        settings: every choice of method.
        progress: receives progress.

    Raises:
        InvalidValue: no frame counts in any trial.

    Example:
        >>> import numpy as np, solver
        >>> robot = solver.simulated_robot()
        >>> poses = solver.poses_of(robot.rig, robot.recordings[0].joints)
        >>> record = solver.TrialRecord(robot.recordings[0], given=poses)
        >>> quick = solver.Settings(bootstrap=0, cross_validate=False)
        >>> solver.study_motions(robot.rig, [record], settings=quick).identification.trials
        ('dance',)
    """
    settings = Settings() if settings is None else settings
    clock = _Clock()
    with clock.measured("preparation"):
        progress(0.0, "filters, windows, body mass, time lag")
        prepared = _prepared(rig, records, settings, stated_mass)
    warnings = [*told(prepared.findings), *prepared.warnings]
    result, flights = None, None
    if settings.flight_only:
        with clock.measured("identification"):
            options = replace(_options(prepared, settings), total_mass=_scale(prepared, stated_mass))
            result, flights = identify_flights(prepared, options, settings.preset, Part(progress, 0.2, 1.0))
        warnings += flights.warnings
    elif any(record.trial is not None for record in prepared.records):
        with clock.measured("identification"):
            result = _identified(prepared, settings, Part(progress, 0.2, 1.0))
        unused = [r.name for r in prepared.records if r.trial is not None and r.name not in result.trials]
        warnings += [f"{name}: no frame counts, left out of the identification" for name in unused]
        warnings += unexplained(result.comparisons)
    return Study(
        rig=prepared.rig,
        settings=settings,
        records=prepared.records,
        mass=prepared.mass,
        identification=result,
        lag=prepared.lag,
        warnings=tuple(warnings),
        seconds=clock.seconds,
        assumed=_assumed(prepared, settings) if result is not None else (),
        findings=prepared.findings,
        flights=flights,
    )


def _prepared(rig: Rig, records: Sequence[TrialRecord], settings: Settings, stated_mass: float | None) -> Prepared:
    return prepare(
        rig,
        softened(rig, records, settings.soft),
        preset_of(settings.preset),
        stated_mass=stated_mass,
        synchronise=settings.synchronise,
        plates=settings.plates,
    )


def unexplained(comparisons: Sequence[Comparison]) -> list[str]:
    """A warning, with its likely cause, where trials not used are explained no better than by the prior."""
    new = [c for c in comparisons if not c.used and np.isfinite(c.ratio).any()]
    ratios = {c.trial: float(np.nanmean(c.ratio)) for c in new}
    if not ratios or not np.mean(list(ratios.values())) > NO_BETTER:
        return []
    listed = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    return [
        f"trials that were not used are explained worse than by the prior (RMSE over the prior's: {listed}): too "
        "little moved to identify a body by (record squats, jumps and arm swings too), or the trials are of several "
        "bodies",
    ]


def _assumed(prepared: Prepared, settings: Settings) -> tuple[str, ...]:
    """What an identification took for granted where the settings leave the choice open."""
    person = prepared.rig.provenance.get("kind") == "human"
    told = []
    if settings.base is None:
        told.append(f"base link {_base(prepared.rig, settings)}: the rig's choice, none was stated")
    if settings.symmetric is None and settings.method == "consistent":
        alike = "held alike, as of a healthy person" if person else "not held alike, as of a robot"
        told.append(f"left and right were {alike}: nothing was stated")
    if settings.standing is not None and any(r.given for r in prepared.records):
        told.append(f"{settings.standing} was taken to stand still where no pose of the root was recorded")
    if prepared.mass is not None:
        told.append(f"the masses sum to the {prepared.mass.mass:.2f} kg that the plates weigh")
    return tuple(told)


def _trust(settings: Settings) -> Trust | None:
    if settings.believed is None or settings.bands is None:
        return None
    shares = None if settings.shares is None else np.array(settings.shares)
    return Trust(np.array(settings.bands), np.array(settings.believed), shares)


def _base(rig: Rig, settings: Settings) -> str:
    return settings.base or str(rig.provenance.get("base_link", rig.links[0]))


def _options(prepared: Prepared, settings: Settings) -> IdentifyOptions:
    return IdentifyOptions(
        method=settings.method,
        base=_base(prepared.rig, settings),
        total_mass=prepared.mass.mass if prepared.mass is not None else None,
        symmetric=settings.symmetric,
        held=prepared.rig.unshown if settings.hold_unshown else (),
        bootstrap=settings.bootstrap,
        cross_validate=settings.cross_validate,
        seed=settings.seed,
        jobs=settings.jobs,
    )


def _identified(prepared: Prepared, settings: Settings, progress: Progress) -> Identification:
    trials = [record.trial for record in prepared.records if record.trial is not None]
    flights = {r.name: r.windows.flight & r.trial.counted for r in prepared.records if r.windows and r.trial}
    return identify(prepared.rig, trials, _options(prepared, settings), flights=flights, progress=progress)


def _scale(prepared: Prepared, stated: float | None) -> float:
    """Total mass [kg] of a body that is identified from flight alone.

    Raises:
        InvalidValue: nothing tells it.
    """
    if prepared.mass is not None:
        return prepared.mass.mass
    if stated is None:
        raise InvalidValue("flight alone tells masses only up to a common factor: state the body's mass")
    return stated


def _track(
    calibration: Calibration, recording: Recording, method: str, smoothing: SmoothingOptions | None
) -> TrialRecord:
    if recording.markers is None:
        return TrialRecord(recording)
    try:
        rig, attachments, markers = calibration.rig, calibration.attachments, recording.markers
        tracked = track(rig, attachments, markers, TrackingOptions(method=method))
        if smoothing is not None:
            tracked = smooth(rig, attached_targets(rig, attachments, markers)[0], tracked, smoothing)
        return TrialRecord(recording, tracked)
    except InvalidValue as error:
        reason = f"{recording.name}: left out, it cannot be tracked ({error})"
        return TrialRecord(replace(recording, warnings=(*recording.warnings, reason)))


def _workers(jobs: int | None, recordings: Sequence[Recording]) -> int | None:
    frames = sum(len(recording.markers) for recording in recordings if recording.markers is not None)
    return 1 if frames < LEAST_FRAMES_TO_SHARE or len(recordings) < 2 else jobs


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measured(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        with one_blas_thread():
            yield
        self.seconds[stage] = time.perf_counter() - began
