"""Laws of the checks of rate and forces: what a laboratory's faults look like, and that clean trials pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.demo import simulated_person
from solver.formats.recording import find_recordings
from solver.input_checks import check_recording
from solver.input_checks.check_definition import InputToCheck, turn_motion
from solver.input_checks.check_recording import find_problems
from solver.signals.trial import Recording
from solver.values.motion import JointCoordinates, Markers
from solver.values.wrenches import Wrenches
from tests.formats.recording_files import standing_trc, trc_rows, write_trc

PERSON = simulated_person()
TRIAL = next(recording for recording in PERSON.recordings if recording.name == "static")
FOREIGN = ("foreign", "c3d/plugin_gait_motion.c3d", "c3d/sprint_8plates.c3d", "c3d/type3.c3d", "subject_a", "subject_c",
           "subject_e", "brought/bmc_gait.c3d", "walk_d")  # fmt: skip


def with_values(change: np.ndarray, frames: tuple[str, ...] | None = None) -> Recording:
    """The trial with other wrenches (N, K, 6)."""
    wrenches = TRIAL.wrenches
    assert wrenches is not None
    return replace(TRIAL, wrenches=Wrenches(wrenches.times, frames or wrenches.frames, change))


def values() -> np.ndarray:
    """(N, K, 6) of the trial."""
    assert TRIAL.wrenches is not None
    return np.array(TRIAL.wrenches.values)


def shifted(metres: float) -> Recording:
    """The trial with all plates moved."""
    assert TRIAL.wrenches is not None
    return replace(TRIAL, wrenches=TRIAL.wrenches.displaced(np.array([metres, 0.0, 0.0])))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (with_values(values() * [[[-1.0], [1.0]]]), "would pull the body down"),
        (with_values(np.repeat(values()[:, :1], 2, axis=1)), "it would count twice"),
        (shifted(0.6), "from the nearest marker near the floor"),
    ],
    ids=["one plate reversed", "one plate twice", "plates misplaced"],
)
def test_wrong_forces_are_refused(wrong: Recording, words: str) -> None:
    """A plate that pulls, a load that counts twice, a load where nobody stands."""
    with pytest.raises(InputError, match=words):
        check_recording(wrong, PERSON.rig)


def test_a_hand_may_pull() -> None:
    """Only what can only push is accused: a sensor named like a patch that is no sole may pull."""
    rig = PERSON.rig
    hand = replace(rig.soles[0], name="left_grip", sole=False)
    wrong = with_values(values() * [[[-1.0], [1.0]]], ("left_grip", TRIAL.wrenches.frames[1]))  # type: ignore[union-attr]
    with pytest.raises(InputError, match="would pull"):
        check_recording(wrong, rig)
    check_recording(replace(wrong, markers=None), replace(rig, contacts=(*rig.contacts, hand)))


def test_plates_are_mirrored_with_the_markers() -> None:
    """Read with left-handed axes, centres of pressure are mirrored as the feet above them are, and plates push up."""
    mirrored = turn_motion(np.diag([1.0, -1.0, 1.0]), "y", TRIAL).wrenches
    assert TRIAL.wrenches is not None
    assert mirrored is not None
    centres = TRIAL.wrenches.centres_of_pressure() * [1.0, -1.0, 1.0]
    np.testing.assert_allclose(mirrored.centres_of_pressure(), centres, atol=1e-9)
    np.testing.assert_allclose(mirrored.values[..., [2, 5]], TRIAL.wrenches.values[..., [2, 5]] * [1.0, -1.0])


@pytest.mark.parametrize(
    ("prefixes", "count"), [(("Anna:", "Ben:"), 2), (("P1_", "P2_"), 2), (("Anna:",), 1), (("L_", "R_"), 1)]
)
def test_two_subjects_in_one_file_are_two(prefixes: tuple[str, ...], count: int) -> None:
    """The same names under two prefixes are two bodies, unless the prefixes are sides; one prefix is one body."""
    assert TRIAL.markers is not None
    names = tuple(prefix + name for prefix in prefixes for name in TRIAL.markers.names)
    positions = np.concatenate([TRIAL.markers.positions] * len(prefixes), axis=1)
    trial = Recording("walk", Markers(TRIAL.markers.times, names, positions))
    found = [problem.text for check, problem in find_problems(InputToCheck(trial)) if check.name == "subjects"]
    assert found == [
        "two subjects are in this file: Anna (44 names) and Ben (44 of the same kind)".replace(
            "Anna", prefixes[0].rstrip(":_")
        ).replace("Ben", prefixes[-1].rstrip(":_"))
    ] * (count - 1)


@pytest.mark.parametrize(("lost", "speed"), [(1, 3.0), (10, 3.0), (10, 1.0)])
@pytest.mark.parametrize("kind", ["markers", "joints"])
def test_frames_that_were_closed_up_are_noticed(kind: str, lost: int, speed: float) -> None:
    """A motion from which frames were cut has a note with the time, and if it is slow, if they were many; a whole one,
    however short, has none."""
    times = np.arange(200) / 100.0
    waves = np.sin(speed * times[:, None] + np.arange(9) / 4.0)
    kept = np.r_[0:80, 80 + lost : 200]

    def cut(some: np.ndarray) -> Recording:
        ends = times[: len(some)]
        if kind == "joints":
            return Recording("walk", joints=JointCoordinates(ends, tuple("abcdefghi"), waves[some], ("rad",) * 9))
        places = waves[some][:, :, None] * [0.3, 0.1, 0.2] + [0.0, 0.0, 1.0]
        return Recording("walk", Markers(ends, tuple("abcdefghi"), places))

    for count in (1, 4, 5, 6, 200):
        assert check_recording(cut(np.arange(count))).warnings == ()
    (note,) = check_recording(cut(kept)).warnings
    assert "frames seem to have been lost before 0.80 s" in note


def test_frame_numbers_must_advance_as_times_do(tmp_path: Path) -> None:
    """Numbers that jump where time does not show lost frames; a constant stride does not."""
    positions = np.tile(np.zeros(3), (11, 10, 1)) + np.array([0.0, 1.0, 0.0])
    standing_trc(tmp_path / "right.trc")
    rows = trc_rows(positions)
    for stride, path in ((2, tmp_path / "stride.trc"), (1, tmp_path / "jump.trc")):
        numbers = stride * np.arange(11) + 1 + (np.arange(11) > 5) * (4 if stride == 1 else 0)
        text = write_trc(path, rows).read_text().splitlines()
        right = (tmp_path / "right.trc").read_text().splitlines()
        body = ["\t".join([str(n), *line.split("\t")[1:]]) for n, line in zip(numbers, right[6:])]
        path.write_text("\n".join([*text[:6], *body]) + "\n")
    find_recordings([tmp_path / "stride.trc"])
    with pytest.raises(InputError, match=r"jump\.trc, row 7: frame 6 is followed by frame 11"):
        find_recordings([tmp_path / "jump.trc"])


@pytest.mark.parametrize("name", FOREIGN)
def test_clean_trials_are_not_accused(name: str, shared_data: Path) -> None:
    """Recordings of many laboratories pass the checks of rate and forces without a note."""
    for recording in find_recordings([shared_data / name]):
        assert check_recording(recording).warnings == recording.warnings
