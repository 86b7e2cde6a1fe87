"""A person's OpenSim model is a person to the program, whatever its joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.moments.contact_links import FOOT_NAMES
from solver.rigs import from_opensim, human
from solver.skeleton.rig import PARTS, Rig
from tests.rigs.opensim_files import FREE, WIDE, Link, Model

HIP, DOWN = (0.0, -0.07, 0.08, 0.0, 0.0, 0.0), (0.0, -0.42, 0.0, 0.0, 0.0, 0.0)


def walker(folder: Path, trunk: str = "torso", feet: str = "calcn") -> Rig:
    """A person whose feet are welded to their ankle bones."""
    links = [
        Link("pelvis", "ground", "FreeJoint", FREE, mass=12.0, states=WIDE),
        Link(trunk, "pelvis", "PinJoint", ("bend",), mass=34.0, com=(0.0, 0.3, 0.0), inertia=(1.4, 0.7, 1.4, 0, 0, 0)),
    ]
    for side, sign in (("r", 1.0), ("l", -1.0)):
        hip = (*HIP[:2], sign * HIP[2], *HIP[3:])
        links += [
            Link(f"femur_{side}", "pelvis", "BallJoint", tuple(f"hip_{side}_{k}" for k in range(3)), hip, mass=8.0),
            Link(f"tibia_{side}", f"femur_{side}", "PinJoint", (f"knee_{side}",), DOWN, mass=3.0),
            Link(f"talus_{side}", f"tibia_{side}", "PinJoint", (f"ankle_{side}",), DOWN, mass=0.1),
            Link(f"{feet}_{side}", f"talus_{side}", "WeldJoint", (), (-0.05, -0.04, 0.0, 0.0, 0.0, 0.0), mass=1.2),
        ]
    path = folder / "walker.osim"
    path.write_text(Model(links).text(4))
    return from_opensim(path)


def test_a_person_is_recognised_by_the_names_of_its_bodies(tmp_path: Path) -> None:
    """Trunk and legs make a person, with feet that keep their names where they are welded; a crate on legs is none."""
    rig = walker(tmp_path)
    assert rig.is_person
    assert rig.provenance[PARTS]["left_foot"] == "talus_l"  # type: ignore[index]
    assert set(rig.feet) == {"talus_l", "talus_r"}
    assert all(any(map(FOOT_NAMES.search, rig.bodies[foot])) for foot in rig.feet)
    assert not any("no feet found" in note for note in rig.notes)
    for other in (walker(tmp_path, trunk="crate"), walker(tmp_path, feet="wheel")):
        assert not other.is_person
        assert np.isinf(other.limits.torque).all()


def test_its_joint_moments_are_a_persons(tmp_path: Path) -> None:
    """Axis by axis those of a person of its mass and legs, in the axes of the model (y up); sides are alike."""
    rig = walker(tmp_path)
    legs = human(1.7, rig.prior.total_mass, "unknown")
    length = np.diff(legs.rest[1][[legs.index(f"left_{part}") for part in ("thigh", "shank", "foot")], 2]).sum()
    person = human(1.7 * -0.84 / length, rig.prior.total_mass, "unknown")
    for part, link, order in (("thigh", "femur", [0, 2, 1]), ("shank", "tibia", [0]), ("foot", "talus", [1])):
        expected = person.limits_of(f"left_{part}").torque[order]
        for side in "lr":
            assert rig.limits_of(f"{link}_{side}").torque == pytest.approx(expected, rel=0.01)
