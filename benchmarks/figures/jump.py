"""A jump keyed by three postures, made one that gravity and the joints allow; judged by masses and velocities alone.

Every body is asked for the same jump in proportion to how high it stands: its rise goes with the height, the time in
the air with its root.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from solver.check_options import CheckOptions
from solver.coordinates import to_manifold
from solver.dance.authoring.keys import Keyed, Keyframe
from solver.dance.authoring.planting import Strip, schedule_of
from solver.dance.authoring.repair import RepairOptions
from solver.dance.workflows.answer import Answer
from solver.dance.workflows.repair import repair
from solver.motion import Motion
from solver.pinocchio_loader import pin
from solver.rig import GRAVITY, Rig
from solver.rigs import hoap3, hrp2, human
from solver.trajectory.curve import FlatCurve
from solver.trajectory.legged_rig import LeggedRig

from .figure import Bound, Figure, at_most

SECONDS, IN_THE_AIR, RISE = 2.0, 0.3, 0.12
"""[s] The whole, the flight in its middle; [m] how far the animator lifted the body in it: of a person of 1.75 m."""
CHECKS = CheckOptions(shrink=0.1, allowed_slip=0.001)
ROUNDS = 5
RATE = 500.0


@dataclass(frozen=True, slots=True)
class Jumper:
    """Who jumps.

    Attributes:
        name: in words.
        rig: makes it.
        held: whether the figures to reach are its own; else its rows are for information.
    """

    name: str
    rig: Callable[[], Rig]
    held: bool = True


JUMPERS = (
    Jumper("person of 1.75 m", lambda: human(1.75, 70.0, "male")),
    Jumper("person of 1.6 m, 80 kg", lambda: human(1.6, 80.0, "female")),
    Jumper("HRP-2 stand-in", hrp2, held=False),
    Jumper("HOAP-3", lambda: hoap3("middle", torque="peak"), held=False),
)


def size_of(rig: Rig) -> float:
    """How high a rig stands, over the person whose jump is in the figures to reach."""
    return rig.standing_height / JUMPERS[0].rig().standing_height


def keyed_jump(rig: Rig) -> Keyed:
    """Standing, the same posture lifted, standing; both feet on the floor but for the flight."""
    size = size_of(rig)
    legged = LeggedRig(rig, shrink=CHECKS.shrink)
    standing, curves, _ = legged.still(legged.home(legged.footing("both"))[None], ("right", "left"))
    lifted = standing[:, : rig.nv].copy()
    lifted[:, 2] += size * RISE
    none = np.zeros_like(lifted)
    postures = [curves.q[0], to_manifold(rig, lifted, none, none).q[0], curves.q[0]]
    times = np.array([0.0, 0.5, 1.0]) * SECONDS
    in_the_air = np.sqrt(size) * IN_THE_AIR
    take_off, landing = 0.5 * (SECONDS - in_the_air), 0.5 * (SECONDS + in_the_air)
    strips = [Strip(p, a, b) for p in rig.sides.values() for a, b in ((0.0, take_off), (landing, SECONDS))]
    schedule = schedule_of(rig, FlatCurve.through_keys(rig, times, postures), strips, 0.0, [0.0, SECONDS])
    roles = ("fixed", "preferred", "fixed")
    keys = tuple(Keyframe(float(t), q, role) for t, q, role in zip(times, postures, roles))
    return Keyed(rig, keys, schedule, name="jump", checks=CHECKS)


def figures(jumpers: tuple[Jumper, ...] = JUMPERS) -> Iterator[list[Figure]]:
    """Rows of every jumper, as they are found."""
    for jumper in jumpers:
        yield jumped(jumper)


def jumped(jumper: Jumper) -> list[Figure]:
    """Rows of one jumper."""
    rig = jumper.rig()
    keyed = keyed_jump(rig)
    began = time.process_time()
    answer = repair(keyed, options=RepairOptions(rounds=ROUNDS), rate=RATE)
    seconds = time.process_time() - began
    motion = answer.keyed.motion(RATE)
    parabola, drift, spin = flown(rig, motion, keyed)
    slip = CHECKS.allowed_slip - min(float(m.smallest.min()) for m in answer.checks.margins if m.name == "slip")
    flight = next(phase for phase in keyed.schedule.phases if phase.airborne)
    data = f"simulated, {jumper.name}, {SECONDS:g} s"
    told = f"{flight.stop - flight.start:.2f} s in the air; {_verdict(answer)}"

    def bound(limit: float) -> Bound | None:
        return at_most(limit) if jumper.held else None

    return [
        Figure("jump keyed by three postures: CoM from the parabola", data, 1e3 * parabola, "mm", bound(1.0),
               note=told),
        Figure("  change of horizontal momentum in the air, over momentum", data, drift, "", bound(0.01)),
        Figure("  change of angular momentum in the air, of its largest on the ground", data, spin, "", bound(0.01)),
        Figure("  slip of planted feet", data, 1e3 * slip, "mm", bound(1.0)),
        Figure("  frames that fail any check", data, 100.0 * float(answer.checks.failed.mean()), "%", None,
               at_most(0.0)),
        Figure("  processor time", data, seconds, "s", bound(10.0), bound(3.0)),
    ]  # fmt: skip


def _verdict(answer: Answer) -> str:
    """Feasible, or all that fails, and why."""
    programmes = getattr(answer.details, "iterations", 0)
    failing = "; ".join(str(failure) for failure in answer.checks.worst_failures)
    why = "".join(f"; {trouble}" for trouble in answer.summary.troubles)
    return f"{'every check holds' if answer.feasible else f'fails: {failing}'}{why}; {programmes} programmes"


def flown(rig: Rig, motion: Motion, keyed: Keyed) -> tuple[float, float, float]:
    """Largest distance [m] from the best parabola; drifts of horizontal and angular momentum, as shares.

    Of the momentum in the first instant of the flight, and of the largest angular momentum on the ground.
    """
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
