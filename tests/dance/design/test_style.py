"""Laws of beats, mirrored motifs and skill."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.coordinates import coordinate_links, to_manifold
from solver.dance.design.body_parts import body_parts
from solver.dance.design.dance import Dance
from solver.dance.design.evaluation import HARDEST, rate_moves
from solver.dance.design.mirror import Mirror
from solver.dance.design.plan import apply_style, build_transition_planner, order_blocks
from solver.dance.design.style import bending_columns, comfort_limits, round_to_counts
from solver.dance.workflows.design import design_dance
from solver.dynamics import link_poses
from solver.errors import InvalidValue
from solver.options.dances import PHRASE, SKILLS, DanceOptions, Style, human_options
from solver.rig import Rig
from solver.rigs import hoap3, hrp2, human
from solver.scene.dance_counts import PICK_UP_COUNTS
from solver.so3 import exp
from solver.trajectory.legged_rig import LeggedRig

ROBOT, PERSON = hoap3("middle", torque="peak"), human(1.7, 65.0, "female")
STYLED = DanceOptions(postures={"both": 2}, pool=12, starts=1, rounds=1, workers=1, style=Style(bpm=100.0))


@pytest.fixture(scope="module")
def dance() -> Dance:
    """A motif of one posture and its mirror image."""
    return design_dance(ROBOT, STYLED)


@pytest.mark.parametrize("rig", [ROBOT, PERSON, hrp2()], ids=["HOAP-3", "person", "HRP-2"])
def test_a_mirrored_posture_is_its_mirror_image(rig: Rig) -> None:
    """Every link is at the mirror image of its partner, and the image of an image is the posture."""
    legged = LeggedRig(rig, shrink=0.4, step=0.1)
    mirror = Mirror(legged)
    y = np.random.default_rng(2).uniform(-0.4, 0.4, legged.size)
    np.testing.assert_array_equal(mirror.image(mirror.image(y)), y)
    both = np.stack([y, mirror.image(y)])[:, : rig.nv]
    still = np.zeros_like(both)
    places = [link_poses(rig, q)[1] for q in to_manifold(rig, both, still, still).q]
    partner = {a: b for pair in rig.pairs for a, b in (pair, pair[::-1])}
    expected = np.array([1.0, -1.0, 1.0]) * places[0][[rig.index(partner.get(link, link)) for link in rig.links]]
    np.testing.assert_allclose(places[1], expected, atol=0.003)


def test_an_asymmetric_rig_cannot_be_mirrored() -> None:
    """The joint whose axis has no mirror image is named, with a remedy."""
    joints = list(ROBOT.joints)
    number = ROBOT.index(ROBOT.pairs[-1][1])
    joints[number] = replace(joints[number], rotation=joints[number].rotation @ exp(np.array([0.3, 0.2, 0.1])))
    turned = replace(ROBOT, joints=tuple(joints))
    with pytest.raises(InvalidValue, match=r"cannot be mirrored.*without mirrored motifs"):
        Mirror(LeggedRig(turned, shrink=0.4, step=0.2))


def test_moves_end_on_beats_and_none_crosses_a_phrase(dance: Dance) -> None:
    """After the pick-up every move ends on a beat; a move of at most eight beats lies within its phrase."""
    beat = 0.6
    assert dance.complete
    assert len(dance.postures) == 2
    begin = 0.0
    for segment, start in zip(dance.segments, dance.starts):
        if segment.kind == "hold":
            begin = (start - PICK_UP_COUNTS * beat) / beat
            continue
        end = (start + segment.duration - PICK_UP_COUNTS * beat) / beat
        assert end == pytest.approx(round(end), abs=1e-6)
        first = max(begin, end - PHRASE)
        assert np.floor(first / PHRASE + 1e-9) == np.floor((end - 1e-6) / PHRASE) or end - first > PHRASE


def test_a_motif_is_repeated_mirrored(dance: Dance) -> None:
    """The second half's coordinates mirror the first half's, feasible at 500 Hz and continuous."""
    mirror = Mirror(dance.legged_rig(ROBOT))
    halves = [s for s in dance.segments if s.kind == "exciting"]
    own, image = halves[: len(halves) // 2], halves[len(halves) // 2 :]
    nv = ROBOT.nv
    for first, second in zip(own, image):
        np.testing.assert_allclose(mirror.image(first.control)[:, :nv], second.control[:, :nv], atol=1e-12)
    assert [str(f) for checks in dance.check(ROBOT, 500.0) for f in checks.first_failures] == []
    assert dance.largest_discontinuity() < 1e-9


def test_both_legs_are_lifted_where_one_is_designed() -> None:
    """With one posture requested on each foot, the dance has one on the left foot and its mirror image."""
    dance = design_dance(ROBOT, replace(STYLED, postures={"left": 1, "right": 1}))
    stands = {tuple(anchor.patch for anchor in s.anchors) for s in dance.segments if "posture" in s.name}
    assert stands == {(ROBOT.sides["left"],), (ROBOT.sides["right"],)}
    assert dance.complete


def test_left_and_right_are_balanced() -> None:
    """Requested postures on either foot are danced once on each; a beginner stands on both feet."""
    both = apply_style(replace(STYLED, postures={"both": 4, "right": 1, "left": 2, "right_forward": 1}))
    assert both.postures == {"both": 2, "left": 2, "right_forward": 1}
    order = [
        (b.configuration, b.motif_configuration, b.mirrored)
        for b in order_blocks(["both", "right_forward", "left"], both.style)
    ]
    assert order == [
        ("both", "both", False), ("right_forward", "right_forward", False), ("left", "left", False),
        ("right", "left", True), ("both", "both", True),
    ]  # fmt: skip
    with pytest.raises(InvalidValue, match="one foot"):
        apply_style(replace(STYLED, postures={"left": 2}, style=Style(skill="beginner")))


def test_a_beginner_stays_within_comfort_limits() -> None:
    """Ranges shrink about home, home stays inside, and trunk, head and root bend backward within their limit."""
    legged = build_transition_planner(PERSON, human_options()).legged
    home = legged.home_posture(legged.get_footing("both"))
    skill = SKILLS["beginner"]
    lower, upper = comfort_limits(legged, home, skill)
    inside = np.isfinite(lower) & np.isfinite(upper)
    assert ((lower <= home + 1e-12) & (home <= upper + 1e-12))[legged.trunk].all()
    assert (upper - lower)[inside].sum() < 0.7 * (legged.upper - legged.lower)[inside & np.isfinite(legged.upper)].sum()
    assert lower[4] == -skill.max_backward_bend
    columns = bending_columns(legged)
    assert len(columns) >= 2
    for column, sign in columns:
        back = -lower[column] if sign > 0.0 else upper[column]
        assert back <= skill.max_backward_bend + 1e-12


@pytest.mark.parametrize(("seconds", "counts"), [(0.4, 1), (0.6, 2), (1.1, 4), (2.6, 8), (4.1, 16)])
def test_moves_last_whole_beats(seconds: float, counts: int) -> None:
    """A move with its hold lasts 1, 2, 4, 8 beats or whole phrases."""
    assert round_to_counts(seconds, 0.5) == pytest.approx(0.5 * counts)
    assert round_to_counts(seconds - 0.2, 0.5, 0.2) == pytest.approx(0.5 * counts - 0.2)


def test_every_move_has_a_difficulty(dance: Dance) -> None:
    """Difficulties are from one to five; the same move slower is never more difficult."""
    found = rate_moves(dance)
    assert [m.segment for m in found] == [k for k, s in enumerate(dance.segments) if s.kind in ("exciting", "straight")]
    assert all(1 <= m.score <= HARDEST for m in found)
    slow = replace(dance, segments=tuple(replace(s, duration=3.0 * s.duration) for s in dance.segments), trace=())
    assert all(a.score <= b.score for a, b in zip(rate_moves(slow), found))


def test_a_move_names_the_part_that_moves_most(dance: Dance) -> None:
    """The first named part of the body contains the joint with the largest range of motion of the move."""
    rig = dance.rig
    for move in rate_moves(dance):
        segment = dance.segments[move.segment]
        y, _, _ = segment.evaluate(dance.legged_rig(rig), segment.spline_space.samples(50.0))
        (link,) = coordinate_links(rig)[int(np.argmax(np.ptp(y[:, 6:], axis=0)))]
        assert link in body_parts(rig)[move.moving[0]]
        assert 1 <= len(move.moving) <= 2


def test_a_joint_without_limits_is_never_near_them(dance: Dance) -> None:
    """For a rig without angle limits no move is far, and no infinity enters the score."""
    limits = dance.rig.limits
    free = replace(limits, lower=np.full_like(limits.lower, -np.inf), upper=np.full_like(limits.upper, np.inf))
    with np.errstate(invalid="raise"):
        found = rate_moves(replace(dance, rig=replace(dance.rig, limits=free)))
    assert len(found) == len(rate_moves(dance))
    assert not any("far" in reason for move in found for reason in move.reasons)


def test_bad_styles_are_refused() -> None:
    """A tempo that is too fast is refused with the fastest possible one."""
    with pytest.raises(InvalidValue, match=r"shorter than 2.00 s; choose at most 240 beats"):
        human_options(style=Style(bpm=300.0))


def test_postures_that_a_skill_leaves_out_are_noted() -> None:
    """If postures on one foot are requested in a beginner's dance, a note says how many are missing, and why."""
    options = replace(
        STYLED, postures={"both": 1, "left": 1, "right": 2}, style=Style(skill="beginner", no_mirror=True)
    )
    found = design_dance(ROBOT, options)
    assert len(found.postures) == 1
    assert any("left out" in note and "beginners" in note and note.endswith(": 3") for note in found.notes)
    assert not any("beginners" in note for note in design_dance(ROBOT, replace(options, postures={"both": 1})).notes)
