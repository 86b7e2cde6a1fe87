"""An authored dance as JSON: keys, contact strips and, where the timeline interpolates its own way, its samples.

Plain numbers throughout, so that a timeline can write it without this package: ``rig`` (parameters of `rigs.build`),
``keys`` [{time, role, q, name}], ``schedule`` {ground, phases [{start, stop, anchors [{patch, position, rotation}]}]},
``samples`` {times, q} or null. q follows Pinocchio: root position, root quaternion xyzw, joints in the rig's order.
An anchor's rotation is a matrix by rows, or a quaternion xyzw.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ...check_options import CheckOptions
from ...contacts.schedule import Anchor, Phase, Schedule
from ...errors import InputError, SolverError
from ...formats.atomic import write_atomically
from ...formats.plain import plain
from ...formats.value_tree import from_tree, to_tree
from ...rig import Rig
from ...rigs import build
from ...so3 import to_matrix
from .keys import Keyed, Keyframe, Samples

FORMAT = "exciting_dance keyed"
VERSION = 1
REMEDY = "Write the dance again from the timeline"


def write_keyed(path: str | Path, keyed: Keyed) -> None:
    """An authored dance, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    samples = keyed.samples
    tree = {
        "format": FORMAT,
        "version": VERSION,
        "name": keyed.name,
        "checks": to_tree(keyed.checks),
        "rig": dict(keyed.rig.provenance),
        "interpolation": keyed.interpolation,
        "keys": [{"time": k.time, "role": k.role, "name": k.name, "q": k.q} for k in keyed.keys],
        "schedule": _schedule_tree(keyed.schedule),
        "samples": None if samples is None else {"times": samples.times, "q": samples.q},
    }
    text = json.dumps(plain(tree), ensure_ascii=False, allow_nan=False)
    with write_atomically(path) as stream:
        stream.write(text + "\n")


def read_keyed(path: str | Path, rig: Rig | None = None) -> Keyed:
    """A dance written by `write_keyed` or by a timeline; ``rig`` instead of the file's own.

    Raises:
        InputError: missing, not JSON, no authored dance, or one that contradicts itself.
    """
    try:
        tree: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", remedy=REMEDY) from None
    except ValueError as error:
        raise InputError(path, f"is not JSON ({error})", remedy=REMEDY) from None
    if not isinstance(tree, dict) or tree.get("format") != FORMAT or tree.get("version") != VERSION:
        raise InputError(path, "is no authored dance of this version", remedy=REMEDY)
    try:
        samples = tree.get("samples")
        return Keyed(
            build(tree["rig"]) if rig is None else rig,
            tuple(
                Keyframe(float(k["time"]), np.array(k["q"], float), str(k.get("role", "preferred")),
                         str(k.get("name", "")))
                for k in tree["keys"]
            ),
            _schedule(tree["schedule"]),
            None if samples is None else Samples(np.array(samples["times"], float), np.array(samples["q"], float)),
            str(tree.get("interpolation", "clamped")),
            str(tree.get("name", "dance")),
            from_tree(CheckOptions, tree["checks"]) if "checks" in tree else CheckOptions(),
        )  # fmt: skip
    except SolverError as error:
        raise InputError(path, str(error), remedy=REMEDY) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(path, f"is damaged ({error!r})", remedy=REMEDY) from error


def _schedule_tree(schedule: Schedule) -> dict[str, object]:
    return {
        "ground": schedule.ground,
        "phases": [
            {
                "start": phase.start,
                "stop": phase.stop,
                "anchors": [{"patch": a.patch, "position": a.position, "rotation": a.rotation} for a in phase.anchors],
            }
            for phase in schedule.phases
        ],
    }


def _schedule(tree: Any) -> Schedule:
    phases = tuple(
        Phase(float(p["start"]), float(p["stop"]), tuple(_anchor(a) for a in p["anchors"])) for p in tree["phases"]
    )
    return Schedule(phases, float(tree.get("ground", 0.0)))


def _anchor(tree: Any) -> Anchor:
    rotation = np.array(tree["rotation"], float)
    if rotation.shape == (4,):
        rotation = to_matrix(rotation / np.linalg.norm(rotation))
    return Anchor(str(tree["patch"]), rotation, np.array(tree["position"], float))
