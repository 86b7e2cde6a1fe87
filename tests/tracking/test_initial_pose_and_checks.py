"""Initial poses from one frame alone, and the tracker's warnings about markers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.tracking import Targets, TrackingOptions, track_markers
from solver.tracking.initial_pose import find_initial_pose
from solver.values.motion import Markers
from tests.tracking.bodies import cloud, farthest, seen_from, swinging


@pytest.fixture(scope="module")
def rig() -> Rig:
    return human(1.7, 60.0, "female")


def posed(rig: Rig, turned: float, raised: float, bent: float) -> np.ndarray:
    """Facing elsewhere, far from the origin, arms raised sideways, elbows and knees bent."""
    step = np.zeros(rig.nv)
    step[5] = turned
    for side, sign in (("left", 1.0), ("right", -1.0)):
        step[rig.v_slices[rig.index(f"{side}_upper_arm")].start] = sign * raised
        step[rig.v_slices[rig.index(f"{side}_forearm")].start] = bent
        step[rig.v_slices[rig.index(f"{side}_shank")].start] = bent
    q = integrate(rig, rig.neutral, step)
    q[:3] = [3.0, -2.0, 0.9]
    return q


@pytest.mark.parametrize("turned", [0.0, 1.6, 3.1])
@pytest.mark.parametrize("raised", [0.0, 1.5, 2.5])
def test_the_initial_pose_is_found_from_one_frame(rig: Rig, turned: float, raised: float) -> None:
    """One frame is enough for any position, heading and arm posture."""
    q = posed(rig, turned, raised, 0.9)
    markers = seen_from(rig, cloud(rig), np.array([q]))
    targets = Targets.from_markers(rig, cloud(rig), markers)
    found = find_initial_pose(rig, targets.tasks, targets.sample(0), TrackingOptions(limits=False))
    assert farthest(rig, np.array([found]), np.array([q])) < 0.01


def test_the_initial_pose_is_robust_to_a_wrong_marker(rig: Rig) -> None:
    """One marker half a metre off changes neither the root nor the other limbs."""
    q = posed(rig, 1.0, 1.0, 0.5)
    positions = seen_from(rig, cloud(rig), np.array([q])).positions.copy()
    positions[0, 1] += [0.5, 0.0, 0.2]
    markers = Markers(np.zeros(1), tuple(a.marker for a in cloud(rig)), positions)
    targets = Targets.from_markers(rig, cloud(rig), markers)
    found = find_initial_pose(rig, targets.tasks, targets.sample(0), TrackingOptions(limits=False))
    assert farthest(rig, np.array([found]), np.array([q])) < 0.15


def test_links_unseen_for_long_are_reported(rig: Rig) -> None:
    """A whole leg is; a thigh alone is not, as the shank observes its position, nor is a short gap."""
    q, attachments = swinging(rig, 100), cloud(rig, per_link=3)
    markers = seen_from(rig, attachments, q)
    step = float(markers.times[1] - markers.times[0])
    owners = np.array([a.link for a in attachments])
    leg = np.isin(owners, ["right_thigh", "right_shank", "right_foot"])
    long = int(np.ceil(0.3 / step))

    def warnings_of(hidden: np.ndarray, frames: slice) -> str:
        positions = markers.positions.copy()
        positions[frames, hidden] = np.nan
        seen = Markers(markers.times, markers.names, positions)
        return " ".join(track_markers(rig, attachments, seen, TrackingOptions(limits=False)).warnings)

    said = warnings_of(leg, slice(20, 20 + long))
    assert f"no marker is seen on right_thigh, or on the links below, for up to {long * step:.2f} s" in said
    assert f"after {markers.times[19]:.3f} s" in said
    assert "no marker is seen" not in warnings_of(owners == "right_thigh", slice(20, 20 + long))
    assert "no marker is seen" not in warnings_of(leg, slice(20, 22))
    assert "no marker is seen" not in warnings_of(
        np.ones(len(owners), bool), slice(20, 20 + long)
    )  # has another warning


def test_a_pelvis_with_too_few_markers_is_reported(rig: Rig) -> None:
    """Markers on each thigh and on the torso do not determine the pelvis's rotation; a short gap is not reported."""
    attachments = [each for each in cloud(rig, per_link=9) if each.link == rig.links[0] or each.marker.endswith("_0")]
    whole = seen_from(rig, attachments, swinging(rig, 200))
    pelvis = [k for k, each in enumerate(attachments) if each.link == rig.links[0]]
    messages = {}
    for frames in (0, 5, 50):
        positions = np.array(whole.positions)
        positions[100 : 100 + frames, pelvis] = np.nan
        warnings = track_markers(rig, attachments, Markers(whole.times, whole.names, positions)).warnings
        messages[frames] = [message for message in warnings if "too few markers determine" in message]
    assert messages[0] == messages[5] == []
    (message,) = messages[50]
    assert f"the rotation of {rig.links[0]}" in message
    lasts, since = (float(word) for word in re.findall(r"(\d+\.\d+) s", message))
    assert 0.4 < lasts <= 0.5
    assert 1.0 <= since < 1.06


def test_links_without_recorded_markers_are_reported(rig: Rig) -> None:
    """A file of another person, with other markers on the legs, does not observe them."""
    q, attachments = swinging(rig, 30), cloud(rig, per_link=3)
    legs = ("right_thigh", "right_shank", "right_foot", "left_foot")
    markers = seen_from(rig, attachments, q).select([a.marker for a in attachments if a.link not in legs])
    tracked = track_markers(rig, attachments, markers, TrackingOptions(limits=False))
    text = " ".join(tracked.warnings)
    assert "no attached marker on right_thigh, left_foot, or on the links below, was recorded" in text
    whole = track_markers(rig, attachments, seen_from(rig, attachments, q), TrackingOptions(limits=False))
    assert not any("was recorded" in said for said in whole.warnings)


def test_flickering_and_jumping_markers_are_reported(rig: Rig) -> None:
    """A marker that appears and disappears is distinguished from one that jumps."""
    q, attachments = swinging(rig, 100), cloud(rig, per_link=5)
    markers = seen_from(rig, attachments, q)
    positions = markers.positions.copy()
    positions[3::7, 2] = np.nan
    positions[50, 6] += 0.15
    tracked = track_markers(
        rig, attachments, Markers(markers.times, markers.names, positions), TrackingOptions(limits=False)
    )
    text = " ".join(tracked.warnings)
    assert f"flicker: {markers.names[2]}" in text
    assert f"jump against their link: {markers.names[6]}" in text


def test_a_cluster_that_slips_is_reported(rig: Rig) -> None:
    """Markers of a link that slip together by 4 cm are named with link and time, though none jumps by itself."""
    q, attachments = swinging(rig, 100), cloud(rig, per_link=5)
    markers = seen_from(rig, attachments, q)
    positions = markers.positions.copy()
    slipped = [index for index, a in enumerate(attachments) if a.link == "right_shank"]
    positions[50:, slipped] += [0.0, 0.0, -0.04]
    for own, count in ((positions, 1), (markers.positions, 0)):
        seen = Markers(markers.times, markers.names, own)
        found = track_markers(rig, attachments, seen, TrackingOptions(limits=False)).warnings
        assert sum("right_shank at 0.50 s" in text for text in found) == count
        assert sum("step together" in text for text in found) == count


def test_exchanged_sides_of_a_whole_recording_are_reported(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The marker error says so in one sentence, and new starts that do not help are tried more and more rarely."""
    q, attachments = swinging(rig, 100), cloud(rig, per_link=5)
    markers = seen_from(rig, attachments, q)
    sides = {"left": "right", "right": "left"}
    exchanged = [replace(a, link="_".join([sides.get(word, word) for word in a.link.split("_")])) for a in attachments]
    starts = []

    def count(*values: Any) -> np.ndarray:
        starts.append(values)
        return find_initial_pose(*values)

    monkeypatch.setattr("solver.tracking.tracker.find_initial_pose", count)
    monkeypatch.setattr("solver.tracking.tracker.RESTART_ERROR", 0.02)
    text = " ".join(track_markers(rig, exchanged, markers, TrackingOptions(limits=False)).warnings)
    assert "their labels are exchanged (left and right of the whole recording, perhaps)" in text
    assert "step together" not in text
    assert 1 < len(starts) < 12


def test_another_subject_is_reported(rig: Rig) -> None:
    """A body 8 % larger than the rig is reported as such, one of 1 % is not."""
    q = swinging(rig, 15)
    markers = seen_from(rig, cloud(rig), q)
    for factor, is_reported in ((1.08, True), (0.92, True), (1.01, False)):
        other = Markers(markers.times, markers.names, factor * markers.positions)
        tracked = track_markers(rig, cloud(rig), other, TrackingOptions(limits=False))
        assert tracked.size_ratio == pytest.approx(factor, abs=0.02)
        assert any("subject" in w for w in tracked.warnings) == is_reported


def test_frames_without_markers_keep_the_previous_pose(rig: Rig) -> None:
    """The pose does not change, and the frames are marked and reported."""
    q = swinging(rig, 30)
    markers = seen_from(rig, cloud(rig), q)
    positions = markers.positions.copy()
    positions[10:13] = np.nan
    tracked = track_markers(
        rig, cloud(rig), Markers(markers.times, markers.names, positions), TrackingOptions(limits=False)
    )
    assert not tracked.is_tracked[10:13].any()
    assert tracked.is_tracked.sum() == 27
    np.testing.assert_array_equal(tracked.q[11], tracked.q[9])
    assert any("previous pose is kept" in w for w in tracked.warnings)
