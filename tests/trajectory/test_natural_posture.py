"""Laws of the posture that dances start from, and of feet that swing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.contacts.schedule import Schedule, stance
from solver.dynamics.coordinates import joint_slices, static_motion, to_flat, to_manifold
from solver.dynamics.mechanics import Mechanics
from solver.feasibility import CollisionDetector, FrameChecker
from solver.options.checks import CheckOptions
from solver.rigs import from_urdf, hoap3, hrp2, human
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.natural_posture import (
    LIMIT_DISTANCE,
    MIN_SEPARATION,
    NATURAL_POSTURES,
    _mirror_moves,
    clear_arms,
    natural_posture,
)
from solver.values.motion import Motion
from tests.bipeds import Biped

PERSON = human(1.75, 65.0, "female")
HANGING = replace(PERSON, provenance={k: v for k, v in PERSON.provenance.items() if k != "standing"})
"""Whose arms, straight down, are in its thighs."""


def test_home_is_free_of_contact() -> None:
    """If the hands touch the thighs in the neutral posture, the home posture has them away, left and right alike."""
    legged = LeggedRig(HANGING, shrink=0.4)
    home = legged.home_posture(legged.get_footing("both"))
    none = np.zeros((1, HANGING.nv))
    detector = CollisionDetector(HANGING, CheckOptions())
    assert detector.minimum_distances(HANGING.neutral[None]).min() < -0.02
    assert detector.minimum_distances(to_manifold(HANGING, home[None, : HANGING.nv], none, none).q).min() > 0.001


def test_arms_that_touch_move_as_little_as_separates_them() -> None:
    """Legs, root and trunk stay, both sides move alike, and the smallest steps that are tried suffice."""
    legged = LeggedRig(HANGING, shrink=0.4)
    start = natural_posture(HANGING)
    fixed = tuple(range(ROOT_NV)) + tuple(column for own in legged.leg_columns.values() for column in own.tolist())
    cleared = clear_arms(HANGING, CheckOptions(), tuple(start.tolist()), fixed)
    moved = np.flatnonzero(cleared != start)
    arms = [k for name in ("left_hand", "right_hand") for k in HANGING.path(HANGING.index(name))]
    allowed = {column for link in arms for column in range(HANGING.nv)[joint_slices(HANGING)[link][2]]}
    assert set(moved.tolist()) <= allowed - set(fixed)
    assert 0.0 < np.abs(cleared - start).max() < 0.5
    _assert_mirrored(HANGING, cleared)
    none = np.zeros((1, HANGING.nv))
    distances = CollisionDetector(HANGING, CheckOptions()).minimum_distances(
        to_manifold(HANGING, cleared[None], none, none).q
    )
    assert distances.min() > MIN_SEPARATION
    everything = tuple(range(HANGING.nv))
    np.testing.assert_array_equal(clear_arms(HANGING, CheckOptions(), tuple(start.tolist()), everything), start)


def _assert_mirrored(rig: Rig, y: np.ndarray) -> None:
    """The origins of the right side's links are those of the left side's, reflected at the plane y = 0."""
    curves = static_motion(rig, y[None])
    places = Mechanics(rig).compute_poses(curves.q).position[0]
    left, right = (places[[rig.index(pair[side]) for pair in rig.pairs]] for side in range(2))
    np.testing.assert_allclose(right, left * [1.0, -1.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("rig", [PERSON, hoap3(), hrp2()], ids=lambda rig: rig.name)
def test_mirrored_moves_leave_a_mirrored_posture(rig: Rig) -> None:
    """Moves of the left side, mirrored to the right side, move its links to the mirror images; the trunk's stay."""
    moves = np.random.default_rng(0).uniform(-0.4, 0.4, (5, rig.nv))
    sides = [link for pair in rig.pairs for link in pair]
    columns = [c for name in sides for c in range(rig.nv)[joint_slices(rig)[rig.index(name)][2]]]
    moves[:, np.setdiff1d(np.arange(rig.nv), columns)] = 0.0
    mirrored = _mirror_moves(rig, moves)
    for own in mirrored:
        _assert_mirrored(rig, own)
    left = [c for name, _ in rig.pairs for c in range(rig.nv)[joint_slices(rig)[rig.index(name)][2]]]
    np.testing.assert_array_equal(mirrored[:, left], moves[:, left])
    np.testing.assert_array_equal(_mirror_moves(rig, mirrored), mirrored)


@pytest.mark.parametrize("rig", [PERSON, hoap3(), hrp2()], ids=lambda rig: rig.name)
def test_a_natural_posture_is_inside_its_limits(rig: Rig) -> None:
    """Every joint is farther from its limits than a small share of its range, and as near to the rig's own as that."""
    y = natural_posture(rig)
    np.testing.assert_array_equal(y[:ROOT_NV], 0.0)
    wide = np.nan_to_num(rig.limits.upper - rig.limits.lower, posinf=0.0)
    room = np.minimum(y[ROOT_NV:] - rig.limits.lower, rig.limits.upper - y[ROOT_NV:])
    assert (room >= LIMIT_DISTANCE * wide - 1e-12).all()
    own = next((rig.provenance[name] for name in NATURAL_POSTURES if name in rig.provenance), None)
    wanted = np.zeros(rig.nv) if own is None else to_flat(rig, np.array(own, float))
    inside = np.minimum(wanted[ROOT_NV:] - rig.limits.lower, rig.limits.upper - wanted[ROOT_NV:]) > 0.04 * wide
    assert inside.sum() > 5
    np.testing.assert_allclose(y[ROOT_NV:][inside], wanted[ROOT_NV:][inside], atol=1e-12)


@pytest.mark.parametrize("rig", [PERSON, hoap3()], ids=lambda rig: rig.name)
def test_a_clear_home_stays(rig: object) -> None:
    """A posture without contacts is the home posture as it is, whatever the options."""
    legged = LeggedRig(rig, shrink=0.4)  # type: ignore[arg-type]
    home = legged.home_posture(legged.get_footing("both"))
    other = LeggedRig(rig, shrink=0.4, checks=CheckOptions(pairs=()))  # type: ignore[arg-type]
    np.testing.assert_array_equal(home, other.home_posture(other.get_footing("both")))


def test_reserves_and_swing_reduce_the_margins() -> None:
    """A reserve of a tenth of the torque, 3 mm of balance and 20 mm of swing reduce these margins, and no others."""
    rig = hoap3(torque="peak")
    schedule = Schedule.constant(stance(rig, "right"), 0.0, 1.0)
    motion = Motion(np.zeros(1), rig.neutral[None], np.zeros((1, rig.nv)), np.zeros((1, rig.nv)))
    reserved = CheckOptions(torque_reserve=0.1, balance_reserve=0.003, foot_clearance=0.02)
    plain, held = (FrameChecker(rig, schedule, options).check_frames(motion) for options in (CheckOptions(), reserved))
    less = {margin.name: margin.values - other.values for margin, other in zip(plain.margins, held.margins)}
    np.testing.assert_allclose(less.pop("joint torque"), 0.1)
    np.testing.assert_allclose(less.pop("zmp"), 0.003)
    floor = less.pop("floor")
    swinging = rig.index(rig.patch(rig.sides["left"]).link)
    assert floor[0, swinging] == pytest.approx(0.02)
    assert np.nan_to_num(np.delete(floor, swinging, axis=1)).max() == 0.0
    assert all(np.nan_to_num(values).max() == 0.0 for values in less.values())


CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def _stl(half: tuple[float, float, float]) -> str:
    """A box as a mesh: links that are drawn exactly are checked however near they hang together."""
    corners = CUBE * half
    faces = "".join(
        "facet normal 0 0 0 outer loop "
        + " ".join(f"vertex {' '.join(map(str, corners[k]))}" for k in triangle)
        + " endloop endfacet "
        for a, b, c, d in SIDES
        for triangle in ((a, b, c), (a, c, d))
    )
    return f"solid box {faces} endsolid box"


def test_a_fist_is_opened(tmp_path: Path) -> None:
    """Coupled fingers that overlap at zero: one joint opens the hand, left as right, the others follow."""
    (tmp_path / "finger.stl").write_text(_stl((0.01, 0.01, 0.04)))
    limit = '<limit lower="0" upper="1" velocity="5" effort="5"/>'
    parts = ""
    for side, sign in (("left", 1), ("right", -1)):
        for name, away in (("finger", sign), ("thumb", -sign)):
            origin, axis = f'<origin xyz="0 {0.008 * away} -0.26"/>', f"{away} 0 0"
            mesh = '<collision><origin xyz="0 0 -0.09"/><geometry><mesh filename="finger.stl"/></geometry></collision>'
            follows = "" if name == "finger" else f'<mimic joint="{side}_finger" multiplier="0.8"/>'
            parts += (
                f'<link name="{side}_{name}">{mesh}</link><joint name="{side}_{name}" type="revolute">'
                f'<parent link="{side}_forearm"/><child link="{side}_{name}"/>{origin}<axis xyz="{axis}"/>'
                f"{limit}{follows}</joint>"
            )
    path = Biped().write(tmp_path)
    path.write_text(path.read_text().replace("</robot>", f"{parts}</robot>"))
    rig = from_urdf(path)
    detector, none = CollisionDetector(rig, CheckOptions()), np.zeros((1, rig.nv))
    assert ("left_finger", "left_thumb") in detector.pairs
    assert detector.minimum_distances(rig.neutral[None]).min() < -0.003
    legged = LeggedRig(rig, shrink=0.4)
    home = legged.home_posture(legged.get_footing("both"))
    assert detector.minimum_distances(to_manifold(rig, home[None, : rig.nv], none, none).q).min() > 0.001
    places = {joint.name: moves.start for joint, _, moves in joint_slices(rig)}
    for side in ("left", "right"):
        assert home[places[f"{side}_finger"]] > 0.1
        assert home[places[f"{side}_thumb"]] == pytest.approx(0.8 * home[places[f"{side}_finger"]])
    assert home[places["left_finger"]] == pytest.approx(home[places["right_finger"]])
