"""Runs a live check without a window, and judges a rig."""

from __future__ import annotations

import time
from collections.abc import Callable

import bpy

from addon.authoring.failure_markers import find_failure_markers, mark_failures
from addon.interface.next_step import find_next_step
from addon.jobs.job_messages import JobMessage, find_message, store_message
from addon.live.control import LiveCheck, state_fingerprint, withdraw_markers
from addon.live.session import CheckSession
from solver.scene.summary import SceneFailure, SceneSummary

PATIENCE = 90.0
"""[s] A busy machine starts a child in some."""


def until(session: CheckSession, reached: Callable[[], bool]) -> None:
    """Poll repeatedly, as the window's timer does."""
    stop = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < stop, session.problem or "the child takes too long"
        session.tick()
        time.sleep(0.02)


def judge(rig: bpy.types.Object) -> None:
    """Store the verdict and the markers of a failed check about a rig as it is now."""
    scene, failure = bpy.context.scene, SceneFailure("zmp", "support", "m", -0.1, 0.5, "the ZMP is 10 cm outside")
    summary = SceneSummary("check", "failed", False, "it fails", failures=(failure,))
    now = state_fingerprint(scene, rig)
    store_message(scene, rig, "dance", JobMessage("it fails", "bad", fingerprint=now))
    mark_failures(scene, rig, summary, now)


def is_withdrawn(rig: bpy.types.Object) -> bool:
    """Whether neither verdict nor button nor markers of the last check stand any more."""
    scene = bpy.context.scene
    withdraw_markers()
    stands = LiveCheck.confirms(scene, find_message(scene, rig, "dance"))
    marked, step = find_failure_markers(scene, rig), find_next_step(bpy.context)
    assert stands == bool(marked) == (step is not None and step.operator == "balance_dance")
    return not stands
