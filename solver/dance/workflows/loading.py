"""Load dances from files.

A file holds an authored dance (.json), a scene's timeline (.timeline.npz), a designed dance (.npz), or a motion
(.motion.npz) of a recording or of a dance that was written for a scene.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...base.arrays import find_repeated
from ...base.errors import InputError, InvalidValue, checked
from ...base.files import check_file
from ...contacts.recorded_contacts import find_recorded_contacts
from ...contacts.schedule import Schedule
from ...feasibility import check_motion
from ...feasibility.messages import describe_unsupported
from ...formats.file_formats import find_format
from ...options.checks import CheckOptions
from ...scene.labels import format_length
from ...scene.motion import scene_motion
from ...scene.motion_record import MOTION, MotionRecord
from ...scene.rig import ARCHIVE
from ...scene.study_folder import MOTION_END, trial_files
from ...scene.timeline import TIMELINE, SceneTimeline
from ...skeleton.rig import Rig
from ...storage.codec import read_one_of
from ...storage.manifest import stored_file
from ...trajectory.ballistic import find_flights, max_flight_duration
from ...values.motion import Motion
from ..authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Samples
from ..authoring.timeline import dance_from_timeline
from ..design.dance import DESIGNED_DANCE, Dance
from ..design.named_poses import NamedPose

JUMP_CHECK_RATE = 50.0
"""[1/s] Rate at which spans without a planted foot are checked."""
FLOOR_TOLERANCE = 0.01
"""[m] A larger distance of the soles from the plates, or from the recording's floor, is noted."""


@dataclass(frozen=True, slots=True, repr=False)
class LoadedDance:
    """A dance, authored, designed or recorded, with the rig that dances it.

    Attributes:
        rig: that dances.
        schedule: of the contacts; None for a recording: `recorded_contacts.find_contacts` finds them.
        checks: that the dance must pass, stored with it.
        name: of the dance, or of its file.
        source: the authored or the designed dance, or the motion in samples of its own.
    """

    rig: Rig
    schedule: Schedule | None
    checks: CheckOptions
    name: str
    source: AuthoredDance | Dance | MotionRecord

    def __repr__(self) -> str:
        return repr(self.source)

    @staticmethod
    def from_source(dance: LoadedDance | AuthoredDance | MotionRecord | str | Path) -> LoadedDance:
        """Load a dance from a file, an authored dance or a motion; a loaded dance is returned unchanged."""
        if isinstance(dance, LoadedDance):
            return dance
        if isinstance(dance, AuthoredDance | MotionRecord):
            return LoadedDance(dance.rig, dance.schedule, dance.checks, dance.name, dance)
        return load_dance(dance)

    def with_checks(self, checks: CheckOptions | None) -> LoadedDance:
        """This dance with other checks; None: with its own."""
        return self if checks is None else replace(self, checks=checks)

    @property
    def authored(self) -> AuthoredDance | None:
        """The authored dance; None if it is a designed dance or a motion."""
        return self.source if isinstance(self.source, AuthoredDance) else None

    def motion(self, rate: float) -> Motion:
        """The motion at ``rate`` samples a second; a recorded motion keeps its own samples.

        Raises:
            InvalidValue: a rate that is not positive.
        """
        if isinstance(self.source, MotionRecord):
            return self.source.motion
        if not rate > 0.0:
            raise InvalidValue(f"the rate must be positive, got {rate:g}")
        return (
            self.source.motion(rate) if isinstance(self.source, AuthoredDance) else self.source.sample(self.rig, rate)
        )

    def sample(self, rate: float | None, default_rate: float) -> Motion:
        """The motion at a requested rate.

        Args:
            rate: [1/s]; None: ``default_rate``, or the motion's own samples.
            default_rate: [1/s].

        Raises:
            InvalidValue: a rate that is not positive, or a rate for a motion that has its own samples.
        """
        if rate is not None and isinstance(self.source, MotionRecord):
            raise InvalidValue(
                f"{self.name!r} is a motion with its own samples, {self.source.motion.rate:.4g} a second, which are "
                "kept: leave the rate out"
            )
        return self.motion(default_rate if rate is None else rate)


@checked
def load_dance(path: str | Path, trial: str | None = None) -> LoadedDance:
    """Load a dance: authored (.json), of a timeline (.timeline.npz), designed (.npz), or a motion (.motion.npz).

    Args:
        path: of the file; or a study's folder, for the motion of one of its trials.
        trial: of the folder, if it has several.

    Raises:
        InputError: not a dance, or a damaged file; several trials and no name.
        InvalidValue: an inconsistent timeline.

    Example:
        >>> dance = solver.load_dance("dance/dance.npz")
        >>> len(dance.source.postures)
        2
    """
    path, found = _read_dance(path, trial)
    if isinstance(found, Dance):
        return LoadedDance(found.rig, found.schedule, found.checks, Path(path).name, found)
    return LoadedDance.from_source(dance_from_timeline(found) if isinstance(found, SceneTimeline) else found)


@checked
def load_authored_dance(path: str | Path, trial: str | None = None) -> AuthoredDance:
    """Load a dance that can be edited: an authored dance, a timeline, or a motion, whose contacts are found if unknown.

    Args:
        path: of the file; or a study's folder, for the motion of one of its trials.
        trial: of the folder, if it has several.

    Raises:
        InputError: a designed dance, a recording whose contacts cannot be found, not a dance, or a damaged file.
        InvalidValue: an inconsistent timeline.

    Example:
        >>> keyed = solver.load_authored_dance("keyed.json")  # doctest: +SKIP
        >>> [key.time for key in keyed.keys]  # doctest: +SKIP
    """
    return load_authored_with_notes(path, trial)[0]


def load_authored_with_notes(path: str | Path, trial: str | None = None) -> tuple[AuthoredDance, tuple[str, ...]]:
    """As `load_authored_dance`, and what was found or assumed about a recording, a sentence each."""
    path, found = _read_dance(path, trial)
    remedy = "Name an authored dance (.json) or a timeline (.timeline.npz)"
    if isinstance(found, Dance):
        raise InputError(path, "is a designed dance, which has no keys to edit", remedy=remedy)
    if not isinstance(found, MotionRecord):
        return (dance_from_timeline(found) if isinstance(found, SceneTimeline) else found), ()
    notes: tuple[str, ...] = ()
    if found.schedule is None:
        there = "Show it in Blender, give each foot on the floor a contact strip, and use the timeline"
        try:
            recorded = find_contacts(found)
        except InvalidValue as error:
            raise InputError(path, f"is a recording whose contacts cannot be found: {error}", remedy=there) from None
        found, notes = recorded.record, recorded.notes
    assert found.schedule is not None
    samples = Samples(found.motion.times, found.motion.q)
    return AuthoredDance(found.rig, (), found.schedule, samples, name=found.name, checks=found.checks), notes


def _read_dance(path: str | Path, trial: str | None) -> tuple[str | Path, Any]:
    """The file of a dance or a motion, and the value in it."""
    path = find_motion_file(path, trial) if trial is not None or os.path.isdir(path) else path
    check_file(path)
    recorded = None if Path(path).suffix.lower() == ARCHIVE else find_format(Path(path).suffix)
    if recorded is not None:
        remedy = "`track` it, or `retarget` it to another body, and name the folder or the .motion.npz that is written"
        raise InputError(path, f"is a recording ({recorded.name}), which holds no body that dances", remedy=remedy)
    return path, read_one_of(path, (AUTHORED_DANCE, DESIGNED_DANCE, TIMELINE, MOTION))


def load_named_poses(path: str | Path, rig: Rig) -> tuple[NamedPose, ...]:
    """Load the named keys of an authored dance or a timeline of a rig.

    Raises:
        InputError: keys of another rig, no key with a name, several keys with one name, or not an authored dance.
    """
    keyed = load_authored_dance(path)
    if keyed.rig.links != rig.links:
        raise InputError(
            path, f"has postures of {keyed.rig.name!r}, not of {rig.name!r}", remedy="Key them on this rig"
        )
    named = [key for key in keyed.keys if key.name.strip()]
    if not named:
        remedy = "Name each key to dance; in Blender, name the posture at its frame in the panel Postures"
        raise InputError(path, f"none of its {len(keyed.keys)} postures has a name", remedy=remedy)
    if twice := find_repeated([key.name for key in named]):
        raise InputError(path, f"several postures are named {', '.join(sorted(twice))}", remedy="Rename all but one")
    return tuple(NamedPose(key.name, key.q) for key in named)


def find_motion_file(path: str | Path, trial: str | None = None) -> Path:
    """The file of a motion: the given file, or that of a trial in a folder.

    Raises:
        InputError: no motion, several trials and no name, or another trial than that of the file.
    """
    path = Path(path)
    if os.path.isfile(path):
        if not path.name.endswith(MOTION_END):
            raise InputError(path, f"is neither the folder of a study nor a {MOTION_END}", remedy="Name one of them")
        if trial is not None and trial != path.name.removesuffix(MOTION_END):
            raise InputError(path, f"is another trial than {trial!r}", remedy="Name its folder, or leave the trial out")
        return path
    if not os.path.isdir(path):
        raise InputError(path, "does not exist", remedy=f"Name the folder of a study, or a {MOTION_END}")
    files = trial_files(path)
    if not files:
        raise InputError(path, f"has no {MOTION_END}", remedy="Name the --output of `track` or `identify`")
    if trial is None and len(files) > 1:
        raise InputError(path, f"has several trials, {', '.join(files)}", remedy="Choose one with --trial")
    if trial is not None and trial not in files:
        raise InputError(path, f"has no trial {trial!r}", remedy=f"Its trials are {', '.join(files)}")
    return stored_file(path, files[trial or next(iter(files))].name)


def require_support(keyed: AuthoredDance, *, accept_jumps: bool = True) -> None:
    """Refuse a dance without contacts where they are required.

    Args:
        keyed: the dance.
        accept_jumps: accept spans without a planted foot as jumps without a check; otherwise the body must fall freely
            in them, or they must be short enough for a jump, which a repair can then find.

    Raises:
        InvalidValue: no contact strip, a span that cannot be a jump, or a rig without contact patches.
    """
    keyed.rig.require_contacts()
    phases = keyed.schedule.phases
    if all(phase.airborne for phase in phases):
        known = keyed.rig.patches
        raise InvalidValue(
            f"nothing carries the body, from {keyed.start:.2f} to {keyed.stop:.2f} s: give each foot on the floor "
            f"({', '.join(known)}) a contact strip, in Blender by keys of the armature's 'on floor: {known[0]}'"
        )
    if not accept_jumps and any(phase.airborne for phase in phases):
        checks = check_motion(keyed.rig, keyed.motion(JUMP_CHECK_RATE), keyed.schedule, keyed.checks)
        thrown = [(a, b) for a, b in find_flights(keyed.schedule) if b - a <= max_flight_duration(keyed.rig)]
        if hanging := describe_unsupported(keyed.schedule, checks, thrown):
            raise InvalidValue("; ".join(hanging))


@dataclass(frozen=True, slots=True, repr=False)
class RecordingWithContacts:
    """A recording with the contacts that were found in it.

    Attributes:
        record: with its contacts; relative to a treadmill's belt.
        measured_wrench: (N, 6) measured wrench [N, N m], world axes about the world origin; NaN in frames with
            other, unmeasured contacts; None without forces.
        notes: what was found, assumed or done, a sentence each.
    """

    record: MotionRecord
    measured_wrench: np.ndarray | None
    notes: tuple[str, ...]


def find_contacts(record: MotionRecord) -> RecordingWithContacts:
    """Find the contacts of a recording.

    Args:
        record: without contacts.

    Raises:
        InvalidValue: a rig without two soles, or a single frame.
    """
    found = find_recorded_contacts(record.rig, record.motion, record.wrenches, record.counted)
    moved = found.motion is not record.motion
    drawn = scene_motion(record.rig, found.motion) if moved else record.scene
    whole = replace(record, motion=found.motion, scene=drawn, wrenches=found.wrenches, schedule=found.schedule)
    pushed = None
    if found.wrenches is not None and record.counted is not None:
        complete = record.counted & np.asarray(found.wrenches.measured).all(axis=1)
        pushed = np.where(complete[:, None], found.wrenches.total, np.nan)
    return RecordingWithContacts(whole, pushed, (*_contact_notes(record, found.schedule.ground), *found.notes))


def _contact_notes(record: MotionRecord, ground: float) -> list[str]:
    by = "its motion" if record.wrenches is None else "its motion and forces"
    said = [f"the contacts were found from {by}"]
    if abs(ground) > FLOOR_TOLERANCE:
        where = "above" if ground > 0.0 else "below"
        said.append(
            f"soles are {format_length(abs(ground))} {where} the recording's floor, and are assumed to be on it"
        )
    return said
