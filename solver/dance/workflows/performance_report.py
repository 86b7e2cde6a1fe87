"""Output of `perform`: a sentence, a report, plain data and a table."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...motion import Motion
    from ...rig import Rig
    from .performance import MotionExcitation, Performance

SHOWN_JOINTS = 12
MIN_SIMILARITY = 0.6
"""Similarity and coverage of the plan below which the recording is probably another movement."""


@dataclass(frozen=True, slots=True)
class RecordedMotion:
    """A motion to compare, with the rig that moved.

    Attributes:
        rig: of the motion.
        motion: with velocities and accelerations.
        name: of the trial or dance.
    """

    rig: Rig
    motion: Motion
    name: str


def describe_rig_differences(plan: RecordedMotion, performed: RecordedMotion, shared: tuple[str, ...]) -> list[str]:
    """What is compared if the planned and the performing rig differ, one sentence each."""
    one, other = plan.rig, performed.rig
    if one.same_skeleton(other):
        return [f"Plan and performance are of the same rig, {one.name}."]
    notes = [
        f"The plan is for {one.name}, the performance by {other.name} with its own lengths: angles of the "
        f"{len(shared)} common joints are compared, not the positions of hands and feet, and both excitations are "
        "those of the performer's body."
    ]
    for whose, own in (("plan", one), ("performance", other)):
        alone = [link for link in own.links[1:] if link not in shared]
        if alone:
            notes.append(f"Only the {whose} has joints of {', '.join(alone)}: not compared.")
    return notes


def format_message(plan: RecordedMotion, performed: RecordedMotion, found: Performance, compared: list[int]) -> str:
    """The result in one sentence."""
    from ...scene.labels import format_angle

    moving = [k for k in compared if np.isfinite(found.correlation[k])]
    worst = max(compared, key=lambda k: found.rmse[k])
    slower = 100.0 * (found.alignment.stretch - 1.0)
    pace = "at its pace" if abs(slower) < 0.5 else f"{abs(slower):.0f} % {'slower' if slower > 0.0 else 'faster'}"
    said = (
        f"{performed.name} performs {100.0 * found.coverage:.0f} % of {plan.name}, {pace}: joints that move differ by "
        f"{format_angle(_rms(found.rmse[moving]))} (rms), most {found.joints[worst]} "
        f"({format_angle(found.rmse[worst])}), median "
        f"correlation {np.median(found.correlation[moving]):.2f}, amplitude "
        f"{100.0 * np.median(found.gain[moving]):.0f} % of the planned; it determines "
        f"{found.reached_excitation.well_determined} base "
        f"parameters to 10 %, the plan {found.planned_excitation.well_determined}"
    )
    alike = found.alignment.similarity >= MIN_SIMILARITY and found.coverage >= MIN_SIMILARITY
    return said if alike else f"Probably not the same movement (similarity {found.alignment.similarity:.2f}): {said}"


def format_report(sentence: str, notes: list[str], found: Performance, compared: list[int]) -> str:
    """The report, plain text."""
    from ...formats.text_table import format_table

    order = sorted(compared, key=lambda k: -found.rmse[k])[:SHOWN_JOINTS]
    rows = [
        (found.joints[k], *(f"{np.degrees(values[k]):z.1f}" for values in (found.rmse, found.offset)),
         *(_format_number(values[k]) for values in (found.correlation, found.gain)))
        for k in order
    ]  # fmt: skip
    links = [
        (link, _format_number(a), _format_number(b))
        for link, a, b in zip(found.links, found.planned_excitation.conditions, found.reached_excitation.conditions)
        if not np.isnan(a)
    ]
    alignment = found.alignment
    late = f"{abs(alignment.lag):.2f} s {'after' if alignment.lag >= 0.0 else 'before'}"
    return "\n".join([
        sentence,
        "",
        *notes,
        *([] if found.alignment.converged else ["The alignment did not converge: lag and pace are approximate."]),
        f"The performance begins {late} the recording and lasts {alignment.stretch:.3f} times "
        f"as planned; {100.0 * found.coverage:.0f} % of it was recorded.",
        "",
        f"Largest errors of {len(compared)} joint coordinates",
        format_table(("joint", "rms [deg]", "offset [deg]", "correlation", "gain"), rows),
        "",
        "Condition number by link, and of all base parameters",
        format_table(("link", "planned", "reached"), [*links, ("all", *map(_format_number, _totals(found)))]),
        "",
        f"Of {len(found.planned_excitation.deviations)} base parameters, predicted at the force plate's noise: "
        f"{_count_determined(found.planned_excitation)} determined by the plan and "
        f"{_count_determined(found.reached_excitation)} by the performance, "
        f"{found.planned_excitation.well_determined} and {found.reached_excitation.well_determined} of them to 10 %.",
    ])  # fmt: skip


def to_tree(
    sentence: str,
    notes: list[str],
    plan: RecordedMotion,
    performed: RecordedMotion,
    found: Performance,
    compared: list[int],
) -> dict[str, object]:
    """The comparison as plain data, SI."""
    return {
        "message": sentence,
        "notes": notes,
        "plan": plan.name,
        "performed": performed.name,
        "rigs": {"plan": plan.rig.name, "performed": performed.rig.name},
        "lag": found.alignment.lag,
        "stretch": found.alignment.stretch,
        "similarity": found.alignment.similarity,
        "share": found.coverage,
        "joints": [
            {"joint": found.joints[k], "rmse": found.rmse[k], "offset": found.offset[k],
             "correlation": found.correlation[k], "gain": found.gain[k]}
            for k in compared
        ],
        "excitation": {
            which: {
                "conditions": dict(zip(found.links, reached.conditions)),
                "total_condition": reached.total,
                "base_parameters": len(reached.deviations),
                "determined": _count_determined(reached),
                "below_10_percent": reached.well_determined,
            }
            for which, reached in (("planned", found.planned_excitation), ("reached", found.reached_excitation))
        },
    }  # fmt: skip


def format_joint_table(found: Performance, compared: list[int]) -> str:
    """A row for each joint coordinate as CSV; correlation and gain are empty for joints that the plan does not move."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["joint", "rmse [rad]", "offset [rad]", "correlation", "gain"])
    for k in compared:
        values = (found.rmse[k], found.offset[k], found.correlation[k], found.gain[k])
        writer.writerow([found.joints[k], *("" if np.isnan(value) else f"{value:.6g}" for value in values)])
    return stream.getvalue()


def _totals(found: Performance) -> tuple[float, float]:
    return found.planned_excitation.total, found.reached_excitation.total


def _count_determined(reached: MotionExcitation) -> int:
    return int(np.isfinite(reached.deviations).sum())


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean()))


def _format_number(value: float) -> str:
    return "" if np.isnan(value) else "not excited" if np.isinf(value) else f"{value:.3g}"
