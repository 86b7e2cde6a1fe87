"""mink with DAQP, from PyPI: the field's library for the same task, measured in the same run."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from solver.base.so3 import to_quaternion
from solver.skeleton.rig import Rig
from solver.tracking import Targets
from solver.tracking.anatomy import find_anatomy
from solver.tracking.bone_mapping import BoneMapping
from solver.tracking.retargeting.performer import Performer
from solver.values.person import SIDES

from .bodies import Body

SOLVER = "daqp"
DAMPINGS = (1e-8, 1e-6, 1e-4, 1e-2, 1e-1)


def available() -> bool:
    """Whether mink and DAQP are installed."""
    return all(find_spec(name) is not None for name in ("mink", "mujoco", "daqp"))


class Mink:
    """A body in mink: one step per sample, as its examples do, its targets converted from matrices each time."""

    def __init__(self, body: Body, damping: float, *, limits: bool) -> None:
        import mink

        self._mink = mink
        self.body, self.damping = body, damping
        model = mujoco_model(body.rig)
        self.configuration = mink.Configuration(model)
        self.tasks = [
            mink.FrameTask(body.rig.links[link], "body", position_cost=float(place == 0), orientation_cost=1.0)
            for place, link in enumerate(body.links)
        ]
        self.limits: list[object] = [mink.ConfigurationLimit(model)] if limits else []
        speeds = dict(zip([joint.name for joint in body.rig.joints[1:]], body.rig.limits.speed))
        kept = {name: np.array([speed]) for name, speed in speeds.items() if np.isfinite(speed)}
        if limits and kept:
            self.limits.append(mink.VelocityLimit(model, kept))
        self.q = np.array(self.configuration.q)

    def start(self, q: np.ndarray) -> None:
        """Take a configuration (nq,) in Pinocchio's order, quaternion last."""
        self.q = np.concatenate([q[:3], q[6:7], q[3:6], q[7:]])
        self.configuration.update(self.q)

    def step(self, root: np.ndarray, rotations: np.ndarray, dt: float) -> np.ndarray:
        """Follow one sample: root (3,), rotations (O, 3, 3); the velocity (nv,) it chose."""
        mink = self._mink
        for task, rotation in zip(self.tasks, rotations):
            turn = mink.SO3.from_matrix(rotation)
            task.set_target(mink.SE3.from_rotation_and_translation(turn, root))
        velocity = mink.solve_ik(self.configuration, self.tasks, dt, SOLVER, self.damping, limits=self.limits)
        self.configuration.integrate_inplace(velocity, dt)
        return np.asarray(velocity)

    @property
    def configuration_here(self) -> np.ndarray:
        """(nq,) in Pinocchio's order."""
        q = np.array(self.configuration.q)
        return np.concatenate([q[:3], q[4:7], q[3:4], q[7:]])


@dataclass(frozen=True, slots=True)
class Followed:
    """Result of a method on a motion.

    Attributes:
        q: (N, nq).
        v: (N, nv) [m/s, rad/s] as Pinocchio has it: of the root in its own axes.
    """

    q: np.ndarray
    v: np.ndarray


def follow(body: Body, targets: Targets, start: np.ndarray, damping: float, *, limits: bool) -> Followed:
    """A motion followed by mink, a step a sample."""
    peer = Mink(body, damping, limits=limits)
    peer.start(start)
    assert targets.positions is not None
    assert targets.orientations is not None
    dt = float(np.mean(np.diff(targets.times)))
    q, v = [], []
    for root, rotations in zip(targets.positions.positions[:, 0], targets.orientations.rotations):
        velocity = peer.step(root, rotations, dt)
        q.append(peer.configuration_here)
        v.append(velocity)
    return Followed(np.array(q), np.array(v))


FOLLOWED = ("pelvis", "head", *(f"{side}_{name}" for side in SIDES for name in ("forearm", "hand", "shank", "foot")))
"""Parts whose poses the peer follows."""
STEPS, FIRST_STEPS = 10, 300
"""Of the peer in a frame, and in the first one, which it reaches from the zero posture."""


def follow_segments(rig: Rig, performer: Performer, mapping: BoneMapping) -> np.ndarray:
    """Configurations (N, nq) in which mink follows positions and orientations of a performer's segments, scaled."""
    import mink

    recording, parts = performer.recording, find_anatomy(rig).parts
    assert recording.positions is not None
    configuration = mink.Configuration(mujoco_model(rig))
    limits = [mink.ConfigurationLimit(mujoco_model(rig))]
    result: list[np.ndarray] = []
    followed = [mapping.links.index(parts[part]) for part in FOLLOWED if parts.get(part) in mapping.links]
    # damped as in mink's examples of humanoids
    costs = {"position_cost": 1.0, "orientation_cost": 1.0, "lm_damping": 1.0}
    tasks = [mink.FrameTask(mapping.links[k], "body", **costs) for k in followed]
    columns = [recording.names.index(mapping.segments[k]) for k in followed]
    floor = min(float(performer.sole_points(side)[:, :, 2].min()) for side in SIDES)
    positions = mapping.scale * (recording.positions[:, columns] - [0.0, 0.0, floor])
    rotations = recording.rotations[:, columns] @ mapping.rotations[followed]
    for places, turns in zip(positions, rotations):
        for task, place, turn in zip(tasks, places, turns):
            task.set_target(mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(turn), place))
        for _ in range(STEPS if result else FIRST_STEPS):
            configuration.integrate_inplace(mink.solve_ik(configuration, tasks, 1.0, SOLVER, 1e-4, limits=limits), 1.0)
        q = np.array(configuration.q)
        result.append(np.concatenate([q[:3], q[4:7], q[3:4], q[7:]]))
    return np.array(result)


@cache
def _model_of(rig: Rig) -> object:
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "body.xml"
        path.write_text(mjcf(rig), encoding="utf-8")
        return mujoco.MjModel.from_xml_path(str(path))


def mujoco_model(rig: Rig) -> object:
    """The rig's kinematics as MuJoCo has them; its masses are of no matter here."""
    return _model_of(rig)


def mjcf(rig: Rig) -> str:
    """MuJoCo's description of a rig of hinges: bodies, joints, ranges."""
    children: dict[int, list[int]] = {}
    for link, parent in enumerate(rig.parents):
        children.setdefault(parent, []).append(link)

    def numbers(values: np.ndarray) -> str:
        return " ".join(f"{x:.17g}" for x in values)

    def body(link: int) -> str:
        joint = rig.joints[link]
        turn = to_quaternion(joint.rotation)[[3, 0, 1, 2]]
        if link == 0:
            inside = "<freejoint/>"
        else:
            low, high = float(rig.limits.lower[link - 1]), float(rig.limits.upper[link - 1])
            bound = f' limited="true" range="{low:.17g} {high:.17g}"' if np.isfinite([low, high]).all() else ""
            inside = f'<joint name="{joint.name}" type="hinge" axis="{numbers(joint.axes[0])}"{bound}/>'
        inside += '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        inside += "".join(body(child) for child in children.get(link, ()))
        return f'<body name="{rig.links[link]}" pos="{numbers(joint.position)}" quat="{numbers(turn)}">{inside}</body>'

    return f'<mujoco><compiler angle="radian"/><worldbody>{body(0)}</worldbody></mujoco>'
