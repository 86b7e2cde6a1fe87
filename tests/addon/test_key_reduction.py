"""A recorded action becomes an action with few keys within a tolerance; the original is kept."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon import registration
from addon.authoring import timeline
from addon.display.study import BODY_KEY, TRIAL_KEY, find_trials, show_trial
from addon.scene import action
from solver.scene.motion import scene_motion
from tests.addon.scenes import build
from tests.tracking.test_retargeting import person, squat


@pytest.mark.parametrize("angle", [0.02, 0.002])
def test_reduced_keys_are_within_the_tolerance(empty_scene: None, angle: float) -> None:
    """The bones of a squat change by at most the tolerance, with a fraction of the keys; the copy is assigned."""
    registration.register()
    scene, body = bpy.context.scene, build(person())
    action.set_frame_rate(scene, 100.0)
    motion = scene_motion(person(), squat(person(), seconds=2.0, steps=0.1))
    recorded = action.add_motion_action(scene, body, motion, "squat")
    recorded[TRIAL_KEY], recorded[BODY_KEY] = "squat", body
    frames = timeline.motion_range(scene, body)
    before = timeline.sample_timeline(scene, body, *frames)
    count = sum(len(curve.keyframe_points) for curve in action.curves_of(body))
    assert bpy.ops.exciting_dance.reduce_keys(angle=angle, distance=0.001) == {"FINISHED"}
    assert body.animation_data.action != recorded
    assert recorded.use_fake_user
    assert sum(len(curve.keyframe_points) for curve in action.curves_of(body)) < 0.4 * count
    after = timeline.sample_timeline(scene, body, *frames)
    shared = np.clip(np.abs(np.einsum("nlk,nlk->nl", after.rotations, before.rotations)), 0.0, 1.0)
    turned = 2.0 * np.arccos(shared)
    assert turned.max() < 1.05 * angle + 1e-3  # single precision of keys, and of the arc cosine
    assert turned.max() > 0.1 * angle
    assert np.abs(after.root - before.root).max() < 0.0012
    assert find_trials(body) == ["squat"]
    assert not bpy.ops.exciting_dance.reduce_keys.poll()  # it is no recording any more
    show_trial(bpy.context, body, "squat")
    assert sum(len(curve.keyframe_points) for curve in action.curves_of(body)) == count
    registration.unregister()
