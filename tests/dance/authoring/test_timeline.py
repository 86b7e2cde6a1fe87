"""Configurations and authored dances from a scene's poses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.base.errors import SolverError
from solver.dance.authoring.authored_dance import AuthoredDance
from solver.dance.authoring.timeline import configurations_from_poses, dance_from_timeline
from solver.feasibility import check_motion
from solver.rigs import hoap3, hrp2, human
from solver.scene.motion import scene_motion
from solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from tests.dance.example_dances import arm_swing
from tests.joint_entries import entries
from tests.random_motion import mixed_rig, random_motion

RIGS = [hoap3(), hrp2(), human(1.75, 70.0, "male")]
EVERY_RIG = pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
RATE = 30.0


def within_limits(rig: Rig, seed: int = 0) -> Motion:
    """A motion in which each hinge sweeps its range, and balls and root rotate far."""
    times = np.arange(60) / RATE
    generator = np.random.default_rng(seed)
    q = np.array(random_motion(rig, len(times), seed).q)
    for joint in entries(rig)[1:]:
        if joint.nq == 1:
            place = joint.idx_v - 6
            middle = 0.5 * (rig.limits.lower[place] + rig.limits.upper[place])
            half = 0.5 * (rig.limits.upper[place] - rig.limits.lower[place])
            q[:, joint.idx_q] = middle + half * np.sin(generator.uniform(1.0, 4.0) * times)
    return Motion(times, q, np.zeros((len(times), rig.nv)), np.zeros((len(times), rig.nv)))


def timeline_of(rig: Rig, motion: Motion, single: bool = False) -> SceneTimeline:
    """The timeline of a motion, in single precision if ``single``."""
    shown = scene_motion(rig, motion)
    kind = np.float32 if single else np.float64
    root, rotations, translations = (np.asarray(x, kind) for x in (shown.root, shown.rotations, shown.translations))
    return SceneTimeline("dance", rig, motion.times, root, rotations, translations)


def same_up_to_sign(rig: Rig, q: np.ndarray, other: np.ndarray) -> float:
    """Largest difference of configurations, with quaternions of either sign equal."""
    q, other = np.array(q), np.array(other)
    places = [slice(3, 7), *(slice(j.idx_q, j.idx_q + 4) for j in entries(rig)[1:] if j.nq == 4)]
    for place in places:
        sign = np.sign((q[:, place] * other[:, place]).sum(axis=1, keepdims=True))
        other[:, place] *= sign
    return float(np.abs(q - other).max())


@EVERY_RIG
def test_poses_become_the_configurations_they_came_from(rig: Rig) -> None:
    """Motion to scene to configurations: nothing changes except by the scene's precision."""
    motion = within_limits(rig)
    for single, tolerance in ((False, 1e-9), (True, 1e-6)):
        timeline = timeline_of(rig, motion, single)
        found = configurations_from_poses(rig, timeline.root, timeline.rotations, timeline.translations)
        assert same_up_to_sign(rig, motion.q, found) < tolerance


def test_coordinates_of_all_joints_are_recovered() -> None:
    """Hinges about any axis, balls and sliders at any placement are recovered, beyond half a turn too."""
    rig = mixed_rig()
    motion = random_motion(rig, 40, 3)
    q = np.array(motion.q)
    q[:, [7, 13, 14, 15]] = np.linspace(-3.0, 9.0, 40)[:, None]
    motion = Motion(motion.times, q, motion.v, motion.a)
    shown = scene_motion(rig, motion)
    found = configurations_from_poses(rig, shown.root, shown.rotations, shown.translations)
    assert same_up_to_sign(rig, q, found) < 1e-9


@pytest.fixture(scope="module")
def dance() -> AuthoredDance:
    """A person swings the arms."""
    return arm_swing(RIGS[2], 0.5, 0.5)


@pytest.fixture(scope="module")
def timeline(dance: AuthoredDance) -> SceneTimeline:
    """The dance in a scene."""
    motion = dance.motion(RATE)
    plain = timeline_of(dance.rig, motion, single=True)
    keys = tuple(SceneKey(key.time + 1e-4, key.role, key.name) for key in dance.keys)
    strips = tuple(SceneStrip(anchor.patch, 0.0, dance.stop) for anchor in dance.schedule.phases[0].anchors)
    return replace(plain, keys=keys, strips=strips)


def test_a_timeline_is_the_dance_it_shows(dance: AuthoredDance, timeline: SceneTimeline, tmp_path: Path) -> None:
    """Keys, roles, feet and motion survive writing, reading and conversion to a dance."""
    read = TIMELINE.read(TIMELINE.write(tmp_path / "dance.timeline.npz", timeline))
    found = dance_from_timeline(read)
    assert [(key.role, key.name) for key in found.keys] == [(key.role, key.name) for key in dance.keys]
    for key, given in zip(found.keys, dance.keys):
        assert same_up_to_sign(dance.rig, key.q[None], given.q[None]) < 1e-6
    before, after = dance.motion(RATE), found.motion(RATE)
    assert same_up_to_sign(dance.rig, before.q, after.q) < 1e-6
    planted = {anchor.patch: anchor.position for anchor in found.schedule.phases[0].anchors}
    assert len(found.schedule.phases) == 1
    assert len(planted) == 2
    for anchor in dance.schedule.phases[0].anchors:
        np.testing.assert_allclose(planted[anchor.patch], anchor.position, atol=1e-5)
    assert (found.schedule.start, found.schedule.stop) == (found.start, found.stop)


@pytest.mark.parametrize("rate", [24.0, 120.0])
def test_a_scene_s_precision_fails_no_check(rate: float) -> None:
    """A feasible dance, sampled in a scene's single precision, is still feasible, and its feet do not move."""
    given = arm_swing(RIGS[2], 0.3, 1.5)
    motion = given.motion(rate)
    assert check_motion(given.rig, motion, given.schedule).feasible
    strips = tuple(SceneStrip(anchor.patch, 0.0, given.stop) for anchor in given.schedule.phases[0].anchors)
    found = dance_from_timeline(replace(timeline_of(given.rig, motion, single=True), strips=strips), given.rig)
    checks = check_motion(found.rig, found.curve().motion(found.rig, motion.times), found.schedule)
    assert checks.feasible, checks.first_failures
    assert checks.get_margin("slip").smallest.min() > -1e-6


def test_a_patch_without_a_strip_has_no_contact(dance: AuthoredDance, timeline: SceneTimeline) -> None:
    """Contacts come from strips only."""
    found = dance_from_timeline(replace(timeline, strips=timeline.strips[:1]), dance.rig)
    assert {phase.loaded for phase in found.schedule.phases} == {(timeline.strips[0].patch,)}
    assert all(phase.airborne for phase in dance_from_timeline(replace(timeline, strips=()), dance.rig).schedule.phases)


def with_tail(rig: Rig) -> Rig:
    """The rig with its last link, which has no children, renamed."""
    links = (*rig.links[:-1], "tail")
    kept = [s for s in rig.shapes if s.link in links], [c for c in rig.contacts if c.link in links]
    pairs = [pair for pair in rig.pairs if set(pair) <= set(links)]
    prior = InertialParameters(links, rig.prior.values)
    return replace(rig, links=links, prior=prior, shapes=tuple(kept[0]), contacts=tuple(kept[1]), pairs=tuple(pairs))


def _changes() -> dict[str, tuple[Callable[[SceneTimeline], SceneTimeline], str]]:
    def strips(*spans: tuple[Any, ...]) -> Callable[[SceneTimeline], SceneTimeline]:
        return lambda t: replace(t, strips=tuple(SceneStrip(*span) for span in spans))

    def frames(count: int) -> Callable[[SceneTimeline], SceneTimeline]:
        return lambda t: replace(
            t, times=t.times[:count], root=t.root[:count], rotations=t.rotations[:count],
            translations=t.translations[:count], keys=(), strips=(),
        )  # fmt: skip

    def keys(*times: float) -> Callable[[SceneTimeline], SceneTimeline]:
        return lambda t: replace(t, keys=tuple(SceneKey(time, "preferred") for time in times))

    return {
        "unknown patch": (strips(("left_hoof", 0.0, 1.0)), "left_hoof.*Known"),
        "overlap": (strips(("left_sole", 0.0, 0.8), ("left_sole", 0.6, 1.0)), "overlap.*shorten or join"),
        "outside": (strips(("left_sole", 0.0, 9.0)), "outside.*shorten"),
        "part": (strips(("left_sole", 0.0, 1.0, "nail")), "of part 'nail': soles alone"),
        "backwards": (strips(("left_sole", 0.5, 0.2)), "ends before it starts"),
        "empty": (frames(0), "no pose"),
        "one frame": (frames(1), "at least two frames"),
        "late key": (keys(0.0, 9.0), "outside the samples.*widen"),
        "two keys": (keys(0.5, 0.502), "one frame"),
        "other rig": (lambda t: replace(t, rig=with_tail(t.rig)), "another rig.*choose"),
    }


@pytest.mark.parametrize("what", _changes())
def test_inconsistent_timelines_are_refused_with_a_remedy(
    what: str, timeline: SceneTimeline, dance: AuthoredDance
) -> None:
    """One sentence says what is wrong."""
    change, said = _changes()[what]
    with pytest.raises(SolverError, match=said):
        dance_from_timeline(change(timeline), dance.rig)
