"""What is read as a dance: an authored one (.json), a scene's timeline (.timeline.npz) or a designed one (.npz)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ...check_options import CheckOptions
from ...contacts.schedule import Schedule
from ...errors import InputError, InvalidValue
from ...feasibility import check_motion
from ...feasibility.sentences import unsupported
from ...formats.codec import read_one_of
from ...motion import Motion
from ...rig import Rig
from ...scene.timeline import TIMELINE, SceneTimeline
from ..authoring.keyed_file import KEYED
from ..authoring.keys import Keyed
from ..authoring.timeline import keyed_of
from ..design.dance import Dance
from ..design.dance_file import DANCE

JUMPS = 50.0
"""[1/s] at which spans without a planted foot are looked at."""


@dataclass(frozen=True, slots=True, repr=False)
class LoadedDance:
    """A dance, authored or designed, with the rig that dances it.

    Attributes:
        rig: that dances.
        schedule: of the contacts.
        checks: what the dance is held to, as it carries them.
        name: of the dance, or of its file.
        source: the authored or the designed dance.
    """

    rig: Rig
    schedule: Schedule
    checks: CheckOptions
    name: str
    source: Keyed | Dance

    def __repr__(self) -> str:
        return repr(self.source)

    @staticmethod
    def of(dance: LoadedDance | Keyed | str | Path) -> LoadedDance:
        """Whatever holds a dance: a file, an authored dance, or what was loaded already."""
        if isinstance(dance, LoadedDance):
            return dance
        if isinstance(dance, Keyed):
            return LoadedDance(dance.rig, dance.schedule, dance.checks, dance.name, dance)
        return load_dance(dance)

    def held_to(self, checks: CheckOptions | None) -> LoadedDance:
        """This dance judged by other checks; None: by those that it carries."""
        return self if checks is None else replace(self, checks=checks)

    @property
    def keyed(self) -> Keyed | None:
        """The authored dance; None of a designed one."""
        return self.source if isinstance(self.source, Keyed) else None

    def motion(self, rate: float) -> Motion:
        """Its motion at ``rate`` samples a second.

        Raises:
            InvalidValue: a rate that is not positive.
        """
        if not rate > 0.0:
            raise InvalidValue(f"the rate must be positive, got {rate:g}")
        return self.source.motion(rate) if isinstance(self.source, Keyed) else self.source.sample(self.rig, rate)


def load_dance(path: str | Path) -> LoadedDance:
    """Read a dance: authored (.json), of a scene's timeline (.timeline.npz) or designed (.npz).

    Raises:
        InputError: no dance, or damaged.
        InvalidValue: a timeline that contradicts itself.
    """
    found = read_one_of(path, (KEYED, DANCE, TIMELINE))
    if isinstance(found, Dance):
        return LoadedDance(found.rig, found.schedule, found.checks, Path(path).name, found)
    return LoadedDance.of(keyed_of(found) if isinstance(found, SceneTimeline) else found)


def load_keyed(path: str | Path) -> Keyed:
    """Read a dance that has keys.

    Raises:
        InputError: a designed dance, no dance, or damaged.
        InvalidValue: a timeline that contradicts itself.
    """
    found = read_one_of(path, (KEYED, DANCE, TIMELINE))
    if isinstance(found, Dance):
        remedy = "Name an authored dance (.json) or a timeline (.timeline.npz)"
        raise InputError(path, "is a designed dance, without keys to change", remedy=remedy)
    return keyed_of(found) if isinstance(found, SceneTimeline) else found


def require_support(keyed: Keyed, *, jumps: bool = True) -> None:
    """Refuse a dance in which nothing stands on the floor where something must.

    Args:
        keyed: the dance.
        jumps: take spans without a planted foot as jumps, unchecked; else they must fall freely.

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
    if not jumps and any(phase.airborne for phase in phases):
        checks = check_motion(keyed.rig, keyed.motion(JUMPS), keyed.schedule, keyed.checks)
        if hanging := unsupported(keyed.schedule, checks):
            raise InvalidValue("; ".join(hanging))
