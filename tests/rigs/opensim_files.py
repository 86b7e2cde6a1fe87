"""Small OpenSim models, written as version 3 and version 4 write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Link:
    """A body and the joint that moves it; offsets are (x, y, z, a, b, c), metres and body-fixed angles."""

    name: str
    parent: str = "ground"
    joint: str = "PinJoint"
    coordinates: Sequence[str] = ()
    parent_offset: Sequence[float] = (0.0,) * 6
    child_offset: Sequence[float] = (0.0,) * 6
    mass: float = 2.0
    com: Sequence[float] = (0.01, -0.2, 0.03)
    inertia: Sequence[float] = (0.03, 0.02, 0.04, 0.001, -0.002, 0.003)
    inside: str = ""
    mesh: str = ""
    states: str = "<range>-2 2</range><clamped>true</clamped>"


@dataclass(frozen=True)
class Model:
    """A model of links; markers are a name, a body, and their location, by default 0 .1 0."""

    links: Sequence[Link]
    constraints: str = ""
    markers: Sequence[tuple[str, ...]] = field(default_factory=tuple)

    def text(self, version: int) -> str:
        """The file of a version, 3 or 4."""
        constraints = f"<ConstraintSet><objects>{self.constraints}</objects></ConstraintSet>"
        gravity = "<gravity>0 -9.80665 0</gravity>"
        if version == 4:
            bodies = "\n".join(map(_new_body, self.links))
            joints = "\n".join(map(_new_joint, self.links))
            sets = f"<BodySet><objects>{bodies}</objects></BodySet><JointSet><objects>{joints}</objects></JointSet>"
            frame = "<socket_parent_frame>/bodyset/{}</socket_parent_frame>"
        else:
            bodies = '<Body name="ground"><mass>0</mass></Body>' + "\n".join(map(_old_body, self.links))
            sets = f"<BodySet><objects>{bodies}</objects></BodySet>"
            frame = "<body>{}</body>"
        markers = "".join(
            f'<Marker name="{name}">{frame.format(body)}<location>{"".join(place) or "0 .1 0"}</location></Marker>'
            for name, body, *place in self.markers
        )
        sets += f"{constraints}<MarkerSet><objects>{markers}</objects></MarkerSet>"
        number = {3: 30000, 4: 40000}[version]
        return (
            f'<?xml version="1.0" encoding="UTF-8" ?>\n<OpenSimDocument Version="{number}">\n<Model name="small">'
            f"{gravity}{sets}</Model>\n</OpenSimDocument>\n"
        )


def numbers(values: Sequence[float]) -> str:
    """Numbers as a file has them."""
    return " ".join(map(repr, values))


def _coordinates(link: Link) -> str:
    return "".join(f'<Coordinate name="{name}">{link.states}</Coordinate>' for name in link.coordinates)


def _new_body(link: Link) -> str:
    mesh = f'<attached_geometry><Mesh name="g"><mesh_file>{link.mesh}</mesh_file></Mesh></attached_geometry>'
    return (
        f'<Body name="{link.name}">{mesh if link.mesh else ""}<!--mass > 0--><mass>{link.mass!r}</mass>'
        f"<mass_center>{numbers(link.com)}</mass_center><inertia>{numbers(link.inertia)}</inertia></Body>"
    )


def _new_joint(link: Link) -> str:
    frames = "".join(
        f'<PhysicalOffsetFrame name="{role}_of_{link.name}"><socket_parent>{base}</socket_parent>'
        f"<translation>{numbers(offset[:3])}</translation><orientation>{numbers(offset[3:])}</orientation>"
        f"</PhysicalOffsetFrame>"
        for role, base, offset in (
            ("parent", "/ground" if link.parent == "ground" else f"/bodyset/{link.parent}", link.parent_offset),
            ("child", f"/bodyset/{link.name}", link.child_offset),
        )
    )
    return (
        f'<{link.joint} name="to_{link.name}"><socket_parent_frame>parent_of_{link.name}</socket_parent_frame>'
        f"<socket_child_frame>child_of_{link.name}</socket_child_frame><coordinates>{_coordinates(link)}</coordinates>"
        f"<frames>{frames}</frames>{link.inside}</{link.joint}>"
    )


def _old_body(link: Link) -> str:
    six = "".join(
        f"<inertia_{axes}>{value!r}</inertia_{axes}>"
        for axes, value in zip(("xx", "yy", "zz", "xy", "xz", "yz"), link.inertia)
    )
    joint = (
        f'<{link.joint} name="to_{link.name}"><parent_body>{link.parent}</parent_body>'
        f"<location_in_parent>{numbers(link.parent_offset[:3])}</location_in_parent>"
        f"<orientation_in_parent>{numbers(link.parent_offset[3:])}</orientation_in_parent>"
        f"<location>{numbers(link.child_offset[:3])}</location><orientation>{numbers(link.child_offset[3:])}</orientation>"
        f"<CoordinateSet><objects>{_coordinates(link)}</objects></CoordinateSet>{link.inside}</{link.joint}>"
    )
    return (
        f'<Body name="{link.name}"><mass>{link.mass!r}</mass><mass_center>{numbers(link.com)}</mass_center>'
        f"{six}<Joint>{joint}</Joint></Body>"
    )


def transform(axes: Sequence[tuple[str, str, str]]) -> str:
    """A spatial transform of six axes: coordinates, axis and function of each."""
    names = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
    inside = "".join(
        f'<TransformAxis name="{name}"><coordinates>{coordinates}</coordinates><axis>{axis}</axis>'
        f"<function>{function}</function></TransformAxis>"
        for name, (coordinates, axis, function) in zip(names, axes)
    )
    return f"<SpatialTransform>{inside}</SpatialTransform>"


LINE = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
ZERO = "<Constant><value>0</value></Constant>"
BEND = "<PolynomialFunction><coefficients>0.02 -0.05 0.01</coefficients></PolynomialFunction>"
CURVE = "<SimmSpline><x>-2 -1 0 1 2</x><y>0.01 0 -0.02 0.03 0.01</y></SimmSpline>"
SCALED = f"<MultiplierFunction><function>{CURVE}</function><scale>1.2</scale></MultiplierFunction>"
KNEE = transform(
    [("bend", "0 0 1", LINE), ("bend", "0 1 0", BEND), ("", "1 0 0", ZERO),
     ("bend", "1 0 0", SCALED), ("bend", "0 1 0", CURVE), ("", "0 0 1", ZERO)]
)  # fmt: skip
HINGE = transform(
    [("swing", ".6 0 .8", "<LinearFunction><coefficients>-1 0.3</coefficients></LinearFunction>"),
     ("", "0 1 0", "<Constant><value>0.4</value></Constant>"), ("", "0 0 1", ZERO),
     ("", "1 0 0", "<Constant><value>0.05</value></Constant>"), ("", "0 1 0", ZERO), ("", "0 0 1", ZERO)]
)  # fmt: skip
FREE = ("rx", "ry", "rz", "tx", "ty", "tz")
WIDE = "<range>-9 9</range>"
AT, TILT = (0.02, -0.4, 0.05, 0.3, -0.2, 0.5), (0.01, 0.03, -0.02, -0.4, 0.1, 0.2)
EVERY_JOINT = Model(
    (
        Link("pelvis", "ground", "FreeJoint", FREE, AT, TILT, mass=9.0, states=WIDE),
        Link("pin", "pelvis", "PinJoint", ("pin_q",), AT, TILT),
        Link("slider", "pin", "SliderJoint", ("slider_q",), AT, TILT),
        Link("universal", "pelvis", "UniversalJoint", ("u1", "u2"), AT, TILT),
        Link("gimbal", "universal", "GimbalJoint", ("g1", "g2", "g3"), AT, TILT),
        Link("ball", "pelvis", "BallJoint", ("b1", "b2", "b3"), AT, TILT),
        Link("flat", "ball", "PlanarJoint", ("p1", "p2", "p3"), AT, TILT),
        Link("egg", "pelvis", "EllipsoidJoint", ("e1", "e2", "e3"), AT, TILT,
             inside="<radii_x_y_z>.1 .2 .3</radii_x_y_z>"),
        Link("knee", "pelvis", "CustomJoint", ("bend",), AT, TILT, inside=KNEE),
        Link("hinge", "knee", "CustomJoint", ("swing",), AT, TILT, inside=HINGE),
        Link("hand", "hinge", "WeldJoint", (), AT, TILT, mass=0.5, inertia=(0.003, 0.002, 0.004, 0.0, 0.0, 0.0)),
    ),
    markers=(("TOP", "pelvis"), ("END", "hand")),
)  # fmt: skip
