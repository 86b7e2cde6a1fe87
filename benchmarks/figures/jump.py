"""A jump keyed by three postures, made one that gravity and the joints allow; judged by masses and velocities alone."""

from __future__ import annotations

import time

import numpy as np

from solver.check_options import CheckOptions
from solver.coordinates import to_manifold
from solver.dance.authoring.keys import Keyed, Keyframe
from solver.dance.authoring.planting import Strip, schedule_of
from solver.dance.authoring.repair import RepairOptions, repair
from solver.motion import Motion
from solver.pinocchio_loader import pin
from solver.rig import GRAVITY, Rig
from solver.rigs import human
from solver.trajectory.curve import FlatCurve
from solver.trajectory.legged_rig import LeggedRig

from .figure import Figure, at_most

SECONDS, IN_THE_AIR, RISE = 2.0, 0.3, 0.12
"""[s] The whole, the flight in its middle; [m] how far the animator lifted the body in it."""
CHECKS = CheckOptions(shrink=0.1, allowed_slip=0.001)
ROUNDS = 3
RATE = 500.0
DATA = "simulated, person of 1.75 m, 2 s"


def keyed_jump(rig: Rig) -> Keyed:
    """Standing, the same posture lifted, standing; both feet on the floor but for the flight."""
    legged = LeggedRig(rig, shrink=CHECKS.shrink)
    standing, curves, _ = legged.still(legged.home(legged.footing("both"))[None], ("right", "left"))
    lifted = standing[:, : rig.nv].copy()
    lifted[:, 2] += RISE
    none = np.zeros_like(lifted)
    postures = [curves.q[0], to_manifold(rig, lifted, none, none).q[0], curves.q[0]]
    times = np.array([0.0, 0.5, 1.0]) * SECONDS
    take_off, landing = 0.5 * (SECONDS - IN_THE_AIR), 0.5 * (SECONDS + IN_THE_AIR)
    strips = [Strip(p, a, b) for p in rig.sides.values() for a, b in ((0.0, take_off), (landing, SECONDS))]
    schedule = schedule_of(rig, FlatCurve.through_keys(rig, times, postures), strips, 0.0, [0.0, SECONDS])
    roles = ("fixed", "preferred", "fixed")
    keys = tuple(Keyframe(float(t), q, role) for t, q, role in zip(times, postures, roles))
    return Keyed(rig, keys, schedule, name="jump", checks=CHECKS)


def figures() -> list[Figure]:
    """Rows of the table."""
    rig = human(1.75, 70.0, "male")
    keyed = keyed_jump(rig)
    began = time.process_time()
    found = repair(keyed, options=RepairOptions(rounds=ROUNDS), rate=RATE)
    seconds = time.process_time() - began
    parabola, drift, spin = _flown(rig, found.motion, keyed)
    slip = CHECKS.allowed_slip - min(float(m.smallest.min()) for m in found.after.margins if m.name == "slip")
    failing = "every check holds" if found.feasible else f"fails: {found.after.worst_failures[0]}"
    return [
        Figure("jump keyed by three postures: CoM from the parabola", DATA, 1e3 * parabola, "mm", at_most(1.0),
               note=f"{failing}; {found.iterations} programmes"),
        Figure("  change of horizontal momentum in the air, over momentum", DATA, drift, "", at_most(0.01)),
        Figure("  change of angular momentum in the air, of its largest on the ground", DATA, spin, "", at_most(0.01)),
        Figure("  slip of planted feet", DATA, 1e3 * slip, "mm", at_most(1.0)),
        Figure("  processor time", DATA, seconds, "s", at_most(10.0), at_most(3.0)),
    ]  # fmt: skip


def _flown(rig: Rig, motion: Motion, keyed: Keyed) -> tuple[float, float, float]:
    """Largest distance [m] from the best parabola; drifts of horizontal and angular momentum, as shares."""
    data = rig.model.createData()
    places, momenta = np.empty((len(motion.times), 3)), np.empty((len(motion.times), 6))
    for frame, (q, v) in enumerate(zip(motion.q, motion.v)):
        pin.computeCentroidalMomentum(rig.model, data, q, v)
        places[frame], momenta[frame] = pin.centerOfMass(rig.model, data, q), data.hg.vector
    flight = next(phase for phase in keyed.schedule.phases if phase.airborne)
    air = (motion.times > flight.start) & (motion.times < flight.stop)
    since = motion.times[air] - flight.start
    fall = places[air] + 0.5 * GRAVITY * np.array([0.0, 0.0, 1.0]) * since[:, None] ** 2
    straight = np.column_stack([np.ones_like(since), since])
    left = fall - straight @ np.linalg.lstsq(straight, fall, rcond=None)[0]
    linear = float(np.linalg.norm(momenta[air][0, :3]))
    return (
        float(np.linalg.norm(left, axis=1).max()),
        float(np.linalg.norm(np.ptp(momenta[air][:, :2], axis=0))) / linear,
        float(np.linalg.norm(np.ptp(momenta[air][:, 3:], axis=0)) / np.linalg.norm(momenta[~air][:, 3:], axis=1).max()),
    )
