"""Bipeds as URDF files, each odd in one way: what the makers of other robots leave out or add."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

HINGE = '<limit lower="{low}" upper="{high}" velocity="8" effort="{effort}"/>'
HIP, KNEE, ANKLE = (
    (("yaw", "0 0 1"), ("roll", "1 0 0"), ("pitch", "0 1 0")),
    "0 1 0",
    (("pitch", "0 1 0"), ("roll", "1 0 0")),
)


class Biped:
    """Writes a robot of 1.2 m and about 40 kg, link by link.

    Args:
        hip: names and axes of the hips' joints.
        ankle: of the ankles'.
        torso: of the joints between pelvis and chest; none: one body.
        arms: sides that have one.
        toes: whether a toe hinge ends the foot.
        slide: whether the neck is a slide.
    """

    def __init__(
        self,
        hip: Sequence[tuple[str, str]] = HIP,
        ankle: Sequence[tuple[str, str]] = ANKLE,
        torso: Sequence[tuple[str, str]] = (("yaw", "0 0 1"),),
        arms: Sequence[str] = ("left", "right"),
        toes: bool = False,
        slide: bool = False,
    ) -> None:
        self.parts: list[str] = []
        self._link("pelvis", 8.0, "0.16 0.2 0.12", "0 0 0")
        chest = self._chain("pelvis", "torso", torso, "0 0 0.1", "chest") if torso else self._fixed("pelvis", "chest")
        self._link(chest, 12.0, "0.14 0.24 0.3", "0 0 0.2")
        if slide:
            self._joint("neck", "prismatic", chest, "head", "0 0 0.4", "0 0 1", (-0.02, 0.03), 200.0)
            self._link("head", 2.0, "0.12 0.12 0.16", "0 0 0.1")
        for side, sign in (("left", 1.0), ("right", -1.0)):
            self._leg(side, sign, hip, ankle, toes)
            if side in arms:
                self._arm(chest, side, sign)

    def write(self, folder: Path, name: str = "biped") -> Path:
        """The file."""
        path = folder / f"{name}.urdf"
        path.write_text(f'<robot name="{name}">{"".join(self.parts)}</robot>')
        return path

    def _leg(self, side: str, sign: float, hip: Sequence[tuple[str, str]], ankle: Sequence[tuple[str, str]],
             toes: bool) -> None:  # fmt: skip
        thigh = self._chain("pelvis", f"{side}_hip", hip, f"0 {0.1 * sign} -0.08", f"{side}_thigh")
        self._link(thigh, 3.5, "0.1 0.1 0.26", "0 0 -0.17")
        self._joint(f"{side}_knee", "revolute", thigh, f"{side}_shank", "0 0 -0.34", KNEE, (-0.1, 2.2), 200.0)
        self._link(f"{side}_shank", 2.5, "0.09 0.09 0.24", "0 0 -0.16")
        foot = self._chain(f"{side}_shank", f"{side}_ankle", ankle, "0 0 -0.34", f"{side}_foot")
        self._link(foot, 1.0, "0.22 0.12 0.04", "0.02 0 -0.06")
        if toes:
            self._joint(f"{side}_toes", "revolute", foot, f"{side}_toe", "0.13 0 -0.06", KNEE, (-0.8, 0.2), 30.0)
            self._link(f"{side}_toe", 0.2, "0.06 0.1 0.04", "0.035 0 0")

    def _arm(self, chest: str, side: str, sign: float) -> None:
        axes = (("pitch", "0 1 0"), ("roll", "1 0 0"))
        upper = self._chain(chest, f"{side}_shoulder", axes, f"0 {0.22 * sign} 0.3", f"{side}_upper_arm")
        self._link(upper, 1.5, "0.07 0.07 0.2", "0 0 -0.13")
        self._joint(f"{side}_elbow", "revolute", upper, f"{side}_forearm", "0 0 -0.26", KNEE, (-2.0, 0.1), 60.0)
        self._link(f"{side}_forearm", 1.0, "0.06 0.06 0.2", "0 0 -0.13")

    def _chain(self, parent: str, name: str, axes: Sequence[tuple[str, str]], place: str, last: str) -> str:
        """Hinges in one point; the links between them have no shape and little mass."""
        for number, (turn, axis) in enumerate(axes):
            child = last if number == len(axes) - 1 else f"{name}_{turn}_link"
            self._joint(f"{name}_{turn}", "revolute", parent, child, place, axis, (-0.9, 0.9), 200.0)
            if child != last:
                self._link(child, 0.3, "", "0 0 0")
            parent, place = child, "0 0 0"
        return last

    def _fixed(self, parent: str, child: str) -> str:
        ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 0.1"/>'
        self.parts.append(f'<joint name="{child}_fixed" type="fixed">{ends}</joint>')
        return child

    def _joint(self, name: str, kind: str, parent: str, child: str, place: str, axis: str,
               ends: tuple[float, float], effort: float) -> None:  # fmt: skip
        limit = HINGE.format(low=ends[0], high=ends[1], effort=effort)
        self.parts.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{place}"/><axis xyz="{axis}"/>{limit}</joint>'
        )

    def _link(self, name: str, mass: float, box: str, place: str) -> None:
        sides = [float(side) for side in (box or "0.05 0.05 0.05").split()]
        x, y, z = (mass / 12.0 * (sum(s * s for s in sides) - side * side) for side in sides)
        inertia = f'<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/>'
        shape = f'<collision><origin xyz="{place}"/><geometry><box size="{box}"/></geometry></collision>' if box else ""
        weight = f'<inertial><origin xyz="{place}"/><mass value="{mass}"/>{inertia}</inertial>'
        self.parts.append(f'<link name="{name}">{weight}{shape}</link>')


def on_a_base(text: str, height: float) -> str:
    """A biped's file whose root link lies on the floor, so many metres below the pelvis."""
    ends = f'<parent link="base"/><child link="pelvis"/><origin xyz="0 0 {height}"/>'
    return text.replace("</robot>", f'<link name="base"/><joint name="post" type="fixed">{ends}</joint></robot>')
