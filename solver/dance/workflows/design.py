"""Design a dance, verify it, and write it for robots, people and Blender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import InvalidValue
from ...formats.codec import json_text
from ...formats.output_folder import write_folder
from ...motion import Motion
from ...progress import PartialProgress, Progress, silent
from ...rig import Rig
from ...scene import dance_folder as names
from ...scene.motion_record import MOTION, motion_record
from ...scene.rig import write_rig
from ...scene.summary import SUMMARY, SceneSummary
from ..design import design as designing
from ..design.body_parts import require_danceable
from ..design.dance import Dance
from ..design.dance_file import DESIGNED_DANCE
from ..design.evaluation import Evaluation, evaluate_dance, format_report
from ..design.options import DanceOptions, human_options
from .export import write_motion_table
from .summaries import summarise_design

DESIGN_SHARE = 0.9
SCENE_RATE = 60.0
"""[1/s] of the motion that a scene draws."""


@dataclass(frozen=True, slots=True, repr=False)
class DesignedDance:
    """A dance that holds every check at 500 samples a second.

    Attributes:
        rig: that dances.
        dance: as plain data.
        options: it was designed with.
        evaluation: margins, excitation, deviations to expect.
    """

    rig: Rig
    dance: Dance
    options: DanceOptions
    evaluation: Evaluation

    def __repr__(self) -> str:
        return repr(self.dance)

    @property
    def report(self) -> str:
        """For people, plain text."""
        return format_report(self.rig, self.dance, self.evaluation)

    @property
    def summary(self) -> SceneSummary:
        """For a scene: message, keys, strips, notes and excitation."""
        return summarise_design(self.rig, self.dance, self.evaluation, self.options.poses)

    @property
    def message(self) -> str:
        """What it is, in one sentence."""
        return self.summary.message

    def write(self, path: str | Path, rate: float = 100.0) -> None:
        """Write the folder of a dance, complete or not at all; joint tables at ``rate`` [1/s].

        Raises:
            InvalidValue: a rate that is not positive.
        """
        if not rate > 0.0:
            raise InvalidValue(f"the rate must be positive, got {rate:g}")
        rig, dance = self.rig, self.dance
        with write_folder(Path(path)) as folder:
            DESIGNED_DANCE.write(folder / names.DANCE_FILE, dance)
            tree = self.evaluation.as_tree(rig, dance)
            (folder / names.NUMBERS_FILE).write_text(json_text(tree), "utf-8")
            (folder / names.REPORT_FILE).write_text(self.report + "\n", "utf-8")
            SUMMARY.write(folder / names.SUMMARY_FILE, self.summary)
            write_rig(folder / names.RIG_FILE, rig)
            drawn = motion_record("dance", rig, dance.sample(rig, SCENE_RATE)).with_contacts(
                dance.schedule, dance.checks
            )
            MOTION.write(folder / names.MOTION_FILE, drawn)
            motion = dance.sample(rig, rate)
            write_motion_table(rig, motion, folder / names.JOINTS_FILE)
            write_motion_table(rig, motion, folder / names.STORAGE_FILE)


def design(
    rig: Rig, options: DanceOptions | None = None, progress: Progress = silent, recorded: Sequence[Motion] = ()
) -> DesignedDance:
    """A dance that excites a body's inertias inside its limits, in balance and free of collisions, verified.

    Args:
        rig: with two feet.
        options: of the dance; by default those of a person or of a robot, as the rig is one.
        progress: told about the progress; cancelling it returns what is done, its notes say so.
        recorded: motions of this rig recorded already: the dance adds most to what they tell.

    Raises:
        InvalidValue: a rig that cannot dance, or a check that fails at 500 Hz, which says that the design is wrong.

    Example:
        >>> quick = solver.DanceOptions(postures={"both": 2}, pool=20, starts=1, rounds=1, seed=1, workers=1)
        >>> designed = solver.design(solver.hoap3(torque="peak"), quick)
        >>> print(designed.message)
        Designed a dance of 2 postures and ... s, every check holds
        >>> designed.write("designed")
    """
    require_danceable(rig)
    if options is None:
        options = human_options() if rig.provenance.get("kind") == "human" else DanceOptions()
    dance = designing.design(rig, options, PartialProgress(progress, 0.0, DESIGN_SHARE), recorded)
    if others := [patch.name for patch in rig.contacts if not patch.sole]:
        left_out = f"designed on feet alone: {', '.join(others)} carry nothing; key their strips by hand and repair"
        dance = replace(dance, notes=(*dance.notes, left_out))
    progress(DESIGN_SHARE, "verifying at 500 Hz")
    evaluation = evaluate_dance(rig, dance, recorded)
    if evaluation.failures:
        raise InvalidValue(f"the dance fails its verification: {evaluation.failures[0]}")
    progress(1.0, "designed")
    return DesignedDance(rig, dance, options, evaluation)
