"""Recordings of Xsens MVN."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.base.so3 import exp
from solver.formats.recording import read_recording
from solver.options.reading import ReadOptions
from solver.rigs import human
from solver.tracking.bone_mapping import guess_mapping
from tests.formats.skeletons import MVN, mvnx_text

TIMES = np.arange(30) / 60.0
ROOT = np.array([0.0, 0.0, 0.95]) + TIMES[:, None] * [0.5, 0.1, 0.0]
ROTATIONS = {
    name: exp(0.6 * np.sin(5.0 * TIMES[:, None] + np.random.default_rng(k).uniform(0.0, 6.0, 3)))
    for k, name in enumerate(MVN.links)
}
TEXT = mvnx_text(MVN, ROTATIONS, ROOT)
T8 = next(line for line in TEXT.splitlines() if line.startswith('<segment label="T8"'))


def test_segments_move_as_they_were_written(tmp_path: Path) -> None:
    """Orientations, the root's path and the T-pose come back; bones end where the next ones start."""
    path = tmp_path / "dance.mvnx"
    path.write_text(TEXT)
    recording = read_recording(path)
    found = recording.segments
    assert found.names == tuple(MVN.parents)
    assert recording.warnings == ()
    for name, wanted in ROTATIONS.items():
        np.testing.assert_allclose(found.rotations[:, found.names.index(name)], wanted, atol=1e-8)
    np.testing.assert_allclose(found.positions[:, 0], ROOT, atol=1e-8)
    np.testing.assert_allclose(found.times, TIMES, atol=1e-12)
    shank, foot, hand = (found.names.index(name) for name in ("LeftLowerLeg", "LeftFoot", "RightHand"))
    np.testing.assert_allclose(found.rest.tips[shank], found.rest.heads[foot], atol=1e-8)
    np.testing.assert_allclose(found.rest.tips[hand] - found.rest.heads[hand], [0.0, -0.18, 0.0], atol=1e-8)


def test_every_link_of_a_person_has_its_segment(tmp_path: Path) -> None:
    """The names that MVN gives are known."""
    path = tmp_path / "dance.mvnx"
    path.write_text(TEXT)
    segments = read_recording(path).segments
    assert segments is not None
    mapping = guess_mapping(segments, human(1.75, 70.0, "male"))
    matched = dict(zip(mapping.links, mapping.segments))
    for segment, link in MVN.links.items():
        assert matched[link] == segment


def test_frames_that_were_left_out_leave_a_gap(tmp_path: Path) -> None:
    """Times follow the frame numbers, and start at zero."""
    path = tmp_path / "cut.mvnx"
    path.write_text(
        "\n".join(line for line in TEXT.splitlines() if 'index="10"' not in line and 'index="0"' not in line)
    )
    found = read_recording(path).segments
    np.testing.assert_allclose(found.times, np.delete(TIMES, [0, 10]) - TIMES[1], atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("</subject>", "", "not well-formed"),
        ("subject", "person", "no element mvnx/subject"),
        ('type="normal"', 'type="other"', "no frame of type 'normal'"),
        ('frameRate="60"', 'frameRate="fast"', "subject, frameRate.*'fast'"),
        ('label="T8"', 'label=""', "a segment has no label"),
        (T8, "", "frame 0 of type normal: orientation has 92 numbers, the segments need 88"),
        ('index="7" type="normal"><orientation>', 'index="7" type="normal"><orientation>x', "frame 7 of type normal"),
        ('index="7" type="normal"><orientation>', 'index="7" type="normal"><orientation>9', "length 9"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(old: str, new: str, words: str, tmp_path: Path) -> None:
    """Each damage names the element and the remedy."""
    path = tmp_path / "broken.mvnx"
    assert old in TEXT
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        read_recording(path)
    assert caught.value.remedy


def test_another_vertical_axis_is_refused(tmp_path: Path) -> None:
    """The format says that z is up."""
    path = tmp_path / "up.mvnx"
    path.write_text(TEXT)
    with pytest.raises(InputError, match="z is up, not y"):
        read_recording(path, ReadOptions(up="y"))
