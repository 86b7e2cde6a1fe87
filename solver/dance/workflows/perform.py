"""Compare a recording with the dance that it performs: joint angles and excitation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...coordinates import continuous_coordinates
from ...errors import InputError, InvalidValue
from ...identification.base_parameters import base_parameters
from ...motion import Motion
from ...progress import Progress, silent
from ...rig import Rig
from ...scene.dance_folder import PERFORMANCE_FILE, PERFORMANCE_TABLE, REPORT_FILE
from ...scene.motion_record import MOTION
from ...storage.codec import json_text
from ...storage.json_values import to_json_values
from ...storage.output_folder import write_folder
from ...tracking.retargeting import common_links, transfer_motion
from .loading import find_motion_file, load_dance
from .performance import STILL_JOINT, Performance, compare_performance
from .performance_report import (
    RecordedMotion,
    describe_rig_differences,
    format_joint_table,
    format_message,
    format_report,
    to_tree,
)

RATE = 100.0


@dataclass(frozen=True, slots=True)
class PerformedDance:
    """A recording compared with its plan.

    Attributes:
        plan, performed: the motions.
        performance: of each joint, and the excitation of both.
        compared_joints: indices of the joint coordinates that both bodies have.
        notes: what is compared if the two rigs differ.
    """

    plan: RecordedMotion
    performed: RecordedMotion
    performance: Performance
    compared_joints: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def message(self) -> str:
        """The result in one sentence."""
        return format_message(self.plan, self.performed, self.performance, list(self.compared_joints))

    @property
    def report(self) -> str:
        """The report, plain text."""
        return format_report(self.message, list(self.notes), self.performance, list(self.compared_joints))

    def write(self, path: str | Path) -> None:
        """Write performance.json, performance.csv and report.txt into a folder, completely or not at all."""
        compared = list(self.compared_joints)
        tree = to_json_values(
            to_tree(self.message, list(self.notes), self.plan, self.performed, self.performance, compared)
        )
        with write_folder(Path(path)) as folder:
            (folder / PERFORMANCE_FILE).write_text(json_text(tree), "utf-8")
            (folder / PERFORMANCE_TABLE).write_text(format_joint_table(self.performance, compared), "utf-8")
            (folder / REPORT_FILE).write_text(self.report + "\n", "utf-8")


def perform(
    plan: RecordedMotion | str | Path,
    performed: RecordedMotion | str | Path,
    *,
    trial: str | None = None,
    progress: Progress = silent,
) -> PerformedDance:
    """Compare a recording with the dance that it performs: align in time, then compare joints and excitation.

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
    performed = performed if isinstance(performed, RecordedMotion) else read_performance(performed, trial)
    rig = performed.rig
    progress(0.2, "aligning and comparing")
    on_performer = transfer_motion(plan.rig, plan.motion, rig)
    require_movement(plan, on_performer, rig)
    found = compare_performance(rig, on_performer, performed.motion, structure=base_parameters(rig))
    shared = common_links(plan.rig, rig)
    compared = tuple(k for k, name in enumerate(found.joints) if name.split(" ")[0] in shared)
    return PerformedDance(plan, performed, found, compared, tuple(describe_rig_differences(plan, performed, shared)))


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
