"""Design a dance: read the task, plan stances, choose postures, optimise transitions, assemble, check and write."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...base.errors import InvalidValue, checked
from ...base.progress import PartialProgress, Progress, silent
from ...base.threads import one_blas_thread
from ...feasibility.messages import describe_contradictions, describe_unreachable, suggest_allowed_pairs
from ...options.dances import DanceOptions, human_options
from ...scene import dance_folder as names
from ...scene.motion_record import MOTION, motion_record
from ...scene.rig import write_rig
from ...scene.summary import SUMMARY, SceneSummary
from ...skeleton.rig import Rig
from ...storage.json_tree import json_text
from ...storage.output_folder import write_folder
from ..design.dance import DESIGNED_DANCE, Dance
from ..design.evaluation import Evaluation, evaluate_dance, format_report
from ..design.phrases import PhraseDesign
from ..design.plan import plan_stances, read_task
from ..design.published import PublishedDesign
from .export import compute_torques, write_motion_table
from .summaries import summarise_design

DESIGN_SHARE = 0.9
SCENE_RATE = 60.0
"""[1/s] of the motion that a scene draws."""


@dataclass(frozen=True, slots=True, repr=False)
class DesignedDance:
    """A designed dance that passes every check at 500 samples a second.

    Attributes:
        rig: that dances.
        dance: the dance.
        options: of the design.
        evaluation: margins, excitation and expected deviations.
    """

    rig: Rig
    dance: Dance
    options: DanceOptions
    evaluation: Evaluation

    def __repr__(self) -> str:
        return repr(self.dance)

    @property
    def report(self) -> str:
        """The report, plain text."""
        return format_report(self.rig, self.dance, self.evaluation)

    @property
    def summary(self) -> SceneSummary:
        """For a scene: message, keys, strips, notes and excitation."""
        return summarise_design(self.rig, self.dance, self.evaluation, self.options.poses)

    @property
    def message(self) -> str:
        """The result in one sentence."""
        return self.summary.message

    def write(self, path: str | Path, rate: float = 100.0) -> None:
        """Write the folder of a dance, completely or not at all; joint tables at ``rate`` [1/s].

        Raises:
            InvalidValue: a rate that is not positive.
        """
        if not rate > 0.0:
            raise InvalidValue(f"the rate must be positive, got {rate:g}")
        rig, dance = self.rig, self.dance
        with write_folder(Path(path)) as folder:
            DESIGNED_DANCE.write(folder / names.DANCE_FILE, dance)
            (folder / names.NUMBERS_FILE).write_text(json_text(self.evaluation.as_tree(rig, dance)), "utf-8")
            (folder / names.REPORT_FILE).write_text(self.report + "\n", "utf-8")
            SUMMARY.write(folder / names.SUMMARY_FILE, self.summary)
            write_rig(folder / names.RIG_FILE, rig)
            drawn = motion_record("dance", rig, dance.sample(rig, SCENE_RATE)).with_contacts(
                dance.schedule, dance.checks
            )
            MOTION.write(folder / names.MOTION_FILE, drawn)
            motion = dance.sample(rig, rate)
            torques = compute_torques(rig, motion, dance.schedule, dance.checks)
            write_motion_table(rig, motion, folder / names.JOINTS_FILE, torques)
            write_motion_table(rig, motion, folder / names.STORAGE_FILE)


@checked
def design(rig: Rig, options: DanceOptions | None = None, progress: Progress = silent) -> DesignedDance:
    """A dance that excites a body's inertias within its limits, in balance and without collisions, verified at 500 Hz.

    Args:
        rig: with two feet.
        options: of the dance; by default those of a person or of a robot, by the rig's kind.
        progress: receives the progress; cancelling returns what is finished, and a note says so.

    Raises:
        InvalidValue: a rig that cannot dance, a single posture that leaves links without any information, or a check
            that fails at 500 Hz, which is a defect of the design.

    Example:
        >>> quick = solver.DanceOptions(postures={"both": 2}, pool=20, rounds=1, seed=1, workers=1)
        >>> designed = solver.design(solver.hoap3(torque="peak"), quick)
        >>> print(designed.message)
        Incomplete: a dance of 2 postures and ... s, every check holds; but the dance does not determine ...
        >>> designed.write("designed")
    """
    if options is None:
        options = human_options() if rig.is_person else DanceOptions()
    dance = design_dance(rig, options, PartialProgress(progress, 0.0, DESIGN_SHARE))
    progress(DESIGN_SHARE, "verifying at 500 Hz")
    evaluation = check_dance(dance)
    progress(1.0, "designed")
    return DesignedDance(rig, dance, options, evaluation)


def design_dance(rig: Rig, options: DanceOptions | None = None, progress: Progress = silent) -> Dance:
    """The design without its verification: bonnet2016 Fig. 3, step by step.

    When ``progress`` raises `Cancelled`, or Ctrl-C is pressed during the search for transitions, the result is the part
    of the dance that is finished, marked as incomplete.

    Raises:
        InvalidValue: a rig without feet or torque limits, or without feasible postures or steps, with the reason;
            recordings of another rig, or for the paper's criterion.
        Cancelled: before any sequence of postures was finished.
    """
    began = time.perf_counter()
    with one_blas_thread():
        task = read_task(rig, DanceOptions() if options is None else options)
        try:
            plan = plan_stances(task, progress)
            design = PhraseDesign if task.options.objective == "sigma" else PublishedDesign
            dance = design(task, plan).run(progress)
            if not dance.postures:
                raise InvalidValue(describe_unreachable(rig.name, tuple(plan.pools), dance.notes))
        except InvalidValue as error:
            advice = f"{suggest_allowed_pairs(rig, [str(error)])}{describe_contradictions(rig)}"
            raise InvalidValue(f"{error}{advice}") from error
    return replace(dance, seconds=time.perf_counter() - began)


def check_dance(dance: Dance) -> Evaluation:
    """The verification of a designed dance by all checks that it carries.

    Raises:
        InvalidValue: a check fails, or the dance has a single posture, which leaves links without any information.
    """
    evaluation = evaluate_dance(dance.rig, dance)
    if evaluation.failures:
        raise InvalidValue(f"the dance fails its verification: {evaluation.failures[0]}")
    if len(dance.postures) == 1 and np.isposinf(evaluation.conditions).any():
        raise InvalidValue(f"a single posture is no dance: {evaluation.describe_undetermined(dance.rig)[0]}")
    return evaluation
