"""What is read as a dance.

An authored one (.json), a scene's timeline (.timeline.npz), a designed one (.npz), or a motion (.motion.npz): that of a
recording, or of a dance that was written for a scene.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from ...arrays import find_repeated
from ...check_options import CheckOptions
from ...contacts.schedule import Schedule
from ...errors import InputError, InvalidValue
from ...feasibility import check_motion
from ...feasibility.messages import describe_unsupported
from ...formats.codec import read_one_of
from ...formats.output_folder import finish_interrupted
from ...motion import Motion
from ...rig import Rig
from ...scene.motion_record import MOTION, MotionRecord
from ...scene.study_folder import MOTION_END, trial_files
from ...scene.timeline import TIMELINE, SceneTimeline
from ...trajectory.ballistic import find_flights, max_flight_duration
from ..authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Samples
from ..authoring.timeline import dance_from_timeline
from ..design.dance import DESIGNED_DANCE, Dance
from ..design.named_poses import NamedPose
from .recorded_contacts import find_contacts

JUMP_CHECK_RATE = 50.0
"""[1/s] at which spans without a planted foot are looked at."""


@dataclass(frozen=True, slots=True, repr=False)
class LoadedDance:
    """A dance, authored, designed or recorded, with the rig that dances it.

    Attributes:
        rig: that dances.
        schedule: of the contacts; None of a recording, which does not tell: `recorded.find_contacts` finds them.
        checks: what the dance is held to, as it carries them.
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
        """Whatever holds a dance: a file, an authored dance, a motion, or what was loaded already."""
        if isinstance(dance, LoadedDance):
            return dance
        if isinstance(dance, AuthoredDance | MotionRecord):
            return LoadedDance(dance.rig, dance.schedule, dance.checks, dance.name, dance)
        return load_dance(dance)

    def with_checks(self, checks: CheckOptions | None) -> LoadedDance:
        """This dance judged by other checks; None: by those that it carries."""
        return self if checks is None else replace(self, checks=checks)

    @property
    def authored(self) -> AuthoredDance | None:
        """The authored dance; None of a designed one."""
        return self.source if isinstance(self.source, AuthoredDance) else None

    def motion(self, rate: float) -> Motion:
        """Its motion at ``rate`` samples a second; a motion in samples of its own keeps them.

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
        """Its motion as somebody asked for it.

        Args:
            rate: [1/s]; None: ``usual``, or the samples that the motion has of its own.
            default_rate: [1/s].

        Raises:
            InvalidValue: a rate that is not positive, or one for a motion in samples of its own.
        """
        if rate is not None and isinstance(self.source, MotionRecord):
            raise InvalidValue(
                f"{self.name!r} is a motion in samples of its own, {self.source.motion.rate:.4g} a second, which is "
                "kept: name no rate"
            )
        return self.motion(default_rate if rate is None else rate)


def load_dance(path: str | Path, trial: str | None = None) -> LoadedDance:
    """Read a dance: authored (.json), of a timeline (.timeline.npz), designed (.npz), or a motion (.motion.npz).

    Args:
        path: of the file; or a study's folder, for the motion of one of its trials.
        trial: of the folder, where it holds several.

    Raises:
        InputError: no dance, or damaged; several trials and none named.
        InvalidValue: a timeline that contradicts itself.

    Example:
        >>> dance = solver.load_dance("dance/dance.npz")
        >>> len(dance.source.postures)
        2
    """
    path = find_motion_file(path, trial) if trial is not None or os.path.isdir(path) else path
    found = read_one_of(path, (AUTHORED_DANCE, DESIGNED_DANCE, TIMELINE, MOTION))
    if isinstance(found, Dance):
        return LoadedDance(found.rig, found.schedule, found.checks, Path(path).name, found)
    return LoadedDance.from_source(dance_from_timeline(found) if isinstance(found, SceneTimeline) else found)


def load_authored_dance(path: str | Path, trial: str | None = None) -> AuthoredDance:
    """Read a dance that can be changed: one that has keys, or a motion in samples, whose contacts are found if need be.

    Args:
        path: of the file; or a study's folder, for the motion of one of its trials.
        trial: of the folder, where it holds several.

    Raises:
        InputError: a designed dance, a recording that does not show where it stands, no dance, or damaged.
        InvalidValue: a timeline that contradicts itself.

    Example:
        >>> keyed = solver.load_authored_dance("keyed.json")  # doctest: +SKIP
        >>> [key.time for key in keyed.keys]  # doctest: +SKIP
    """
    return load_authored_with_notes(path, trial)[0]


def load_authored_with_notes(path: str | Path, trial: str | None = None) -> tuple[AuthoredDance, tuple[str, ...]]:
    """As `load_authored_dance`, and what was found or assumed of a recording, a sentence each."""
    path = find_motion_file(path, trial) if trial is not None or os.path.isdir(path) else path
    found = read_one_of(path, (AUTHORED_DANCE, DESIGNED_DANCE, TIMELINE, MOTION))
    remedy = "Name an authored dance (.json) or a timeline (.timeline.npz)"
    if isinstance(found, Dance):
        raise InputError(path, "is a designed dance, without keys to change", remedy=remedy)
    if not isinstance(found, MotionRecord):
        return (dance_from_timeline(found) if isinstance(found, SceneTimeline) else found), ()
    told: tuple[str, ...] = ()
    if found.schedule is None:
        there = "Show it in Blender, give each foot that stands a contact strip, and name the timeline"
        try:
            recorded = find_contacts(found)
        except InvalidValue as error:
            raise InputError(
                path, f"is a recording that does not tell which foot stands: {error}", remedy=there
            ) from None
        found, told = recorded.record, recorded.notes
    assert found.schedule is not None
    samples = Samples(found.motion.times, found.motion.q)
    return AuthoredDance(found.rig, (), found.schedule, samples, name=found.name, checks=found.checks), told


def load_named_poses(path: str | Path, rig: Rig) -> tuple[NamedPose, ...]:
    """The postures that somebody keyed and named in an authored dance or a timeline of a rig.

    Raises:
        InputError: of another rig, none has a name, several have one, or no authored dance.
    """
    keyed = load_authored_dance(path)
    if keyed.rig.links != rig.links:
        raise InputError(
            path, f"has postures of {keyed.rig.name!r}, not of {rig.name!r}", remedy="Key them on this rig"
        )
    named = [key for key in keyed.keys if key.name.strip()]
    if not named:
        remedy = "Name each key that is to be danced; in Blender, the posture on its frame, in the panel Postures"
        raise InputError(path, f"none of its {len(keyed.keys)} postures has a name", remedy=remedy)
    if twice := find_repeated([key.name for key in named]):
        raise InputError(path, f"several postures are called {', '.join(sorted(twice))}", remedy="Rename all but one")
    return tuple(NamedPose(key.name, key.q) for key in named)


def find_motion_file(path: str | Path, trial: str | None = None) -> Path:
    """The file of a motion: itself, or that of a trial in a folder.

    Raises:
        InputError: no motion there, several trials and none named, or a trial of a file that is one already.
    """
    path = Path(path)
    if os.path.isfile(path):
        if not path.name.endswith(MOTION_END):
            raise InputError(path, f"is neither the folder of a study nor a {MOTION_END}", remedy="Name one of them")
        if trial is not None and trial != path.name.removesuffix(MOTION_END):
            raise InputError(path, f"is one trial, not {trial!r}", remedy="Name its folder, or leave the trial out")
        return path
    if not os.path.isdir(path):
        raise InputError(path, "is not there", remedy=f"Name the folder of a study, or a {MOTION_END}")
    finish_interrupted(path)
    files = trial_files(path)
    if not files:
        raise InputError(path, f"holds no {MOTION_END}", remedy="Name the --output of `track` or `identify`")
    if trial is None and len(files) > 1:
        raise InputError(path, f"holds several trials, {', '.join(files)}", remedy="Choose one with --trial")
    if trial is not None and trial not in files:
        raise InputError(path, f"holds no trial {trial!r}", remedy=f"It holds {', '.join(files)}")
    return files[trial or next(iter(files))]


def require_support(keyed: AuthoredDance, *, accept_jumps: bool = True) -> None:
    """Refuse a dance in which nothing stands on the floor where something must.

    Args:
        keyed: the dance.
        accept_jumps: take spans without a planted foot as jumps, unchecked; else they must fall freely, or be so
            short that
            legs can throw the body so far: then a repair makes jumps of them.

    Raises:
        InvalidValue: no contact strip at all, a span that is no jump, or a rig without contact patches.
    """
    keyed.rig.require_contacts()
    phases = keyed.schedule.phases
    if all(phase.airborne for phase in phases):
        known = keyed.rig.patches
        raise InvalidValue(
            f"nothing carries the body, from {keyed.start:.2f} to {keyed.stop:.2f} s: give each foot that stands "
            f"({', '.join(known)}) a contact strip, in Blender by keys of the armature's 'on floor: {known[0]}'"
        )
    if not accept_jumps and any(phase.airborne for phase in phases):
        checks = check_motion(keyed.rig, keyed.motion(JUMP_CHECK_RATE), keyed.schedule, keyed.checks)
        thrown = [(a, b) for a, b in find_flights(keyed.schedule) if b - a <= max_flight_duration(keyed.rig)]
        if hanging := describe_unsupported(keyed.schedule, checks, thrown):
            raise InvalidValue("; ".join(hanging))
