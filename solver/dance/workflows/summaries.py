"""Summaries of jobs with dances as `SceneSummary`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...options.dances import EXCITATION_RATE
from ...scene.dance_counts import list_counts
from ...scene.labels import display_name
from ...scene.summary import SceneFailure, SceneMove, SceneSummary, Status
from ...scene.timeline import SceneKey, SceneStrip

if TYPE_CHECKING:
    from ...contacts.schedule import Anchor, Schedule
    from ...feasibility import Checks
    from ...identification.base_parameters import BaseParameters
    from ...skeleton.rig import Rig
    from ...values.motion import Motion
    from ..authoring.authored_dance import AuthoredDance
    from ..authoring.repair import MoveSizes
    from ..design.dance import Dance
    from ..design.evaluation import Evaluation
    from ..design.named_poses import NamedPose

TIME_TOLERANCE = 1e-9
"""[s] Times that differ by less are equal."""
SHOWN_MISSING = 3
"""Number of missing items of a dance that its message names."""
SMALLEST_MOVE = 1e-6
"""[m, rad] A smaller move is not listed."""


def scene_keys(keyed: AuthoredDance) -> tuple[SceneKey, ...]:
    """Keys of an authored dance."""
    return tuple(SceneKey(key.time, key.role, key.name) for key in keyed.keys)


def posture_keys(dance: Dance) -> tuple[SceneKey, ...]:
    """Every end of a segment of a designed dance as a preferred key, with the segment's name, and its start.

    Ends of steps are keys too, so that editing a posture changes the dance up to the next end, and no step.
    """
    first, *_ = dance.segments
    ends = ((segment.name, stop) for segment, stop in zip(dance.segments, dance.starts[1:]))
    return tuple(SceneKey(float(time), "preferred", name) for name, time in ((first.name, 0.0), *ends))


def scene_moves(dance: Dance, found: Evaluation) -> tuple[SceneMove, ...]:
    """Every move of a designed dance except steps, with its difficulty."""
    result = []
    for move in found.moves:
        start, stop = dance.starts[move.segment : move.segment + 2]
        name = dance.segments[move.segment].name
        result.append(SceneMove(name, float(start), float(stop), move.score, str(move), move.moving))
    return tuple(result)


def scene_strips(schedule: Schedule, start: float, stop: float) -> tuple[SceneStrip, ...]:
    """Intervals in which a part of each patch stays in one place, between two times [s]; by patch, then time."""
    found: dict[str, list[tuple[float, float, Anchor]]] = {}
    for phase in schedule.phases:
        first, last = max(phase.start, start), min(phase.stop, stop)
        if last - first <= TIME_TOLERANCE:
            continue
        for anchor in phase.anchors:
            spans = found.setdefault(anchor.patch, [])
            before = spans[-1] if spans else None
            follows = before is not None and first - before[1] <= TIME_TOLERANCE and before[2].part == anchor.part
            if before is not None and follows and before[2].is_same_place(anchor):
                spans[-1] = (before[0], last, anchor)
            else:
                spans.append((first, last, anchor))
    return tuple(SceneStrip(name, float(a), float(b), on.part) for name in sorted(found) for a, b, on in found[name])


def scene_failures(checks: Checks) -> tuple[SceneFailure, ...]:
    """The first failure of every check that fails."""
    result = []
    for failure in checks.first_failures:
        check, margin = failure.check, checks.get_margin(failure.check.name)
        links = margin.links[margin.items.index(failure.item)]
        result.append(
            SceneFailure(check.name, failure.item, check.unit, failure.margin, failure.time, failure.description, links)
        )
    return tuple(result)


def failed_time_ranges(checks: Checks) -> tuple[tuple[float, float], ...]:
    """(start, stop) [s] of every run of failing frames."""
    return tuple((float(checks.times[a]), float(checks.times[b - 1])) for a, b in checks.failed_ranges)


def moves_by_size(moved: MoveSizes) -> tuple[tuple[str, float, float], ...]:
    """What moved, largest first."""
    order = np.argsort(-moved.rms)
    return tuple(
        (moved.names[k], float(moved.largest[k]), float(moved.rms[k])) for k in order if moved.rms[k] > SMALLEST_MOVE
    )


def excitation_by_link(rig: Rig, motion: Motion) -> tuple[dict[str, float], dict[str, float]]:
    """Condition number by link of a motion sampled at `RATE`, and the median predicted relative standard deviation."""
    from ...identification.base_parameters import base_parameters
    from ...identification.excitation.excitation import INDEPENDENT_RATE, PLATE_NOISE, Excitation

    structure = base_parameters(rig)
    found = Excitation.before_motion(structure, PLATE_NOISE).with_motion(rig, motion)
    deviations = found.relative_deviations(rig.prior) * np.sqrt(motion.rate / INDEPENDENT_RATE)
    return conditions_by_link(rig, found.link_conditions()), deviations_by_link(rig, structure, deviations)


def conditions_by_link(rig: Rig, conditions: np.ndarray) -> dict[str, float]:
    """Condition numbers (L,) by link; links without parameters of their own are left out."""
    return {link: float(value) for link, value in zip(rig.links, conditions) if not np.isnan(value)}


def deviations_by_link(rig: Rig, structure: BaseParameters, relative: np.ndarray) -> dict[str, float]:
    """Median over each link's base parameters of relative deviations (B,)."""
    places = {link: structure.link_indices(link) for link in rig.links}
    return {link: float(np.median(relative[own])) for link, own in places.items() if len(own)}


def describe_omitted_poses(dance: Dance, poses: Sequence[NamedPose]) -> tuple[str, ...]:
    """Why named poses without a danced variation are left out, a sentence each."""
    result = []
    for name in (pose.name for pose in poses if pose.name not in dance.poses):
        where: dict[str, list[str]] = {}
        for configuration, _, why in (note.partition(": ") for note in dance.notes if repr(name) in note):
            where.setdefault(why, []).append(display_name(configuration))
        reasons = [f"{why} ({', '.join(feet)})" for why, feet in where.items()]
        result.append(f"{name!r} is not danced: {'; '.join(reasons) or 'other poses took all requested postures'}")
    return tuple(result)


def summarise_design(rig: Rig, dance: Dance, found: Evaluation, poses: Sequence[NamedPose] = ()) -> SceneSummary:
    """The summary of a feasible designed dance.

    Args:
        rig, dance, found: the design and its evaluation.
        poses: named poses to dance; the message lists those that are missing, and why.
    """
    from ...feasibility.messages import suggest_allowed_pairs
    from ...identification.base_parameters import base_parameters

    danced = len(dance.postures)
    wanted = danced + dance.left_out
    of = "" if wanted == danced else f" of {wanted}"
    what = f"a dance of {danced}{of} posture{'' if wanted == 1 else 's'} and {dance.duration:.1f} s, every check holds"
    missing = (*describe_omitted_poses(dance, poses), *dance.missing, *found.describe_undetermined(rig))
    whole = dance.complete and not missing
    shown = (
        [*missing[:SHOWN_MISSING], f"{len(missing) - SHOWN_MISSING} more things are missing"]
        if len(missing) > SHOWN_MISSING
        else missing
    )
    message = "; but ".join((f"Designed {what}" if whole else f"Incomplete: {what}", *shown))
    message += suggest_allowed_pairs(rig, missing)
    return SceneSummary(
        "dance", "designed" if whole else "partial", True, message, posture_keys(dance),
        scene_strips(dance.schedule, 0.0, dance.duration), problems=missing, notes=dance.notes,
        excitation=conditions_by_link(rig, found.conditions),
        deviation=deviations_by_link(rig, base_parameters(rig), found.relative_deviations), duration=dance.duration,
        checks=dance.checks, moves=scene_moves(dance, found), counts=list_counts(dance.duration, dance.count),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The result of a job with an authored dance.

    Attributes:
        verb: command, such as ``"repair"``.
        status: of the job.
        message: the result in one sentence.
        problems: what prevents the job, a sentence each.
        notes: further notes, a sentence each.
    """

    verb: str
    status: Status
    message: str
    problems: Sequence[str] = ()
    notes: Sequence[str] = ()


def summarise_authored(
    conclusion: Conclusion, keyed: AuthoredDance, checks: Checks, moved: MoveSizes | None = None
) -> SceneSummary:
    """The summary of an authored dance after a job, with its checks and excitation."""
    conditions, deviations = excitation_by_link(keyed.rig, keyed.motion(EXCITATION_RATE))
    return SceneSummary(
        conclusion.verb, conclusion.status, checks.feasible, conclusion.message, scene_keys(keyed),
        scene_strips(keyed.schedule, keyed.start, keyed.stop), scene_failures(checks), failed_time_ranges(checks),
        () if moved is None else moves_by_size(moved), tuple(conclusion.problems),
        tuple(dict.fromkeys((*conclusion.notes, *checks.notes))), conditions, deviations, keyed.stop - keyed.start,
        keyed.checks,
    )  # fmt: skip
