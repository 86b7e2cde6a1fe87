"""Which link each plate carries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import solver
from solver.dynamics import link_motions
from solver.moments import assign_wrenches, compute_moments
from solver.moments.contact_links import SHARED, UNKNOWN
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

FRAMES = 60
SIDES = ("left", "right")


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A person."""
    return solver.human(1.75, 70.0, "male")


def standing(rig: Rig) -> Motion:
    """At rest with both soles on the floor."""
    q = np.tile(rig.neutral, (FRAMES, 1))
    zero = np.zeros((FRAMES, rig.nv))
    motion = Motion(np.arange(FRAMES) / 100.0, q, zero, zero)
    links = link_motions(rig, motion)
    foot = rig.index("left_foot")
    corners = links.rotation[:, :, foot, 0] @ rig.patch("left_sole").vertices.T + links.position[:, foot, :1]
    q = q.copy()
    q[:, 2] -= corners[2].min()
    return replace(motion, q=q)


def trial_of(rig: Rig, motion: Motion, points: dict[str, np.ndarray], share: float = 0.5) -> Trial:
    """Plates that carry equal vertical forces at points of the floor."""
    up = np.array([0.0, 0.0, share * rig.weight])
    values = [np.tile(np.concatenate([up, np.cross(point, up)]), (FRAMES, 1)) for point in points.values()]
    wrenches = Wrenches(motion.times, tuple(points), np.stack(values, axis=1))
    return Trial("stand", motion, wrenches, np.ones(FRAMES, bool))


def under_feet(rig: Rig, motion: Motion) -> dict[str, np.ndarray]:
    """A point of the floor under each foot."""
    links = link_motions(rig, motion)
    feet = {side: links.position[:, rig.index(f"{side}_foot"), 0] for side in SIDES}
    return {side: np.array([foot[0] + 0.05, foot[1], 0.0]) for side, foot in feet.items()}


def test_each_plate_carries_the_foot_on_it(rig: Rig) -> None:
    """Whatever the order of the plates, with soles or only names of feet, and 45 cm ahead of the toes."""
    motion = standing(rig)
    points = under_feet(rig, motion)
    ahead = points["right"] + [0.6, 0.0, 0.0]
    trial = trial_of(rig, motion, {"plate 1": ahead, "plate 2": points["left"]})
    expected = [rig.index("right_foot"), rig.index("left_foot")]
    for body in (rig, replace(rig, contacts=())):
        found = assign_wrenches(body, motion, trial.wrenches)
        np.testing.assert_array_equal(found.links, np.tile(expected, (FRAMES, 1)))
    assert np.isfinite(compute_moments(rig, trial).values).all()


def test_a_foot_keeps_its_plate_after_it_has_left(rig: Rig) -> None:
    """What is left of a filtered force before and after a stance acts on the foot whose stance is the nearest; while
    the feet change plates that stay loaded, each frame has its own."""
    motion = standing(rig)
    points = under_feet(rig, motion)
    trial = trial_of(rig, motion, {"plate 1": points["right"], "plate 2": points["left"]})
    values = trial.wrenches.values.copy()
    values[40:] = values[40:, ::-1]
    changed = assign_wrenches(rig, motion, replace(trial.wrenches, values=values)).links[:, 0]
    np.testing.assert_array_equal(changed, [rig.index("right_foot")] * 40 + [rig.index("left_foot")] * 20)
    values[[*range(10), *range(20, 40), *range(50, 60)]] *= 1e-3
    found = assign_wrenches(rig, motion, replace(trial.wrenches, values=values))
    expected = np.repeat([[rig.index("right_foot"), rig.index("left_foot")]], FRAMES // 2, axis=0)
    np.testing.assert_array_equal(found.links, np.concatenate([expected, expected[:, ::-1]]))


def test_a_plate_under_both_feet_leaves_the_legs_open(rig: Rig) -> None:
    """The moments of trunk and arms are known, those of the legs are not."""
    motion = standing(rig)
    points = under_feet(rig, motion)
    trial = trial_of(rig, motion, {"plate": 0.5 * (points["left"] + points["right"])}, 1.0)
    assert (assign_wrenches(rig, motion, trial.wrenches).links == SHARED).all()
    found = compute_moments(rig, trial)
    legs = np.array([name.startswith(("hip", "knee", "ankle")) for name in found.names])
    assert legs.sum() == 18
    assert np.isnan(found.values[:, legs]).all()
    assert np.isfinite(found.values[:, ~legs]).all()
    assert "both feet" in found.notes[0]
    assert found.residual_rms[0] < 1e-6


def test_a_load_far_from_the_feet_leaves_everything_open(rig: Rig) -> None:
    """A chair's force acts on an unknown link."""
    motion = standing(rig)
    points = under_feet(rig, motion)
    trial = trial_of(rig, motion, {**points, "chair": np.array([-1.5, 0.0, 0.0])})
    assert (assign_wrenches(rig, motion, trial.wrenches).links[:, 2] == UNKNOWN).all()
    found = compute_moments(rig, trial)
    assert np.isnan(found.values).all()
    assert "no foot" in found.notes[0]


def test_feet_are_named_or_found(rig: Rig) -> None:
    """A rig without soles and names of feet is refused with the remedy; a wrong name lists the links."""
    motion = standing(rig)
    trial = trial_of(rig, motion, under_feet(rig, motion))
    wrenches = replace(trial.wrenches, frames=("plate 1", "plate 2"))
    with pytest.raises(solver.SolverError, match="left_foot"):
        assign_wrenches(rig, motion, wrenches, ["left_fot"])
    hidden = {name: f"part {k}" for k, name in enumerate(rig.links)}
    names = tuple(hidden.values())
    bare = replace(
        rig, links=names, contacts=(), shapes=(), pairs=(), excluded=(), prior=replace(rig.prior, links=names)
    )
    with pytest.raises(solver.InvalidValue, match="--feet"):
        assign_wrenches(bare, motion, wrenches)
    found = assign_wrenches(bare, motion, wrenches, [hidden["left_foot"], hidden["right_foot"]])
    assert set(found.links[0]) == {rig.index("left_foot"), rig.index("right_foot")}
