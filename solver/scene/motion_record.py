"""The file of a motion: the rig, its motion without loss, and the same as a scene draws it.

Recordings and dances use the same file. Reading it needs no dynamics library. SI, world z up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..base.arrays import frozen_mask
from ..base.errors import InvalidValue
from ..contacts.schedule import Schedule
from ..options.checks import CheckOptions
from ..signals.trial import Trial
from ..skeleton.rig import Rig
from ..storage.codec import FileKind
from ..values.filter_presets import FilterPreset
from ..values.inertials import InertialParameters
from ..values.motion import Motion, describe_span
from ..values.wrenches import Wrenches
from .motion import SceneMotion, scene_motion


@dataclass(frozen=True, slots=True, repr=False)
class MotionRecord:
    """The motion of a rig.

    Attributes:
        name: of the trial or dance.
        rig: that moves, by value.
        motion: N frames.
        scene: the same poses as a scene draws them.
        wrenches: at the motion's times, with its filter; None without measured forces, as for a dance.
        counted: (N,) True where every contact with the world is measured; None without wrenches.
        excluded: why frames are excluded: (reason, number of frames).
        schedule: of the contacts; None for a recording.
        checks: that the motion must pass.
        preset: low-pass of motion and wrenches; None if unknown.
    """

    name: str
    rig: Rig
    motion: Motion
    scene: SceneMotion
    wrenches: Wrenches | None = None
    counted: np.ndarray | None = None
    excluded: tuple[tuple[str, int], ...] = ()
    schedule: Schedule | None = None
    checks: CheckOptions = field(default_factory=CheckOptions)
    preset: FilterPreset | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "excluded", tuple((str(reason), int(count)) for reason, count in self.excluded))
        if self.scene.links != self.rig.links:
            raise InvalidValue(f"motion {self.name!r} draws other links than those of {self.rig.name}")
        if not np.array_equal(self.scene.times, self.motion.times):
            raise InvalidValue(f"motion {self.name!r} is drawn at other times than those of its frames")
        if (self.wrenches is None) != (self.counted is None):
            raise InvalidValue(f"motion {self.name!r}: wrenches and counted frames must be given together")
        if self.wrenches is not None and not np.array_equal(self.wrenches.times, self.motion.times):
            raise InvalidValue(f"motion {self.name!r}: motion and wrenches must share their times")
        if self.counted is not None:
            object.__setattr__(self, "counted", frozen_mask("counted", self.counted, (len(self.motion),)))

    def __len__(self) -> int:
        return len(self.motion)

    def __repr__(self) -> str:
        wrenches = "" if self.wrenches is None else ", with wrenches"
        contacts = "" if self.schedule is None else ", with contacts"
        return f"Motion {self.name!r} of {self.rig.name}: {describe_span(self.motion.times)}{wrenches}{contacts}"

    @property
    def trial(self) -> Trial | None:
        """The trial in the file, with filtered motion and wrenches; None without wrenches."""
        if self.wrenches is None or self.counted is None:
            return None
        return Trial(self.name, self.motion, self.wrenches, self.counted, self.excluded)

    def with_trial(self, trial: Trial | None) -> MotionRecord:
        """This motion with the wrenches of a trial; None: unchanged."""
        if trial is None:
            return self
        return replace(
            self, wrenches=trial.filtered_wrenches, counted=trial.counted, excluded=trial.excluded, preset=trial.preset
        )

    def with_contacts(self, schedule: Schedule, checks: CheckOptions) -> MotionRecord:
        """This motion as a dance, with its contacts and checks."""
        return replace(self, schedule=schedule, checks=checks)


def motion_record(name: str, rig: Rig, motion: Motion, parameters: InertialParameters | None = None) -> MotionRecord:
    """A motion to write.

    Args:
        name: of the trial or dance.
        rig: that moves.
        motion: of it.
        parameters: for the drawn centre of mass and momentum; by default the rig's prior.

    Raises:
        InvalidValue: the motion or the parameters are of another rig.
    """
    return MotionRecord(name, rig, motion, scene_motion(rig, motion, parameters))


MOTION = FileKind(
    MotionRecord, "exciting dance motion", version=2, remedy="Track the recording, or design the dance, again"
)
"""The file of a motion, an archive."""
