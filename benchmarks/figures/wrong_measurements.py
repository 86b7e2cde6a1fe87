"""Faults put into the data of arms and of a simulated HRP-2: how many are named with their cause, and false alarms."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from solver.base.errors import InvalidValue
from solver.demo.robot import simulate_robot
from solver.fixed_base.files import read_trial
from solver.fixed_base.identify import FixedBaseTrial, identify_fixed_base
from solver.fixed_base.robot import FixedBaseRobot
from solver.rigs import from_urdf
from solver.signals.trial import Recording
from solver.study.joint_motion import poses_of
from solver.study.prepare import prepare
from solver.study.values import TrialRecord

from .figure import Figure, at_least, at_most

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
NAMED = 7
"""Least number of eight faults whose cause must be named."""
LATE, CONSTANT = 0.2, 15.0
"""[s], [N m] of the faults."""
CURRENT_GAINS = np.array([14.87, 13.26, 11.13, 10.62, 11.03, 11.47])
"""[N m/A] of UR10e's drives, from the study that published its data."""
UR10E = {"ur-20_02_05-20sec_8harm": (320, 2310), "ur-20_02_10-30sec_12harm": (635, 3510)}
"""Rows of each run that hold the excitation."""
JOINTS = ("left_thigh", "chest", "right_shoulder_pitch")
PAIRS = (("left_shoulder_pitch", "left_forearm"), ("right_thigh", "chest"), ("left_shank", "left_ankle"))
"""HRP-2's joints with a wrong sign, and exchanged ones, by seed."""


def figures(quick: bool) -> list[Figure]:
    """Rows of the table."""
    bodies: list[Iterator[Figure]] = [measure_arm(name, read) for name, read in ARMS.items()]
    bodies += [measure_humanoid(seed) for seed in range(1, 2 if quick else 1 + len(JOINTS))]
    return [row for body in bodies for row in body]


def measure_arm(name: str, read: Callable[[], tuple[FixedBaseRobot, list[FixedBaseTrial]]]) -> Iterator[Figure]:
    """Faults of an arm's torques and angles, put into its first trial."""
    try:
        robot, trials = read()
    except (FileNotFoundError, OSError):
        yield Figure("faults of an arm named, of 8", name, None, note=f"no data in {SHARED}")
        return
    first, joint = trials[0], 1
    measured, reversed_one = first.measured, np.where(np.arange(len(robot.names)) == joint, -1.0, 1.0)
    other = [0, 2, 1, *range(3, len(robot.names))]
    one, two = robot.names[1], robot.names[2]
    late = [np.interp(first.times - LATE, first.times, column) for column in measured.T]
    constant = CONSTANT * (reversed_one < 0.0)
    faults = {
        "all measurements have the wrong sign": replace(first, measured=-measured),
        f"{one} have the wrong sign": replace(first, measured=reversed_one * measured),
        f"({one} and {two}|{two} and {one}) are exchanged": replace(first, measured=measured[:, other]),
        "in N mm": replace(first, measured=1e3 * measured),
        "in degrees": replace(first, y=np.degrees(first.y)),
        "0.20 s too late": replace(first, measured=np.column_stack(late)),
        f"contain constants .{one}|offset .* of ([^:]*, )?{one}": replace(first, measured=measured + constant),
        "100 times too small": replace(first, measured=0.01 * measured),
    }
    yield _count_named(f"faults of an arm named, of {len(faults)}", name, {
        cause: _describe_arm(robot, trial) for cause, trial in faults.items()
    })  # fmt: skip
    alarms = [text for trial in trials if (text := _describe_arm(robot, trial)) and "trial" in text]
    yield Figure("  recordings as they are: false alarms", name, len(alarms), "", at_most(0), note="; ".join(alarms))


def measure_humanoid(seed: int) -> Iterator[Figure]:
    """Faults of a simulated HRP-2's joint coordinates and forces."""
    robot = simulate_robot(seed, trials=("dance",), seconds=8.0, rate=100)
    (right,) = robot.recordings
    assert right.joints is not None
    assert right.wrenches is not None
    joints, wrenches, times = right.joints, right.wrenches, right.joints.times
    names, angles = list(joints.names), joints.values
    joint, pair = JOINTS[seed - 1], PAIRS[seed - 1]
    order = list(range(len(names)))
    first, second = (names.index(name) for name in pair)
    order[first], order[second] = second, first
    sign = np.where(np.arange(len(names)) == names.index(joint), -1.0, 1.0)
    flat = wrenches.values.reshape(len(times), -1)
    late = np.column_stack([np.interp(times - LATE, times, column) for column in flat.T]).reshape(wrenches.values.shape)
    zero = np.where(np.arange(len(names)) == names.index(joint), np.radians(CONSTANT), 0.0)

    def with_angles(values: np.ndarray) -> Recording:
        return replace(right, joints=replace(joints, values=values))

    def with_wrenches(values: np.ndarray) -> Recording:
        return replace(right, wrenches=replace(wrenches, values=values))

    faults = {
        "all joint angles have the wrong sign": with_angles(-angles),
        f"{joint} has the wrong sign": with_angles(sign * angles),
        f"({pair[0]} and {pair[1]}|{pair[1]} and {pair[0]}) are exchanged": with_angles(angles[:, order]),
        "in N mm": with_wrenches(wrenches.values * np.repeat([1.0, 1e3], 3)),
        "in degrees": with_angles(np.degrees(angles)),
        "0.20 s too late": with_wrenches(late),
        f"zero of {joint}": with_angles(angles + zero),
        "plates weigh 0.58 kg": with_wrenches(0.01 * wrenches.values),
    }

    def describe(recording: Recording) -> str:
        assert recording.joints is not None
        try:
            found = prepare(robot.rig, [TrialRecord(recording, given=poses_of(robot.rig, recording.joints))])
        except InvalidValue as error:
            return str(error)
        return "; ".join(finding.text for finding in found.findings if not finding.done.is_silent)

    data = f"simulated, HRP-2, seed {seed}"
    texts = {cause: describe(recording) for cause, recording in faults.items()}
    yield _count_named(f"faults of joints and forces named, of {len(faults)}", data, texts)
    alarm = describe(right)
    yield Figure("  recordings as they are: false alarms", data, int(bool(alarm)), "", at_most(0), note=alarm)


def _count_named(what: str, data: str, texts: dict[str, str]) -> Figure:
    """Number of faults whose text names the cause; the note lists the others."""
    # a cause is a pattern; its first alternative without special characters is what is read
    missed = [
        " ".join(re.findall(r"[\w-]+", cause.split("|")[0]))
        for cause, text in texts.items()
        if not re.search(cause, text)
    ]
    return Figure(what, data, len(texts) - len(missed), "", at_least(NAMED), at_least(len(texts)),
                  note=f"not named: {', '.join(missed)}" if missed else "")  # fmt: skip


def _describe_arm(robot: FixedBaseRobot, trial: FixedBaseTrial) -> str:
    """The refusal, or the notes."""
    try:
        return "; ".join(identify_fixed_base(robot, [trial]).notes)
    except InvalidValue as error:
        return str(error)


def _read_tx40() -> tuple[FixedBaseRobot, list[FixedBaseTrial]]:
    folder = SHARED / "tx40"
    robot = FixedBaseRobot(from_urdf(folder / "tx40.urdf"))
    runs = ("train", "test")
    return robot, [read_trial(robot, folder / f"tx40_{run}_q.csv", folder / f"tx40_{run}_tau.csv") for run in runs]


def _read_ur10e() -> tuple[FixedBaseRobot, list[FixedBaseTrial]]:
    robot, trials = FixedBaseRobot(from_urdf(SHARED / "ur10e" / "ur10e.urdf")), []
    for run, (start, stop) in UR10E.items():
        table = np.loadtxt(SHARED / "ur10e" / f"{run}.csv", delimiter=",")[start:stop]
        times = np.arange(table[0, 0], table[-1, 0], 0.01)
        even = np.column_stack([np.interp(times, table[:, 0], column) for column in table.T])
        trials.append(FixedBaseTrial(run, times - times[0], even[:, 1:7], CURRENT_GAINS * even[:, 13:19]))
    return robot, trials


def _read_bench() -> tuple[FixedBaseRobot, list[FixedBaseTrial]]:
    folder = SHARED / "brought" / "reports"
    robot = FixedBaseRobot(from_urdf(folder / "arm.urdf"), drives=False)
    return robot, [read_trial(robot, folder / "arm_q.csv", folder / "arm_tau_right.csv")]


def _simulate_arm() -> tuple[FixedBaseRobot, list[FixedBaseTrial]]:
    """An arm with drives, 1 % noise and wrong masses; on its own the rotor of the first joint is unknown."""
    from tests.fixed_base.arm import arm, swings, with_wrong_masses

    with tempfile.TemporaryDirectory() as folder:
        rig = arm(Path(folder))
    rig = replace(rig, limits=replace(rig.limits, torque=2.0 * rig.limits.torque))  # the swings need 130 N m
    truth = FixedBaseRobot(rig)
    times, *curves = swings(truth)
    drives = np.tile([0.3, 5.0, 3.0, 0.5], len(truth.names))
    exact = truth.regressor(truth.motion(times, *curves)) @ np.concatenate([drives, rig.prior.vector])
    noise = 0.01 * exact.std(axis=0) * np.random.default_rng(2).standard_normal(exact.shape)
    return FixedBaseRobot(with_wrong_masses(rig)), [FixedBaseTrial("simulated", times, curves[0], exact + noise)]


ARMS = {
    "TX40": _read_tx40,
    "UR10e": _read_ur10e,
    "an arm of a bug report": _read_bench,
    "simulated, four joints": _simulate_arm,
}
