"""Results of the checks in one frame, as plain values for a scene to draw, and the protocol of the live check.

Requests and responses of the live check (``python -m solver live``) are one JSON object a line. Of each kind of
request, the newest counts:

``{"do": "timeline", "serial": K, "path": FILE}``  check this timeline by its own checks; responses to older serials
end. ``"excitation": false`` omits the excitation.
``{"do": "look", "frame": I}``  the current frame of the user: it and its neighbours come first.
``{"do": "pose", "serial": K, "path": FILE}``  check the first frame of this timeline as a posture at rest, before
everything else; patches whose strips include its time are flat on the floor where the posture has them.
``{"do": "grab", "serial": K, "path": FILE, "pins": [{"link": NAME, "point": [X, Y, Z]}, ...]}``  start a drag from the
first frame of this timeline; its patches on the floor are planted, and the points [m, link axes] stay in place.
``{"do": "drag", "serial": K, "targets": [{"link": NAME, "point": [...], "position": [X, Y, Z]}, ...], "balance": B}``
move points of the body to positions [m, world; null: free along that axis]. Postures follow until the body is there or
cannot come nearer; a newer request replaces the targets.
``{"do": "inbetweens", "serial": K, "path": FILE, "planted": [NAME, ...]}``  fit the frames between the first and the
last of this timeline to these soles, which are on the floor all the time; a posture follows for each.
``{"do": "end"}``  stop at once; at the end of the input, the process stops after all requests are processed.

A request has at most 65,536 bytes of UTF-8; serials and frames are within 2^53. An error responds to each malformed
request, which does not affect those that follow.

Responses, each with the ``serial`` of its request:

``{"kind": "frames", "frames": [...]}``  checked frames (`SceneFrame.tree`), every frame of the timeline once. Frames
with unchanged results are sent again but not checked again.
``{"kind": "done", "feasible": ..., "failed": [[FIRST, LAST], ...], "failures": [TEXT, ...], "notes": [TEXT, ...]}``
all frames are sent. Frames FIRST to LAST, both included, fail; each failure says where a check fails first; notes say
what cannot be checked on this rig.
``{"kind": "excitation", "time": T, "links": {NAME: VALUE}}``  after that, about twenty times along the timeline:
condition number of each link's regressor from the start to T; null: not determined yet.
``{"kind": "pose", "frame": ...}``  the posture.
``{"kind": "posture", "rotations": [...], "translations": [...], "converged": ..., "distance": D, "obstacles": [TEXT,
...], "slip": D, "margin": D}``  a posture of a drag, or between others: of each joint rotation (xyzw) and translation
[m] from neutral, of the root orientation and position in the world; largest distance from a target [m], what keeps the
body from it, largest displacement of a planted sole [m], and distance of the centre of mass inside the support polygon
[m] or null.
``{"kind": "error", "message": TEXT, "frames": [[FIRST, LAST], ...]}``  the request failed; or, with ``frames``, these
frames of its timeline cannot be checked and the others follow. The response to a malformed request has no ``serial`` if
the request has none, and the request changes nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import frozen
from ..base.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class SceneFoot:
    """One planted patch.

    Attributes:
        patch: its name.
        force: (3,) [N] of the floor on the patch, world.
        centre: (3,) [m] centre of pressure on the floor, world; None if it carries no load.
    """

    patch: str
    force: tuple[float, float, float]
    centre: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class SceneMargin:
    """One check in one frame.

    Attributes:
        check: its name, ``"joint torque"``.
        item: the worst item of the check.
        value: [unit] margin to the limit; negative beyond it.
        unit: of the value.
        comfort: ratio of the value to a comfortable margin: below 0 it fails, above 1 it is comfortable.
        failed: the value is beyond the tolerance.
        text: the margin in words; empty if it holds and is not one of the frame's worst.
    """

    check: str
    item: str
    value: float
    unit: str
    comfort: float
    failed: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class SceneFrame:
    """The checks of one frame.

    Attributes:
        frame: index in the timeline.
        time: [s].
        margins: finite ones only, in the checks' order.
        failing: links that fail a check.
        near: links whose joints are near a limit of angle, speed or torque (comfort below a half), and do not fail.
        colliding: links that touch another link or the floor.
        balanced: no check of balance fails.
        com: (3,) [m], world.
        zmp: (2,) [m] on the floor; None while airborne.
        polygon: (V, 2) [m] support polygon as checked (shrunk), in order around it; empty while airborne.
        feet: planted patches.
    """

    frame: int
    time: float
    margins: tuple[SceneMargin, ...]
    failing: tuple[str, ...]
    near: tuple[str, ...]
    colliding: tuple[str, ...]
    balanced: bool
    com: tuple[float, float, float]
    zmp: tuple[float, float] | None
    polygon: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    feet: tuple[SceneFoot, ...] = ()

    @property
    def worst(self) -> SceneMargin | None:
        """The margin with the least comfort; None if no check applies."""
        return min(self.margins, key=lambda margin: margin.comfort, default=None)

    @property
    def comfort(self) -> float:
        """Comfort of the worst margin; infinite if no check applies."""
        worst = self.worst
        return float("inf") if worst is None else worst.comfort

    @property
    def failed(self) -> bool:
        """Whether some check fails."""
        return any(margin.failed for margin in self.margins)

    def tree(self) -> dict[str, object]:
        """Plain values for JSON; the inverse of `scene_frame`."""
        return {
            "frame": self.frame,
            "time": self.time,
            "margins": [[m.check, m.item, m.value, m.unit, m.comfort, m.failed, m.text] for m in self.margins],
            "failing": list(self.failing),
            "near": list(self.near),
            "colliding": list(self.colliding),
            "balanced": self.balanced,
            "com": list(self.com),
            "zmp": None if self.zmp is None else list(self.zmp),
            "polygon": np.asarray(self.polygon).tolist(),
            "feet": [
                [foot.patch, list(foot.force), None if foot.centre is None else list(foot.centre)] for foot in self.feet
            ],
        }


def scene_frame(tree: Mapping) -> SceneFrame:
    """The frame of a `SceneFrame.tree`.

    Raises:
        InvalidValue: an entry is missing or malformed.
    """
    try:
        return SceneFrame(
            operator.index(tree["frame"]),
            _number(tree["time"]),
            tuple(
                SceneMargin(_text(c), _text(i), _number(v), _text(u), _number(k), bool(f), _text(s))
                for c, i, v, u, k, f, s in tree["margins"]
            ),
            _texts(tree["failing"]),
            _texts(tree["near"]),
            _texts(tree["colliding"]),
            bool(tree["balanced"]),
            _triple(tree["com"]),
            None if tree["zmp"] is None else (_number(tree["zmp"][0]), _number(tree["zmp"][1])),
            frozen("polygon", [[_number(x), _number(y)] for x, y in tree["polygon"]] or np.zeros((0, 2)), (None, 2)),
            tuple(
                SceneFoot(_text(patch), _triple(force), None if centre is None else _triple(centre))
                for patch, force, centre in tree["feet"]
            ),
        )
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise InvalidValue(f"the checked frame is malformed: {error!r}") from None


def _triple(values: Iterable[object]) -> tuple[float, float, float]:
    x, y, z = (_number(value) for value in values)
    return x, y, z


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r:.40} is not a number")
    return float(value)


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value
