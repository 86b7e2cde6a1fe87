"""How closely a dance was performed, and what its performance excites."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ...coordinates import continuous_coordinates
from ...errors import InputError, InvalidValue, SolverError
from ...formats.atomic import write_atomically
from ...formats.folder import write_folder
from ...formats.plain import plain
from ...identification.base_parameters import base_parameters
from ...motion import Motion
from ...progress import Progress, silent
from ...rig import Rig
from ...scene.dance_folder import PERFORMANCE_FILE, PERFORMANCE_TABLE, REPORT_FILE
from ...scene.motion import read_motion
from ...scene.rig import read_rig
from ...scene.study_folder import MOTION_END, RIG_FILE
from ...signals import smooth_motion
from ...tracking.retargeting import common_links, transferred
from ..authoring.timeline import configurations
from .performance import STILL, Performance, compare
from .performance_report import RecordedMotion, as_tree, differences, joint_table, message, report
from .reading import load_dance

RATE = 100.0


@dataclass(frozen=True, slots=True)
class PerformedDance:
    """A recording held against its plan.

    Attributes:
        plan, performed: the motions.
        performance: joint by joint, and what both excite.
        compared: places of the joint coordinates that both bodies have.
        notes: what is compared where the two rigs are not the same.
    """

    plan: RecordedMotion
    performed: RecordedMotion
    performance: Performance
    compared: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def message(self) -> str:
        """The result in one sentence."""
        return message(self.plan, self.performed, self.performance, list(self.compared))

    @property
    def report(self) -> str:
        """For people, plain text."""
        return report(self.message, list(self.notes), self.performance, list(self.compared))

    def write(self, path: str | Path) -> None:
        """Write performance.json, performance.csv and report.txt into a folder, complete or not at all."""
        compared = list(self.compared)
        tree = plain(as_tree(self.message, list(self.notes), self.plan, self.performed, self.performance, compared))
        with write_folder(Path(path)) as folder:
            with write_atomically(folder / PERFORMANCE_FILE) as stream:
                stream.write(json.dumps(tree, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
            (folder / PERFORMANCE_TABLE).write_text(joint_table(self.performance, compared), "utf-8")
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
    plan = plan if isinstance(plan, RecordedMotion) else planned(plan)
    performed = performed if isinstance(performed, RecordedMotion) else recorded(performed, trial)
    rig = performed.rig
    progress(0.2, "aligning and comparing")
    on_performer = transferred(plan.rig, plan.motion, rig)
    require_movement(plan, on_performer, rig)
    found = compare(rig, on_performer, performed.motion, structure=base_parameters(rig))
    shared = common_links(plan.rig, rig)
    compared = tuple(k for k, name in enumerate(found.joints) if name.split(" ")[0] in shared)
    return PerformedDance(plan, performed, found, compared, tuple(differences(plan, performed, shared)))


def require_movement(plan: RecordedMotion, on_performer: Motion, rig: Rig) -> None:
    """Refuse a plan that moves no joint of the performer.

    Raises:
        InvalidValue: it keeps still, or moves other joints.
    """
    if (continuous_coordinates(rig, on_performer.q).std(axis=0) > STILL).any():
        return
    if (continuous_coordinates(plan.rig, plan.motion.q).std(axis=0) > STILL).any():
        raise InvalidValue(f"{plan.name!r} moves joints of {plan.rig.name} that {rig.name} does not have")
    raise InvalidValue(f"{plan.name!r} keeps every joint still: there is nothing to perform")


def planned(path: str | Path) -> RecordedMotion:
    """The plan's motion.

    Raises:
        InputError: no dance and no motion.
    """
    path = Path(path)
    if path.name.endswith(MOTION_END):
        return recorded(path)
    found = load_dance(path)
    return RecordedMotion(found.rig, found.motion(RATE), found.name)


def recorded(path: str | Path, trial: str | None = None) -> RecordedMotion:
    """A motion from the folder of a study, or from one of its files.

    Raises:
        InputError: no motion, no rig beside it, or several trials and none named.
    """
    file = _motion_file(Path(path), trial)
    rig_file = file.parent / RIG_FILE
    if not rig_file.is_file():
        raise InputError(
            file, f"has no {RIG_FILE} beside it that tells whose motion it is", remedy="Name a study's folder"
        )
    scene = read_motion(file)
    if len(scene) < 2:
        raise InputError(file, f"holds {len(scene)} frames, a motion needs two", remedy="Name another trial")
    try:
        rig = read_rig(rig_file)
        places = [scene.links.index(link) for link in rig.links if link in scene.links]
        if len(places) != len(rig.links):
            raise InputError(file, f"is not the motion of the rig in {RIG_FILE}", remedy="Name a study's folder")
        q = configurations(rig, scene.root, scene.rotations[:, places], scene.translations[:, places])
        motion = smooth_motion(rig, scene.times, q, None)
    except InputError:
        raise
    except SolverError as error:
        raise InputError(file, str(error).rstrip("."), remedy="Track the recording again") from error
    return RecordedMotion(rig, motion, file.name.removesuffix(MOTION_END))


def _motion_file(path: Path, trial: str | None) -> Path:
    if path.is_file():
        if not path.name.endswith(MOTION_END):
            raise InputError(path, f"is neither the folder of a study nor a {MOTION_END}", remedy="Name one of them")
        return path
    if not path.is_dir():
        raise InputError(path, "is not there", remedy=f"Name the folder of a study, or a {MOTION_END}")
    trials = sorted(file.name.removesuffix(MOTION_END) for file in path.glob(f"*{MOTION_END}"))
    if not trials:
        raise InputError(path, f"holds no {MOTION_END}", remedy="Name the --output of `track` or `identify`")
    if trial is None and len(trials) > 1:
        raise InputError(path, f"holds several trials, {', '.join(trials)}", remedy="Choose one with --trial")
    if trial is not None and trial not in trials:
        raise InputError(path, f"holds no trial {trial!r}", remedy=f"It holds {', '.join(trials)}")
    return path / f"{trial or trials[0]}{MOTION_END}"
