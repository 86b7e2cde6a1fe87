"""Key points of video: joint centres with noise, calibrated and tracked as such."""

from __future__ import annotations

import numpy as np
import pytest

from solver.calibration import detect_marker_set, fit_calibration, load_marker_set
from solver.dynamics.coordinates import joint_slices
from solver.rigs import human
from solver.signals.trial import Recording
from solver.tracking import Attachment, track_markers
from solver.values.motion import Markers
from tests.tracking.bodies import seen_from

ELBOW = 1.2
"""[rad] Flexion of both elbows."""


@pytest.mark.parametrize(("name", "noise"), [("coco", 0.0), ("body_25", 0.02), ("halpe_26", 0.02)])
def test_key_points_are_joint_centres(name: str, noise: float) -> None:
    """Simulated: key points at joint centres give the lengths of limbs, and a posture within the joint limits.

    The set is found by the names, its noise is no failure of the calibration, and the calibration says what such data
    carry. No point observes the rotation of an upper arm; still no elbow bends backwards.
    """
    rig, known = human(1.75, 70.0, "male"), load_marker_set(name)
    joints = {link: joint.position for link, joint in zip(rig.links[1:], rig.joints[1:])}
    points = [Attachment(key, place.link, place.position(joints, 1.75)) for key, place in known.locations.items()]
    q = np.repeat(rig.neutral[None], 40, axis=0)
    flexed = [own.start for link, (_, own, _) in zip(rig.links, joint_slices(rig)) if link.endswith("forearm")]
    q[:, flexed] = ELBOW * np.sin(np.linspace(0.2, 3.0, 40))[:, None]
    markers = seen_from(rig, points, q)
    seen = markers.positions + noise * np.random.default_rng(3).normal(size=markers.positions.shape)
    recorded = Markers(markers.times, markers.names, seen)
    found = fit_calibration([Recording("video", recorded)], mass=70.0, sex="male", height=1.75)
    assert found.marker_set == known.name
    assert len(found.attachments) == len(known.locations)
    (warning,) = found.warnings
    assert "Such data carry" in warning
    for link, length in (("left_thigh", 0.2441), ("right_shank", 0.2446), ("right_upper_arm", 0.1531)):
        assert found.lengths[link] == pytest.approx(1.75 * length, abs=0.01 + noise)
    tracked = track_markers(found.rig, found.attachments, recorded)
    assert tracked.rmse < 0.012 + 1.8 * noise
    assert np.abs((tracked.q - q)[10:30][:, flexed].mean(axis=0)).max() < 0.15
    assert tracked.q[:, flexed].min() > -0.15


def test_the_same_names_beside_bony_landmarks_are_markers() -> None:
    """A laboratory that names its markers RHip and RKnee has a pelvis with markers: its knee is no joint centre."""
    names = [name for name in load_marker_set("body_25").locations if name[1:] not in ("Eye", "Ear")]
    assert detect_marker_set(names).name == "BODY_25"
    with pytest.raises(Exception, match="no marker set fits"):
        detect_marker_set([*names, "RASIS", "LASIS", "Sacrum"])
