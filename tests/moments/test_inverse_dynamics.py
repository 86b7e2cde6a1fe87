"""Laws of joint moments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import solver
from solver.dynamics import integrate, link_motions
from solver.dynamics.anatomical_angles import joint_angles
from solver.dynamics.mechanics import Mechanics, contact_joint_forces
from solver.input_checks.opensim_configurations import opensim_configurations
from solver.moments import JointMoments, compute_moments
from solver.moments.inverse_dynamics import coordinate_axes
from solver.rigs.opensim.joint_poses import body_poses
from solver.rigs.opensim.rig import from_opensim, model_of
from solver.signals.manifold import smooth_motion
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.inertials import FIRST_MOMENT, GRAVITY, InertialParameters
from solver.values.motion import JointCoordinates, Motion
from solver.values.wrenches import Wrenches
from tests.random_motion import mixed_rig, random_motion, waving
from tests.rigs.opensim_files import EVERY_JOINT, ZERO, Link, Model, transform

ARM = """<robot name="arm"><link name="base"><inertial><mass value="3"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0"
ixz="0" iyz="0"/></inertial></link><link name="arm"><inertial><origin xyz=".5 0 0"/><mass value="2"/><inertia ixx=".1"
iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="hinge" type="revolute"><parent link="base"/>
<child link="arm"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint></robot>"""


def trial_of(motion: Motion, loads: dict[str, np.ndarray]) -> Trial:
    """A trial with a wrench (N, 6) about the world origin for every name, all frames counted."""
    values = np.stack(list(loads.values()), axis=1)
    return Trial("test", motion, Wrenches(motion.times, tuple(loads), values), np.ones(len(motion), bool))


def free(rig: Rig, motion: Motion) -> Trial:
    """A trial in which nothing touches the body."""
    return trial_of(motion, {rig.links[0]: np.zeros((len(motion), 6))})


def still(rig: Rig, height: float = 1.0, frames: int = 3) -> Motion:
    """The rig at rest in its neutral pose."""
    q = np.tile(rig.neutral, (frames, 1))
    q[:, 2] = height
    return Motion(np.arange(frames) / 100.0, q, np.zeros((frames, rig.nv)), np.zeros((frames, rig.nv)))


def at(point: np.ndarray, force: np.ndarray, frames: int = 3) -> np.ndarray:
    """A constant force at a point as a wrench about the world origin."""
    return np.tile(np.concatenate([force, np.cross(point, force)]), (frames, 1))


def energy(rig: Rig, motion: Motion) -> np.ndarray:
    """Kinetic and potential energy (N,) [J], by the positions and velocities of the links."""
    links, prior = link_motions(rig, motion), rig.prior
    omega, speed = links.omega.transpose(2, 1, 0), links.velocity.transpose(2, 1, 0)
    first = prior.values[:, FIRST_MOMENT]
    kinetic = 0.5 * (prior.masses * (speed**2).sum(axis=2)).sum(axis=1)
    kinetic += np.einsum("nli,nli->n", speed, np.cross(omega, first))
    kinetic += 0.5 * np.einsum("nli,lij,nlj->n", omega, prior.inertias, omega)
    heights = prior.masses * links.position[2].T + np.einsum("jln,lj->nl", links.rotation[2], first)
    return np.asarray(kinetic + GRAVITY * heights.sum(axis=1))


def root_power(rig: Rig, motion: Motion, found: JointMoments) -> np.ndarray:
    """Power (N,) [W] of the residual at the root."""
    rotation = link_motions(rig, motion).rotation[:, :, 0]
    linear, angular = (np.einsum("ijn,nj->ni", rotation, motion.v[:, k : k + 3]) for k in (0, 3))
    return np.asarray((found.residual[:, :3] * linear).sum(axis=1) + (found.residual[:, 3:] * angular).sum(axis=1))


def test_moments_are_those_of_the_engine() -> None:
    """Newton-Euler sums over links give the engine's generalised forces less those of a wrench on a link."""
    rig = mixed_rig()
    motion = random_motion(rig, 20, 1)
    load = np.random.default_rng(0).standard_normal((20, 6))
    state = Mechanics(rig).compute_state(motion.q, motion.v, motion.a)
    expected = state.tau[:, 6:].copy()
    columns, forces = contact_joint_forces(rig, state, "end", load)
    expected[:, columns] -= forces
    found = compute_moments(rig, trial_of(motion, {"end": load}))
    np.testing.assert_allclose(found.values, expected, atol=1e-9)
    wrench = state.wrench - load
    wrench[:, 3:] -= np.cross(motion.q[:, :3], wrench[:, :3])
    np.testing.assert_allclose(found.residual, wrench, atol=1e-9)


def test_an_arm_that_is_held_out_needs_its_weight_times_its_lever(tmp_path: Path) -> None:
    """2 kg at 0.5 m beside a hinge that turns downwards: -9.81 N m, and 49 N at the base that nothing carries."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    rig = solver.from_urdf(path)
    found = compute_moments(rig, free(rig, still(rig)))
    np.testing.assert_allclose(found.values, -2.0 * 9.81 * 0.5, rtol=1e-12)
    np.testing.assert_allclose(found.per_kg, -9.81 / 5.0, rtol=1e-12)
    np.testing.assert_allclose(found.residual_rms, [5.0 * 9.81, 9.81], rtol=1e-12)


def test_the_ankle_of_a_standing_person_balances_the_ground_force() -> None:
    """The ankle moment is the ground force times its lever, less the weight of the foot times its own."""
    rig = solver.human(1.75, 70.0, "male")
    motion = still(rig)
    positions = link_motions(rig, motion).position[:, :, 0].T
    up = np.array([0.0, 0.0, 0.5 * rig.weight])
    points = {side: positions[rig.index(f"{side}_foot")] + [0.06, 0.01, -0.08] for side in ("left", "right")}
    found = compute_moments(rig, trial_of(motion, {f"{side}_foot": at(point, up) for side, point in points.items()}))
    foot = rig.prior["left_foot"]
    levers = np.cross([0.06, 0.01, -0.08], up) + np.cross(foot.com, [0.0, 0.0, -GRAVITY * foot.mass])
    ankle = [found.names.index(f"ankle_{name}_l") for name in ("angle", "inversion", "rotation")]
    np.testing.assert_allclose(found.values[0, ankle], levers[[1, 0, 2]], atol=1e-9)
    assert found.values[0, ankle[0]] < -15.0  # the load is in front of the ankle: the calf pushes the toes down
    np.testing.assert_allclose(found.residual[:, :3], 0.0, atol=1e-9)


@pytest.mark.parametrize("rig", [mixed_rig(), solver.human(1.75, 70.0, "male")], ids=["mixed", "person"])
def test_power_of_the_moments_changes_the_energy(rig: Rig) -> None:
    """Powers of all moments and of the residual sum to the rate of the mechanical energy."""
    motion = waving(rig)
    found = compute_moments(rig, free(rig, motion))
    speeds = motion.v[:, 6:]
    if rig.is_person:
        speeds = np.gradient(joint_angles(rig, motion).values, motion.times, axis=0, edge_order=2)
    power = (found.values * speeds).sum(axis=1) + root_power(rig, motion, found)
    rate = np.gradient(energy(rig, motion), motion.times, edge_order=2)[2:-2]
    np.testing.assert_allclose(power[2:-2], rate, atol=2e-4 * np.abs(rate).max())


def test_intervals_follow_from_errors_of_the_parameters() -> None:
    """With one direction of error the standard deviation is the change of the moment under that error."""
    rig = mixed_rig()
    trial = free(rig, random_motion(rig, 10, 2))
    error = 0.01 * np.random.default_rng(1).standard_normal(rig.prior.values.shape)
    found = compute_moments(rig, trial, covariance_root=error[None])
    assert set(found.std_by_source) == {"inertial parameters", "plates"}
    other = compute_moments(rig, trial, InertialParameters(rig.links, rig.prior.values + error))
    assert found.std is not None
    np.testing.assert_allclose(found.std, np.abs(other.values - found.values), atol=1e-9)
    np.testing.assert_allclose(found.half_width, 1.96 * found.std)


def test_intervals_contain_errors_of_plates() -> None:
    """Plates err by 0.2 % of the weight in each force and by 2 mm of the centre of pressure, here of one foot alone."""
    rig = solver.human(1.75, 70.0, "male")
    motion = still(rig)
    point = link_motions(rig, motion).position[:, rig.index("left_foot"), 0] + [0.06, 0.01, 0.0]
    point[2] = 0.0
    up = np.array([0.2, -0.1, 1.0]) * rig.weight
    trial = trial_of(motion, {"left_foot": at(point, up)})
    nothing = np.zeros((1, *rig.prior.values.shape))
    found = compute_moments(rig, trial, covariance_root=nothing)
    plain, squares = found.values, np.zeros(found.values.shape)
    for axis in range(3):
        force = np.eye(3)[axis] * 0.002 * rig.weight
        squares += (compute_moments(rig, trial_of(motion, {"left_foot": at(point, up + force)})).values - plain) ** 2
    for shift in (np.array([0.002, 0.0, 0.0]), np.array([0.0, 0.002, 0.0])):
        squares += (compute_moments(rig, trial_of(motion, {"left_foot": at(point + shift, up)})).values - plain) ** 2
    turned = at(point, up) + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.002 * rig.weight])
    squares += (compute_moments(rig, trial_of(motion, {"left_foot": turned})).values - plain) ** 2
    np.testing.assert_allclose(found.std_by_source["plates"], np.sqrt(squares), atol=1e-9)
    assert found.std[0, found.names.index("ankle_angle_l")] > 1.0  # at least 0.002 m times 687 N


def test_intervals_contain_errors_of_the_motion() -> None:
    """The deviation is the root mean square change of the moment over draws of rig and motion, cause by cause."""
    rig = solver.human(1.75, 70.0, "male")
    motion = still(rig)
    trial = trial_of(motion, {"left_foot": at(np.array([0.05, 0.1, 0.0]), np.array([0.0, 0.0, rig.weight]))})
    nothing = np.zeros((1, *rig.prior.values.shape))
    places = np.array([joint.position for joint in rig.joints])
    others = [rig.with_joint_positions(places + shift) for shift in (0.005, -0.003)]
    draws = [("", rig, motion), *(("skeleton", other, motion) for other in others)]
    found = compute_moments(rig, trial, covariance_root=nothing, motions=draws)
    changes = [compute_moments(other, trial).values - found.values for other in others]
    expected = np.sqrt(np.mean(np.square(changes), axis=0))
    np.testing.assert_allclose(found.std_by_source["skeleton"], expected, atol=1e-9)
    assert expected.max() > 0.5
    total = np.sqrt(np.sum([std**2 for std in found.std_by_source.values()], axis=0))
    np.testing.assert_allclose(np.asarray(found.std), total)


def opensim_rig(tmp_path: Path, version: int) -> Rig:
    """A model with a joint of every class, without those that have no unique angles."""
    path = tmp_path / "every.osim"
    path.write_text(EVERY_JOINT.text(version))
    return from_opensim(path)


def opensim_values(rig: Rig, times: np.ndarray) -> dict[str, np.ndarray]:
    """All coordinates of a model on small sinusoids."""
    generator = np.random.default_rng(5)
    return {
        name: 0.2 * generator.standard_normal() + 0.2 * np.sin(generator.uniform(3.0, 8.0) * times + generator.random())
        for name in model_of(rig).coordinates
    }


def joints_of(values: dict[str, np.ndarray], times: np.ndarray) -> JointCoordinates:
    """As read from a file."""
    return JointCoordinates(times, tuple(values), np.column_stack(list(values.values())), ("rad or m",) * len(values))


@pytest.mark.parametrize("version", [3, 4])
def test_at_rest_a_moment_is_the_slope_of_the_potential_energy(version: int, tmp_path: Path) -> None:
    """Of an OpenSim model with moving axes: each coordinate's moment is dV / dq, bodies placed by the model."""
    rig = opensim_rig(tmp_path, version)
    model, times = model_of(rig), np.arange(4) / 100.0
    values = {name: np.full(4, own[0]) for name, own in opensim_values(rig, times).items()}
    q, known = opensim_configurations(rig, joints_of(values, times))
    assert known.all()
    motion = Motion(times, q, np.zeros((4, rig.nv)), np.zeros((4, rig.nv)))
    found = compute_moments(rig, free(rig, motion))

    def potential(name: str, step: float) -> float:
        poses = body_poses(model, {**values, name: values[name] + step})
        return GRAVITY * sum(
            body.mass * float((poses.positions[each] + poses.rotations[each] @ body.com)[0, 2])
            for each, body in model.bodies.items()
        )

    assert {"bend", "swing", "slider_q", "e2", "g3"} <= set(found.names)
    assert not {"rx", "tz"} & set(found.names)
    slopes = [(potential(name, 1e-5) - potential(name, -1e-5)) / 2e-5 for name in found.names]
    np.testing.assert_allclose(found.values[0], slopes, atol=2e-6 * np.abs(slopes).max())


def test_the_vector_of_a_moment_has_its_power_about_every_axis(tmp_path: Path) -> None:
    """Of an OpenSim model: the moment on a link times the angular velocity per unit rate is each angle's moment.

    A body that lies 5 mm and 5 mrad from where its joint allows is noted with the joint's name.
    """
    rig = opensim_rig(tmp_path, 4)
    times = np.arange(40) / 100.0
    motion = smooth_motion(
        rig, times, opensim_configurations(rig, joints_of(opensim_values(rig, times), times))[0], None
    )
    axes, found = coordinate_axes(rig, motion), compute_moments(rig, free(rig, motion))
    assert {"knee", "gimbal", "hinge"} <= set(found.links)
    assert "slider" not in found.links
    for c, name in enumerate(axes.names):
        link = rig.links[axes.links[c]]
        if not axes.lengths[c] and link not in ("flat", "egg"):
            vector = found.vectors[:, found.links.index(link)]
            power = np.einsum("ni,ni->n", vector, axes.twists[:, c, 3:])
            np.testing.assert_allclose(power, found.values[:, c], atol=1e-9, err_msg=name)
    np.testing.assert_allclose(
        found.places,
        link_motions(rig, motion).position.transpose(2, 1, 0)[:, [rig.index(name) for name in found.links]],
    )
    moved = np.zeros(motion.v.shape)
    moved[:, rig.v_slices[rig.index("egg")]] = 0.005
    (note,) = coordinate_axes(rig, replace(motion, q=integrate(rig, motion.q, moved))).notes
    assert "8.7 mm or mrad (to_egg)" in note  # 5 about three axes


def test_power_of_moments_about_moving_axes_changes_the_energy(tmp_path: Path) -> None:
    """Of an OpenSim model: powers by the rates of its own coordinates sum to the rate of the energy."""
    rig = opensim_rig(tmp_path, 4)
    times = np.arange(800) / 2000.0
    values = opensim_values(rig, times)
    motion = smooth_motion(rig, times, opensim_configurations(rig, joints_of(values, times))[0], None)
    found = compute_moments(rig, free(rig, motion))
    rates = np.column_stack([np.gradient(values[name], times, edge_order=2) for name in found.names])
    power = (found.values * rates).sum(axis=1) + root_power(rig, motion, found)
    inside = slice(20, -20)
    rate = np.gradient(energy(rig, motion), times, edge_order=2)[inside]
    np.testing.assert_allclose(power[inside], rate, atol=1e-3 * np.abs(rate).max())


def test_a_coordinate_is_found_where_the_angle_falls_and_rises_with_it(tmp_path: Path) -> None:
    """Like a patella's: from the default the nearest way leads to the wrong side, where no pose fits."""
    angle = "<SimmSpline><x>-2 -.3 0 .3 .6 1 2</x><y>-.5 -.09 0 -.07 -.32 -.7 -1.7</y></SimmSpline>"
    place = "<SimmSpline><x>-2 -1 0 1 2</x><y>.05 .05 .05 .02 -.03</y></SimmSpline>"
    axes = [("glide", "0 0 1", angle), ("", "0 1 0", ZERO), ("", "1 0 0", ZERO),
            ("glide", "1 0 0", place), ("", "0 1 0", ZERO), ("", "0 0 1", ZERO)]  # fmt: skip
    links = (*EVERY_JOINT.links, Link("patella", "pelvis", "CustomJoint", ("glide",), inside=transform(axes)))
    path = tmp_path / "patella.osim"
    path.write_text(Model(links).text(4))
    rig, times = from_opensim(path), np.arange(21) / 100.0
    values = {name: np.zeros(21) for name in model_of(rig).coordinates} | {"glide": np.linspace(0.2, 1.2, 21)}
    q, _ = opensim_configurations(rig, joints_of(values, times))
    motion = Motion(times, q, np.zeros((21, rig.nv)), np.zeros((21, rig.nv)))
    found = coordinate_axes(rig, motion)
    assert found.notes == ()
    slopes = np.gradient(body_angle(rig, values), values["glide"])
    turning = np.linalg.norm(found.twists[:, found.names.index("glide"), 3:], axis=1)
    np.testing.assert_allclose(turning[1:-1], np.abs(slopes)[1:-1], atol=0.02)


def body_angle(rig: Rig, values: dict[str, np.ndarray]) -> np.ndarray:
    """Angle (N,) [rad] of the patella from its first pose in the world."""
    turns = body_poses(model_of(rig), values).rotations["patella"]
    return np.asarray(np.arccos(np.clip(0.5 * (np.trace(turns @ turns[0].T, axis1=1, axis2=2) - 1.0), -1.0, 1.0)))


def test_forces_without_moments_are_refused() -> None:
    """The error names the trial and says what is missing."""
    rig = mixed_rig()
    trial = free(rig, random_motion(rig, 5, 2))
    with pytest.raises(solver.InvalidValue, match="'test' has forces without moments"):
        compute_moments(rig, replace(trial, wrenches=trial.wrenches.without_axes([3, 4, 5])))
    with pytest.raises(solver.InvalidValue, match="no frame in which every contact is measured"):
        compute_moments(rig, replace(trial, counted=np.zeros(5, bool)))
