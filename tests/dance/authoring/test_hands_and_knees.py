"""Authored dances with hands and knees on the floor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.authoring.complete import complete
from solver.dance.authoring.repair import REPAIRED, repair_dance
from solver.dance.authoring.timeline import schedule_from_strips
from solver.dynamics.coordinates import to_manifold
from solver.dynamics.mechanics import Mechanics
from solver.feasibility.checks.planted_feet import patch_points
from solver.options.authoring import CompleteOptions
from solver.options.checks import DANCE_CHECKS
from solver.scene.timeline import SceneStrip
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.curve import FlatCurve
from tests.on_all_fours import PATCHES, person, places, posture


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A person with patches on hands and knees."""
    return person()


@pytest.fixture(scope="module")
def rocking(rig: Rig) -> AuthoredDance:
    """Rocking 6 cm forwards and back on hands and knees, the right arm keyed so that its palm slides by 1.4 cm."""
    wanted = places(rig, 0.55, 0.46)
    begin = posture(rig, wanted)
    ahead = posture(rig, wanted, begin + 0.06 * np.eye(rig.nv)[0])
    first = ROOT_NV + sum(joint.nv for joint in rig.joints[1 : rig.index("right_upper_arm")])
    ahead[first : first + 3] += 0.05
    still = np.zeros((3, rig.nv))
    q = to_manifold(rig, np.array([begin, ahead, begin]), still, still).q
    times = np.array([0.0, 1.0, 2.0])
    keys = tuple(Keyframe(t, own, role) for t, own, role in zip(times, q, ("fixed", "preferred", "fixed")))
    strips = [SceneStrip(name, 0.0, 2.0) for name in PATCHES]
    schedule = schedule_from_strips(rig, FlatCurve.through_keys(rig, times, list(q)), strips, 0.0, [0.0, 2.0])
    return AuthoredDance(rig, keys, schedule, name="rocking", checks=DANCE_CHECKS)


def test_a_repair_keeps_hands_and_knees_planted(rocking: AuthoredDance) -> None:
    """A palm that slid by centimetres stays within the allowed slip in every frame of the verification."""
    found = repair_dance(rocking)
    palm = rocking.rig.patches.index("right_palm")
    before, after = (checks.get_margin("slip").values[:, palm].min() for checks in (found.before, found.after))
    assert before < -0.01
    assert found.status == REPAIRED
    assert after >= -DANCE_CHECKS.tolerance
    assert found.after.get_margin("slip").smallest.min() >= -DANCE_CHECKS.tolerance
    for key, mended in zip(rocking.keys, found.dance.keys):
        if key.role == "fixed":
            assert np.array_equal(key.q, mended.q)


def test_a_hand_can_step_while_others_carry(rig: Rig) -> None:
    """The right palm moves 6 cm forwards and 3 cm above the floor: feasible in every frame, and it arrives."""
    stands = places(rig, 0.55, 0.46)
    lifted, ahead = (
        {**stands, "right_palm": stands["right_palm"] + way} for way in ([0.03, 0.0, 0.03], [0.06, 0.0, 0.0])
    )
    begin = posture(rig, stands)
    middle = posture(rig, lifted, begin)
    end = posture(rig, ahead, middle)
    still = np.zeros((6, rig.nv))
    q = to_manifold(rig, np.array([begin, begin, middle, end, end, end]), still, still).q
    times = np.array([0.0, 0.4, 1.0, 1.6, 1.8, 2.1])
    keys = tuple(Keyframe(t, own, "preferred" if k else "fixed") for k, (t, own) in enumerate(zip(times, q)))
    strips = [SceneStrip(name, 0.0, 2.1) for name in PATCHES if name != "right_palm"]
    strips += [SceneStrip("right_palm", 0.0, 0.5), SceneStrip("right_palm", 1.5, 2.1)]
    schedule = schedule_from_strips(rig, FlatCurve.through_keys(rig, times, list(q)), strips, 0.0, [0.0, 2.1])
    found = repair_dance(AuthoredDance(rig, keys, schedule, name="a step", checks=DANCE_CHECKS))
    assert found.before.failed.any()
    assert found.status == REPAIRED
    state = Mechanics(rig).compute_state(*(part[-1:] for part in (found.motion.q, found.motion.v, found.motion.a)))
    palm = patch_points(rig, state.rotation, state.position, "right_palm")[0]
    assert np.abs(palm - ahead["right_palm"]).max() < DANCE_CHECKS.allowed_slip


def test_jumps_off_hands_are_refused(rocking: AuthoredDance) -> None:
    """A repair makes jumps from feet to feet only; the message names the time and the patches."""
    first, last = rocking.schedule.phases[0], rocking.schedule.phases[-1]
    phases = (replace(first, stop=0.9), replace(first, start=0.9, stop=1.1, anchors=()), replace(last, start=1.1))
    jumping = replace(rocking, schedule=replace(rocking.schedule, phases=phases))
    with pytest.raises(InvalidValue, match=r"jump at 0\.90 s takes off from .*right_palm: .*from feet to feet"):
        repair_dance(jumping)


def test_free_keys_on_hands_are_filled_by_interpolation(rocking: AuthoredDance) -> None:
    """Exciting postures exist for feet only; elsewhere a note says why, and keys are filled by interpolation."""
    free = replace(rocking, keys=tuple(replace(k, role="free") if k.role == "preferred" else k for k in rocking.keys))
    done = complete(free, options=CompleteOptions(pool=2))
    assert done.interpolated_times == (1.0,)
    assert any("right_palm" in note and "feet only" in note for note in done.notes)
