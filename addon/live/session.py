"""One live check: sends changes of a rig's timeline to a child process and stores the results.

A change is detected by a fingerprint of everything that a verdict depends on, and by comparing the displayed pose with
the timeline. Results of another fingerprint are removed at once.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from typing import Protocol

import bpy
import numpy as np

from ..authoring import timeline
from ..authoring.pose_sampling import OBJECT_CHANNELS, bone_path
from ..base import bpy_access, redraw
from ..base.bpy_access import find_by_session_id, session_id
from ..base.solver_api import SceneFrame, SceneMargin, SceneTimeline, errors
from ..scene.action import current_time, curves_in, curves_of, frame_range, frame_rate
from ..scene.check_settings import CHECKS_KEY
from ..scene.inertials import rig_with_inertials
from .check_process import CheckProcess
from .check_results import CheckResults
from .properties import live_settings, request_options
from .responses import INVALID, Response

SETTLING_TIME = 0.2
"""[s] Time without a change before the timeline is sampled."""
COMPARE_INTERVAL = 1.0
"""[s] Time after which the fingerprint is compared although Blender reported no change, as for values that a script
set. It takes 13 ms for 60 curves of 1500 keys."""
POSTURE_TIMEOUT = 2.0
"""[s] Time after which the response for a posture is no longer expected."""
RESPONSE_TIMEOUT = 30.0
"""[s] Time without a response before the panel shows a message; a slow start takes about ten seconds."""
NO_RESPONSE = f"The live check has not responded for {RESPONSE_TIMEOUT:.0f} s: wait, or stop and start it"
STEPPING_NOTE = "Constraints, NLA or drivers move this rig: only the displayed frame is checked, as a pose at rest"
BEZIER = 2
"""Number, in `Keyframe.interpolation`, of the only interpolation that uses handles."""
HANDLES = (("handle_left", 2, np.float32), ("handle_right", 2, np.float32))
KEY_FIELDS = (("co", 2, np.float32),
              ("interpolation", 1, np.int32), ("easing", 1, np.int32), ("type", 1, np.int32))  # fmt: skip
CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")
SHOWN_MARGINS = 3
"""Number of margins in the readout."""


class ResponseReceiver(Protocol):
    """What takes some of the responses."""

    def add_response(self, response: Response) -> bool:
        """Take a response; False if it is not for this receiver."""


class CheckSession:
    """The live check of one rig in one scene.

    Attributes:
        body, scene: session ids.
        process: the child process.
        results: results for the timeline; None before the first sampling.
        pose: result for a displayed pose that is not keyed; None if the displayed frame is the timeline's.
        problem: the last error; empty without one.
        needs_stepping: whether sampling has to step through the frames, which is only done on request.
        change_time: [s] time of the last change that was not handled yet; None without one.
        posture_changed: whether the displayed pose may have changed.
        receiver: takes the responses for a drag or for in-between postures first; None without one.
    """

    def __init__(self, scene: bpy.types.Scene, body: bpy.types.Object, process: CheckProcess) -> None:
        self.scene, self.body, self.process = session_id(scene), session_id(body), process
        self.results: CheckResults | None = None
        self.pose: SceneFrame | None = None
        self.problem, self.needs_stepping = "", False
        self.change_time: float | None = 0.0
        self.posture_changed = False
        self.receiver: ResponseReceiver | None = None
        self._serial, self._pose_serial, self._sent_fingerprint, self._unkeyed, self._compare_time = 0, 0, 0, False, 0.0
        self._pose_sent: float | None = None
        self._request_time: float | None = None
        """[s] Time of the oldest request without a response."""
        self._options: dict[str, object] = {}

    def tick(self) -> None:
        """Read responses and send changes."""
        scene, body = self.find_scene_and_rig()
        before, was_fresh = self.current_result(scene)
        received = self.read_responses()
        now, fresh = self.current_result(scene)
        changed = received and (now is not before or fresh is not was_fresh or now is None)
        if not self.process.running:
            ended = f"The live check ended: {self.process.failure}"
            changed |= self.problem != ended
            self.problem = ended
        else:
            try:
                changed |= self._withdraw_if_changed(scene, body)
                if self.change_time is not None and time.monotonic() - self.change_time >= SETTLING_TIME:
                    self.change_time = None
                    changed |= self._send_if_changed(scene, body)
                if self.posture_changed and not self._awaits_posture():
                    self.posture_changed = False
                    changed |= self._send_posture(scene, body)
            except errors.SolverError as error:
                self._clear_results(str(error))
                changed = True
            if (
                self._request_time is not None
                and time.monotonic() - self._request_time > RESPONSE_TIMEOUT
                and not self.problem
            ):
                self.problem, changed = NO_RESPONSE, True
        if changed or received:
            redraw.redraw_check_results(in_views=changed)

    def find_scene_and_rig(self) -> tuple[bpy.types.Scene, bpy.types.Object]:
        """The scene and the rig.

        Raises:
            InvalidValue: one of them was deleted.
        """
        return find_by_session_id(bpy.data.scenes, self.scene), find_by_session_id(bpy.data.objects, self.body)

    def follow(self, scene: bpy.types.Scene, body: bpy.types.Object) -> None:
        """Check this rig from now on, with the same process, and remove the results of the earlier one."""
        self.scene, self.body, self.needs_stepping, self.change_time = session_id(scene), session_id(body), False, 0.0
        self._pose_serial, self._pose_sent = 0, None
        self._clear_results("")

    def checks(self, body: bpy.types.Object) -> bool:
        """Whether it is the check of this rig and its process runs."""
        return self.body == session_id(body) and self.process.running

    def check_all(self) -> Generator[float, None, None]:
        """Sample the timeline now and send it, stepping through the frames if necessary; yields the fraction done."""
        (scene, body), own = self.find_scene_and_rig(), self.body
        checked = fingerprint(scene, body, watched_options(scene, body))
        sampled = yield from timeline.sample_in_steps(scene, body)
        if self.body != own:
            raise errors.Cancelled("another rig is active now: its frames are not sampled yet")
        self._sent_fingerprint, self.change_time, self.posture_changed = checked, None, False
        self._send_timeline(find_by_session_id(bpy.data.scenes, self.scene), sampled)

    def show_frame(self, scene: bpy.types.Scene) -> None:
        """Let the process check the newly displayed frame first."""
        self.pose, self._unkeyed = None, False
        if self.needs_stepping:
            self.posture_changed = True
        if self.results is not None:
            index = self.results.index_at(current_time(scene))
            if index is not None and self.results.frames[index] is None:
                self.process.send({"do": "look", "frame": index})

    def current_result(self, scene: bpy.types.Scene) -> tuple[SceneFrame | None, bool]:
        """The result for the displayed frame, and whether it is up to date."""
        if self._unkeyed or self.results is None:
            return self.pose, self._pose_sent is None
        return self.results.result_at(current_time(scene)), True

    def current_excitation(self, scene: bpy.types.Scene) -> dict[str, float]:
        """Condition numbers by link up to the displayed frame; empty if unknown or disabled."""
        if self._unkeyed or self.results is None or not live_settings(scene).show_excitation:
            return {}
        return self.results.excitation_at(current_time(scene))

    @property
    def fingerprint(self) -> str:
        """Of what was checked; compared every second."""
        return str(self._sent_fingerprint)

    @property
    def shows_unkeyed_posture(self) -> bool:
        """Whether the displayed pose is not keyed."""
        return self._unkeyed

    def read_responses(self) -> bool:
        """Store the responses that have arrived; whether there are any."""
        answers = self.process.responses()
        for answer in answers:
            if self.receiver is not None and self.receiver.add_response(answer):
                continue
            if answer.serial == self._pose_serial:
                self._pose_sent = None
            if answer.kind == "pose":
                if self._unkeyed and answer.serial == self._pose_serial:
                    self.pose, self.problem = answer.frames[0], ""
            elif answer.kind == INVALID:
                self.problem = answer.message
            elif self.results is not None and self.results.add_response(answer):
                continue
            elif answer.kind == "error" and answer.serial in (-1, self._serial, self._pose_serial):
                self.problem, self._pose_sent = answer.message, None
        if answers:
            self._request_time = time.monotonic() if self._awaits_response() else None
            self.problem = "" if self.problem == NO_RESPONSE else self.problem
        return bool(answers)

    def _awaits_response(self) -> bool:
        """Whether a response is outstanding."""
        checking = self.results is not None and not self.results.done and not self.results.message
        return checking or self._pose_sent is not None

    def _request(self, request: dict[str, object], shown: SceneTimeline) -> None:
        """Send a request that needs a response."""
        if self._request_time is None:
            self._request_time = time.monotonic()
        self.process.send(request, shown)

    def _clear_results(self, trouble: str) -> None:
        """Clear all results, because the rig cannot be checked."""
        self.problem, self.results, self.pose, self._unkeyed, self._sent_fingerprint = trouble, None, None, False, 0
        self._request_time = None

    def _awaits_posture(self) -> bool:
        """Whether a posture is being checked, one at a time and with a time limit."""
        return self._pose_sent is not None and time.monotonic() - self._pose_sent < POSTURE_TIMEOUT

    def _withdraw_if_changed(self, scene: bpy.types.Scene, body: bpy.types.Object) -> bool:
        """Remove results of another fingerprint; whether the display must be updated."""
        now, options = time.monotonic(), watched_options(scene, body)
        if options != self._options:
            self._options, self.change_time = options, now
            self._clear_results("")
            return True
        reported = self.change_time is not None and self.results is not None
        if not reported and now - self._compare_time < COMPARE_INTERVAL:
            return False
        self._compare_time = now
        if fingerprint(scene, body, options) == self._sent_fingerprint:
            return False
        self.change_time = self.change_time or now
        self.results, self._sent_fingerprint = None, 0
        return True

    def _send_if_changed(self, scene: bpy.types.Scene, body: bpy.types.Object) -> bool:
        """Send the timeline if it has changed; whether the display must be updated."""
        now = fingerprint(scene, body, watched_options(scene, body))
        if now == self._sent_fingerprint:
            return False
        self._sent_fingerprint, self.needs_stepping = now, timeline.needs_frame_stepping(body)
        if self.needs_stepping:
            self.results, self.posture_changed = None, True
            return True
        self._send_timeline(scene, timeline.sample_timeline(scene, body))
        return True

    def _send_timeline(self, scene: bpy.types.Scene, sampled: SceneTimeline) -> None:
        self._serial += 1
        self.problem = ""
        self.results = CheckResults(self._serial, sampled)
        self._request({"do": "timeline", "serial": self._serial, **request_options(scene)}, sampled)
        self.pose, self._unkeyed = None, False
        index = self.results.index_at(current_time(scene))
        if index is not None:
            self.process.send({"do": "look", "frame": index})
        self.posture_changed = True  # the displayed pose may still differ

    def _send_posture(self, scene: bpy.types.Scene, body: bpy.types.Object) -> bool:
        """Send the displayed pose if it differs from the timeline; whether the display must be updated."""
        shown = timeline.sample_posture(bpy.context, body)
        posed = self.results is None or self.results.differs(shown, current_time(scene))
        changed, self._unkeyed = posed or self._unkeyed, posed
        if not posed:
            self.pose, self._pose_sent = None, None
            return changed
        self._serial += 1
        self._pose_serial, self._pose_sent = self._serial, time.monotonic()
        self._request({"do": "pose", "serial": self._serial}, shown)
        return changed


def watched_options(scene: bpy.types.Scene, body: bpy.types.Object) -> dict[str, object]:
    """What changes the results besides curves and poses; cheap enough for every tick."""
    armature, animation = bpy_access.armature(body), body.animation_data
    return {
        **request_options(scene),
        "checks": body.get(CHECKS_KEY),
        "scene": (frame_range(scene), frame_rate(scene), scene.unit_settings.scale_length),
        "rig": (str([bone.get("mass") for bone in armature.bones]), armature.pose_position),
        "place": _placement(body),
        "action": animation
        and (animation.use_tweak_mode, animation.use_nla, animation.action_blend_type, animation.action_influence),
    }


def fingerprint(scene: bpy.types.Scene, body: bpy.types.Object, options: Mapping[str, object]) -> int:
    """A number that changes with everything that the results depend on, but not with the frame."""
    animation = body.animation_data
    tracks, drivers = ((), ()) if animation is None else (animation.nla_tracks, animation.drivers)
    strips = [(track.mute, strip) for track in tracks for strip in track.strips]
    animated = {(driver.data_path, driver.array_index) for driver in drivers}
    parts: list[object] = [tuple(options.items()), rig_with_inertials(body), len(drivers)]
    parts += [(mute, s.mute, s.frame_start, s.frame_end, s.scale, s.repeat, s.blend_type) for mute, s in strips]
    for curve in curves_of(body) + [each for _, s in strips for each in curves_in(s.action, s.action_slot)]:
        animated.add((curve.data_path, curve.array_index))
        fields = {name: _key_numbers(curve, name, width, kind) for name, width, kind in KEY_FIELDS}
        if (fields["interpolation"] == BEZIER).any():
            fields |= {name: _key_numbers(curve, name, width, kind) for name, width, kind in HANDLES}
        parts += [values.tobytes() for values in fields.values()]
        parts += [curve.data_path, curve.array_index, curve.mute, curve.extrapolation, len(curve.modifiers)]
    parts += [*_constraint_values(body, "", animated), *_unkeyed_values(body, animated)]
    if animation is not None and animation.action is not None:
        parts += [(marker.frame, marker.name) for marker in animation.action.pose_markers]
    return hash(tuple(parts))


def _key_numbers(curve: bpy.types.FCurve, name: str, width: int, kind: type) -> np.ndarray:
    values: np.ndarray = np.empty(width * len(curve.keyframe_points), kind)
    curve.keyframe_points.foreach_get(name, values)
    return values


def _placement(item: bpy.types.Object | None) -> tuple[object, ...]:
    """Names and transforms of an object and its parents, without transforms that curves animate."""
    if item is None:
        return ()
    moves = any(curve.data_path.startswith(OBJECT_CHANNELS) for curve in curves_of(item))
    placed = repr(item.matrix_parent_inverse), "" if moves else repr(item.matrix_basis)
    return (item.name_full, item.parent_bone, *placed, *_placement(item.parent))


def _constraint_values(
    owner: bpy.types.Object | bpy.types.PoseBone, path: str, animated: set[tuple[str, int]]
) -> list[object]:
    """Settings and targets of the constraints of an object or bone that no curve animates."""
    found: list[object] = []
    for constraint in owner.constraints:
        at = f'{path}constraints["{bpy.utils.escape_identifier(constraint.name)}"].'
        for setting in constraint.bl_rna.properties:
            if not setting.is_readonly and (at + setting.identifier, 0) not in animated:
                value = getattr(constraint, setting.identifier)
                found.append(_placement(value) if isinstance(value, bpy.types.Object) else repr(value))
    return found


def _unkeyed_values(body: bpy.types.Object, animated: set[tuple[str, int]]) -> list[object]:
    """Values and constraints of bones that no curve animates."""
    found: list[object] = []
    for bone in bpy_access.pose_bones(body):
        path = bone_path(bone.name)
        found += [bone.rotation_mode, *_constraint_values(bone, f"{path}.", animated)]
        for channel in CHANNELS:
            values = getattr(bone, channel)
            found += [v for k, v in enumerate(values) if (f"{path}.{channel}", k) not in animated]
    return found


def worst_margins(frame: SceneFrame) -> list[tuple[str, SceneMargin]]:
    """The worst margins of a frame with their texts, worst first."""
    worst = sorted((margin for margin in frame.margins if margin.text), key=lambda margin: margin.comfort)
    return [(margin.text, margin) for margin in worst[:SHOWN_MARGINS]]


def describe_progress(readings: CheckResults | None) -> str:
    """Progress or result of the check."""
    if readings is None:
        return "starting"
    if readings.message:
        return readings.message
    total = len(readings.frames)
    if readings.checked < total:
        return f"checked {readings.checked} of {total} frames"
    spans = len(readings.failing_intervals())
    if not spans:
        return f"all {total} frames pass"
    return f"all {total} frames checked, {spans} failing interval{'s' if spans > 1 else ''}"
