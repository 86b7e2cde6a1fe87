"""How closely a dance was performed, and what its performance excites."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...coordinates import continuous_coordinates
from ...errors import InputError, InvalidValue
from ...formats.codec import json_text
from ...formats.json_values import to_json_values
from ...formats.output_folder import write_folder
from ...identification.base_parameters import base_parameters
from ...motion import Motion
from ...progress import Progress, silent
from ...rig import Rig
from ...scene.dance_folder import PERFORMANCE_FILE, PERFORMANCE_TABLE, REPORT_FILE
from ...scene.motion_record import MOTION
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
    """A recording held against its plan.

    Attributes:
        plan, performed: the motions.
        performance: joint by joint, and what both excite.
        compared_joints: places of the joint coordinates that both bodies have.
        notes: what is compared where the two rigs are not the same.
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
        """For people, plain text."""
        return format_report(self.message, list(self.notes), self.performance, list(self.compared_joints))

    def write(self, path: str | Path) -> None:
        """Write performance.json, performance.csv and report.txt into a folder, complete or not at all."""
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
    """Hold a recording against the dance that it performs: each joint after aligning in time, and the excitation.

    Args:
        plan: a dance, a timeline, or another recording's motion.
        performed: folder of a study, or a motion in it.
        trial: of the folder, where it holds several.
        progress: told about the progress; may cancel.

    Raises:
        InputError: a file that holds no dance or motion, or several trials and none named.
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
        InvalidValue: it keeps still, or moves other joints.
    """
    if (continuous_coordinates(rig, on_performer.q).std(axis=0) > STILL_JOINT).any():
        return
    if (continuous_coordinates(plan.rig, plan.motion.q).std(axis=0) > STILL_JOINT).any():
        raise InvalidValue(f"{plan.name!r} moves joints of {plan.rig.name} that {rig.name} does not have")
    raise InvalidValue(f"{plan.name!r} keeps every joint still: there is nothing to perform")


def read_plan(path: str | Path) -> RecordedMotion:
    """The plan's motion.

    Raises:
        InputError: no dance and no motion.
    """
    found = load_dance(path)
    return RecordedMotion(found.rig, found.sample(None, RATE), found.name)


def read_performance(path: str | Path, trial: str | None = None) -> RecordedMotion:
    """A motion from the folder of a study, or from one of its files.

    Raises:
        InputError: no motion, or several trials and none named.
    """
    file = find_motion_file(path, trial)
    found = MOTION.read(file)
    if len(found) < 2:
        raise InputError(file, f"holds {len(found)} frames, a motion needs two", remedy="Name another trial")
    return RecordedMotion(found.rig, found.motion, found.name)
