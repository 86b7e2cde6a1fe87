"""An OpenSim model moves as its joints say, and becomes a rig whose links follow its bodies."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue
from solver.base.so3 import exp
from solver.cli import main
from solver.dynamics import Workspace
from solver.rigs import build_rig, from_opensim
from solver.rigs.mesh_files import read_mesh
from solver.rigs.opensim.document import OpenSimModel, body_fixed_xyz, read_opensim
from solver.rigs.opensim.functions import SimmSpline
from solver.rigs.opensim.joint_poses import BodyPoses, body_poses, joint_transform
from solver.rigs.opensim.rig import APPROXIMATED, body_placements
from solver.study.joint_motion import poses_of
from solver.values.motion import JointCoordinates
from tests.rigs.opensim_files import AT, EVERY_JOINT, FREE, KNEE, TILT, WIDE, Link, Model

FRAMES = 7


def write(folder: Path, model: Model = EVERY_JOINT, version: int = 4) -> Path:
    """A model's file."""
    path = folder / f"small_{version}.osim"
    path.write_text(model.text(version))
    return path


def random_values(model: OpenSimModel, seed: int = 0) -> dict[str, np.ndarray]:
    """Coordinates within half of their ranges."""
    generator = np.random.default_rng(seed)
    return {name: generator.uniform(-1.0, 1.0, FRAMES) for name in model.coordinates}


def recorded(values: dict[str, np.ndarray]) -> JointCoordinates:
    """Coordinates as inverse kinematics writes them."""
    table = np.column_stack(list(values.values()))
    return JointCoordinates(0.01 * np.arange(FRAMES), tuple(values), table, ("rad or m",) * len(values), None)


def test_both_versions_are_one_model(tmp_path: Path) -> None:
    """A model moves and weighs the same whether joints stand within bodies or in a set of their own."""
    old, new = (read_opensim(write(tmp_path, version=version)) for version in (3, 4))
    values = random_values(new)
    one, two = body_poses(old, values), body_poses(new, values)
    for name, body in new.bodies.items():
        assert np.abs(one.rotations[name] - two.rotations[name]).max() < 1e-14
        assert np.abs(one.positions[name] - two.positions[name]).max() < 1e-14
        assert np.array_equal(old.bodies[name].inertia, body.inertia)
    assert old.markers.keys() == new.markers.keys() == {"TOP", "END"}


def test_links_follow_the_bodies_of_every_joint(tmp_path: Path) -> None:
    """With every class of joint, a rig's links carry the bodies where the model's own joints put them."""
    path = write(tmp_path)
    rig, model = from_opensim(path), read_opensim(path)
    values = random_values(model)
    truth, poses = body_poses(model, values), poses_of(rig, recorded(values))
    assert max_distance(rig, poses.q, truth) < 1e-12
    kinds = dict(zip(rig.links, (joint.kind for joint in rig.joints)))
    assert kinds == {
        "pelvis": "free", "pin": "revolute", "slider": "prismatic", "universal": "spherical", "gimbal": "spherical",
        "ball": "spherical", "flat": "free", "egg": "free", "knee": "free", "hinge": "revolute",
    }  # fmt: skip


def max_distance(rig, q: np.ndarray, truth: BodyPoses) -> float:  # type: ignore[no-untyped-def]
    """Largest error of a body's axes or origin over all frames."""
    workspace, error = Workspace(rig), 0.0
    for frame, pose in enumerate(q):
        workspace.update_positions(pose)
        for body, place in body_placements(rig).items():
            turn = workspace.rotations[place.carrier]
            axes, origin = turn @ place.rotation, workspace.positions[place.carrier] + turn @ place.position
            error = max(error, np.abs(axes - truth.rotations[body][frame]).max())
            error = max(error, np.abs(origin - truth.positions[body][frame]).max())
    return error


def test_the_first_body_is_the_root_however_few_there_are(tmp_path: Path) -> None:
    """Two bodies joined by a moving axis, which has six free coordinates: the first has a mass and is not the world."""
    links = (
        Link("pelvis", "ground", "FreeJoint", FREE, AT, TILT, mass=9.0, states=WIDE),
        Link("knee", "pelvis", "CustomJoint", ("bend",), AT, TILT, inside=KNEE),
    )
    path = tmp_path / "two.osim"
    path.write_text(Model(links).text(4), encoding="utf-8")
    rig = from_opensim(path)
    assert rig.links == ("pelvis", "knee")
    assert [joint.kind for joint in rig.joints] == ["free", "free"]


def test_inertials_are_about_the_link_origin(tmp_path: Path) -> None:
    """The rig's mass, centre of mass and inertia at any pose are those of the model's bodies."""
    path = write(tmp_path)
    rig, model = from_opensim(path), read_opensim(path)
    values = {name: np.zeros(FRAMES) for name in model.coordinates}
    truth, workspace = body_poses(model, values), Workspace(rig)
    workspace.update_positions(poses_of(rig, recorded(values)).q[0])
    total = sum(body.mass for body in model.bodies.values())
    centre = sum(
        body.mass * (truth.positions[name][0] + truth.rotations[name][0] @ body.com)
        for name, body in model.bodies.items()
    )
    found = sum(
        mass * (workspace.positions[k] + workspace.rotations[k] @ com)
        for k, (mass, com) in enumerate(zip(rig.prior.masses, rig.prior.coms))
    )
    assert rig.prior.total_mass == pytest.approx(total, rel=1e-14)
    assert found == pytest.approx(centre, abs=1e-12)
    for link in ("pin", "knee"):
        body = model.bodies[link]
        assert rig.prior[link].inertia == pytest.approx(body.inertia, abs=1e-12)


def test_simm_splines_hold_cubics(tmp_path: Path) -> None:
    """A spline through points of a cubic is that cubic between its ends, and straight beyond them."""
    cubic, x = np.array([0.3, -0.2, 0.5, 0.1]), np.array([-1.0, -0.4, 0.1, 0.9, 1.5])
    spline = SimmSpline(x, np.polyval(cubic, x))
    inside, slope = np.linspace(-1.0, 1.5, 40), np.polyder(cubic)
    assert spline(inside[:, None]) == pytest.approx(np.polyval(cubic, inside), abs=1e-12)
    beyond = np.polyval(cubic, 1.5) + 0.7 * np.polyval(slope, 1.5)
    assert spline(np.array([[2.2]])) == pytest.approx([beyond], abs=1e-12)


def test_rotations_are_in_the_order_of_the_axes(tmp_path: Path) -> None:
    """A gimbal turns about x, then the new y, then the new z; an ellipsoid's frame lies on its surface."""
    model = read_opensim(write(tmp_path))
    gimbal = next(joint for joint in model.joints if joint.kind == "GimbalJoint")
    angles = np.array([0.3, -0.7, 1.1])
    values = {name: np.array([angle]) for name, angle in zip(("g1", "g2", "g3"), angles)}
    x, y, z = np.eye(3)
    hand = exp(0.3 * x) @ exp(-0.7 * y) @ exp(1.1 * z)
    assert joint_transform(gimbal, values, 1)[0][0] == pytest.approx(hand, abs=1e-14)
    assert body_fixed_xyz(angles) == pytest.approx(hand, abs=1e-14)
    egg = next(joint for joint in model.joints if joint.kind == "EllipsoidJoint")
    values = {name: np.array([angle]) for name, angle in zip(("e1", "e2", "e3"), angles)}
    place = joint_transform(egg, values, 1)[1][0]
    assert ((place / [0.1, 0.2, 0.3]) ** 2).sum() == pytest.approx(1.0, abs=1e-14)


def test_a_scapula_slides_on_the_ellipsoid_and_wings_about_its_axis(tmp_path: Path) -> None:
    """Its frame is the product of the mobilizers: an ellipsoid turned by a right angle, and a tangential hinge."""
    radii, origin, direction = np.array([0.08, 0.2, 0.09]), (0.03, -0.02), 0.4
    inside = (
        f"<thoracic_ellipsoid_radii_x_y_z>{' '.join(map(str, radii))}</thoracic_ellipsoid_radii_x_y_z>"
        f"<scapula_winging_axis_origin>{origin[0]} {origin[1]}</scapula_winging_axis_origin>"
        f"<scapula_winging_axis_direction>{direction}</scapula_winging_axis_direction>"
    )
    names = ("abduction", "elevation", "upward", "winging")
    links = (
        Link("pelvis", "ground", "FreeJoint", FREE, states=WIDE),
        Link("scapula", "pelvis", "ScapulothoracicJoint", names, AT, TILT, inside=inside),
    )
    path = write(tmp_path, Model(links))
    model = read_opensim(path)
    angles = np.array([0.3, -0.4, 0.5, 0.2])
    values = {name: np.array([angle]) for name, angle in zip(names, angles)}
    turn, move = (part[0] for part in joint_transform(model.joints[1], values, 1))
    quarter = exp(np.array([0.0, 0.0, 0.5 * np.pi]))
    slide = body_fixed_xyz(angles[:3])
    onto = quarter @ slide @ quarter.T
    hinge = exp(angles[3] * np.array([-np.sin(direction), np.cos(direction), 0.0]))
    pivot = np.array([*origin, 0.0])
    assert turn == pytest.approx(onto @ hinge, abs=1e-14)
    at = quarter @ (slide[:, 2] * radii[[1, 0, 2]]) + onto @ (pivot - hinge @ pivot)
    assert move == pytest.approx(at, abs=1e-14)
    rig = from_opensim(path)
    every = random_values(model)
    assert max_distance(rig, poses_of(rig, recorded(every)).q, body_poses(model, every)) < 1e-12
    path.write_text(path.read_text().replace("thoracic_ellipsoid_radii", "ellipsoid_radii"))
    with pytest.raises(InputError, match="joint 'to_scapula': has no <thoracic_ellipsoid_radii_x_y_z>"):
        read_opensim(path)


NESTED = (
    '<components><PhysicalOffsetFrame name="mount"><components><PhysicalOffsetFrame name="tip"><socket_parent>..'
    "</socket_parent><translation>0 0.2 0</translation></PhysicalOffsetFrame></components>"
    "<socket_parent>..</socket_parent><translation>{} 0 0</translation></PhysicalOffsetFrame></components>"
)


def test_sockets_lead_to_frames_by_their_paths(tmp_path: Path) -> None:
    """Frames of one name on two bodies, nested, relative or absolute; markers on them; a body outside its set."""
    links = (
        Link("pelvis", "ground", "FreeJoint", FREE, states=WIDE),
        Link("thigh", "pelvis", "PinJoint", ("hip",)),
        Link("shank", "thigh", "PinJoint", ("knee",)),
    )
    markers = (("TIP", "thigh/mount/tip"), ("HERE", "shank"), ("FLOOR", "ground"))
    text = Model(links, markers=markers).text(4).replace("/bodyset/ground<", "/ground<")
    for body, x in (("pelvis", "0.1"), ("thigh", "0.3")):
        text = text.replace(f'<Body name="{body}">', f'<Body name="{body}">{NESTED.format(x)}')
    text = text.replace("<socket_parent>/bodyset/thigh<", "<socket_parent>../../../bodyset/thigh/mount/tip<")
    text = text.replace("../../../bodyset/thigh/mount/tip<", "/bodyset/thigh<", 1)  # the thigh's own child frame
    shank = re.search('<Body name="shank">.*?</Body>', text)
    text = text.replace(shank[0], "").replace("<BodySet>", f"<components>{shank[0]}</components><BodySet>")
    text = text.replace("/bodyset/shank", "/shank")
    path = tmp_path / "nested.osim"
    path.write_text(text)
    model = read_opensim(path)
    assert set(model.bodies) == {"pelvis", "thigh", "shank"}
    assert model.joints[2].parent.position == pytest.approx([0.3, 0.2, 0.0], abs=1e-15)
    assert model.markers["TIP"][0] == "thigh"
    assert model.markers["TIP"][1] == pytest.approx([0.3, 0.3, 0.0], abs=1e-15)
    assert set(model.markers) == {"TIP", "HERE"}
    assert "markers on the ground or on bodies that are left out: FLOOR" in model.approximations


@pytest.mark.parametrize("version", [3, 4])
def test_markup_that_opensim_writes_is_read(tmp_path: Path, version: int) -> None:
    """Classes within classes, comments within comments, and hyphens in comments change nothing."""
    path = write(tmp_path, version=version)
    plain = read_opensim(path)
    odd = (
        "<ForceSet><objects><HuntCrossleyForce::ContactParameters name='c'><geometry>a</geometry>"
        "</HuntCrossleyForce::ContactParameters></objects></ForceSet><!-- <!-- Mass -- in kg. --><MarkerSet>"
    )
    path.write_text(path.read_text().replace("<MarkerSet>", odd))
    found = read_opensim(path)
    assert list(found.bodies) == list(plain.bodies)
    assert set(found.markers) == set(plain.markers)


def test_joints_of_one_name_are_distinguished(tmp_path: Path) -> None:
    """Files of version 3 have them; the second one is named after its body too."""
    path = write(tmp_path, version=3)
    path.write_text(path.read_text().replace('name="to_ball"', 'name="to_pin"'))
    model = read_opensim(path)
    assert [joint.name for joint in model.joints if joint.child.body in ("pin", "ball")] == ["to_pin", "to_pin_ball"]
    assert "joint 'to_pin' of body 'ball' is called 'to_pin_ball'" in model.approximations
    values = random_values(model)
    rig = from_opensim(path)
    assert max_distance(rig, poses_of(rig, recorded(values)).q, body_poses(model, values)) < 1e-12


def test_body_kinematics_give_the_same_motion(tmp_path: Path) -> None:
    """Poses of bodies about their centres of mass move the rig as the coordinates that they came from."""
    path = write(tmp_path)
    rig, model = from_opensim(path), read_opensim(path)
    values = random_values(model)
    truth = body_poses(model, values)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    columns: dict[str, np.ndarray] = {}
    for name, body in model.bodies.items():
        axes = turn @ truth.rotations[name]
        centre = truth.positions[name] @ turn.T + axes @ body.com
        last = np.arctan2(-axes[:, 0, 1], axes[:, 0, 0])
        angles = np.column_stack([np.arctan2(-axes[:, 1, 2], axes[:, 2, 2]), np.arcsin(axes[:, 0, 2]), last])
        for k, letter in enumerate("XYZ"):
            columns[f"{name}_{letter}"], columns[f"{name}_O{letter.lower()}"] = centre[:, k], angles[:, k]
    assert max_distance(rig, poses_of(rig, recorded(columns)).q, truth) < 1e-10


def test_followers_and_locked_coordinates_need_no_column(tmp_path: Path) -> None:
    """A coupled coordinate is computed from its source whatever its column says, and a locked one keeps its default."""
    coupler = (
        '<CoordinateCouplerConstraint name="c"><coupled_coordinates_function><LinearFunction><coefficients>2 0.1'
        "</coefficients></LinearFunction></coupled_coordinates_function><independent_coordinate_names>a"
        "</independent_coordinate_names><dependent_coordinate_name>b</dependent_coordinate_name>"
        "<scale_factor>0.5</scale_factor></CoordinateCouplerConstraint>"
    )
    locked = "<default_value>0.25</default_value><locked>true</locked>"
    links = (
        Link("pelvis", "ground", "FreeJoint", FREE, states=WIDE),
        Link("one", "pelvis", "PinJoint", ("a",), AT),
        Link("two", "pelvis", "PinJoint", ("b",), AT),
        Link("three", "pelvis", "PinJoint", ("c",), AT, states=locked),
    )
    rig = from_opensim(write(tmp_path, Model(links, coupler)))
    a = np.linspace(-1.0, 1.0, FRAMES)
    poses = poses_of(rig, recorded({name: np.zeros(FRAMES) for name in FREE} | {"a": a, "b": 9.0 + a}))
    order = {joint.name: 7 + k for k, joint in enumerate(rig.joints[1:])}
    assert poses.q[:, order["to_two"]] == pytest.approx(0.5 * (2.0 * a + 0.1), abs=1e-12)
    assert poses.q[:, order["to_three"]] == pytest.approx(np.full(FRAMES, 0.25), abs=1e-12)
    listed = " ".join(rig.provenance[APPROXIMATED])  # type: ignore[arg-type]
    assert "locked in the model move in the rig: c" in listed
    assert "follow others move independently in the rig: b" in listed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((r'Version="40000"', 'Version="30505"'), "version 30505, not 2, 3 or 4"),
        (("UniversalJoint", "RollingOnSurfaceJoint"), "<RollingOnSurfaceJoint>, which is not read"),
        (("UniversalJoint", "ScapulothoracicJoint"), "has 4 coordinates, and 2 are listed"),
        (("SimmSpline", "FourierFunction"), "<FourierFunction> is not a function"),
        (("<mass>2.0</mass>", "<mass>-2.0</mass>"), "has mass -2 kg"),
        (("<mass>2.0</mass>", "<mass>0</mass>"), "has an inertia but no mass"),
        (("<mass>2.0</mass>", "<mass>two</mass>"), "not 1 finite number"),
        (("<mass>2.0</mass>", ""), "has no <mass>"),
        (("<inertia>0.03", "<inertia>-0.03"), "no body has a negative one"),
        (("<range>-2 2</range>", "<range>2 -2</range>"), "which holds no value"),
        (("<range>-2 2</range>", "<default_value>3</default_value><range>-2 2</range>"), "outside of its range"),
        (("/bodyset/pin<", "/bodyset/pins<"), "leads to no body"),
        (("<gravity>0 -9.80665 0", "<gravity>-9.80665 0 0"), "neither -y nor -z"),
        (('name="ball"', 'name="pin"'), "is used twice"),
        (("<coordinates>bend<", "<coordinates>bent<"), "which the joint does not have"),
        (("<OpenSimDocument", "<Document"), "not <OpenSimDocument>"),
    ],
)
def test_faults_of_a_model_are_one_sentence(
    tmp_path: Path, change: tuple[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that cannot be used is refused with the file, the place and the remedy, and nothing is written."""
    path, out = tmp_path / "bad.osim", tmp_path / "rig.json"
    text = EVERY_JOINT.text(4).replace(*change)
    path.write_text(text.replace("</OpenSimDocument", f"</{change[1][1:]}") if change[0].startswith("<Open") else text)
    with pytest.raises(InputError, match=re.escape(message)):
        from_opensim(path)
    assert main(["rig", str(path), "--output", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_an_angle_file_of_another_model_is_refused(tmp_path: Path) -> None:
    """Unknown coordinates, missing ones and impossible values name what is wrong."""
    path = write(tmp_path)
    rig, values = from_opensim(path), random_values(read_opensim(path))
    with pytest.raises(InvalidValue, match=r"of another model than small_4.osim.*no column for its coordinates pin_q"):
        poses_of(rig, recorded({name: value for name, value in values.items() if name != "pin_q"}))
    with pytest.raises(InvalidValue, match="no coordinate knee_angle_r"):
        poses_of(rig, recorded(values | {"knee_angle_r": values["pin_q"]}))
    with pytest.raises(InvalidValue, match=r"coordinate pin_q reaches .* far outside"):
        poses_of(rig, recorded(values | {"pin_q": 57.3 * values["pin_q"]}))
    path.write_text(path.read_text() + "\n")
    with pytest.raises(InputError, match="has changed since the rig was built"):
        poses_of(rig, recorded(values))


def test_inertias_that_no_body_has_become_those_of_thin_ones(tmp_path: Path) -> None:
    """A moment above the sum of the other two is corrected and listed, so that the model can be identified."""
    bad = Link("pelvis", "ground", "FreeJoint", FREE, inertia=(1e-4, 2e-4, 1e-3, 0.0, 0.0, 0.0), states=WIDE)
    rig = from_opensim(write(tmp_path, Model((bad,))))
    assert rig.prior.consistency_margin[0] > 0.0
    assert any("inertias that no body can have" in note and "pelvis" in note for note in rig.notes)


def test_missing_meshes_are_named(tmp_path: Path) -> None:
    """A model without its meshes is read with a note; they may be required, and those beside it are read."""
    link = Link("pelvis", "ground", "FreeJoint", FREE, mesh="pelvis.obj", states=WIDE)
    path = write(tmp_path, Model((link,)))
    assert any("pelvis.obj" in note for note in from_opensim(path).notes)
    with pytest.raises(InputError, match=r"mesh 'pelvis.obj' was not found.*folder Geometry"):
        from_opensim(path, meshes="required")
    endless = write(tmp_path, Model((replace(link, mesh=f"{'a' * 5000}.obj"),)))
    assert any("not found" in note for note in from_opensim(endless).notes)
    path = write(tmp_path, Model((link,)))
    (tmp_path / "Geometry").mkdir()
    corners = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "Geometry" / "pelvis.obj").write_text(corners)
    (shape,) = build_rig(path).shapes
    assert np.ptp(np.asarray(shape.vertices), axis=0) == pytest.approx([0.1, 0.1, 0.1])


@pytest.mark.parametrize("binary", [False, True])
def test_vtp_meshes_are_read(tmp_path: Path, binary: bool) -> None:
    """A VTP file of polygons and strips has their triangles, as text or as base64."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    arrays = {
        "Points": [("", "Float32", points.ravel())],
        "Polys": [("connectivity", "Int32", np.array([0, 1, 4, 0, 2, 4])), ("offsets", "Int32", np.array([3, 6]))],
        "Strips": [("connectivity", "Int32", np.array([0, 1, 2, 3])), ("offsets", "Int32", np.array([4]))],
    }
    body = "".join(
        f"<{name}>{''.join(data_array(*array, binary) for array in own)}</{name}>" for name, own in arrays.items()
    )
    path = tmp_path / "bone.vtp"
    path.write_text(
        f'<VTKFile type="PolyData" byte_order="LittleEndian"><PolyData><Piece>{body}</Piece></PolyData></VTKFile>'
    )
    vertices, triangles = read_mesh(path)
    found = {tuple(map(tuple, sorted(corners.tolist()))) for corners in vertices[triangles]}
    wanted = ([0, 1, 4], [0, 2, 4], [0, 1, 2], [1, 2, 3])
    assert found == {tuple(map(tuple, sorted(points[corners].tolist()))) for corners in wanted}
    path.write_text(path.read_text().replace("<VTKFile ", '<VTKFile compressor="vtkZLibDataCompressor" '))
    with pytest.raises(InputError, match="compressed numbers"):
        read_mesh(path)


def data_array(name: str, kind: str, values: np.ndarray, binary: bool) -> str:
    """An array of a VTP file."""
    text = " ".join(f"{value:g}" for value in values)
    if binary:
        data = values.astype("<f4" if kind == "Float32" else "<i4").tobytes()
        text = base64.b64encode(len(data).to_bytes(4, "little") + data).decode()
    return f'<DataArray Name="{name}" type="{kind}" format="{"binary" if binary else "ascii"}">{text}</DataArray>'
