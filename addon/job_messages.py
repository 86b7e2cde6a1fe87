"""What jobs said, kept with the scene until it is dismissed or said anew: by the rig it is about, and by its panel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from .option_labels import use_field_labels

STATUSES = (
    ("good", "Good", "All holds", "CHECKMARK", 0),
    ("bad", "Bad", "A check fails", "ERROR", 1),
    ("failed", "Failed", "It could not be done", "CANCEL", 2),
)


@dataclass(frozen=True, slots=True)
class JobMessage:
    """What a job says at its end, in the words of the window.

    Attributes:
        message: one sentence for people.
        status: one of `STATUSES`.
        failures: what fails, or stands in the way, a sentence each.
        notes: whatever else is worth knowing, a sentence each; they fold away.
    """

    message: str
    status: str = "good"
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", use_field_labels(self.message))
        for name in ("failures", "notes"):
            object.__setattr__(self, name, tuple(map(use_field_labels, getattr(self, name))))


class JointComparison(bpy.types.PropertyGroup):
    """How closely one joint was performed; its name is the group's."""

    rmse: bpy.props.FloatProperty(name="Error", description="Root mean square", subtype="ANGLE")  # type: ignore[valid-type]
    offset: bpy.props.FloatProperty(name="Offset", description="Constant part", subtype="ANGLE")  # type: ignore[valid-type]
    correlation: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Correlation", description="With the plan; 0 for a joint that the plan keeps still"
    )
    gain: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Amplitude", description="Performed over planned; 0 for a joint that the plan keeps still"
    )


class StoredMessage(bpy.types.PropertyGroup):
    """What the last job of a panel said about a rig."""

    about: bpy.props.PointerProperty(type=bpy.types.Object)  # type: ignore[valid-type]
    place: bpy.props.StringProperty(description="The panel that shows it")  # type: ignore[valid-type]
    message: bpy.props.StringProperty()  # type: ignore[valid-type]
    verdict: bpy.props.EnumProperty(items=STATUSES)  # type: ignore[valid-type]
    failures: bpy.props.StringProperty(description="A line each")  # type: ignore[valid-type]
    notes: bpy.props.StringProperty(description="A line each")  # type: ignore[valid-type]
    unfolded: bpy.props.BoolProperty(name="Notes", description="Show what else is worth knowing")  # type: ignore[valid-type]
    joints: bpy.props.CollectionProperty(type=JointComparison)  # type: ignore[valid-type]
    joint_index: bpy.props.IntProperty()  # type: ignore[valid-type]


def store_message(
    scene: bpy.types.Scene, rig: bpy.types.Object | None, panel: str, message: JobMessage
) -> StoredMessage:
    """Keep what was said about a rig, or about none in particular, instead of what that panel told of it before."""
    dismiss_message(scene, rig, panel)
    made = _stored_messages(scene).add()
    made.about, made.place, made.message, made.verdict = rig, panel, message.message, message.status
    made.failures, made.notes = "\n".join(message.failures), "\n".join(message.notes)
    return made


def find_message(scene: bpy.types.Scene, rig: bpy.types.Object | None, panel: str) -> StoredMessage | None:
    """What a panel has to tell of a rig; None where nothing was said."""
    return next((item for _, item in _matching(scene, rig, panel)), None)


def dismiss_message(scene: bpy.types.Scene, rig: bpy.types.Object | None, panel: str) -> None:
    """Dismiss what a panel tells of a rig."""
    for index, _ in reversed(list(_matching(scene, rig, panel))):
        _stored_messages(scene).remove(index)


def _matching(scene: bpy.types.Scene, rig: bpy.types.Object | None, panel: str) -> Iterator[tuple[int, StoredMessage]]:
    return ((k, item) for k, item in enumerate(_stored_messages(scene)) if item.place == panel and item.about == rig)


def _stored_messages(scene: bpy.types.Scene):  # type: ignore[no-untyped-def]  # bpy's collections are not generic
    return scene.exciting_dance_told  # type: ignore[attr-defined]


CLASSES = (JointComparison, StoredMessage)
