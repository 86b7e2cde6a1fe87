"""Where markers lead the bones: learnt where plates tell it, and then told by markers alone.

A motion that was bent towards the plates says how the body lies beside the motion that follows its markers best. What
the markers of every link leave over, in the axes of the link, is known of any trial; a linear map from there to the
bend, learnt on trials with plates, leads the motion of another trial whose plates are not looked at. Skin that swings
over a thigh, a knee that slides, a marker at the wrong place all enter by it. How far the map is believed, and whether
at all, is judged by trials that it was not learnt from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...calibration.calibrated import Calibration
from ...dynamics import link_motions
from ...identification.belief import is_still
from ...motion import Motion
from ...rig import Rig
from ...signals import FilterPreset, low_pass, rate_of_grid
from ...trial import Trial
from ..values import TrialRecord
from .bending import Asked, bent
from .following import Followed, led_aside
from .rounds import Work, asked, still

UNIT = 0.005
"""[m] By which what markers leave over is measured: about what it is."""
DOUBTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Ridges that are tried."""
WORTH = 0.02
"""Share of what is left of the wrenches by which a map must lessen it, on trials that it was not learnt from."""
WHOLLY = 0.99
"""A frame between two others counts when both do."""
FEWEST = 50
"""Frames that teach anything."""

Gram = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a trial teaches in some of its frames.

    Attributes:
        times: (N,) [s] of the markers.
        clues: (N, 3 L) what is left over of the markers of every link, over `UNIT`.
        bend: (N, nv) of the motion towards the plates.
        taught: (N,) True in the frames that teach.
        asked: of the bend, at the times of the trial's motion.
    """

    times: np.ndarray
    clues: np.ndarray
    bend: np.ndarray
    taught: np.ndarray
    asked: Asked

    @property
    def gram(self) -> Gram:
        """(3 L, 3 L), (3 L, nv): mean products of clues, and of clues and bend."""
        clues = self.clues[self.taught]
        return clues.T @ clues / len(clues), clues.T @ self.bend[self.taught] / len(clues)

    def parts(self) -> tuple[Lesson, Lesson]:
        """Its earlier and its later half."""
        middle = np.flatnonzero(self.taught)[int(self.taught.sum()) // 2]
        early = np.arange(len(self.taught)) < middle
        return replace(self, taught=self.taught & early), replace(self, taught=self.taught & ~early)

    def left(self, slopes: np.ndarray) -> float:
        """What a map (3 L, nv) leaves of the wrenches, over what is left without: mean over axes."""
        wanted, bend = self.asked, self.clues @ slopes
        times = wanted.times
        place = np.array([np.interp(times, self.times, column) for column in bend.T]).T
        rate = np.gradient(place, times, axis=0)
        parts = (place, rate, np.gradient(rate, times, axis=0))
        own = (wanted.slopes.place, wanted.slopes.rate, wanted.slopes.acceleration)
        # frames n, rows r, tangent coordinates i
        change = np.sum([np.einsum("nri,ni->nr", slope, part) for slope, part in zip(own, parts)], axis=0)
        counted = np.interp(times, self.times, self.taught.astype(float)) > WHOLLY
        counted &= (wanted.weights > 0.0).all(axis=1)
        before, after = (np.sqrt(np.mean(rest[counted] ** 2, axis=0)) for rest in (wanted.left, wanted.left - change))
        return float(np.mean(after / np.maximum(before, np.finfo(float).tiny)))


def learnt(
    work: Work, rig: Rig, trials: Sequence[tuple[str, Trial]], followed: Mapping[str, Followed] | None = None
) -> np.ndarray | None:
    """Slopes (3 L, nv) of the bend by the clues; None where the trials agree on none.

    Args:
        work: whose records.
        rig: with the inertials of its prior.
        trials: to learn from, each with the name of its record.
        followed: the markers of the records; found out by default.
    """
    moving = [(name, trial) for name, trial in trials if not is_still(trial)]
    known = work.followed({name for name, _ in moving}) if followed is None else followed
    records = {record.name: record for record in work.records}
    return agreed([_lesson(work, rig, records[name], known[name], trial) for name, trial in moving if name in known])


def agreed(lessons: Sequence[Lesson]) -> np.ndarray | None:
    """The map (3 L, nv) of the best ridge, judged on trials that it was not learnt from; None if none is worth it.

    One lesson alone is judged by its halves.
    """
    lessons = [lesson for lesson in lessons if lesson.taught.sum() >= FEWEST]
    parts = list(lessons[0].parts()) if len(lessons) == 1 else lessons
    if not parts:
        return None
    grams = [lesson.gram for lesson in parts]

    def unseen(doubt: float) -> float:
        return float(np.mean([own.left(_map(grams[:k] + grams[k + 1 :], doubt)) for k, own in enumerate(parts)]))

    left = [unseen(doubt) for doubt in DOUBTS]
    best = int(np.argmin(left))
    return _map([lesson.gram for lesson in lessons], DOUBTS[best]) if left[best] <= 1.0 - WORTH else None


def led(
    calibration: Calibration, records: Sequence[TrialRecord], slopes: np.ndarray | None, preset: FilterPreset
) -> tuple[TrialRecord, ...]:
    """Records with motions that their markers lead by a map; those without markers, or without a map, as they are."""
    return tuple(
        record
        if slopes is None or record.tracked is None or record.tracked.pulls is None
        else led_aside(calibration, record, clues_of(calibration.rig, record, preset) @ slopes)
        for record in records
    )


def clues_of(rig: Rig, record: TrialRecord, preset: FilterPreset) -> np.ndarray:
    """What is left over of the markers of every link (N, 3 L), over `UNIT`, in the axes of the link, low-passed.

    Args:
        rig: that was tracked.
        record: tracked by single frames.
        preset: of the equations that the map is for.
    """
    tracked = record.tracked
    assert tracked is not None
    assert tracked.pulls is not None
    still_standing = np.zeros((len(tracked), rig.nv))
    turn = link_motions(rig, Motion(tracked.times, tracked.q, still_standing, still_standing)).rotation
    pulls = tracked.pulls
    mean = pulls.sums / np.maximum(pulls.weights, 1.0)[:, :, None]
    # components i of the world, j of the link; links l, frames n
    own = np.einsum("ijln,nli->nlj", turn, mean).reshape(len(tracked), -1)
    return low_pass(own, rate_of_grid(tracked.times), preset) / UNIT


def _lesson(work: Work, rig: Rig, record: TrialRecord, followed: Followed, trial: Trial) -> Lesson:
    spline, now = still(followed, work.choices)
    wanted = asked(rig, trial, followed, work.choices)
    bend = spline.values(followed.times, bent(spline, now, wanted))
    counted = np.interp(followed.times, trial.motion.times, trial.counted.astype(float)) > WHOLLY
    return Lesson(followed.times, clues_of(rig, record, work.preset), bend, counted, wanted)


def _map(grams: Sequence[Gram], doubt: float) -> np.ndarray:
    """Ridge regression; every trial weighs alike."""
    own, against = (np.mean(parts, axis=0) for parts in zip(*grams))
    return np.asarray(np.linalg.solve(own + doubt * np.eye(len(own)), against))
