"""What the noise of tracked motions does to their filter and to the equations made of them."""

from __future__ import annotations

import numpy as np

from solver.signals import PRESETS
from solver.study.motion_noise import fitting, motion_noises, shaken_copies
from solver.study.values import TrialRecord
from solver.tracking.track import Tracked
from solver.trial import Recording
from solver.wrenches import Wrenches
from tests.identification.bodies import small_rig
from tests.signals.test_shaking import swinging

PRESET = PRESETS["human_8hz"]


def tracked(name: str, noise: float, forces: bool = True, push: float = 100.0) -> TrialRecord:
    """A trial of swinging joints with white noise; the plate reads 600 N and a push [N] that comes and goes."""
    times, q = swinging(noise, seconds=6.0)
    count, model = len(times), small_rig().model
    motion = Tracked(times, q, np.zeros((count, model.nv)), (), np.zeros((count, 0)), np.ones(count, bool))
    values = np.zeros((count, 1, 6))
    values[:, 0, 2] = 600.0 + push * np.sin(2.0 * np.pi * times)
    wrenches = Wrenches(times, ("plate",), values) if forces else None
    return TrialRecord(Recording(name, wrenches=wrenches), motion)


def test_only_noise_lowers_the_cut_off() -> None:
    """Noisy trials are filtered lower and shaken; one smooth trial beside them keeps the filter that was asked for."""
    rig = small_rig()
    noisy, smooth = tracked("noisy", 0.01), tracked("smooth", 0.0)
    noises = motion_noises(rig, [noisy, smooth], PRESET)
    assert fitting(PRESET, [noisy], noises).cutoff < PRESET.cutoff
    assert fitting(PRESET, [noisy, smooth], noises) == PRESET
    assert len(shaken_copies(rig, noisy, PRESET, noises)) > 1
    assert shaken_copies(rig, smooth, PRESET, noises) == ()


def test_who_stands_still_has_no_say_in_the_filter() -> None:
    """A trial on constant forces neither keeps the cut-off of noisy ones up nor lowers anybody's."""
    rig = small_rig()
    noisy, still, shaking = tracked("noisy", 0.01), tracked("still", 0.0, push=1.0), tracked("still", 0.01, push=1.0)
    noises = motion_noises(rig, [noisy, still], PRESET)
    assert fitting(PRESET, [noisy, still], noises) == fitting(PRESET, [noisy], noises)
    assert fitting(PRESET, [shaking], motion_noises(rig, [shaking], PRESET)) == PRESET


def test_trials_that_tell_nothing_change_nothing() -> None:
    """Without forces, or without a motion, nothing is known and the filter stays."""
    rig = small_rig()
    mute, still = tracked("mute", 0.01, forces=False), TrialRecord(tracked("still", 0.01).recording)
    noises = motion_noises(rig, [mute, still], PRESET)
    assert noises == {}
    assert fitting(PRESET, [mute], noises) == PRESET
    assert shaken_copies(rig, mute, PRESET, noises) == ()
