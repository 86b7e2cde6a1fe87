"""A jump keyed by three postures and repaired to obey gravity and joint limits; checked by masses and velocities alone.

Every body performs the same jump in proportion to its standing height: its rise goes with the height, the time in
the air with its root. The result is checked directly, and as Blender's frames: keyed, read and checked as
by the buttons. ``python -m benchmarks.figures.jump FOLDER RATE`` reads a repaired dance's folder back in this way.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from solver.base.so3 import product
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.authoring.timeline import dance_from_timeline, schedule_from_strips
from solver.dance.workflows.check import check
from solver.dance.workflows.edited_dance import EditedDance
from solver.dance.workflows.repair import repair
from solver.dynamics import centroidal_momentum, com_trajectory
from solver.dynamics.coordinates import to_manifold
from solver.options.authoring import RepairOptions
from solver.options.checks import CheckOptions
from solver.rigs import hoap3, hrp2, human
from solver.scene.timeline import TIMELINE, SceneStrip
from solver.skeleton.rig import GRAVITY, Rig
from solver.trajectory.curve import FlatCurve
from solver.trajectory.legged_rig import LeggedRig
from solver.values.motion import Motion

from .figure import Bound, Figure, at_most

SECONDS = 2.0
"""[s] The whole, the flight in its middle."""
CHECKS = CheckOptions(shrink=0.1, allowed_slip=0.001)
ROUNDS = 5
RATE = 500.0
FRAMES = (24.0, 60.0)
"""[1/s] at which Blender's frames are read back."""
AS_READ = "as_read.timeline.npz"


@dataclass(frozen=True, slots=True)
class Leap:
    """What the animator keyed, for a person of 1.75 m.

    Attributes:
        in_the_air: [s].
        rise: [m] how far the body was lifted in the middle.
        forward: [m] from the first place to the last.
        turn: [rad] of the whole body between them.
        offset: [m] forward, of the lifted body alone: off its balance.
    """

    in_the_air: float = 0.3
    rise: float = 0.12
    forward: float = 0.0
    turn: float = 0.0
    offset: float = 0.0

    def placed(self, q: np.ndarray, share: float, size: float) -> np.ndarray:
        """A configuration (nq,) so far on the way."""
        angle = share * self.turn
        moved, axis = np.array(q), np.array([0.0, 0.0, np.sin(0.5 * angle), np.cos(0.5 * angle)])
        cosine, sine = np.cos(angle), np.sin(angle)
        moved[:2] = np.array([[cosine, -sine], [sine, cosine]]) @ q[:2] + [share * size * self.forward, 0.0]
        moved[3:7] = product(axis, q[3:7])
        return moved


@dataclass(frozen=True, slots=True)
class Jumper:
    """Who jumps.

    Attributes:
        name: in words.
        rig: makes it.
        held: whether its figures have bounds; else its rows are for information.
        leap: what is keyed.
    """

    name: str
    rig: Callable[[], Rig]
    held: bool = True
    leap: Leap = Leap()


def _person() -> Rig:
    return human(1.75, 70.0, "male")


JUMPERS = (
    Jumper("person of 1.75 m", _person),
    Jumper("person of 1.6 m, 80 kg", lambda: human(1.6, 80.0, "female")),
    Jumper("HRP-2 stand-in", hrp2, held=False),
    Jumper("HOAP-3", lambda: hoap3("middle", torque="peak"), held=False),
)
OTHERS = (
    Jumper("person of 1.75 m, low", _person, False, Leap(0.2, 0.06)),
    Jumper("person of 1.75 m, high", _person, False, Leap(0.35, 0.16)),
    Jumper("person of 1.75 m, 25 cm forward", _person, False, Leap(forward=0.25)),
    Jumper("person of 1.75 m, turning by 30 degrees", _person, False, Leap(turn=np.radians(30.0))),
    Jumper("person of 1.75 m, keyed 5 cm off its balance", _person, False, Leap(offset=0.05)),
    Jumper("person of 1.9 m, 85 kg", lambda: human(1.9, 85.0, "male"), False),
)
"""Jumps on which nothing was chosen."""


def relative_height(rig: Rig) -> float:
    """Standing height of a rig over that of the reference person."""
    return rig.standing_height / JUMPERS[0].rig().standing_height


def keyed_jump(rig: Rig, leap: Leap | None = None) -> AuthoredDance:
    """Standing, the same posture lifted, standing; both feet on the floor but for the flight."""
    leap = leap or Leap()
    size = relative_height(rig)
    legged = LeggedRig(rig, shrink=CHECKS.shrink)
    standing, curves, _ = legged.solve_static(legged.home_posture(legged.get_footing("both"))[None], ("right", "left"))
    lifted = standing[:, : rig.nv].copy()
    lifted[:, [0, 2]] += size * np.array([leap.offset, leap.rise])
    none = np.zeros_like(lifted)
    postures = [curves.q[0], to_manifold(rig, lifted, none, none).q[0], curves.q[0]]
    postures = [leap.placed(q, share, size) for q, share in zip(postures, (0.0, 0.5, 1.0))]
    times = np.array([0.0, 0.5, 1.0]) * SECONDS
    in_the_air = np.sqrt(size) * leap.in_the_air
    take_off, landing = 0.5 * (SECONDS - in_the_air), 0.5 * (SECONDS + in_the_air)
    strips = [SceneStrip(p, a, b) for p in rig.sides.values() for a, b in ((0.0, take_off), (landing, SECONDS))]
    schedule = schedule_from_strips(rig, FlatCurve.through_keys(rig, times, postures), strips, 0.0, [0.0, SECONDS])
    roles = ("fixed", "preferred", "fixed")
    keys = tuple(Keyframe(float(t), q, role) for t, q, role in zip(times, postures, roles))
    return AuthoredDance(rig, keys, schedule, name="jump", checks=CHECKS)


def figures(jumpers: tuple[Jumper, ...] = JUMPERS) -> Iterator[list[Figure]]:
    """Rows of every jumper, then one of every other jump, as they are found."""
    for jumper in jumpers:
        yield jump_figures(jumper)
    for jumper in OTHERS:
        yield [other_jump_figure(jumper)]


def repair_jump(rig: Rig, jumper: Jumper) -> tuple[AuthoredDance, EditedDance, float]:
    """A jump as keyed, repaired, and processor time [s] of the repair."""
    keyed = keyed_jump(rig, jumper.leap)
    began = time.process_time()
    answer = repair(keyed, options=RepairOptions(passes=ROUNDS), rate=RATE)
    return keyed, answer, time.process_time() - began


def jump_figures(jumper: Jumper) -> list[Figure]:
    """Rows of one jumper."""
    rig = jumper.rig()
    keyed, answer, seconds = repair_jump(rig, jumper)
    motion = answer.dance.motion(RATE)
    parabola, drift, spin = measure_flight(rig, motion, keyed)
    slip = CHECKS.allowed_slip - min(float(m.smallest.min()) for m in answer.checks.margins if m.name == "slip")
    flight = next(phase for phase in keyed.schedule.phases if phase.airborne)
    data = f"simulated, {jumper.name}, {SECONDS:g} s"
    note = f"{flight.stop - flight.start:.2f} s in the air; {_format_result(answer)}"

    def bound(limit: float) -> Bound | None:
        return at_most(limit) if jumper.held else None

    return [
        Figure("jump keyed by three postures: CoM from the parabola", data, 1e3 * parabola, "mm", bound(1.0),
               note=note),
        Figure("  change of horizontal momentum in the air, over momentum", data, drift, "", bound(0.01)),
        Figure("  change of angular momentum in the air, of its largest on the ground", data, spin, "", bound(0.01)),
        Figure("  slip of planted feet", data, 1e3 * slip, "mm", bound(1.0)),
        Figure("  frames that fail any check", data, 100.0 * float(answer.checks.failed.mean()), "%", None,
               at_most(0.0)),
        *(_blender_frames_figure(rig, answer, keyed, data, rate, bound(1.0)) for rate in FRAMES),
        Figure("  processor time", data, seconds, "s", bound(10.0), bound(3.0), timed=True),
    ]  # fmt: skip


def _blender_frames_figure(
    rig: Rig, answer: EditedDance, keyed: AuthoredDance, data: str, rate: float, must: Bound | None
) -> Figure:
    """The row of a repaired jump as it is read back from Blender's frames."""
    what, aim = f"  read back from {rate:g} frames a second: moments that fail any check", at_most(0.0)
    if find_spec("bpy") is None:
        return Figure(what, data, None, "%", must, aim, note="Blender's module is not installed")
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "repaired"
        answer.write(written, rate)
        again = [sys.executable, "-m", "benchmarks.figures.jump", str(written), f"{rate:g}"]
        subprocess.run(again, check=True, capture_output=True)
        found = dance_from_timeline(TIMELINE.read(written / AS_READ))
    parabola, drift, spin = measure_flight(rig, found.motion(RATE), keyed)
    failed = 100.0 * float(check(found).checks.failed.mean())
    note = f"{1e3 * parabola:.3f} mm from the parabola, momentum {100.0 * drift:.2f} %, angular {100.0 * spin:.2f} %"
    return Figure(what, data, failed, "%", must, aim, note=note)


def read_back(folder: Path, rate: float) -> None:
    """Have Blender show the dance of a folder at a frame rate [1/s], and write there what its timeline says then."""
    import bpy

    from addon.authoring import dance_import, timeline
    from addon.base import bpy_access
    from addon.scene import action, armature
    from solver.scene.dance_folder import MOTION_FILE
    from solver.scene.motion_record import MOTION

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy_access.scene(bpy.context)
    action.set_frame_rate(scene, rate)
    body = armature.build_armature(bpy.context, MOTION.read(folder / MOTION_FILE).rig)
    dance_import.show_dance(bpy.context, dance_import.read_dance(folder), target=body)
    TIMELINE.write(folder / AS_READ, timeline.sample_timeline(scene, body, *timeline.motion_range(scene, body)))


def other_jump_figure(jumper: Jumper) -> Figure:
    """One row of a jump: frames that fail, compared with the keyed motion."""
    rig = jumper.rig()
    keyed, answer, seconds = repair_jump(rig, jumper)
    parabola, drift, spin = measure_flight(rig, answer.dance.motion(RATE), keyed)
    given, *_ = measure_flight(rig, keyed.motion(RATE), keyed)
    before = getattr(answer.details, "before", answer.checks)
    note = (
        f"as keyed: {100.0 * float(before.failed.mean()):.0f} %, {1e3 * given:.0f} mm from the parabola; repaired: "
        f"{1e3 * parabola:.3f} mm, momentum {100.0 * drift:.2f} %, angular {100.0 * spin:.2f} %, {seconds:.1f} s; "
    )
    failed = 100.0 * float(answer.checks.failed.mean())
    data, note = f"simulated, {jumper.name}, {SECONDS:g} s", note + _format_result(answer)
    return Figure("other jump, repaired: frames that fail any check", data, failed, "%", None, at_most(0.0), note=note)


def _format_result(answer: EditedDance) -> str:
    """Feasible, or all that fails, and why."""
    programs = getattr(answer.details, "iterations", 0)
    failing = "; ".join(str(failure) for failure in answer.checks.worst_failures)
    why = "".join(f"; {trouble}" for trouble in answer.summary.problems)
    return f"{'every check holds' if answer.feasible else f'fails: {failing}'}{why}; {programs} programs"


def measure_flight(rig: Rig, motion: Motion, keyed: AuthoredDance) -> tuple[float, float, float]:
    """Largest distance [m] from the best parabola; drifts of horizontal and angular momentum, as shares.

    Of the momentum in the first instant of the flight, and of the largest angular momentum on the ground.
    """
    places = com_trajectory(rig, motion, rig.prior)
    momenta = centroidal_momentum(rig, motion, rig.prior).momentum
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


if __name__ == "__main__":
    read_back(Path(sys.argv[1]), float(sys.argv[2]))
    sys.stdout.flush()
    os._exit(0)  # Blender's module sometimes never returns from its exit handlers
