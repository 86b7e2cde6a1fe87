"""``identify-fixed-base``: inertials of a fixed-base robot, from joint torques or a force sensor under its base."""

from __future__ import annotations

import argparse

from ...base.errors import InvalidValue
from ...base.progress import Progress
from ...cli.argument_types import path, positive
from ...cli.options import add_output, add_verb
from .excite import add_robot, robot_from_options

EXPLANATION = """
Identifies mass, centre of mass and inertia of every link, physically consistent, and, where torques are the motors',
the drives' rotor inertia, friction and offset. The data decide which equations are used: --torques those of the
joints, --base those of the wrench at the base (world axes, about the root's origin). The first file
of --angles belongs to the first one measured, and so on.

Examples:
  python -m solver identify-fixed-base arm.urdf --angles 1.csv 2.csv --torques torques1.csv torques2.csv --output found
  python -m solver identify-fixed-base arm.urdf --angles run1.csv --base sensor.csv --mount 0 90 0 --output found
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "identify-fixed-base", "identify the links of a fixed-base robot", EXPLANATION, run)
    add_robot(parser)
    words = "joint coordinates: NAME [rad] by link or joint"
    parser.add_argument("--angles", nargs="+", type=path, required=True, metavar="FILE", help=words)
    measured = parser.add_mutually_exclusive_group(required=True)
    measured.add_argument("--torques", nargs="+", type=path, metavar="FILE", help="joint torques: NAME [N m]")
    measured.add_argument("--base", nargs="+", type=path, metavar="FILE", help="wrench on the robot: NAME.fx [N] ...")
    words = "cut-off of the filter that both sides of the equations pass (10)"
    parser.add_argument("--cutoff", type=positive, default=10.0, metavar="HZ", help=words)
    words = "links that keep the prior's parameters"
    parser.add_argument("--fixed", nargs="+", default=(), metavar="LINK", help=words)
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from dataclasses import replace

    from ...cli.printed import warn
    from ...formats.text_table import format_table
    from ...scene.determined import describe_determined
    from ..files import lock_joints_without_column, read_trial, write_result
    from ..identify import DEFAULT_FILTER, FixedBaseOptions, identify_fixed_base
    from ..robot import BASE, TORQUES

    measured = options.torques or options.base
    if len(measured) != len(options.angles):
        raise InvalidValue(f"{len(options.angles)} files of angles for {len(measured)} of measurements: give pairs")
    robot = robot_from_options(options, BASE if options.base else TORQUES)
    warnings: list[str] = []
    progress(0.0, "reading")
    robot = lock_joints_without_column(robot, options.angles[0], warnings.append)
    trials = [
        read_trial(robot, angles, values, warn=warnings.append) for angles, values in zip(options.angles, measured)
    ]
    progress(0.2, "identifying")
    choices = FixedBaseOptions(preset=replace(DEFAULT_FILTER, cutoff=options.cutoff), fixed_links=tuple(options.fixed))
    found = identify_fixed_base(robot, trials, choices)
    progress(0.9, "writing")
    write_result(found, [trial.name for trial in trials], options.output, warnings.append)
    progress(1.0, "done")
    warn(warnings)
    rows = [
        [name, f"{mass:.3f}", f"{width:.3f}", f"{prior:.3f}"]
        for name, mass, width, prior in zip(
            robot.rig.links,
            found.estimate.parameters.masses,
            found.std.half_widths[:, 0],
            found.estimate.prior.masses,
        )
    ]
    print("\n".join(describe_determined(found.determined, robot.rig.prior_source)))
    print(format_table(["link", "mass [kg]", "± 95 %", "prior"], rows))
    residuals = zip(robot.row_names, found.rmse, found.rmse_prior, strict=True)
    print("residual (of the prior): " + ", ".join(f"{name} {now:.3g} ({then:.3g})" for name, now, then in residuals))
    for note in found.notes:
        print(f"note: {note}")
    print(f"\n{found.frames} frames; the parameters are {found.estimate.satisfies}; written: {options.output}")
