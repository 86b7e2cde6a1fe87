"""``excite``: a motion that excites the inertials of a fixed-base robot."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ...base.progress import Progress
from ...cli.argument_types import add_options, given, number
from ...cli.bodies import rig_named
from ...cli.options import add_output, add_verb
from ...options.exciting import ExcitingOptions

if TYPE_CHECKING:
    from ..robot import FixedBaseRobot

EXPLANATION = """
Finds a motion of all joints, from rest to rest, that excites the inertial parameters best, for measured joint torques
or a force sensor at the base: within ranges, speeds and torques, and without collisions with itself or the surface
below. Writes exciting.csv (angles and speeds for the controller), and exciting.motion.npz, summary.json and rig.json
for Blender.

Examples:
  python -m solver excite arm.urdf --output exciting
  python -m solver excite arm.urdf --seconds 20 --measured base --mount 0 90 0 --output exciting
  python -m solver excite arm.urdf --lock finger_joint --speed 0.5 --output exciting
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "excite", "find a motion that excites a fixed-base robot", EXPLANATION, run)
    add_robot(parser)
    parser.add_argument(
        "--measured", choices=("torques", "base"), default="torques", help="joint torques, or a sensor at the base"
    )
    add_options(parser, ExcitingOptions)
    add_output(parser)


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Add the robot and how it is mounted."""
    parser.add_argument("body", metavar="BODY", help="a .urdf file, a rig.json of this program, hoap3 or hrp2")
    words = "folders in which package:// paths are searched"
    parser.add_argument("--packages", nargs="+", default=(), metavar="DIR", help=words)
    words = "links or joints that are fixed (default: coupled fingers); without names all move"
    parser.add_argument("--lock", nargs="*", metavar="JOINT", help=words)
    words = "orientation of the root in the world: roll, pitch, yaw in degrees (0 0 0: upright)"
    parser.add_argument("--mount", nargs=3, type=number, default=(0.0, 0.0, 0.0), metavar="DEG", help=words)
    words = "torques are measured behind the drives: no friction, no rotors in them"
    parser.add_argument("--no-drives", action="store_true", help=words)


def robot_from_options(options: argparse.Namespace, measured: str) -> FixedBaseRobot:
    """The robot that the options describe."""
    import numpy as np

    from ...base.so3 import from_rpy, to_quaternion
    from ..robot import FixedBaseRobot

    rig = rig_named(options.body, options.packages)
    locked = None if options.lock is None else tuple(options.lock)
    mount = to_quaternion(from_rpy(np.radians(options.mount)))
    return FixedBaseRobot(rig, measured, not options.no_drives, locked, mount)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from ..exciting_motions import exciting_motion
    from ..files import write_exciting

    choices = ExcitingOptions(**given(options, ExcitingOptions))
    robot = robot_from_options(options, options.measured)
    found = exciting_motion(robot, choices, progress=progress)
    write_exciting(found, options.output)
    determined = f"{len(robot.structure)} base parameters"
    if robot.drive_columns:
        determined += f" and {len(robot.independent_columns) - len(robot.structure)} of the drives"
    print(f"{robot.rig.name}: {len(robot.names)} joints move, {determined} can be identified")
    print(
        f"condition number {found.condition:.1f} (best random motion in the same limits: {found.random_condition:.0f})"
    )
    for name, margin in found.margins.items():
        print(f"  least margin of {name}: {margin:.3g}")
    for note in found.notes:
        print(f"note: {note}")
    print(f"\nwritten: {options.output}, {choices.seconds:g} s")
