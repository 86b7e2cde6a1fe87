"""Keys between two postures with which the soles stay in place; Blender's interpolation would let them slide."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..authoring import keying, timeline
from ..authoring.pose_sampling import bone_path, evaluate_curve, pose_curves
from ..base import bpy_access, convert
from ..base.solver_api import Rig, SceneTimeline
from ..live.responses import DraggedPosture, Response
from ..live.session import CheckSession
from ..scene.action import CHANNELS, EULER, frames_at
from ..scene.armature import bone_axes

SAME_PLACE = 5e-3
"""[m] A corner of a sole that is nearer than this to its place in the other posture is in the same place."""
MOVED = 1e-4
"""[m] Largest movement of a sole's corners that needs no keys."""
TIMEOUT = 5.0
"""[s] Time for the live check to respond."""
NO_RESPONSE = "the live check did not respond in time"
_serials = itertools.count(1 << 41)
"""Serials of these requests do not meet those of checks and drags."""


@dataclass
class PostureReceiver:
    """Collects the postures for one request."""

    serial: int
    postures: list[DraggedPosture] = field(default_factory=list)
    problem: str = ""

    def add_response(self, response: Response) -> bool:
        """Take a response to the request."""
        if response.serial != self.serial:
            return False
        if response.posture is not None:
            self.postures.append(response.posture)
        self.problem = self.problem or response.message
        return True


def key_inbetweens(session: CheckSession, frame: float) -> str:
    """Key the frames from the posture before a frame to the one after it, where soles stay in place but would slide.

    Args:
        session: the live check of a rig, whose process computes the postures.
        frame: of a posture.

    Returns:
        why keys are missing or let soles slide; empty otherwise.

    Raises:
        InvalidValue: the rig is damaged or scaled.
    """
    scene, body = session.find_scene_and_rig()
    if timeline.needs_frame_stepping(body):
        return ""
    postures = list(timeline.read_key_roles(body))
    problems = []
    for first, last in itertools.pairwise(postures):
        if first <= frame + timeline.FRAME_TOLERANCE and last >= frame - timeline.FRAME_TOLERANCE:
            problems.append(_key_span(session, scene, body, first, last))
    return next((problem for problem in problems if problem), "")


def _key_span(session: CheckSession, scene: bpy.types.Scene, body: bpy.types.Object, first: float, last: float) -> str:
    sampled = timeline.sample_timeline(scene, body, first, last)
    planted = sliding_soles(sampled)
    if len(sampled) < 3 or not planted or keying.has_keys_between(body, first, last):
        return ""
    receiver = PostureReceiver(next(_serials))
    _request(session, receiver, sampled, planted)
    if receiver.problem or len(receiver.postures) != len(sampled) - 2:
        return receiver.problem or NO_RESPONSE
    rotations = np.stack([posture.rotations for posture in receiver.postures])
    translations = np.stack([posture.translations for posture in receiver.postures])
    frames = frames_at(scene, sampled.times[1:-1])
    _write_keys(body, sampled.rig, frames, rotations, translations)
    missed = sum(not posture.converged for posture in receiver.postures)
    return f"in {missed} of {len(frames)} frames they cannot stay in place" if missed else ""


def sliding_soles(sampled: SceneTimeline) -> tuple[str, ...]:
    """Patches on the floor all the time, in the same place at both ends; none if none of them moves between."""
    rig, span = sampled.rig, sampled.times[[0, -1]]
    rotations, origins = convert.link_poses(rig, sampled.rotations, _root_and_slides(sampled))
    found, moved = [], 0.0
    for name in rig.patches:
        strips = [strip for strip in sampled.strips if strip.patch == name]
        if not any(strip.start <= span[0] + 1e-6 and strip.stop >= span[1] - 1e-6 for strip in strips):
            continue
        patch = rig.patch(name)
        index = rig.index(patch.link)
        corners = np.einsum("nij,kj->nki", rotations[:, index], patch.vertices) + origins[:, index, None]
        away = np.linalg.norm(corners - corners[0], axis=2).max(axis=1)
        if away[-1] <= SAME_PLACE:
            found.append(name)
            moved = max(moved, float((away - np.linspace(0.0, away[-1], len(away))).max()))
    return tuple(found) if moved > MOVED else ()


def _root_and_slides(sampled: SceneTimeline) -> np.ndarray:
    translations = np.array(sampled.translations)
    translations[:, 0] = sampled.root
    return translations


def _request(
    session: CheckSession, receiver: PostureReceiver, sampled: SceneTimeline, planted: tuple[str, ...]
) -> None:
    """Send a request and wait for its postures."""
    before, session.receiver = session.receiver, receiver
    stop = time.monotonic() + TIMEOUT
    try:
        request = {"do": "inbetweens", "serial": receiver.serial, "planted": list(planted)}
        session.process.send(request, sampled)
        while len(receiver.postures) < len(sampled) - 2 and not receiver.problem and time.monotonic() < stop:
            session.read_responses()
            if not session.process.running:
                receiver.problem = f"the live check ended: {session.process.failure}"
            time.sleep(0.002)
    finally:
        session.receiver = before


def _write_keys(
    body: bpy.types.Object, rig: Rig, frames: np.ndarray, rotations: np.ndarray, translations: np.ndarray
) -> None:
    """Key postures in world coordinates: rotations (K, L, 4) xyzw and translations (K, L, 3) [m]."""
    curves = {(curve.data_path, curve.array_index): curve for curve in pose_curves(body)}
    rest, axes = convert.rest_matrices(rig), bone_axes(body, rig)
    root = convert.transform(body.matrix_world.inverted(), rotations[:, 0], translations[:, 0])
    bones = bpy_access.pose_bones(body)
    for index, (link, joint) in enumerate(zip(rig.links, rig.joints, strict=True)):
        turns, shifts = root if index == 0 else (rotations[:, index], translations[:, index])
        bases, locations = convert.pose_basis(turns, shifts, axes[index], rest[0] if index == 0 else None)
        mode = bones[link].rotation_mode
        channel, size = CHANNELS.get(mode, EULER)
        near = _evaluate(curves, bones[link], channel, size, frames)
        if joint.hinge and channel == EULER[0]:
            axis, sign = convert.hinge_axis(axes[index], joint.axes[0])
            values = near.copy()
            values[:, axis] = sign * convert.hinge_angles(turns, joint.axes[0])
            values += 2.0 * np.pi * np.round((near - values) / (2.0 * np.pi))
        else:
            values = convert.channel_values_near(mode, bases, near)
        keyed = {"location": locations} if joint.slides else {}
        if joint.kind != "prismatic":
            keyed[channel] = values
        for name, columns in keyed.items():
            for component in range(columns.shape[1]):
                curve = curves.get((f"{bone_path(link)}.{name}", component))
                if curve is not None:
                    keying.add_generated_keys(curve, frames, columns[:, component])


def _evaluate(
    curves: dict[tuple[str, int], bpy.types.FCurve],
    bone: bpy.types.PoseBone,
    channel: str,
    size: int,
    frames: np.ndarray,
) -> np.ndarray:
    """Values (K, size) of a bone's channel at frames (K,)."""
    values = np.tile(np.array(getattr(bone, channel), float), (len(frames), 1))
    for component in range(size):
        curve = curves.get((f"{bone_path(bone.name)}.{channel}", component))
        if curve is not None:
            values[:, component] = evaluate_curve(curve, frames)
    return values
