"""A dance of named poses, compared with random feasible motion of the same limits and length; all simulated.

The dance is on counts and mirrored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from solver.base.errors import SolverError
from solver.dance.design.named_poses import NamedPose
from solver.dance.workflows.design import design_dance
from solver.dynamics import integrate
from solver.identification.base_parameters import base_parameters
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions, human_options
from solver.rigs import hoap3, human
from solver.skeleton.rig import Rig
from solver.trajectory.legged_rig import LeggedRig

from .dance_accuracy import deviation_ratio, format_motion_errors, wrench_noises
from .figure import Figure, at_least, at_most
from .plain_motions import random_postures

EACH = 3
"""Postures in each foot configuration."""
JUDGED = 500.0
"""[1/s] at which the limits are looked at, and at which sensors sample."""
Angles = Mapping[str, tuple[tuple[int, float], ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """A body and its named poses.

    Attributes:
        name: in words.
        rig: makes it.
        options: of its dance.
        poses: joints (link: axis and angle [rad] from home, as many as it turns) of each.
    """

    name: str
    rig: Callable[[], Rig]
    options: Callable[..., DanceOptions]
    poses: Mapping[str, Angles]


CASES = (
    Case("person", lambda: human(1.75, 65.0, "female"), human_options, {
        "reach": {"right_upper_arm": ((1, -2.2),), "left_upper_arm": ((0, 0.7),), "torso": ((2, 0.4),)},
        "bow": {"torso": ((1, 0.6),), "right_upper_arm": ((1, 0.6),), "left_upper_arm": ((1, 0.6),)},
        "crane": {"right_thigh": ((1, -0.8),), "right_shank": ((0, 1.2),), "right_upper_arm": ((0, -1.3),),
                  "left_upper_arm": ((0, 1.3),)},
        "archer": {"torso": ((2, -0.5),), "left_upper_arm": ((1, -1.4),), "right_upper_arm": ((0, -1.2),),
                   "right_forearm": ((0, 1.4),)},
    }),
    Case("HOAP-3", lambda: hoap3("middle", torque="peak"), DanceOptions, {
        "reach": {"right_shoulder": ((0, -1.4),), "left_upper_arm": ((0, 0.8),), "left_forearm": ((0, -1.0),)},
        "bow": {"chest": ((0, 0.5),), "right_shoulder": ((0, -0.6),), "left_shoulder": ((0, -0.6),)},
        "crane": {"right_thigh": ((0, -0.5),), "right_shank": ((0, 0.8),), "right_upper_arm": ((0, -0.9),),
                  "left_upper_arm": ((0, 0.9),)},
        "archer": {"left_shoulder": ((0, -1.2),), "left_elbow_yaw": ((0, 0.8),), "right_upper_arm": ((0, -0.9),),
                   "right_forearm": ((0, -0.8),)},
    }),
)  # fmt: skip


def figures(workers: int, cases: tuple[Case, ...] = CASES) -> Iterator[list[Figure]]:
    """Rows of every case, as they are found."""
    for case in cases:
        yield compare_dances(case, workers)


def build_poses(rig: Rig, poses: Mapping[str, Angles]) -> tuple[NamedPose, ...]:
    """Postures from home with joints turned, within their limits."""
    legged = LeggedRig(rig, shrink=0.0)
    footing = legged.get_footing("both")
    _, curves, _ = legged.solve_static(legged.home_posture(footing)[None], footing.solved)
    made = []
    for name, angles in poses.items():
        step = np.zeros(rig.nv)
        for link, turns in angles.items():
            column = sum(joint.nv for joint in rig.joints[: rig.index(link)])
            for axis, angle in turns:
                step[column + axis] = angle
        made.append(NamedPose(name, integrate(rig, curves.q[0], step)))
    return tuple(made)


def compare_dances(case: Case, workers: int) -> list[Figure]:
    """A dance of named poses compared with its baselines."""
    rig = case.rig()
    poses = build_poses(rig, case.poses)
    options = case.options(postures=dict.fromkeys(FOOT_CONFIGURATIONS, EACH), workers=workers, seed=0)
    data = f"simulated, {case.name}, {len(poses)} poses"
    what = "dance of named poses: random / dance, geometric mean"
    try:
        named = design_dance(rig, replace(options, poses=poses))
    except SolverError as error:
        return [Figure(what, data, None, note=str(error))]
    baseline = random_postures(rig, options, named.duration, options.seed, options.min_duration)
    structure = base_parameters(rig)
    noise = wrench_noises(rig)[0]
    failed = np.concatenate([found.failed for found in named.check(rig, JUDGED, options.checks)])
    noise_note = f"noise: plate 0.2 N, 0.02 N m at 500 Hz and {format_motion_errors(rig)}"
    used = ", ".join(f"{count} times {name}" for name, count in Counter(named.poses).items())
    notes = "".join(f"; {note}" for note in named.notes)
    return [
        Figure(what, data, deviation_ratio(rig, structure, baseline, named, noise), "", None, at_least(1.0),
               note=f"{noise_note}; {named.duration:.0f} s of dance, {len(named.postures)} postures ({used}), "
               f"{baseline.duration:.0f} s of random motion, per second{notes}"),
        Figure("  frames that break a limit at 500 Hz", data, 100.0 * float(failed.mean()), "%", at_most(0.0)),
    ]  # fmt: skip
