"""Effects of the noise of tracked motions on their filter and their equations."""

from __future__ import annotations

import numpy as np

from solver.signals import PRESETS, smooth_motion
from solver.signals.trial import Recording
from solver.study.preparation import adapt_cutoff
from solver.study.values import TrialRecord
from solver.tracking.track import TrackedMotion
from tests.identification.bodies import small_rig
from tests.random_motion import measured
from tests.signals.test_noise import swinging

PRESET = PRESETS["human_8hz"]
WEIGHED = 0.02
"""Standard deviation of the force over its mean, below which a motion looks like standing from the plates alone."""


def tracked(name: str, noise: float, forces: bool = True, hertz: float = 1.0, size: float = 0.3) -> TrialRecord:
    """A trial of joints that swing by ``size`` [rad, m] under white noise, and the forces of the motion without it."""
    rig = small_rig()
    times, q = swinging(noise, 10.0, hertz, size)
    count = len(times)
    motion = TrackedMotion(times, q, np.zeros((count, rig.nv)), (), np.zeros((count, 0)), np.ones(count, bool))
    exact = smooth_motion(rig, times, swinging(0.0, 10.0, hertz, size)[1], None)
    return TrialRecord(Recording(name, wrenches=measured(rig, exact) if forces else None), motion)


def test_only_noise_lowers_the_cut_off() -> None:
    """Noisy trials are filtered lower; with one smooth trial the requested filter is kept."""
    rig = small_rig()
    noisy, smooth = tracked("noisy", 0.01), tracked("smooth", 0.0)
    assert adapt_cutoff(rig, PRESET, [noisy]).cutoff < PRESET.cutoff
    assert adapt_cutoff(rig, PRESET, [noisy, smooth]) == PRESET


def test_standing_trials_do_not_affect_the_cut_off() -> None:
    """A trial of a body that sways by millimetres does not change the cut-off of noisy trials; alone it has its own."""
    rig = small_rig()
    noisy, still = tracked("noisy", 0.01), tracked("still", 0.0, size=0.003)
    shaking = tracked("shaking", 0.001, size=0.003)
    assert adapt_cutoff(rig, PRESET, [noisy, still]) == adapt_cutoff(rig, PRESET, [noisy])
    alone = adapt_cutoff(rig, PRESET, [shaking])
    assert alone.cutoff < PRESET.cutoff


def test_a_slow_motion_is_not_standing() -> None:
    """Joints that swing slowly lower the cut-off as fast ones do, although their forces hardly vary."""
    rig = small_rig()
    for hertz in (0.1, 1.0):
        noisy = tracked("noisy", 0.003, hertz=hertz)
        force = noisy.recording.wrenches.total[:, :3]
        slow = np.linalg.norm(force.std(axis=0)) < WEIGHED * np.linalg.norm(force.mean(axis=0))
        assert slow == (hertz == 0.1)
        assert adapt_cutoff(rig, PRESET, [noisy]).cutoff < PRESET.cutoff


def test_trials_without_forces_or_motion_change_nothing() -> None:
    """Without forces, or without a motion, the filter is unchanged."""
    rig = small_rig()
    mute, bare = tracked("mute", 0.01, forces=False), TrialRecord(tracked("bare", 0.01).recording)
    assert adapt_cutoff(rig, PRESET, [mute, bare]) == PRESET
