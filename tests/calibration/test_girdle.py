"""A shoulder girdle is calibrated and followed by the markers that are there."""

from __future__ import annotations

import numpy as np
import pytest

from solver.calibration import fit_calibration, load_marker_set
from solver.demo.laboratory import MarkerPlacement, record_markers
from solver.demo.motions import standing_posture, still_motion
from solver.dynamics import integrate
from solver.rigs import human
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.study.tracking import track_all
from solver.values.motion import Motion

STATURE, MASS = 1.76, 71.0
ARMS_AWAY = (("right_upper_arm", (-0.35, 0.0, 0.0)), ("left_upper_arm", (0.35, 0.0, 0.0)), ("forearm", (0.3,)))


def shrugging(rig: Rig) -> Motion:
    """Arms swing to the front and the girdle goes along: protraction, elevation, upward rotation."""
    base, times = standing_posture(rig, ARMS_AWAY), np.arange(0.0, 6.0, 0.02)
    size = np.zeros(rig.nv)
    for ending, values in (("clavicle", (0.2, 0.25)), ("scapula", (0.35,)), ("upper_arm", (0.0, -0.8, 0.2))):
        for link in (name for name in rig.links if name.endswith(ending)):
            at = rig.v_slices[rig.index(link)].start
            size[at : at + len(values)] = values
    size[3:6] = 0.1, 0.15, 0.2
    pulse = 2.0 * np.pi * np.linspace(0.3, 0.7, rig.nv)
    q = np.array([integrate(rig, base, size * np.sin(pulse * time)) for time in times])
    zeros = np.zeros((len(times), rig.nv))
    return Motion(times, q, zeros, zeros)


def recorded() -> tuple[Rig, tuple[Recording, ...]]:
    """A simulated person with a girdle, static and shrugging; 1 mm of marker noise."""
    rig, generator = human(STATURE, MASS, "male", shoulders="girdle"), np.random.default_rng(4)
    joints = {link: joint.position for link, joint in zip(rig.links, rig.joints)}
    placements = [
        MarkerPlacement(name, place.link, place.position(joints, STATURE))
        for name, place in ((n, p.on_carrying_link(rig)) for n, p in load_marker_set("limb_clusters").locations.items())
    ]
    stands = still_motion(rig, standing_posture(rig, ARMS_AWAY), np.arange(0.0, 1.0, 0.02))
    return rig, tuple(
        Recording(name, record_markers(rig, motion, placements, generator, 0.001))
        for name, motion in (("static", stands), ("shrugs", shrugging(rig)))
    )


def test_a_girdle_follows_shoulders_that_move() -> None:
    """A simulated person who shrugs is followed to the noise with a girdle (2 mm; its shoulder centres within 8 mm of
    the truth), and to no better than 8 mm without.
    """
    rig, recordings = recorded()
    found = {
        shoulders: fit_calibration(recordings, mass=MASS, sex="male", height=STATURE, shoulders=shoulders)
        for shoulders in ("fixed", "girdle")
    }
    assert found["girdle"].warnings == ()
    errors = {name: track_all(body, recordings)[1].tracked.rmse for name, body in found.items()}  # type: ignore[union-attr]
    assert errors["girdle"] < 0.002
    assert errors["fixed"] > 0.008
    body = found["girdle"].rig
    for side in ("right", "left"):
        chain = [f"{side}_{name}" for name in ("clavicle", "scapula", "upper_arm")]
        centres = [np.sum([own.joints[own.index(link)].position for link in chain], axis=0) for own in (body, rig)]
        assert np.linalg.norm(centres[0] - centres[1]) < 0.008


def test_acromia_are_on_the_scapula() -> None:
    """A landmark that is measured from the shoulder lies on the link that carries the shoulder; the others stay."""
    rigs = {kind: human(STATURE, MASS, "male", shoulders=kind) for kind in ("fixed", "girdle")}
    places = load_marker_set("plug_in_gait").locations
    assert [places["RSHO"].on_carrying_link(rig).link for rig in rigs.values()] == ["torso", "right_scapula"]
    for name in ("CLAV", "C7", "RELB", "LASI"):
        assert places[name].on_carrying_link(rigs["girdle"]).link == places[name].link


def test_bad_shoulders_are_refused() -> None:
    """An unknown value of the shoulders is an error that lists the choices."""
    with pytest.raises(Exception, match="'fixed' or 'girdle'"):
        fit_calibration([], mass=MASS, sex="male", height=STATURE, shoulders="free")
