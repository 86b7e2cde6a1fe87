"""Laws of phrases, their mirror images and rests, and of skill."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import exp
from solver.dance.design.body_parts import body_parts
from solver.dance.design.comfort import bending_columns, comfort_limits
from solver.dance.design.dance import Dance
from solver.dance.design.evaluation import HARDEST, evaluate_dance, rate_moves
from solver.dance.design.mirror import Mirror
from solver.dance.design.phrase_names import _direction
from solver.dance.design.phrases import MOST_ADDED, PhraseDesign, arm_columns
from solver.dance.design.plan import read_task
from solver.dance.workflows.design import design_dance
from solver.dynamics import link_poses
from solver.dynamics.coordinates import coordinate_links, to_manifold
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.expected_deviations import ExpectedDeviations
from solver.options.checks import DANCE_CHECKS
from solver.options.dances import PHRASE, SKILLS, SLOWEST_COUNT, DanceOptions, human_options
from solver.rigs import hoap3, hrp2, human
from solver.scene.dance_counts import PICK_UP_COUNTS
from solver.skeleton.rig import Rig
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.segment import hold_posture

ROBOT, PERSON = hoap3("middle", torque="peak"), human(1.7, 65.0, "female")
SMALL = human_options(postures={"both": 2, "left": 1, "right": 1}, pool=12, rounds=2, workers=1)


@pytest.fixture(scope="module")
def dance() -> Dance:
    """A person's phrase on both feet and one on one foot, each with its image."""
    return design_dance(PERSON, SMALL)


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


def test_a_mirrored_foot_does_not_turn_the_long_way() -> None:
    """A foot turned by more than half a turn mirrors to the same rotation by less; guesses of solved legs, which differ
    if legs do, are no discontinuity."""
    legged = LeggedRig(ROBOT, shrink=0.3)
    both, feet = legged.get_footing("both"), legged.foot_columns
    home = legged.home_posture(both)
    turned, guess = home.copy(), home + 1e-3 * np.isin(np.arange(legged.size), legged.leg_columns["left"])
    turned[feet["left"][3:]] = [0.0, 3.2, 0.0]
    np.testing.assert_allclose(Mirror(legged).image(turned)[feet["right"][3:]], [0.0, 3.2 - 2.0 * np.pi, 0.0])
    holds = [hold_posture("home", own, 1.0, both.solved, both.anchors) for own in (home, guess)]
    assert Dance(ROBOT, tuple(holds), DANCE_CHECKS, None).largest_discontinuity() < 1e-9


def test_an_asymmetric_rig_cannot_be_mirrored() -> None:
    """The joint whose axis has no mirror image is named, and each foot has phrases of its own."""
    joints = list(ROBOT.joints)
    number = ROBOT.index(ROBOT.pairs[-1][1])
    joints[number] = replace(joints[number], rotation=joints[number].rotation @ exp(np.array([0.3, 0.2, 0.1])))
    turned = replace(ROBOT, joints=tuple(joints))
    with pytest.raises(InvalidValue, match="cannot be mirrored"):
        Mirror(LeggedRig(turned, shrink=0.4, step=0.2))
    task = read_task(turned, DanceOptions(postures={"both": 1, "right": 1}))
    assert task.options.postures == {"both": 1, "right": 1}
    assert any("in the mirror: rig" in note for note in task.notes)


def test_information_in_the_mirror_is_that_of_the_image(dance: Dance) -> None:
    """The objective with a mirror counts a phrase as its own information plus that of the danced image."""
    structure, legged = base_parameters(PERSON), dance.legged_rig(PERSON)
    both = ExpectedDeviations(structure, PERSON.prior, mirror=Mirror(legged).map_parameters(structure))
    alone = ExpectedDeviations(structure, PERSON.prior)
    phrase, image = (dance.sample(PERSON, 50.0, place, place + 1) for place in dance.postures[:2])
    found = both.motion_matrices(PERSON, phrase)
    expected = alone.motion_matrices(PERSON, phrase) + alone.motion_matrices(PERSON, image)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_phrases_are_loops_in_the_mirror_with_rests(dance: Dance) -> None:
    """Phrases last eight counts, four on one foot, go from home to home, and are followed by their images; every limit
    holds at 500 Hz, hands keep their speed, and nobody stands on one foot for more than five seconds."""
    mirror, count = Mirror(dance.legged_rig(PERSON)), dance.count
    assert dance.complete
    for first, second in zip(dance.postures[::2], dance.postures[1::2]):
        phrase, image = dance.segments[first], dance.segments[second]
        assert phrase.duration == pytest.approx((4 if len(phrase.anchors) == 1 else 8) * count)
        np.testing.assert_allclose(phrase.start[: PERSON.nv], phrase.stop[: PERSON.nv], atol=1e-12)
        np.testing.assert_allclose(
            mirror.image(phrase.control)[:, : PERSON.nv], image.control[:, : PERSON.nv], atol=1e-12
        )
        assert image.name != phrase.name
    assert [str(f) for checks in dance.check(PERSON, 500.0) for f in checks.first_failures] == []
    assert dance.checks.hand_speed == SKILLS["intermediate"].hand_speed
    assert dance.largest_discontinuity() < 1e-9
    alone = [sum(s.duration for s in run) for one, run in groupby(dance.segments, lambda s: len(s.anchors) == 1) if one]
    assert max(alone) <= 5.0


def test_phrases_begin_on_the_first_count(dance: Dance) -> None:
    """After the pick-up a figure begins with a phrase of eight, and the dance ends with a rest."""
    beats = (dance.starts - PICK_UP_COUNTS * dance.count) / dance.count
    np.testing.assert_allclose(beats, np.round(beats), atol=1e-6)
    rests = [k for k, segment in enumerate(dance.segments) if segment.name == "rest"]
    assert len(rests) == len(dance.postures) // 2
    assert rests[-1] == len(dance.segments) - 1
    np.testing.assert_allclose(beats[[k + 1 for k in rests]] % PHRASE, 0.0, atol=1e-6)


def test_arms_dance_in_the_steps(dance: Dance) -> None:
    """In the steps to one foot the arms leave their posture at both ends, and the steps back are their reverse."""
    arms = arm_columns(dance.legged_rig(PERSON))
    steps = [segment for segment in dance.segments if segment.kind == "step"]
    moved = [np.ptp(segment.control[:, arms], axis=0).max() for segment in steps]
    assert max(moved) > 0.2
    lift, down = steps[1], steps[2]
    np.testing.assert_allclose(lift.control[::-1], down.control, atol=1e-12)


def test_names_say_what_is_done(dance: Dance) -> None:
    """No two phrases have one name, and the leg that is free is named on its side."""
    names = [dance.segments[place].name for place in dance.postures]
    assert len(set(names)) == len(names)
    for place in dance.postures:
        segment = dance.segments[place]
        if len(segment.anchors) == 1:
            free = "right" if segment.solved == ("left",) else "left"
            assert segment.name.startswith(f"{free} leg ")


@pytest.mark.parametrize(
    ("far", "word"),
    [((-0.1, 0.4, -0.01), "out"), ((0.3, 0.1, -0.4), "forward"), ((0.2, -0.3, 0.1), "across"), ((0.1, 0.1, -0.2), "up"),
     ((-0.2, 0.2, 0.3), "up"), ((0.0, 0.1, -0.49), "")],
)  # fmt: skip
def test_a_limb_is_up_above_its_joint_or_if_it_bends(far: tuple[float, float, float], word: str) -> None:
    """One that is level, or that is swung from hanging, is named by where it points."""
    assert _direction(np.array([(0.0, 0.1, -0.5), far]), "left") == word


def test_left_and_right_are_balanced() -> None:
    """Phrases requested on either foot are designed on the left and danced on both."""
    task = read_task(PERSON, human_options(postures={"both": 4, "right": 1, "left": 2, "right_forward": 1}))
    assert task.options.postures == {"both": 2, "left": 2, "right_forward": 1}


def test_undetermined_links_are_named(dance: Dance) -> None:
    """A dance on both feet alone determines neither foot; one that lifts both feet got as many phrases as it needed."""
    reasons = sum("is added, because" in note for note in dance.notes)  # a link that lacks two is named once
    assert 1 <= reasons <= len(dance.postures) // 2 - 2 <= MOST_ADDED
    both = replace(
        dance, segments=tuple(dance.segments[k] for k in (0, *dance.postures[:2])), postures=(1, 2), trace=()
    )
    (text,) = evaluate_dance(PERSON, both).describe_undetermined(PERSON)
    assert "foot" in text
    assert "--postures" in text


def test_added_phrases_leave_a_person_no_more_to_learn() -> None:
    """A phrase on one foot is added while there is time to learn it, then each replaces the last one on both feet, of
    which one stays; feet of different stances take turns."""
    design: Any = PhraseDesign.__new__(PhraseDesign)
    design._task = SimpleNamespace(rig=PERSON, mirror=True)
    design._plan = SimpleNamespace(step_planner=SimpleNamespace(plan_step=lambda *_: SimpleNamespace(duration=1.4)))
    design._duration = lambda _: 2.4
    design._known = np.zeros(1)

    def figure(name: str, seconds: float) -> SimpleNamespace:
        return SimpleNamespace(configuration=name, phrase=SimpleNamespace(duration=seconds), information=np.ones(1))

    both, alone = [figure("both", 4.8) for _ in range(3)], [figure("left", 2.4), figure("right_forward", 4.8)]
    design._figures = [alone[0], *both[:2]]
    assert not design._make_room()
    design._figures += [both[2], alone[1]]
    assert design._order() == [[each] for each in (both[0], alone[0], alone[1], both[1], both[2])]
    assert [design._make_room() for _ in range(3)] == [True, True, False]
    assert design._figures == [alone[0], both[0], alone[1]]
    assert design._known == -2.0


@pytest.mark.parametrize("bpm", [20.0, 60.0, 97.0, 100.0, 194.0, 300.0, 400.0])
def test_counts_fit_any_tempo(bpm: float) -> None:
    """A count is a beat, or one halved or doubled, between half of the slowest count and it."""
    options = human_options(bpm=bpm)
    octaves = np.log2(options.count_duration * bpm / 60.0)
    assert octaves == pytest.approx(round(octaves))
    assert 0.5 * SLOWEST_COUNT < options.count_duration <= SLOWEST_COUNT


def test_a_beginner_stays_within_comfort_limits() -> None:
    """Ranges shrink about home, home stays inside, and trunk, head and root bend backward within their limit."""
    legged = LeggedRig(PERSON, shrink=0.4)
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
