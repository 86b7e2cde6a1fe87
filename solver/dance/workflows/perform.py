"""Compare a recording with the dance that it performs: joint angles, and what both determine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...base.errors import InputError, InvalidValue, checked
from ...base.progress import Progress, silent
from ...dynamics.coordinates import continuous_coordinates
from ...formats.text_table import format_table
from ...identification.expected import expect_determined, wrench_quantity
from ...scene.dance_folder import PERFORMANCE_FILE, REPORT_FILE
from ...scene.determined import TABLES, DeterminedQuantity
from ...scene.labels import format_angle
from ...scene.motion_record import MOTION
from ...scene.result import RESULT
from ...scene.study_folder import RESULT_FILE
from ...skeleton.rig import Rig
from ...storage.json_tree import json_text, to_json_values
from ...storage.output_folder import write_folder
from ...tracking.retargeting.joint_transfer import common_links, transfer_motion
from ...values.motion import Motion
from .loading import find_motion_file, load_dance
from .performance import STILL_JOINT, Performance, compare_performance

RATE = 100.0
SHOWN_JOINTS = 12
PROMISE_COLUMNS = ("quantity", "planned", "reached", "found")
MIN_SIMILARITY = 0.6
"""Similarity and coverage of the plan below which the recording is probably another movement."""


@dataclass(frozen=True, slots=True)
class PerformedDance:
    """A recording compared with its plan.

    Attributes:
        plan, performed: the motions.
        performance: of each joint.
        compared_joints: indices of the joint coordinates that both bodies have.
        notes: what is compared if the two rigs differ.
        expected: what `identify` will determine from the plan and from the performance.
        found: what it has determined, if the folder holds a result; the wrench in data that it was not fitted to.
    """

    plan: RecordedMotion
    performed: RecordedMotion
    performance: Performance
    compared_joints: tuple[int, ...]
    notes: tuple[str, ...]
    expected: tuple[tuple[DeterminedQuantity, ...], tuple[DeterminedQuantity, ...]]
    found: tuple[DeterminedQuantity, ...] = ()

    @property
    def is_performance(self) -> bool:
        """Whether the recording is similar to the plan; otherwise it probably is another movement."""
        return min(self.performance.alignment.similarity, self.performance.coverage) >= MIN_SIMILARITY

    @property
    def message(self) -> str:
        """The result in one sentence."""
        found, compared = self.performance, list(self.compared_joints)
        moving = [k for k in compared if np.isfinite(found.correlation[k])]
        worst = max(compared, key=lambda k: found.rmse[k])
        slower = 100.0 * (found.alignment.stretch - 1.0)
        pace = "at its pace" if abs(slower) < 0.5 else f"{abs(slower):.0f} % {'slower' if slower > 0.0 else 'faster'}"
        said = (
            f"{self.performed.name} performs {100.0 * found.coverage:.0f} % of {self.plan.name}, {pace}: joints that "
            f"move differ by {format_angle(float(np.sqrt((found.rmse[moving] ** 2).mean())))} (rms), most "
            f"{found.joints[worst]} ({format_angle(found.rmse[worst])}), median correlation "
            f"{np.median(found.correlation[moving]):.2f}, amplitude {100.0 * np.median(found.gain[moving]):.0f} % of "
            "the planned"
        )
        if self.is_performance:
            return said
        return f"Probably not the same movement (similarity {found.alignment.similarity:.2f}): {said}"

    @property
    def report(self) -> str:
        """The report, plain text."""
        own = format_report(self.message, list(self.notes), self.performance, list(self.compared_joints))
        return f"{own}\n\n95 % interval over the prior's\n{format_table(PROMISE_COLUMNS, self.promises)}"

    @property
    def promises(self) -> list[tuple[str, ...]]:
        """A row for each quantity: its name, and its interval over the prior's planned, reached and found."""
        found = {(one.kind, one.name): one.ratio for one in self.found}
        return [
            (f"{one.kind}: {one.name}", f"{one.ratio:.2f}", f"{other.ratio:.2f}",
             _format_number(found.get((one.kind, one.name), np.nan)))
            for one, other in zip(*self.expected)
            if one.source != TABLES or other.source != TABLES
        ]  # fmt: skip

    def write(self, path: str | Path) -> None:
        """Write performance.json and report.txt into a folder, completely or not at all."""
        compared = list(self.compared_joints)
        tree = to_json_values(
            to_tree(self.message, list(self.notes), self.plan, self.performed, self.performance, compared)
            | {"determined": [dict(zip(PROMISE_COLUMNS, row)) for row in self.promises]}
        )
        with write_folder(Path(path)) as folder:
            (folder / PERFORMANCE_FILE).write_text(json_text(tree), "utf-8")
            (folder / REPORT_FILE).write_text(self.report + "\n", "utf-8")


@checked
def perform(
    plan: RecordedMotion | str | Path,
    performed: RecordedMotion | str | Path,
    *,
    trial: str | None = None,
    progress: Progress = silent,
) -> PerformedDance:
    """Compare a recording with the dance that it performs: align in time, then compare joints and what both determine.

    Args:
        plan: a dance, a timeline, or another recording's motion.
        performed: folder of a study, or a motion in it.
        trial: of the folder, if it has several.
        progress: receives the progress; may cancel.

    Raises:
        InputError: a file without a dance or motion, or several trials and no name.
        InvalidValue: a plan that moves no joint of the performer.

    Example:
        >>> found = solver.perform("dance/dance.npz", "tracked", trial="squats")  # doctest: +SKIP
        >>> print(found.message)  # doctest: +SKIP
    """
    progress(0.0, "reading")
    plan = plan if isinstance(plan, RecordedMotion) else read_plan(plan)
    result = None if isinstance(performed, RecordedMotion) else Path(performed) / RESULT_FILE
    performed = performed if isinstance(performed, RecordedMotion) else read_performance(performed, trial)
    rig = performed.rig
    progress(0.2, "aligning and comparing")
    on_performer = transfer_motion(plan.rig, plan.motion, rig)
    require_movement(plan, on_performer, rig)
    found = compare_performance(rig, on_performer, performed.motion)
    shared = common_links(plan.rig, rig)
    compared = tuple(k for k, name in enumerate(found.joints) if name.split(" ")[0] in shared)
    progress(0.6, "what both determine")
    expected = [expect_determined(rig, [motion]) for motion in (on_performer, performed.motion)]
    determined = read_determined(result, rig) if result is not None and result.is_file() else ()
    notes = tuple(describe_rig_differences(plan, performed, shared))
    return PerformedDance(plan, performed, found, compared, notes, (expected[0], expected[1]), determined)


def read_determined(path: Path, rig: Rig) -> tuple[DeterminedQuantity, ...]:
    """What an identification found, with the errors of the wrench in parts of the data that it was not fitted to."""
    result = RESULT.read(path)
    unused = [own for own in result.details.get("comparisons", ()) if not own["used"]]
    if not unused:
        return result.determined
    errors = [np.array([own[name] for own in unused], float) for name in ("rmse_identified", "rmse_prior")]
    return (*result.determined, wrench_quantity(rig, *(np.sqrt(np.mean(own**2, axis=0)) for own in errors)))


def require_movement(plan: RecordedMotion, on_performer: Motion, rig: Rig) -> None:
    """Refuse a plan that moves no joint of the performer.

    Raises:
        InvalidValue: it does not move, or moves other joints.
    """
    if (continuous_coordinates(rig, on_performer.q).std(axis=0) > STILL_JOINT).any():
        return
    if (continuous_coordinates(plan.rig, plan.motion.q).std(axis=0) > STILL_JOINT).any():
        raise InvalidValue(f"{plan.name!r} moves joints of {plan.rig.name} that {rig.name} does not have")
    raise InvalidValue(f"{plan.name!r} moves no joint: there is nothing to perform")


def read_plan(path: str | Path) -> RecordedMotion:
    """Read the plan's motion.

    Raises:
        InputError: neither a dance nor a motion.
    """
    found = load_dance(path)
    return RecordedMotion(found.rig, found.sample(None, RATE), found.name)


def read_performance(path: str | Path, trial: str | None = None) -> RecordedMotion:
    """Read a motion from the folder of a study, or from one of its files.

    Raises:
        InputError: no motion, or several trials and no name.
    """
    file = find_motion_file(path, trial)
    found = MOTION.read(file)
    if len(found) < 2:
        raise InputError(file, f"has {len(found)} frames, a motion needs two", remedy="Name another trial")
    return RecordedMotion(found.rig, found.motion, found.name)


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
        f"{len(shared)} common joints are compared, not the positions of hands and feet, and both determine "
        "the performer's body."
    ]
    for whose, own in (("plan", one), ("performance", other)):
        alone = [link for link in own.links[1:] if link not in shared]
        if alone:
            notes.append(f"Only the {whose} has joints of {', '.join(alone)}: not compared.")
    return notes


def format_report(sentence: str, notes: list[str], found: Performance, compared: list[int]) -> str:
    """The report, plain text."""
    order = sorted(compared, key=lambda k: -found.rmse[k])[:SHOWN_JOINTS]
    rows = [
        (found.joints[k], *(f"{np.degrees(values[k]):z.1f}" for values in (found.rmse, found.offset)),
         *(_format_number(values[k]) for values in (found.correlation, found.gain)))
        for k in order
    ]  # fmt: skip
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
    }  # fmt: skip


def _format_number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3g}"
