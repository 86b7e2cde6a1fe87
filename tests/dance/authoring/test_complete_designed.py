"""Filling a freed posture of a designed dance in a scene with 24 samples a second and keys on whole frames."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver.dance.authoring.authored_dance import AuthoredDance, Samples
from solver.dance.authoring.complete import CompletedDance, complete
from solver.dance.authoring.timeline import dance_from_timeline
from solver.dance.workflows.complete import complete as answered
from solver.dance.workflows.design import design_dance
from solver.dance.workflows.summaries import posture_keys, scene_strips
from solver.feasibility import CheckOptions
from solver.options.authoring import CompleteOptions, RepairOptions
from solver.options.dances import paper_options
from solver.rigs import hoap3
from solver.scene.motion import scene_motion
from solver.scene.timeline import SceneTimeline
from solver.skeleton.rig import Rig

RATE = 24.0
CHECKS = CheckOptions(shrink=0.4)
OPTIONS = CompleteOptions(pool=10)
QUICK = RepairOptions(rate=12.5, spacing=0.3, seconds=120.0)
BETWEEN = "right: to the next step"
FREED = (pytest.param("both posture 1", marks=pytest.mark.slow), BETWEEN)
"""Both ends of a posture's hold; a rest on one foot before a step."""


@pytest.fixture(scope="module")
def robot() -> Rig:
    """HOAP-3 at its peak torques."""
    return hoap3("middle", torque="peak")


@pytest.fixture(scope="module")
def designed(robot: Rig) -> AuthoredDance:
    """A dance of two postures, one on both feet and one on the right foot, from a scene."""
    small: dict[str, Any] = {"pool": 10, "rounds": 1, "workers": 1, "min_duration": 2.0, "hold": 0.5}
    options = paper_options(postures={"both": 1, "right": 1}, **small)
    dance = design_dance(robot, options)
    motion = dance.sample(robot, RATE)
    shown, last = scene_motion(robot, motion), float(motion.times[-1])
    keys = [replace(key, time=min(round(RATE * key.time) / RATE, last)) for key in posture_keys(dance)]
    timeline = SceneTimeline(
        "designed", robot, motion.times, shown.root, shown.rotations,
        shown.translations, tuple(keys), scene_strips(dance.schedule, 0.0, last),
    )  # fmt: skip
    return dance_from_timeline(timeline, robot)


def freed(keyed: AuthoredDance, name: str) -> AuthoredDance:
    """The dance with the keys of one name made free."""
    return replace(keyed, keys=tuple(replace(k, role="free" if k.name == name else k.role) for k in keyed.keys))


def outside(keyed: AuthoredDance) -> np.ndarray:
    """Mask of samples outside the gaps of a dance."""
    free = [number for number, key in enumerate(keyed.keys) if key.role == "free"]
    times = keyed.samples.times
    return (times <= keyed.keys[free[0] - 1].time) | (times >= keyed.keys[free[-1] + 1].time)


@pytest.mark.parametrize("name", FREED)
def test_filling_changes_the_gap_only(designed: AuthoredDance, name: str) -> None:
    """The filled gap passes every check; every sample outside is unchanged, bit for bit."""
    dance = freed(designed, name)
    done = complete(dance, CHECKS, OPTIONS, QUICK)
    assert done.feasible
    assert not done.limit_reached
    assert set(done.filled_times) == {key.time for key in dance.keys if key.role == "free"}
    kept, now = outside(dance), outside(done.dance)
    assert np.array_equal(dance.samples.times[kept], done.dance.samples.times[now])
    assert np.array_equal(dance.samples.q[kept], done.dance.samples.q[now])


def test_the_dance_is_continuous_at_a_gap(designed: AuthoredDance) -> None:
    """At the ends of a filled gap the root's position and speed are the given ones, and all others nearly.

    Legs follow the feet exactly within the gap; between the samples of a scene feet, and legs with them, move slightly.
    """
    filled = complete(freed(designed, BETWEEN), CHECKS, OPTIONS, QUICK).gaps[0].repair.motion
    given = designed.curve().motion(designed.rig, filled.times)
    assert np.abs(filled.q[[0, -1]] - given.q[[0, -1]]).max() < 1e-5
    assert np.abs(filled.v[[0, -1], :6] - given.v[[0, -1], :6]).max() < 1e-9
    assert np.abs(filled.v[[0, -1]] - given.v[[0, -1]]).max() < 0.05


def test_what_fails_elsewhere_is_a_note(designed: AuthoredDance) -> None:
    """A foot that slides outside the gaps does not prevent filling; a note says where it slides."""
    q = np.array(designed.samples.q)
    q[designed.samples.times < 2.0, 0] += 0.01
    disturbed = replace(freed(designed, BETWEEN), samples=Samples(designed.samples.times, q))
    keys = tuple(replace(k, q=q[round(RATE * k.time)]) for k in disturbed.keys)
    answer = answered(replace(disturbed, keys=keys), OPTIONS, CHECKS, QUICK)
    assert answer.status == "completed"
    assert not answer.feasible
    assert isinstance(answer.details, CompletedDance)
    assert not any(failure.time > 3.0 for failure in answer.details.failures_elsewhere)
    assert any("nothing was changed" in note and "slides" in note for note in answer.summary.notes)
