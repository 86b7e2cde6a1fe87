"""A robot whose file has y up stands as the one it was made from."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.urdf_writer import write_urdf
from solver.rigs import from_urdf, hoap3


@pytest.fixture
def lying(tmp_path: Path) -> Path:
    """HOAP-3 with the file's root link turned so that y points up, as a game engine would write it."""
    path = tmp_path / "upright.urdf"
    write_urdf(hoap3(), path)
    text = path.read_text()
    root = hoap3().links[0]
    outer = (
        f'<link name="engine"/><joint name="engine_joint" type="fixed"><parent link="engine"/><child link="{root}"/>'
    )
    turned = f'{outer}<origin xyz="0 0 0" rpy="{-np.pi / 2} 0 0"/></joint></robot>'
    turned_path = tmp_path / "lying.urdf"
    turned_path.write_text(re.sub(r"</robot>\s*$", turned, text))
    return turned_path


def test_y_up_is_recognised(lying: Path) -> None:
    """Links, centres of mass and inertia at zero are those of the file with z up, and the notes say so."""
    rig, other = from_urdf(lying), from_urdf(lying.with_name("upright.urdf"))
    assert rig.provenance["up"] == "y"
    assert any("y points up" in note for note in rig.notes)
    np.testing.assert_allclose(rig.rest[1], other.rest[1], atol=1e-9)
    np.testing.assert_allclose(rig.prior.values, other.prior.values, atol=1e-9)
    assert rig.standing_height == pytest.approx(other.standing_height)
    lying.write_text(lying.read_text().replace('xyz="0 0 0" rpy="-1.57', 'xyz="0 .4 0" rpy="-1.57'))
    assert from_urdf(lying).provenance["up"] == "y", "the root lies on the floor"


def test_up_as_stated(lying: Path) -> None:
    """What is stated counts: the lying robot has its feet along y; another word is refused."""
    feet = [link for link in hoap3().links if "foot" in link]
    rig = from_urdf(lying, up="z")
    assert all(rig.rest[1][rig.index(link), 1] < -0.2 for link in feet)
    with pytest.raises(InputError, match="auto, y, z"):
        from_urdf(lying, up="x")
