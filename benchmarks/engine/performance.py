"""The plan of a dance, the options of its simulation, and its performance."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from solver.contacts.schedule import Schedule
from solver.feasibility import check_motion
from solver.options.checks import DANCE_CHECKS, CheckOptions
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

from .mjcf import Ground


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How a dance is played.

    Attributes:
        timestep: [s] of simulation and control.
        rate: [1/s] of the sensors; must divide the simulation's.
        bandwidth: [Hz] of every joint's PD control, from the inertia it moves; 5 Hz is modest for a robot's servo.
        damping: ratio of critical.
        rotor: inertia of each motor seen through its gear, as a share of what its joint moves; internal to the body, it
            changes no external wrench.
        answer: [rad/s^2] at which a motor's whole torque turns its own rotor, without a load: none has a heavier one.
            An ankle that carries a body would else have a tenth of that body for a rotor, and need more torque than it
            has to turn it.
        feed_forward: add the plan's inverse dynamics, computed with the rig's inertials.
        settle: [s] in the first posture before the dance.
        ground: contact.
    """

    timestep: float = 1e-3
    rate: float = 250.0
    bandwidth: float = 5.0
    damping: float = 1.0
    rotor: float = 0.1
    answer: float = 100.0
    feed_forward: bool = True
    settle: float = 1.0
    ground: Ground = field(default_factory=Ground)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the dancer intends.

    Attributes:
        motion: N frames.
        schedule: of contacts.
        wrenches: planned ones under each patch (N, F, 6), world axes about the world origin.
        torques: (N, nv - 6) [N m].
    """

    motion: Motion
    schedule: Schedule
    wrenches: np.ndarray
    torques: np.ndarray


@dataclass(frozen=True, slots=True)
class Performance:
    """What happened.

    Attributes:
        motion: true motion at the sensors' rate, N frames from the dance's start to its end or to the fall; the
            accelerations are MuJoCo's.
        plates: simulated force plates, one under each contact patch.
        fell: [s] after the start when it fell, or None.
        saturated: (nv - 6,) share of the time that each joint's torque was at its limit.
        standing: (F, 6) mean wrench under each patch in the second half of the still start.
    """

    motion: Motion
    plates: Wrenches
    fell: float | None
    saturated: np.ndarray
    standing: np.ndarray

    def before_fall(self, margin: float) -> Performance:
        """The frames up to ``margin`` seconds before the fall; all of them when it did not fall."""
        if self.fell is None:
            return self
        kept = int(np.searchsorted(self.motion.times, self.motion.times[0] + self.fell - margin))
        return replace(self, motion=self.motion.part(0, kept), plates=self.plates.part(0, kept))


def plan(rig: Rig, motion: Motion, schedule: Schedule) -> Plan:
    """The wrenches and torques a motion needs.

    Two feet share the load by their soles, so that no force is required suddenly where a foot meets or leaves the
    floor: the kick of a tenth of the weight made a person's foot slide by 4 mm as it was put down.
    """
    options = CheckOptions(shrink=DANCE_CHECKS.shrink, pairs=(), distribution="soles")
    checks = check_motion(rig, motion, schedule, options)
    return Plan(motion, schedule, np.array(checks.foot_wrenches), np.array(checks.torques))
