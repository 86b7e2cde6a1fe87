"""What a verb did to a dance, in one small JSON file for a scene: what it says, what fails where, keys and strips.

No dynamics library is needed to read it. SI throughout; times in the dance's own clock; infinite numbers are null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import InputError, InvalidValue
from ..formats.atomic import write_atomically
from .timeline import SceneKey, SceneStrip

FORMAT = "exciting dance summary 1"
NAME = "summary.json"
"""The file's name in the folder of a verb."""
REMEDY = "Run the verb again with this version"


@dataclass(frozen=True, slots=True)
class SceneFailure:
    """Where a check fails first.

    Attributes:
        check: its name, ``"joint torque"``.
        item: what fails: a joint coordinate, a patch, a pair of links.
        unit: of the margin.
        margin: what is left; negative beyond the limit.
        time: [s].
        said: the failure in words.
        links: to colour.
    """

    check: str
    item: str
    unit: str
    margin: float
    time: float
    said: str
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneSummary:
    """What a verb did.

    Attributes:
        verb: ``"repair"``, ``"complete"``, ``"slow"``, ``"check"`` or ``"dance"``.
        status: in one word, of the verb's own.
        feasible: every check holds.
        message: one sentence for people.
        keys: of the dance as it is now.
        strips: likewise.
        failures: the first of every check that fails, earliest first.
        ranges: (start, stop) [s] of every run of failing frames.
        moved: (name, largest, rms) of all that a repair moved, most first: ``"root position"`` [m],
            ``"root rotation"`` and the joint coordinates [rad, or m where they slide].
        troubles: what stands in the way, one sentence each.
        notes: what could not be checked or done, one sentence each.
        excitation: condition number of each link's part of the regressor; infinite where not excited; links without
            parameters of their own are left out.
        deviation: median predicted relative standard deviation of the base parameters of each link; likewise.
        duration: [s].
    """

    verb: str
    status: str
    feasible: bool
    message: str
    keys: tuple[SceneKey, ...] = ()
    strips: tuple[SceneStrip, ...] = ()
    failures: tuple[SceneFailure, ...] = ()
    ranges: tuple[tuple[float, float], ...] = ()
    moved: tuple[tuple[str, float, float], ...] = ()
    troubles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    excitation: Mapping[str, float] = field(default_factory=dict)
    deviation: Mapping[str, float] = field(default_factory=dict)
    duration: float = 0.0

    def __post_init__(self) -> None:
        for name in ("keys", "strips", "failures", "ranges", "moved", "troubles", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("excitation", "deviation"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if not self.message.strip():
            raise InvalidValue(f"the summary of {self.verb!r} says nothing")
        for start, stop in self.ranges:
            if not stop >= start:
                raise InvalidValue(f"a failing span ends at {stop:g} s before it starts at {start:g} s")


def write_summary(path: str | Path, summary: SceneSummary) -> Path:
    """A summary as JSON, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    tree = {
        "format": FORMAT,
        "verb": summary.verb,
        "status": summary.status,
        "feasible": bool(summary.feasible),
        "message": summary.message,
        "keys": [[float(key.time), key.role, key.name] for key in summary.keys],
        "strips": [[strip.patch, float(strip.start), float(strip.stop)] for strip in summary.strips],
        "failures": [
            [f.check, f.item, f.unit, float(f.margin), float(f.time), f.said, list(f.links)] for f in summary.failures
        ],
        "ranges": [[float(start), float(stop)] for start, stop in summary.ranges],
        "moved": [[name, float(largest), float(rms)] for name, largest, rms in summary.moved],
        "troubles": list(summary.troubles),
        "notes": list(summary.notes),
        "excitation": {link: _or_null(value) for link, value in summary.excitation.items()},
        "deviation": {link: _or_null(value) for link, value in summary.deviation.items()},
        "duration": float(summary.duration),
    }
    with write_atomically(path) as stream:
        stream.write(json.dumps(tree, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return Path(path)


def read_summary(path: str | Path) -> SceneSummary:
    """A summary written by `write_summary`; ``path`` may be its folder.

    Raises:
        InputError: missing, damaged, or no summary.
    """
    path = Path(path) / NAME if Path(path).is_dir() else Path(path)
    try:
        tree: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", remedy=REMEDY) from None
    except ValueError as error:
        raise InputError(path, f"is not JSON ({error})", remedy=REMEDY) from None
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise InputError(path, "is no summary of a dance of this version", remedy=REMEDY)
    try:
        return SceneSummary(
            _text(tree["verb"]),
            _text(tree["status"]),
            _truth(tree["feasible"]),
            _text(tree["message"]),
            tuple(SceneKey(_number(time), _text(role), _text(name)) for time, role, name in tree["keys"]),
            tuple(SceneStrip(_text(patch), _number(a), _number(b)) for patch, a, b in tree["strips"]),
            tuple(
                SceneFailure(
                    _text(check), _text(item), _text(unit), _number(margin), _number(time), _text(said), _texts(links)
                )
                for check, item, unit, margin, time, said, links in tree["failures"]
            ),
            tuple((_number(start), _number(stop)) for start, stop in tree["ranges"]),
            tuple((_text(name), _number(largest), _number(rms)) for name, largest, rms in tree["moved"]),
            _texts(tree["troubles"]),
            _texts(tree["notes"]),
            {_text(link): _or_infinite(value) for link, value in tree["excitation"].items()},
            {_text(link): _or_infinite(value) for link, value in tree["deviation"].items()},
            _number(tree["duration"]),
        )
    except KeyError as error:
        raise InputError(path, f"lacks the entry {error.args[0]!r}", remedy=REMEDY) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(path, f"is damaged: {error}", remedy=REMEDY) from error


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValue(f"{value!r} is no number")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"{value!r} is no text")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidValue(f"{value!r} is neither true nor false")
    return value


def _texts(values: Sequence[object]) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise InvalidValue(f"{values!r} is no list of texts")
    return tuple(_text(value) for value in values)


def _or_null(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _or_infinite(value: object) -> float:
    return math.inf if value is None else _number(value)
