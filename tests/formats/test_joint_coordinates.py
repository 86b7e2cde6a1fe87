"""The one writer of joint coordinates: units by argument, lengths never in degrees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue
from solver.dynamics import difference, integrate
from solver.dynamics.coordinates import to_flat
from solver.formats.csv_tables import read_table
from solver.formats.humanoid_motions import table_name, write_body_states, write_humanoid_table
from solver.formats.joint_coordinates import ROOT_POSITION, ROOT_ROTATION, coordinate_names, write_coordinates
from solver.formats.opensim_storage import read_storage
from solver.formats.recording import find_recordings, read_recording
from solver.options.reading import ReadOptions
from solver.study.joint_motion import poses_of
from solver.values.motion import Motion
from tests.random_motion import mixed_rig

RIG = mixed_rig()


def random_motion() -> Motion:
    """Any configurations."""
    generator = np.random.default_rng(3)
    q = np.array([integrate(RIG, RIG.neutral, generator.standard_normal(RIG.nv)) for _ in range(7)])
    v, a = generator.standard_normal((2, 7, RIG.nv))
    return Motion(np.arange(7) / 10.0, q, v, a)


MOTION = random_motion()


@pytest.mark.parametrize("degrees", [False, True])
def test_a_length_is_in_metres_whatever_angles_are_in(degrees: bool, tmp_path: Path) -> None:
    """A sliding joint and the root's position are lengths in the header and in the values of both formats."""
    names, values = coordinate_names(RIG), to_flat(RIG, MOTION.q)
    sliding = names.index("slider")
    write_coordinates(tmp_path / "m.csv", RIG, MOTION, degrees=degrees, speeds=True)
    table = read_table(tmp_path / "m.csv")
    assert table.units[sliding] == table.units[0] == "m"
    assert table.units[names.index("hinge")] == ("deg" if degrees else "rad")
    assert table.units[len(names) + sliding] == "m/s"
    np.testing.assert_allclose(table.values, np.hstack([values, MOTION.v]), rtol=1e-10, atol=1e-10)
    write_coordinates(tmp_path / "m.mot", RIG, MOTION, degrees=degrees)
    storage = read_storage(tmp_path / "m.mot")
    assert storage.in_degrees == degrees
    np.testing.assert_allclose(storage.column("slider"), values[:, sliding], rtol=1e-10)
    np.testing.assert_allclose(storage.column("root_tz"), values[:, 2], rtol=1e-10)
    hinge = storage.column("hinge") * (np.radians(1.0) if degrees else 1.0)
    np.testing.assert_allclose(hinge, values[:, names.index("hinge")], rtol=1e-10)


def test_the_root_may_stay_out(tmp_path: Path) -> None:
    """For a robot's controller only its joints are written."""
    write_coordinates(tmp_path / "m.csv", RIG, MOTION, degrees=False, root=False)
    assert not {*ROOT_POSITION, *ROOT_ROTATION} & set(read_table(tmp_path / "m.csv").names)


@pytest.mark.parametrize(("name", "says"), [("m.txt", "no suffix"), ("m.mot", "cannot hold speeds")])
def test_what_cannot_be_written_is_refused(name: str, says: str, tmp_path: Path) -> None:
    """An unknown suffix, and speeds in a format that has none, are errors that name the choice; nothing is written."""
    with pytest.raises(InputError, match=says):
        write_coordinates(tmp_path / name, RIG, MOTION, degrees=False, speeds=True)
    assert list(tmp_path.iterdir()) == []


def test_what_humanoid_laboratories_exchange_is_read_as_it_was_written(tmp_path: Path) -> None:
    """A bare table and an archive of body states give the poses and times that they were written from."""
    table, states = tmp_path / table_name("walk", MOTION.rate), tmp_path / "walk.npz"
    write_humanoid_table(table, RIG, MOTION)
    write_body_states(states, RIG, MOTION)
    for path, digits in ((table, 1e-7), (states, 1e-12)):
        joints = read_recording(path).joints
        assert joints is not None
        np.testing.assert_allclose(joints.times, MOTION.times, atol=1e-12)
        poses = poses_of(RIG, joints)
        for q, other in zip(poses.q, MOTION.q, strict=True):
            np.testing.assert_allclose(difference(RIG, q, other), 0.0, atol=digits)
    assert len(find_recordings(tmp_path)) == 2


def test_numbered_joints_follow_the_order_of_their_rig_only_if_they_are_as_many(tmp_path: Path) -> None:
    """A table without names of a body with another number of joints is refused; names are taken where there are any."""
    path = tmp_path / "walk_10hz.csv"
    write_humanoid_table(path, RIG, MOTION)
    rows = [line.rpartition(",")[0] for line in path.read_text().splitlines()]
    path.write_text("\n".join(rows))
    joints = read_recording(path).joints
    assert joints is not None
    with pytest.raises(InvalidValue, match="without names, but mixed joints has 8"):
        poses_of(RIG, joints)


def test_a_bare_table_takes_the_rate_that_is_stated(tmp_path: Path) -> None:
    """A public table names neither joints nor rate: with a rate it gives the same poses as a name with that rate."""
    named, bare = tmp_path / "a" / "walk_30hz.csv", tmp_path / "b" / "dance1_subject1.csv"
    for path in (named, bare):
        path.parent.mkdir()
        write_humanoid_table(path, RIG, MOTION)
    stated = read_recording(bare, ReadOptions(frame_rate=30.0)).joints
    joints = read_recording(named).joints
    np.testing.assert_array_equal(stated.times, joints.times)
    np.testing.assert_array_equal(stated.values, joints.values)
    assert len(find_recordings(bare.parent, ReadOptions(frame_rate=30.0))) == 1
    with pytest.raises(InvalidValue, match="frame_rate"):
        ReadOptions(frame_rate=0.0)


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("numbers.csv", ["0,0,1,3,4,5,6,0.5"] * 2, "no column is titled"),
        ("walk.csv", ["0,0,1,0,0,0,1,0.5"] * 2, "NAME_100hz.csv"),
        ("walk_50hz.csv", ["0,0,1,0,0,0,2,0.5"] * 2, "line 1.*quaternion of length 2"),
        ("walk_50hz.csv", ["0,0,1,0,0,0,1,0.5", "0,0,1,0,0,0,1"], "line 2.*7 cells, the first one 8"),
        ("walk_50hz.csv", ["0,0,1,0,0,0,1,0.5", "0,0,1,0,0,0,1,knee"], "line 2.*knee"),
    ],
)
def test_a_damaged_bare_table_is_refused_by_line(name: str, rows: list[str], words: str, tmp_path: Path) -> None:
    """No rate in the name, a quaternion that is none, a short row, a word: an error that says which."""
    (tmp_path / name).write_text("\n".join(rows))
    with pytest.raises(InputError, match=words):
        read_recording(tmp_path / name)
