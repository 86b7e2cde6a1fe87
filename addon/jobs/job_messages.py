"""Messages of finished jobs, stored with the scene by rig and panel until they are dismissed or replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from ..base.option_fields import use_field_labels

SENTENCE_END = re.compile(r"(?<=[\w)\]'\"]{2})[.?] (?=[A-Z])")
"""Between two sentences; not behind an initial."""
STATUSES = (
    ("good", "Passed", "All checks passed", "CHECKMARK", 0),
    ("bad", "Failed Checks", "A check failed", "ERROR", 1),
    ("failed", "Failed", "The job failed", "CANCEL", 2),
)
MARKERS = "marks"
"""Place of the message that names a rig's failure markers, because markers have no custom properties."""
REPORT_TEXT = "Dance Report"
"""Text of the workspace Dance, which shows the last message whole."""
MINUTE, HOUR = 60.0, 3600.0
"""[s]"""
ROUGHLY = 5.0
"""[s] Steps in which durations above it are given."""


@dataclass(frozen=True, slots=True)
class JobMessage:
    """Message of a finished job; options of the command line are replaced by the panels' fields.

    Attributes:
        message: one sentence for the user; further ones, such as a remedy, become the first notes.
        status: one of `STATUSES`.
        failures: failed checks or warnings, one sentence each.
        notes: further information, one sentence each; shown when unfolded.
        fingerprint: of what a verdict depends on: the message is hidden when it differs; empty for no verdict.
    """

    message: str
    status: str = "good"
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fingerprint: str = ""

    def __post_init__(self) -> None:
        first, *more = SENTENCE_END.split(use_field_labels(self.message))
        object.__setattr__(self, "message", first.removesuffix("."))
        object.__setattr__(self, "notes", (*(text.removesuffix(".") for text in more), *self.notes))
        for name in ("failures", "notes"):
            object.__setattr__(self, name, tuple(map(use_field_labels, getattr(self, name))))


class JointComparison(bpy.types.PropertyGroup):
    """Comparison of one joint's performance with the plan; the group's name is the joint's."""

    rmse: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Error", description="Root mean square difference from the plan", subtype="ANGLE"
    )
    offset: bpy.props.FloatProperty(name="Offset", description="Constant part of the difference", subtype="ANGLE")  # type: ignore[valid-type]
    correlation: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Correlation", description="Correlation with the plan; 0 for a joint that does not move in the plan"
    )
    gain: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Amplitude", description="Performed over planned amplitude; 0 for a joint that does not move in the plan"
    )


class StoredMessage(bpy.types.PropertyGroup):
    """Message of a panel's last job about a rig."""

    about: bpy.props.PointerProperty(type=bpy.types.Object)  # type: ignore[valid-type]
    place: bpy.props.StringProperty(description="Panel that shows the message")  # type: ignore[valid-type]
    message: bpy.props.StringProperty()  # type: ignore[valid-type]
    verdict: bpy.props.EnumProperty(items=STATUSES)  # type: ignore[valid-type]
    failures: bpy.props.StringProperty(description="Failed checks, one per line")  # type: ignore[valid-type]
    notes: bpy.props.StringProperty(description="Notes, one per line")  # type: ignore[valid-type]
    fingerprint: bpy.props.StringProperty(description="Of what a verdict depends on")  # type: ignore[valid-type]
    unfolded: bpy.props.BoolProperty(name="Details", description="Show warnings and notes")  # type: ignore[valid-type]
    joints: bpy.props.CollectionProperty(type=JointComparison)  # type: ignore[valid-type]
    joint_index: bpy.props.IntProperty()  # type: ignore[valid-type]


def store_message(
    scene: bpy.types.Scene, rig: bpy.types.Object | None, panel: str, message: JobMessage
) -> StoredMessage:
    """Store a message about a rig, or about none (None), replacing the panel's earlier one."""
    dismiss_message(scene, rig, panel)
    made = _stored_messages(scene).add()
    made.about, made.place, made.message, made.verdict = rig, panel, message.message, message.status
    made.failures, made.notes = "\n".join(message.failures), "\n".join(message.notes)
    made.fingerprint = message.fingerprint
    if (text := bpy.data.texts.get(REPORT_TEXT)) is not None:
        text.from_string("\n\n".join((message.message, *message.failures, *message.notes)))
    made.unfolded = message.status == "failed" and bool(made.notes)  # they say what to do
    return made


def find_message(scene: bpy.types.Scene, rig: bpy.types.Object | None, panel: str) -> StoredMessage | None:
    """A panel's message about a rig; None without one."""
    return next((item for _, item in _matching(scene, rig, panel)), None)


def find_latest_message(scene: bpy.types.Scene, rig: bpy.types.Object | None) -> StoredMessage | None:
    """The latest message about a rig; None without one."""
    found = [item for item in _stored_messages(scene) if item.about == rig and item.message]
    return found[-1] if found else None


def find_messages(scene: bpy.types.Scene, panel: str) -> list[StoredMessage]:
    """A panel's messages about all rigs, also deleted ones."""
    return [item for item in _stored_messages(scene) if item.place == panel]


def dismiss_message(scene: bpy.types.Scene, rig: bpy.types.Object | None, panel: str) -> None:
    """Remove a panel's message about a rig."""
    for index, _ in reversed(list(_matching(scene, rig, panel))):
        _stored_messages(scene).remove(index)


def _matching(scene: bpy.types.Scene, rig: bpy.types.Object | None, panel: str) -> Iterator[tuple[int, StoredMessage]]:
    return ((k, item) for k, item in enumerate(_stored_messages(scene)) if item.place == panel and item.about == rig)


def _stored_messages(scene: bpy.types.Scene):  # type: ignore[no-untyped-def]  # bpy's collections are not generic
    return scene.exciting_dance_told  # type: ignore[attr-defined]


def register() -> None:
    """Add the messages to all scenes."""
    bpy.types.Scene.exciting_dance_told = bpy.props.CollectionProperty(type=StoredMessage)  # type: ignore[attr-defined]


def unregister() -> None:
    """Remove the messages."""
    del bpy.types.Scene.exciting_dance_told  # type: ignore[attr-defined]


CLASSES = (JointComparison, StoredMessage)


def describe_duration(seconds: float) -> str:
    """A duration, rounded as roughly as it is known: ``"3 s"``, ``"40 s"``, ``"4 min"``, ``"2 h 10 min"``."""
    if seconds < 2.0 * ROUGHLY:
        return f"{max(round(seconds), 1)} s"
    if seconds < 2.0 * MINUTE:
        return f"{ROUGHLY * round(seconds / ROUGHLY):.0f} s"
    minutes = round(seconds / MINUTE)
    if seconds < HOUR:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
