"""Acclaim motions on their skeletons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.recording import find_recordings, read_recording
from solver.options.reading import ReadOptions
from tests.formats.skeletons import LAFAN1, acclaim_texts, bvh_text
from tests.formats.test_segments import TIMES, moved


def write(folder: Path, order: str = "XYZ") -> Path:
    """A person who moves, and the skeleton of the same subject beside the motion."""
    rotations, root = moved(LAFAN1)
    asf, amc = acclaim_texts(LAFAN1, rotations, root, order)
    (folder / "07.asf").write_text(asf)
    (folder / "07_01.amc").write_text(amc)
    return folder / "07_01.amc"


@pytest.mark.parametrize("order", ["XYZ", "ZXY"])
def test_a_motion_is_that_of_the_same_bvh(order: str, tmp_path: Path) -> None:
    """Rotations and places of all joints, whatever the axes of the bones and the order of their angles."""
    rotations, root = moved(LAFAN1)
    (tmp_path / "same.bvh").write_text(bvh_text(LAFAN1, rotations, root))
    wanted = read_recording(tmp_path / "same.bvh").segments
    found = read_recording(write(tmp_path, order), ReadOptions(frame_rate=50.0)).segments
    assert wanted.positions is not None
    np.testing.assert_allclose(found.times, TIMES, atol=1e-9)
    _, *others = wanted.names
    columns = [found.names.index(name) for name in ("root", *others)]
    np.testing.assert_allclose(found.rotations[:, columns], wanted.rotations, atol=1e-6)
    np.testing.assert_allclose(found.positions[:, columns], wanted.positions, atol=1e-6)
    heads, other = found.rest.heads[columns], wanted.rest.heads
    np.testing.assert_allclose(heads - heads[0], other - other[0], atol=1e-6)
    hand = found.names.index("to_LeftForeArm")
    np.testing.assert_allclose(found.rest.tips[hand], found.rest.heads[found.names.index("LeftForeArm")], atol=1e-6)


def test_a_bone_turns_about_its_own_axes(tmp_path: Path) -> None:
    """Axes that are turned by 90 degrees about z: an angle about their x axis turns the bone about y of the world."""
    path = write(tmp_path)
    bone = "begin\nid 9\nname tail\ndirection 1 0 0\nlength 10\naxis 0 0 90 XYZ\ndof rx\nend\n:hierarchy"
    asf = tmp_path / "07.asf"
    asf.write_text(asf.read_text().replace(":hierarchy", bone).replace("root to_", "root tail to_", 1))
    rows = path.read_text().splitlines()
    path.write_text("\n".join(f"{row}\ntail 90" if row.startswith("root") else row for row in rows))
    found = read_recording(path, ReadOptions(up="y")).segments
    assert found.rest is not None
    tail, root = found.names.index("tail"), found.names.index("root")
    own = np.swapaxes(found.rotations[:, root], 1, 2) @ found.rotations[:, tail]
    quarter = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    np.testing.assert_allclose(own, np.tile(quarter, (len(own), 1, 1)), atol=1e-6)


def test_without_a_rate_the_usual_one_is_assumed(tmp_path: Path) -> None:
    """With a warning that says how to state another; skeletons in a folder are no recordings."""
    write(tmp_path)
    (recording,) = find_recordings(tmp_path)
    assert recording.segments.times[1] == pytest.approx(1.0 / 120.0)
    assert any("--frame-rate" in warning for warning in recording.warnings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("07.asf", ":bonedata", ":bones"), "no section :bonedata"),
        (("07.asf", "axis 0 0 0 XYZ", "axis 0 0 0 XYY"), "order of axes 'XYY'"),
        (("07.asf", "dof rx ry rz", "dof rx ry l"), "channel 'l', which is not read"),
        (("07.asf", "length 0\n", "length none\n"), "'length' is not a finite number"),
        (("07.asf", "root to_", "root unknown to_"), "'unknown' is no bone"),
        (("07.asf", "root to_", "ribs to_"), "'ribs' has children before it is a child"),
        (("07_01.amc", "\nLeftArm ", "\nLeftArms "), "bone 'LeftArms' is not in the ASF"),
        (("07_01.amc", "\nLeftArm ", "\nLeftArm 1 "), "has 4 values, not 3"),
        (("07_01.amc", "\n1\n", "\n"), "comes before the number of a frame"),
        (("07_01.amc", "\n2\n", "\n2\n3\n"), "lacks bone 'root'"),
    ],
)
def test_faults_name_the_line_and_the_remedy(tmp_path: Path, change: tuple[str, str, str], message: str) -> None:
    """Sections, axes, channels, numbers and the hierarchy of the skeleton; bones and frames of the motion."""
    path, (name, before, after) = write(tmp_path), change
    text = (tmp_path / name).read_text()
    assert before in text
    (tmp_path / name).write_text(text.replace(before, after, 1))
    with pytest.raises(InputError, match=message) as caught:
        read_recording(path)
    assert caught.value.remedy


def test_the_skeleton_must_be_beside_the_motion(tmp_path: Path) -> None:
    """None, or several of other names: the error says how to name it."""
    path = write(tmp_path)
    (tmp_path / "07.asf").rename(tmp_path / "other.asf")
    assert read_recording(path).segments is not None
    (tmp_path / "another.asf").write_text("")
    with pytest.raises(InputError, match=r"none of the 2 skeletons.*07_01\.asf"):
        read_recording(path)
    for each in tmp_path.glob("*.asf"):
        each.unlink()
    with pytest.raises(InputError, match="is not beside it"):
        read_recording(path)
