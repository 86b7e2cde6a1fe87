"""Filling free keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.authoring.complete import complete
from solver.dance.workflows.complete import complete as complete_file
from solver.dynamics import difference
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.excitation import Excitation
from solver.options.authoring import CompleteOptions, RepairOptions
from solver.skeleton.rig import Rig

from ..example_dances import home, rotate_joints

QUICK = RepairOptions(rate=12.5, spacing=0.3)


@pytest.fixture(scope="module")
def gaps(strong_robot: Rig) -> AuthoredDance:
    """Two fixed postures with two free ones between them."""
    q, anchors = home(strong_robot)
    keys = tuple(Keyframe(5.0 * k, q, "fixed" if k in (0, 3) else "free") for k in range(4))
    return AuthoredDance(strong_robot, keys, Schedule.constant(anchors, 0.0, 15.0))


def test_free_keys_are_filled_with_postures_that_excite(strong_robot: Rig, gaps: AuthoredDance) -> None:
    """The filled dance is feasible, keeps its fixed keys, and determines more parameters than the unfilled one."""
    options = CompleteOptions(pool=20, share=0.5)
    result = complete(gaps, options=options, repair_options=QUICK)
    assert result.filled_times == (5.0, 10.0)
    assert result.notes == ()
    assert result.feasible
    motion, structure = result.motion, base_parameters(strong_robot)
    for frame, key in ((0, gaps.keys[0]), (-1, gaps.keys[-1])):
        assert np.abs(difference(strong_robot, motion.q[frame], key.q)).max() < 1e-9
    filled, unfilled = (
        np.isfinite(Excitation.before_motion(structure).with_motion(strong_robot, each).deviations()).sum()
        for each in (motion, gaps.motion(10.0))
    )
    assert filled > unfilled + 10


def test_the_same_seed_gives_the_same_postures(gaps: AuthoredDance) -> None:
    """Filling twice with one seed gives the same postures; another seed others."""
    one, two, other = (
        complete(gaps, options=CompleteOptions(pool=8, share=0.3, seed=s), repair_options=QUICK) for s in (3, 3, 4)
    )
    assert np.array_equal(one.motion.q, two.motion.q)
    assert not np.array_equal(one.motion.q, other.motion.q)


def test_interpolated_keys_lie_between_their_neighbours(strong_robot: Rig, gaps: AuthoredDance) -> None:
    """Without excitation free keys between equal postures become that posture."""
    result = complete(gaps, options=CompleteOptions(interpolate=True), repair_options=QUICK)
    ways = [np.abs(difference(strong_robot, gaps.keys[0].q, q)).max() for q in result.motion.q]
    assert max(ways) < 1e-9


def test_a_free_end_is_refused(gaps: AuthoredDance) -> None:
    """Free keys must lie between other keys."""
    keys = (replace(gaps.keys[0], role="free"), *gaps.keys[1:])
    with pytest.raises(InvalidValue, match="first and the last"):
        complete(replace(gaps, keys=keys))


@pytest.mark.parametrize(
    ("role", "remedy"), [("preferred", "or repair the dance first"), ("fixed", "or mark it as preferred")]
)
def test_a_key_that_prevents_completion_is_named_by_its_role(person: Rig, role: str, remedy: str) -> None:
    """Completion keeps preferred keys as it does fixed ones; it names each by its role, with a remedy that helps."""
    q, anchors = home(person)
    bent = rotate_joints(person, q, {"torso": (1, 1.2)})
    keys = (Keyframe(0.0, q, "fixed"), Keyframe(0.6, bent, role, "lunge"), Keyframe(0.9, q, "free"),
            Keyframe(1.2, q))  # fmt: skip
    keyed = AuthoredDance(person, keys, Schedule.constant(anchors, 0.0, 1.2))
    found = complete_file(keyed, CompleteOptions(interpolate=True), repair_options=RepairOptions(25.0, 0.2, 2, 1))
    assert not found.feasible
    for said in (found.message, *found.summary.problems):
        assert f"{role} key 'lunge' at 0.6 s" in said
        assert said.endswith(remedy)
