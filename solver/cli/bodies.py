"""Options that name a body, and the rig that they describe."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError, InvalidValue
from ..options.study import Settings
from ..storage.codec import JSON_SUFFIX
from ..values.person import SEXES
from ..values.rig_kinds import built_in_rigs, robot_suffixes
from .argument_types import add_options, by_name, number, path, positive, stature

if TYPE_CHECKING:
    from ..rigs.contact_patches import PatchSpecification
    from ..skeleton.rig import Rig

BUILDING = (
    *("height", "mass", "sex", "variant", "tables", "trunk", "shoulders"),
    *("payload", "torque", "packages", "feet", "srdf", "up"),
)
"""Options that say how to build a body."""


def add_body(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the options that describe a body."""
    files = f"a robot's file ({', '.join(robot_suffixes())}), or a rig.json of this program"
    words = f"{', '.join(built_in_rigs())}, {files}"
    parser.add_argument("body", nargs=None if required else "?", metavar="BODY", help=words)
    parser.add_argument("--height", type=stature, metavar="M", help="human: stature in metres")
    parser.add_argument("--mass", type=positive, metavar="KG", help="human, hrp2: mass in kg")
    words = "human: column of the tables of segment inertias; unknown: mean of both"
    parser.add_argument("--sex", choices=SEXES, help=words)
    parser.add_argument("--variant", help="human: 34dof (15 segments) or 23dof (12 segments)")
    words = "human: tables of segment inertias whose mean is the prior, of dumas, deleva, winter, shan (default: all)"
    parser.add_argument("--tables", nargs="+", default=(), metavar="TABLE", help=words)
    parser.add_argument("--trunk", help="human: one (pelvis, torso) or three (pelvis, abdomen, thorax)")
    parser.add_argument("--shoulders", help="human: fixed, or girdle (clavicle, scapula)")
    parser.add_argument("--payload", help="hoap3: payload")
    words = (
        "hoap3: torque limits are the motors' peak (default) or rated "
        "torques; with rated ones it cannot balance on one foot"
    )
    parser.add_argument("--torque", help=words)
    parser.add_argument(
        "--packages", nargs="+", default=(), metavar="DIR", help="URDF: folders in which package:// paths are searched"
    )
    parser.add_argument("--feet", nargs="+", default=(), metavar="LINK", help="URDF: links that are feet")
    words = "URDF: SRDF file with disabled collisions and end effectors"
    parser.add_argument("--srdf", type=path, metavar="FILE", help=words)
    parser.add_argument("--up", choices=("auto", "y", "z"), help="URDF: vertical axis (default: detected, else z)")
    words = "flat soles, length and width in metres, for files without shapes or with round feet"
    parser.add_argument("--soles", nargs="+", default=(), metavar="LINK=LENGTHxWIDTH", help=words)
    words = "further contact patches: hands, knees, shins of a person, or a round or rectangular patch anywhere [m]"
    parser.add_argument(
        "--patches", nargs="+", default=(), metavar="LINK=X,Y,Z,RADIUS[,-x]|LINK=X,Y,Z,LENGTHxWIDTH", help=words
    )
    parser.add_argument(
        "--may-touch", nargs="+", default=(), metavar="LINK:LINK", help="pairs of links whose collisions are ignored"
    )
    parser.add_argument(
        "--torques", nargs="+", default=(), metavar="JOINT=NM", help="torque limits, where the file has placeholders"
    )


def body_of(options: argparse.Namespace) -> Rig:
    """The rig that the options describe: built in, from a robot file, or from a rig.json.

    Raises:
        InputError: a file is missing or wrong.
        UnknownPreset: no such body.
        InvalidValue: an argument that its builder needs is missing, or an option that it does not take is given.
    """
    from ..rigs import build_rig, builder_arguments
    from ..rigs.contact_patches import with_patches
    from ..rigs.overrides import with_exclusions, with_feet, with_soles, with_torques
    from ..rigs.robot_files import find_file_kind
    from ..scene.rig import ARCHIVE, read_rig

    is_own = Path(options.body).suffix.lower() in (JSON_SUFFIX, ARCHIVE)
    file_kind = None if is_own else find_file_kind(options.body)
    if not is_own and file_kind is None and (suffix := Path(options.body).suffix):
        problem = f"is of a type that cannot be read ({suffix})"
        raise InputError(options.body, problem, remedy="Give a rig.json, a URDF, an MJCF or an OpenSim model")
    given = {name: value for name in BUILDING if (value := getattr(options, name, None)) not in (None, ())}
    takes = () if is_own else builder_arguments(options.body if file_kind is None else file_kind.name)
    if is_own or file_kind is not None:
        takes = (*(name for name in takes if name in BUILDING), "feet", "srdf")
    if odd := [f"--{name}" for name in given if name not in takes]:
        known = ", ".join(f"--{name}" for name in BUILDING if name in takes) or "none of these options"
        raise InvalidValue(f"{options.body} takes no {', '.join(odd)}; it takes {known}")
    srdf = None
    if (file := given.pop("srdf", None)) is not None:
        from ..rigs.srdf import read_srdf

        srdf = read_srdf(file)
    if is_own:
        rig = with_feet(read_rig(options.body), given.get("feet", ()))
    elif file_kind is None:
        rig = build_rig({"kind": options.body} | given)
    else:
        rig = file_kind.load_builder()(options.body, **({"feet": srdf.feet} if srdf and srdf.feet else {}) | given)
    if srdf is not None:
        rig = with_exclusions(rig, srdf.disabled_pairs, srdf.path.name)
    pairs = [_pair(words) for words in getattr(options, "may_touch", ())]
    rig = with_soles(with_exclusions(rig, pairs), dict(map(_sole, getattr(options, "soles", ()))))
    rig = with_patches(rig, [_patch(words) for words in getattr(options, "patches", ())])
    return with_torques(rig, by_name(getattr(options, "torques", ()), "--torques"))


def _sole(words: str) -> tuple[str, tuple[float, float]]:
    link, _, size = words.partition("=")
    try:
        length, width = map(number, size.split("x"))
    except (argparse.ArgumentTypeError, ValueError):
        raise InvalidValue(f"--soles takes LINK=LENGTHxWIDTH in metres, as foot=0.2x0.1, not {words!r}") from None
    return link, (length, width)


def _patch(words: str) -> PatchSpecification | str:
    from ..rigs.contact_patches import PatchSpecification

    link, equals, stated = words.partition("=")
    if not equals:
        return words
    try:
        x, y, z, size, *towards = stated.split(",")
        (facing,) = towards or [""]
        return PatchSpecification(
            link, (number(x), number(y), number(z)), tuple(map(number, size.split("x"))), facing.strip()
        )
    except (argparse.ArgumentTypeError, ValueError):
        raise InvalidValue(
            "--patches takes LINK=X,Y,Z,RADIUS or LINK=X,Y,Z,LENGTHxWIDTH in metres in the link's frame, where wanted "
            f"with the side it faces, as hand=0.03,0,-0.05,0.1x0.08,+x; not {words!r}"
        ) from None


def _pair(words: str) -> tuple[str, str]:
    one, colon, other = words.partition(":")
    if not (colon and one and other):
        raise InvalidValue(f"--may-touch takes LINK:LINK, not {words!r}")
    return one, other


def add_rig(parser: argparse.ArgumentParser) -> None:
    """Add the rig to which recorded joint coordinates belong."""
    group = parser.add_argument_group("rig", "for recordings of joint coordinates instead of markers")
    robots = ", ".join(name for name in built_in_rigs() if name != "human")
    files = f"a robot's or person's model ({', '.join(robot_suffixes())}), also among the recordings"
    group.add_argument("--rig", metavar="BODY", help=f"{robots}, {files}, or a rig.json of this program")
    group.add_argument(
        "--packages", nargs="+", default=(), metavar="DIR", help="folders that package:// paths start at"
    )
    add_options(group, Settings, "planted_foot")


def take_rig(options: argparse.Namespace) -> None:
    """Take a model's file out of the recordings and name it as the rig, as if it followed ``--rig``.

    Raises:
        InvalidValue: several rigs.
    """
    if any(file.suffix.lower() in robot_suffixes() for file in options.files):  # else nothing heavy is imported
        from ..study.recordings import take_model

        options.files, options.rig = take_model(options.files, options.rig)


def rig_of(options: argparse.Namespace) -> Rig | None:
    """The rig as named; None without."""
    return None if options.rig is None else rig_named(str(options.rig), options.packages)


def rig_named(name: str, packages: Sequence[str] = ()) -> Rig:
    """A built-in robot, or the rig in a file.

    Raises:
        InvalidValue: a person, whose size is unknown.
    """
    if name == "human":
        raise InvalidValue("a person's rig depends on the person's size: give the rig.json that `calibrate` wrote")
    return body_of(argparse.Namespace(body=name, packages=packages))
