"""The result of repairing, completing or slowing an authored dance, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...base.errors import InvalidValue
from ...feasibility import Checks
from ...scene.dance_folder import AUTHORED_FILE, MOTION_FILE, REPORT_FILE, SUMMARY_FILE
from ...scene.motion_record import MOTION, motion_record
from ...scene.summary import SUMMARY, SceneSummary, Status
from ...storage.output_folder import write_folder
from ..authoring.authored_dance import AUTHORED_DANCE, AuthoredDance
from ..authoring.complete import CompletedDance
from ..authoring.repair import RepairedDance
from ..authoring.retime import TimeScaling

KEYS_SUFFIX = ".json"
"""Suffix of an output file with the authored dance only."""


@dataclass(frozen=True, slots=True)
class EditedDance:
    """An authored dance after it was repaired, completed or slowed down.

    Attributes:
        dance: the new dance.
        checks: of it, at 500 samples a second.
        summary: of the job, for a scene: status, message, problems, notes, keys and strips.
        report: the same as plain text.
        details: result of the job itself.
    """

    dance: AuthoredDance
    checks: Checks
    summary: SceneSummary
    report: str
    details: RepairedDance | CompletedDance | TimeScaling

    @property
    def status(self) -> Status:
        """Status of the job, a value of `scene.summary.Status`: ``"repaired"``, ``"failed"``, ``"slowed"``, ..."""
        return self.summary.status

    @property
    def message(self) -> str:
        """The result, or what prevents it, in one sentence."""
        return self.summary.message

    @property
    def feasible(self) -> bool:
        """Whether every check holds now."""
        return self.checks.feasible

    def write(self, path: str | Path, rate: float = 100.0) -> None:
        """Write the result, completely or not at all.

        Args:
            path: a folder, which receives ``dance.motion.npz``, ``keyed.json``, ``summary.json`` and ``report.txt``;
                or a file that ends in .json, which receives the authored dance.
            rate: [1/s] of ``dance.motion.npz``; higher with jumps (`Keyed.sampling_rate`).

        Raises:
            InvalidValue: a rate that is not positive.
        """
        path = Path(path)
        if not rate > 0.0:
            raise InvalidValue(f"the rate must be positive, got {rate:g}")
        if path.suffix.lower() == KEYS_SUFFIX:
            AUTHORED_DANCE.write(path, self.dance)
            return
        keyed = self.dance
        motion = keyed.motion(keyed.sampling_rate(rate))
        moved = motion_record(keyed.name, keyed.rig, motion).with_contacts(keyed.schedule, keyed.checks)
        with write_folder(path) as folder:
            MOTION.write(folder / MOTION_FILE, moved)
            AUTHORED_DANCE.write(folder / AUTHORED_FILE, self.dance)
            SUMMARY.write(folder / SUMMARY_FILE, self.summary)
            (folder / REPORT_FILE).write_text(self.report + "\n", "utf-8")
