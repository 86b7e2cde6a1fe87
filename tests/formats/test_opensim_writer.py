"""Inertials written into an OpenSim model change its numbers of mass, centre and inertia, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue
from solver.cli import main
from solver.dynamics.wrench import ground_wrench
from solver.formats.body_inertias import map_parts
from solver.formats.model_writer import write_identified_model, write_into
from solver.formats.opensim_storage import write_storage
from solver.rigs import from_opensim, human
from solver.rigs.opensim.document import read_opensim
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from tests.rigs.opensim_files import EVERY_JOINT, FREE, WIDE, Link, Model

NUMBERS = re.compile(r"<(mass|mass_center|inertia|inertia_[xyz]{2})>[^<]*<")


def write(folder: Path, version: int = 4, model: Model = EVERY_JOINT) -> Path:
    """A model's file."""
    path = folder / f"small_{version}.osim"
    path.write_bytes(model.text(version).encode())
    return path


def changed(rig: Rig, seed: int = 1) -> InertialParameters:
    """Other consistent parameters: every link's mass distribution under a linear map near one."""
    generator, rows = np.random.default_rng(seed), []
    for pseudo in rig.prior.pseudo_inertias:
        mapping = np.eye(4) + 0.1 * generator.standard_normal((4, 4))
        new = mapping @ pseudo @ mapping.T
        inertia = np.trace(new[:3, :3]) * np.eye(3) - new[:3, :3]
        i = inertia
        rows.append([new[3, 3], *new[:3, 3], i[0, 0], i[0, 1], i[1, 1], i[0, 2], i[1, 2], i[2, 2]])
    return InertialParameters(rig.links, np.array(rows))


def test_markup_that_opensim_writes_stays_as_it_is(tmp_path: Path) -> None:
    """Classes within classes, comments within comments, and a body outside the set of bodies."""
    path, out = write(tmp_path), tmp_path / "out.osim"
    text = path.read_text()
    body = re.search('<Body name="egg">.*?</Body>', text)
    odd = f"<!-- <!-- mass -- in kg --><A::B><c/></A::B><components>{body[0]}</components><BodySet>"
    text = text.replace(body[0], "").replace("<BodySet>", odd).replace("/bodyset/egg", "/egg")
    path.write_text(text)
    rig = from_opensim(path)
    wanted = changed(rig)
    write_identified_model(rig, out, wanted)
    assert np.abs(from_opensim(out).prior.values - wanted.values).max() < 1e-12
    assert NUMBERS.sub("", out.read_text()) == NUMBERS.sub("", text)


@pytest.mark.parametrize("version", [3, 4])
def test_a_model_comes_back_with_the_numbers_written(tmp_path: Path, version: int) -> None:
    """Parameters of links survive writing and reading, also of a link that carries a welded body."""
    path, out = write(tmp_path, version), tmp_path / "out.osim"
    rig = from_opensim(path)
    wanted = changed(rig)
    write_identified_model(rig, out, wanted)
    found = from_opensim(out).prior
    assert np.abs(found.values - wanted.values).max() < 1e-12
    assert found.total_mass == pytest.approx(wanted.total_mass, rel=1e-13)
    for body in read_opensim(out).bodies.values():
        moments = np.linalg.eigvalsh(body.inertia)
        assert moments[0] > 0.0
        assert moments[2] <= moments[0] + moments[1]


@pytest.mark.parametrize("version", [3, 4])
def test_all_other_bytes_stay(tmp_path: Path, version: int) -> None:
    """Without the numbers of mass, centre and inertia, the files are the same; unchanged ones are not rewritten."""
    path, out = write(tmp_path, version), tmp_path / "out.osim"
    rig = from_opensim(path)
    write_identified_model(rig, out, changed(rig))
    before, after = path.read_text(), out.read_text()
    assert before != after
    assert NUMBERS.sub("<>", before) == NUMBERS.sub("<>", after)
    write_identified_model(rig, out, rig.prior)
    assert out.read_bytes() == path.read_bytes()


def test_parts_add_up_and_follow_their_sum() -> None:
    """Parts of a link add up to its new mass distribution, stay consistent, and do not change if it does not."""
    generator = np.random.default_rng(2)
    roots = 0.1 * generator.standard_normal((3, 4, 4)) + np.diag([0.1, 0.2, 0.1, 1.0])
    parts = list(roots @ roots.transpose(0, 2, 1))
    total = np.sum(parts, axis=0)
    mapping = np.eye(4) + 0.2 * generator.standard_normal((4, 4))
    goal = mapping @ total @ mapping.T
    found = map_parts(parts, goal)
    assert np.sum(found, axis=0) == pytest.approx(goal, abs=1e-12)
    assert all(np.linalg.eigvalsh(part)[0] > 0.0 for part in found)
    assert np.array(map_parts(parts, total)) == pytest.approx(np.array(parts), abs=1e-10)
    assert np.array(map_parts(parts, 1.3 * total)) == pytest.approx(1.3 * np.array(parts), abs=1e-10)


def test_what_no_body_can_have_is_not_written(tmp_path: Path) -> None:
    """Inconsistent parameters and a body without the element to write to leave no file."""
    path, out = write(tmp_path), tmp_path / "out.osim"
    rig = from_opensim(path)
    values = rig.prior.values.copy()
    values[1, 1] += 10.0
    with pytest.raises(InvalidValue, match="that no body can have"):
        write_identified_model(rig, out, InertialParameters(rig.links, values))
    path.write_text(re.sub(r"<mass_center>[^<]*</mass_center>", "", path.read_text(), count=1))
    rig = from_opensim(path)
    with pytest.raises(InputError, match=r"body 'pelvis'.*no <mass_center> to write to"):
        write_identified_model(rig, out, changed(rig))
    assert not out.exists()


def test_a_model_is_identified_by_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From joint angles and forces, a model's masses come nearer to the truth, and its file differs in them alone."""
    links = (
        Link("pelvis", "ground", "FreeJoint", FREE, mass=8.0, inertia=(0.08, 0.07, 0.09, 0.0, 0.0, 0.0), states=WIDE),
        Link("thigh", "pelvis", "PinJoint", ("hip",), (0.0, -0.1, 0.1, 0.0, 0.0, 0.0), mass=4.0),
        Link("shank", "thigh", "PinJoint", ("knee",), (0.0, -0.4, 0.0, 0.0, 0.0, 0.0)),
    )
    path = write(tmp_path, model=Model(links))
    rig = from_opensim(path)
    truth = InertialParameters(rig.links, rig.prior.values * np.array([[1.0], [1.3], [0.8]]))
    times = np.arange(0.0, 12.0, 0.01)
    names = (*FREE, "hip", "knee")
    values = np.column_stack([0.4 * np.sin((1.1 + 0.7 * k) * times + k) for k in range(len(names))])
    values[:, 4] += 1.0
    folder = tmp_path / "trial"
    folder.mkdir()
    write_storage(folder / "swing_ik.mot", times, names, values)
    write_forces(folder / "swing_grf.mot", rig, folder / "swing_ik.mot", truth)
    out, quick = tmp_path / "out", ["--no-cross-validation", "--progress", "none"]
    files = [str(path), str(folder / "swing_ik.mot"), str(folder / "swing_grf.mot")]
    assert main(["identify", *files, *quick, "--output", str(out)]) == 0
    written = out / "small_4_identified.osim"
    before, after = path.read_text(), written.read_text()
    assert NUMBERS.sub("<>", before) == NUMBERS.sub("<>", after)
    found = from_opensim(written).prior
    error = np.abs(found.masses - truth.masses).sum()
    assert error < 0.3 * np.abs(rig.prior.masses * truth.total_mass / rig.prior.total_mass - truth.masses).sum()
    capsys.readouterr()
    assert main(["identify", *files, str(path), "--output", str(tmp_path / "no")]) == 2
    assert "name one rig" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


TRC = "\n".join(
    ("PathFileType\t4\t(X/Y/Z)\twalk.trc",
     "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
     "100\t100\t40\t1\tm\t100\t1\t40", "Frame#\tTime\tM\t\t", "\t\tX1\tY1\tZ1", "",
     *(f"{k + 1}\t{0.01 * k:.2f}\t0.1\t1.0\t0.2" for k in range(40)), "")
)  # fmt: skip


def write_forces(path: Path, rig: Rig, angles: Path, truth: InertialParameters) -> None:
    """Forces, points and free moments of one plate, y up, that move the rig with the true inertials."""
    from solver.formats.recording import read_recording
    from solver.signals import PRESETS, smooth_motion
    from solver.study.joint_motion import poses_of

    recording = read_recording(angles)
    assert recording.joints is not None
    poses = poses_of(rig, recording.joints)
    motion = smooth_motion(rig, poses.times, poses.q, PRESETS["human_8hz"])
    world = ground_wrench(rig, motion, truth)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    force, moment = world[:, :3] @ turn.T, world[:, 3:] @ turn.T
    point = np.zeros_like(force)
    point[:, 0], point[:, 2] = moment[:, 2] / force[:, 1], -moment[:, 0] / force[:, 1]
    free = moment - np.cross(point, force)
    names = [f"ground_force_{q}{axis}" for q in "vpm" for axis in "xyz"]
    write_storage(path, motion.times, names, np.concatenate([force, point, free], axis=1))


def person_model(height: float, arms: bool = True) -> Model:
    """A model of a person with joint centres of the built-in one, y up: no head; hands welded; two bodies a foot."""
    rig = human(height, 70.0, "female")
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    bodies = {"pelvis": "pelvis", "torso": "torso"}
    for side in ("right", "left"):
        for link, body in (("thigh", "femur"), ("shank", "tibia"), ("foot", "calcn")):
            bodies[f"{side}_{link}"] = f"{body}_{side[0]}"
        for link, body in (("upper_arm", "humerus"), ("forearm", "radius"), ("hand", "hand")) if arms else ():
            bodies[f"{side}_{link}"] = f"{body}_{side[0]}"
    links = []
    for link, body in bodies.items():
        k = rig.index(link)
        joint = rig.joints[k]
        if joint.parent < 0:
            links.append(Link(body, "ground", "FreeJoint", FREE, states=WIDE))
            continue
        offset = (*map(float, turn @ joint.position), 0.0, 0.0, 0.0)
        kind, names = ("WeldJoint", ()) if "hand" in body else ("PinJoint", (f"{body}_q",))
        links.append(Link(body, bodies[rig.links[joint.parent]], kind, names, offset))
        if "calcn" in body:
            links.append(Link(f"toes_{body[-1]}", body, "PinJoint", (f"{body}_toe",), (0.1, -0.03, 0.0, 0.0, 0.0, 0.0)))
    return Model(tuple(links))


@pytest.mark.parametrize("arms", [True, False])
def test_a_person_is_written_into_a_model(tmp_path: Path, arms: bool) -> None:
    """In a model of the same size the person's total mass, centre of mass and inertia are the person's own."""
    rig = human(1.7, 63.0, "female")
    path, out = write(tmp_path, model=person_model(1.7, arms)), tmp_path / "out.osim"
    groups = write_into(rig, rig.prior, path, out)
    assert {link for group in groups for link in group.links} == set(rig.links)
    merged = next(group for group in groups if group.bodies == ("torso",))
    assert merged.links == ("torso", "head") if arms else len(merged.links) == 8
    assert all(group.distance < 1e-9 and group.scale == pytest.approx(1.0) for group in groups)
    found = from_opensim(out)
    assert whole_body(found) == pytest.approx(whole_body(rig), abs=1e-9)
    assert found.prior.consistency_margin.min() > 0.0
    assert NUMBERS.sub("<>", path.read_text()) == NUMBERS.sub("<>", out.read_text())


def whole_body(rig: Rig) -> np.ndarray:
    """Pseudo-inertia (4, 4) of the whole body at zero angles, root at the origin."""
    total = np.zeros((4, 4))
    for turn, origin, pseudo in zip(*rig.rest, rig.prior.pseudo_inertias):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn, origin
        total += pose @ pseudo @ pose.T
    return total


def test_a_model_of_another_person_takes_no_inertials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model of another size, or with other names, is refused, by the command line before any work."""
    rig = human(1.7, 63.0, "female")
    small = write(tmp_path, model=person_model(1.2))
    with pytest.raises(InvalidValue, match=r"times as long .* scale the model to the person"):
        write_into(rig, rig.prior, small, tmp_path / "out.osim")
    odd = tmp_path / "odd.osim"
    odd.write_text(person_model(1.7).text(4).replace("femur_", "bone_"))
    files = tmp_path / "walk.trc"
    files.write_text(TRC)
    arguments = ["identify", str(files), "--sex", "male", "--write-into", str(odd), "--output", str(tmp_path / "no")]
    assert main(arguments) == 2
    assert "no body of small is named after right_thigh, left_thigh" in capsys.readouterr().err
    assert not (tmp_path / "out.osim").exists()
    assert not (tmp_path / "no").exists()
