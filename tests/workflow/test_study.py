"""Laws of the study that `identify` returns and `load_study` reads."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import solver
from solver.scene import study_folder as names
from solver.storage.manifest import MANIFEST_FILE
from solver.storage.value_tree import Arrays, to_tree
from solver.study.recordings import take_model
from solver.study.values import STUDY, StoredStudy

ROBOT = solver.demo.simulated_robot()


@pytest.fixture(scope="module")
def study(robot_study: Path) -> solver.Study:
    """The simulated robot's study, read from its folder."""
    return solver.load_study(robot_study)


def tree_of(study: solver.Study) -> tuple[object, dict[str, bytes]]:
    """All of a study as plain values and bytes of arrays."""
    arrays: Arrays = {}
    tree = to_tree(study, arrays=arrays)
    return tree, {name: array.tobytes() for name, array in arrays.items()}


def test_a_study_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Reading a study's folder gives the study, to the last bit; errors on its own trial are those that it reports."""
    settings = solver.Settings(no_cross_validation=True, planted_foot="right_sole")
    wanted = solver.identify(ROBOT.recordings, rig=ROBOT.rig, settings=settings)
    wanted.write(tmp_path)
    found = solver.load_study(tmp_path)
    assert tree_of(found) == tree_of(wanted)
    (one,), (other,) = found.compare(ROBOT.recordings)[0], wanted.compare(ROBOT.recordings)[0]
    np.testing.assert_array_equal(one.identified.rmse, other.identified.rmse)
    np.testing.assert_allclose(one.identified.rmse, wanted.identification.comparisons[0].identified.rmse, rtol=1e-6)
    assert one.used
    assert found.plot.wrenches("dance") == wanted.plot.wrenches("dance")


def test_unknown_inertials_change_the_estimate(study: solver.Study) -> None:
    """With the covariance of the identified inertials the centre of mass is another than without."""
    bare = replace(study, identified=replace(study.identification, covariance_root=None))
    assert not np.allclose(study.centroidal()["dance"].com, bare.centroidal()["dance"].com, atol=1e-7)
    assert "no intervals" in bare.moments()["dance"].notes[0]


def test_a_study_without_forces_says_what_it_lacks() -> None:
    """Everything that needs forces is one error, and an unknown trial is named with the choices."""
    bare = [solver.Recording(each.name, joints=each.joints) for each in ROBOT.recordings]
    tracked = solver.track(bare, ROBOT.rig)
    for do in (tracked.plot.masses, tracked.moments, tracked.centroidal, lambda: tracked.compare(ROBOT.recordings)):
        with pytest.raises(solver.InvalidValue, match="forces"):
            do()
    with pytest.raises(solver.errors.UnknownName, match="dance"):
        tracked.moments(trials=["walk"])


def test_what_is_no_study_is_one_error(robot_study: Path, tmp_path: Path) -> None:
    """A missing folder, one of another kind, one of a newer version, and one with a damaged file are refused."""
    with pytest.raises(solver.InputError, match="does not exist"):
        solver.load_study(tmp_path / "none")
    with pytest.raises(solver.InputError, match="not the folder of a study"):
        solver.load_study(tmp_path)
    copied = Path(shutil.copytree(robot_study, tmp_path / "copied"))
    (copied / MANIFEST_FILE).unlink()  # which would call the folder unfinished
    (copied / f"dance{names.TRIAL_END}").write_bytes(b"damaged")
    with pytest.raises(solver.InputError, match=r"dance\.trial\.npz"):
        solver.load_study(copied)
    replace(STUDY, version=STUDY.version + 1).write(
        copied / names.STUDY_FILE, StoredStudy(replace(solver.load_study(robot_study), records=()), ())
    )
    with pytest.raises(solver.InputError, match="Update Exciting Dance"):
        solver.load_study(copied)
    with pytest.raises(solver.InvalidValue, match="path"):
        solver.load_study(3)  # type: ignore[arg-type]


def test_a_model_among_the_recordings_is_the_rig(robot_study: Path) -> None:
    """The one model is taken out of the paths; none, two of them, or one beside a rig, are refused by name."""
    own = [robot_study / "rig.urdf", robot_study / "dance.joints.mot"]
    assert set(solver.track(own).rig.links) == set(ROBOT.rig.links)
    with pytest.raises(solver.InvalidValue, match=r"no body given.*\.osim"):
        solver.track(own[1])
    assert take_model(["walk.trc", "subject.OSIM"], None) == (("walk.trc",), "subject.OSIM")
    assert take_model("walk.trc", "hoap3") == (("walk.trc",), "hoap3")
    for files, rig in ((["a.urdf", "b.urdf"], None), (["a.urdf"], "hoap3")):
        with pytest.raises(solver.InvalidValue, match=r"a\.urdf.*name one rig"):
            solver.identify(files, rig=rig)


def test_a_given_prior_is_the_identification_s(study: solver.Study) -> None:
    """An own prior replaces that of the rig; that of another body is refused."""
    own = ROBOT.rig.prior.scaled(1.1 * ROBOT.rig.prior.total_mass)
    found = solver.identify(ROBOT.recordings, rig=ROBOT.rig, prior=own, settings=study.settings).identification
    share = own.values / own.total_mass
    np.testing.assert_allclose(found.prior.values / found.prior.total_mass, share, rtol=1e-9, atol=1e-12)
    with pytest.raises(solver.SolverError, match="link"):
        solver.identify(ROBOT.recordings, rig=ROBOT.rig, prior=solver.hoap3().prior)
