"""What was done to a dance as a `SceneSummary`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...scene.summary import SceneFailure, SceneMove, SceneSummary, Status
from ...scene.timeline import SceneKey, SceneStrip
from ...scene.words import spoken

if TYPE_CHECKING:
    from ...contacts.schedule import Anchor, Schedule
    from ...feasibility import Checks
    from ...identification.base_parameters import BaseParameters
    from ...motion import Motion
    from ...rig import Rig
    from ..authoring.keys import Keyed
    from ..authoring.repair import Moved
    from ..design.dance import Dance
    from ..design.evaluation import Evaluation
    from ..design.named_poses import NamedPose

RATE = 50.0
"""[1/s] at which excitation is judged, bonnet2016's sampling."""
SAMPLED = 500.0
"""[1/s] samples of the force plate that the predicted deviations suppose."""
NEAR = 1e-9
"""[s] Times that differ by less are one."""
SHOWN = 3
"""Things missing from a dance that its message names."""
TINY = 1e-6
"""[m, rad] A move below this is none."""


def keys_of(keyed: Keyed) -> tuple[SceneKey, ...]:
    """Keys of an authored dance."""
    return tuple(SceneKey(key.time, key.role, key.name) for key in keyed.keys)


def posture_keys(dance: Dance) -> tuple[SceneKey, ...]:
    """Every rest of a designed dance as a preferred key; both ends of a hold bear the posture's number, from one.

    Rests between steps are keys too: who edits a posture then changes the dance up to the next rest, and no step.
    """
    numbers = {segment: place for place, segment in enumerate(dance.postures, start=1)}
    keys: list[SceneKey] = []
    for place, (segment, start, stop) in enumerate(zip(dance.segments, dance.starts, dance.starts[1:])):
        name = _called(dance, numbers[place]) if place in numbers else segment.name
        if keys and segment.kind == "hold":
            keys[-1] = SceneKey(keys[-1].time, "preferred", name)  # the way to a posture ends in it
        elif not keys:
            keys.append(SceneKey(float(start), "preferred", name))
        if stop > keys[-1].time + NEAR:
            keys.append(SceneKey(float(stop), "preferred", name))
    return tuple(keys)


def _called(dance: Dance, number: int) -> str:
    """A posture's number, and the name of its pose where it has one."""
    return f"{number}: {dance.poses[number - 1]}" if dance.poses else f"posture {number}"


def moves_of(dance: Dance, found: Evaluation) -> tuple[SceneMove, ...]:
    """Every move of a designed dance that is no step, with how hard it is."""
    numbers = {segment: place for place, segment in enumerate(dance.postures, start=1)}
    result = []
    for move in found.moves:
        start, stop = dance.starts[move.segment : move.segment + 2]
        ends = move.segment + 1  # in the hold of its posture, where it leads to one
        name = _called(dance, numbers[ends]) if ends in numbers else dance.segments[move.segment].name
        result.append(SceneMove(name, float(start), float(stop), move.score, str(move)))
    return tuple(result)


def strips_of(schedule: Schedule, start: float, stop: float) -> tuple[SceneStrip, ...]:
    """When which patch stands in one place, between two times [s]; by patch, then time."""
    found: dict[str, list[tuple[float, float, Anchor]]] = {}
    for phase in schedule.phases:
        first, last = max(phase.start, start), min(phase.stop, stop)
        if last - first <= NEAR:
            continue
        for anchor in phase.anchors:
            spans = found.setdefault(anchor.patch, [])
            if spans and first - spans[-1][1] <= NEAR and spans[-1][2].stands_at(anchor):
                spans[-1] = (spans[-1][0], last, anchor)
            else:
                spans.append((first, last, anchor))
    return tuple(SceneStrip(patch, float(a), float(b)) for patch in sorted(found) for a, b, _ in found[patch])


def failures_of(checks: Checks) -> tuple[SceneFailure, ...]:
    """The first failure of every check that fails."""
    result = []
    for failure in checks.first_failures:
        check, margin = failure.check, checks.margin(failure.check.name)
        links = margin.links[margin.items.index(failure.item)]
        result.append(
            SceneFailure(check.name, failure.item, check.unit, failure.margin, failure.time, failure.said, links)
        )
    return tuple(result)


def ranges_of(checks: Checks) -> tuple[tuple[float, float], ...]:
    """(start, stop) [s] of every run of failing frames."""
    return tuple((float(checks.times[a]), float(checks.times[b - 1])) for a, b in checks.failed_ranges)


def moved_of(moved: Moved) -> tuple[tuple[str, float, float], ...]:
    """All that moved, most first."""
    order = np.argsort(-moved.rms)
    return tuple((moved.names[k], float(moved.largest[k]), float(moved.rms[k])) for k in order if moved.rms[k] > TINY)


def excitation_of(rig: Rig, motion: Motion) -> tuple[dict[str, float], dict[str, float]]:
    """Condition number by link of a motion sampled at `RATE`, and the median predicted relative standard deviation."""
    from ...identification.base_parameters import base_parameters
    from ...identification.excitation.excitation import PLATE_NOISE
    from .performance import reached

    structure = base_parameters(rig)
    found = reached(rig, motion, structure, PLATE_NOISE)
    deviations = found.deviations * np.sqrt(motion.rate / SAMPLED)
    return by_link(rig, found.conditions), deviations_by_link(rig, structure, deviations)


def by_link(rig: Rig, conditions: np.ndarray) -> dict[str, float]:
    """Condition numbers (L,) by link; links without parameters of their own are left out."""
    return {link: float(value) for link, value in zip(rig.links, conditions) if not np.isnan(value)}


def deviations_by_link(rig: Rig, structure: BaseParameters, relative: np.ndarray) -> dict[str, float]:
    """Median over each link's base parameters of relative deviations (B,)."""
    places = {link: structure.of_link(link) for link in rig.links}
    return {link: float(np.median(relative[own])) for link, own in places.items() if len(own)}


def undanced(dance: Dance, poses: Sequence[NamedPose]) -> tuple[str, ...]:
    """Why each named pose of which no variation is danced is left out, a sentence each."""
    result = []
    for name in (pose.name for pose in poses if pose.name not in dance.poses):
        where: dict[str, list[str]] = {}
        for configuration, _, why in (note.partition(": ") for note in dance.notes if repr(name) in note):
            where.setdefault(why, []).append(spoken(configuration))
        told = [f"{why} ({', '.join(feet)})" for why, feet in where.items()]
        result.append(
            f"{name!r} is not danced: {'; '.join(told) or 'the others took all postures that were asked for'}"
        )
    return tuple(result)


def dance_summary(rig: Rig, dance: Dance, found: Evaluation, poses: Sequence[NamedPose] = ()) -> SceneSummary:
    """Of a designed dance that holds every check.

    Args:
        rig, dance, found: what was designed, and how it was judged.
        poses: that were to be danced; the message says which are not, and why.
    """
    from ...feasibility.sentences import overlaps_allowed
    from ...identification.base_parameters import base_parameters

    danced = len(dance.postures)
    wanted = danced + round(dance.report.get("left out", 0.0))
    of = "" if wanted == danced else f" of {wanted}"
    what = f"a dance of {danced}{of} posture{'' if wanted == 1 else 's'} and {dance.duration:.1f} s, every check holds"
    missing = (*undanced(dance, poses), *dance.missing)
    whole = dance.complete and not missing
    shown = [*missing[:SHOWN], f"{len(missing) - SHOWN} more things are missing"] if len(missing) > SHOWN else missing
    message = "; but ".join((f"Designed {what}" if whole else f"Incomplete: {what}", *shown))
    message += overlaps_allowed(rig, missing)
    return SceneSummary(
        "dance", "designed" if whole else "partial", True, message, posture_keys(dance),
        strips_of(dance.schedule, 0.0, dance.duration), troubles=missing, notes=dance.notes,
        excitation=by_link(rig, found.conditions),
        deviation=deviations_by_link(rig, base_parameters(rig), found.relative), duration=dance.duration,
        checks=dance.checks, moves=moves_of(dance, found),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How a verb ended, in words.

    Attributes:
        verb: that ended, such as ``"repair"``.
        status: as a value.
        message: what was done, in one sentence.
        troubles: what stands in the way.
        notes: what else to know.
    """

    verb: str
    status: Status
    message: str
    troubles: Sequence[str] = ()
    notes: Sequence[str] = ()


def keyed_summary(said: Conclusion, keyed: Keyed, checks: Checks, moved: Moved | None = None) -> SceneSummary:
    """Of an authored dance as it is now, with what its checks found."""
    conditions, deviations = excitation_of(keyed.rig, keyed.motion(RATE))
    return SceneSummary(
        said.verb, said.status, checks.feasible, said.message, keys_of(keyed),
        strips_of(keyed.schedule, keyed.start, keyed.stop), failures_of(checks), ranges_of(checks),
        () if moved is None else moved_of(moved), tuple(said.troubles),
        tuple(dict.fromkeys((*said.notes, *checks.notes))), conditions, deviations, keyed.stop - keyed.start,
        keyed.checks,
    )  # fmt: skip
