"""TRC files: what is there is read, what is missing stays missing, what is broken is refused."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from solver.base import file_arrays
from solver.base.errors import InputError
from solver.formats import text_files
from solver.formats.trc import read_trc
from tests.formats.recording_files import FRAMES, MARKERS, STANDING, standing_trc, times, to_y_up, trc_rows, write_trc

STILL = to_y_up(np.tile(STANDING, (FRAMES, 1, 1)))


def test_positions_are_metres_z_up(tmp_path: Path) -> None:
    """A y-up file in millimetres and a z-up one in metres of the same person agree."""
    a = read_trc(standing_trc(tmp_path / "a.trc", scale=1000.0, units="mm"))[0]
    b = read_trc(standing_trc(tmp_path / "b.trc", y_up=False))[0]
    np.testing.assert_allclose(a.positions[0], STANDING, atol=1e-9)
    np.testing.assert_allclose(b.positions, a.positions, atol=1e-9)
    assert a.names == MARKERS
    np.testing.assert_allclose(a.times, times(), atol=1e-12)


@pytest.mark.parametrize("cell", ["", "nan", "NaN", " "])
def test_missing_cells_stay_missing(tmp_path: Path, cell: str) -> None:
    """One empty or NaN coordinate makes that marker unseen in that frame, and nothing else."""
    rows = trc_rows(STILL)
    rows[3][2 + 3 * 4 + 1] = cell
    markers = read_trc(write_trc(tmp_path / "gap.trc", rows))[0]
    assert not markers.seen[3, 4]
    assert markers.seen.sum() == FRAMES * len(MARKERS) - 1


@pytest.mark.parametrize("cell", ["0", "9999999.000", "-9999"])
def test_one_number_in_all_coordinates_is_missing(tmp_path: Path, cell: str) -> None:
    """Programs write zeros or nines for a lost marker; it is reported."""
    messages: list[str] = []
    rows = trc_rows(STILL)
    rows[2][2:5] = [cell, cell, cell]
    markers = read_trc(write_trc(tmp_path / "lost.trc", rows), warn=messages.append)[0]
    assert not markers.seen[2, 0]
    assert markers.seen.sum() == FRAMES * len(MARKERS) - 1
    shown = cell.removesuffix(".000")
    assert messages == [f"lost.trc: 1 marker samples at exactly ({shown}, {shown}, {shown}) are treated as missing"]


def test_values_of_the_header_may_be_empty(tmp_path: Path) -> None:
    """A rate and counts that a program leaves out do not move the unit to another key."""
    path = standing_trc(tmp_path / "stand.trc", scale=1000.0, units="mm")
    lines = path.read_text().split("\n")
    keys, values = (line.split("\t") for line in lines[1:3])
    lines[2] = "\t".join(
        "" if key in ("CameraRate", "NumFrames", "OrigDataRate") else value for key, value in zip(keys, values)
    )
    path.write_text("\n".join(lines))
    np.testing.assert_allclose(read_trc(path)[0].positions[0], STANDING, atol=1e-9)


def test_values_of_the_header_may_be_farther_apart_than_their_keys(tmp_path: Path) -> None:
    """Some programs write two tabs between values, and one between keys."""
    path = standing_trc(tmp_path / "stand.trc", scale=1000.0, units="mm")
    lines = path.read_text().split("\n")
    lines[2] = lines[2].replace("\t", "\t\t  ")
    path.write_text("\n".join(lines))
    np.testing.assert_allclose(read_trc(path)[0].positions[0], STANDING, atol=1e-9)


def test_names_may_be_quoted(tmp_path: Path) -> None:
    """As a spreadsheet saves them."""
    path = standing_trc(tmp_path / "stand.trc")
    text = path.read_text()
    path.write_text(text.replace(MARKERS[0], f'"{MARKERS[0]}"', 1))
    assert read_trc(path)[0].names == MARKERS


@pytest.mark.parametrize("kept", [3, 5, 8, 2 + 3 * len(MARKERS) - 1])
def test_a_short_row_is_refused_with_its_line(tmp_path: Path, kept: int) -> None:
    """Wherever a row breaks off, the error names the line; the first data row stands in line 7."""
    rows = trc_rows(STILL)
    rows[4] = rows[4][:kept]
    with pytest.raises(InputError, match="line 11") as caught:
        read_trc(write_trc(tmp_path / "short.trc", rows))[0]
    assert str(tmp_path / "short.trc") in str(caught.value)


def test_ragged_rows_are_read_on_request(tmp_path: Path) -> None:
    """A row that ends early leaves its last markers unseen, if that is what the file means."""
    rows = trc_rows(STILL)
    rows[4] = rows[4][: 2 + 3 * 7]
    markers = read_trc(write_trc(tmp_path / "ragged.trc", rows), ragged=True)[0]
    assert markers.seen[4].tolist() == [True] * 7 + [False] * (len(MARKERS) - 7)


def test_trailing_tabs_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    """Empty cells beyond the last marker and blank lines between rows change nothing."""
    plain = read_trc(standing_trc(tmp_path / "plain.trc"))[0]
    lines = (tmp_path / "plain.trc").read_text().split("\n")
    (tmp_path / "tabs.trc").write_text("\r\n".join(line + "\t\t" if line else line for line in lines) + "\n\n")
    np.testing.assert_array_equal(read_trc(tmp_path / "tabs.trc")[0].positions, plain.positions)


def test_rounded_time_stamps_get_their_clock_back(tmp_path: Path) -> None:
    """60 Hz written with three decimals is 60 Hz again."""
    rows = trc_rows(STILL)
    for i, row in enumerate(rows):
        row[1] = f"{i / 60.0:.3f}"
    markers = read_trc(write_trc(tmp_path / "rounded.trc", rows, rate=60.0))[0]
    np.testing.assert_allclose(np.diff(markers.times), 1.0 / 60.0, rtol=1e-9)


@pytest.mark.parametrize(
    ("clock", "rate", "words"),
    [
        (lambda t: t + 0.5 * (t > 0.1), 60.0, r"line 1\d: the time step before this row is 0\.51\d* s"),
        (lambda t: 1e3 * t, 60.0, r"states 60 Hz.*advance at 0\.06 Hz.*not milliseconds"),
        (lambda t: t, 100.0, r"states 100 Hz.*advance at (60|59\.99\d*) Hz"),
    ],
)
def test_a_clock_that_is_none_is_refused(
    tmp_path: Path, clock: Callable[[float], float], rate: float, words: str
) -> None:
    """Rows that were cut out, milliseconds, or a header that states another rate: the error names line and remedy."""
    rows = trc_rows(STILL)
    for i, row in enumerate(rows):
        row[1] = f"{clock(i / 60.0):.6f}"
    with pytest.raises(InputError, match=words):
        read_trc(write_trc(tmp_path / "clock.trc", rows, rate=rate))[0]


@pytest.mark.parametrize("cell", ["1_000", "\u0661\u0662", "inf", "1e999", "1\u00a0000", "1,5"])
def test_what_only_looks_like_a_number_is_refused(tmp_path: Path, cell: str) -> None:
    """Underscores, other scripts' digits, infinity, 1e999, thin spaces and decimal commas are no coordinates."""
    rows = trc_rows(STILL)
    rows[3][4] = cell
    with pytest.raises(InputError, match="is not a number") as caught:
        read_trc(write_trc(tmp_path / "odd.trc", rows))[0]
    assert "line 10" in str(caught.value)
    assert ("decimal points" in str(caught.value)) == (cell == "1,5")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: "", "empty"),
        (lambda t: t.replace("PathFileType", "Something"), "line 1"),
        (lambda t: t.replace("\tm\t", "\tfoot\t"), "foot"),
        (lambda t: t.replace("\tm\t", "\tmm\t"), "extend over"),
        (lambda t: t.replace("L_toe", "R_toe"), "R_toe"),
        (lambda t: t.replace("1.450000", "1.4x", 1), "'1.4x' is not a number"),
        (lambda t: t.replace("\t0.0500\t", "\t0.0300\t"), "does not come after"),
        (lambda t: t.replace("\t0.0500\t", "\t\t"), "time is missing"),
        (lambda t: "\n".join(t.split("\n")[:6]) + "\n", "no rows"),
        (lambda t: t[:40] + "\0" + t[40:], "not a text file"),
        (lambda t: re.sub(r"X(\d+)\tY\d+\tZ\d+", r"X\1\tZ\1\tY\1", t), "line 5: the axes are not in the order"),
        # stamps that lie on the header's clock were not rounded: a step of two is no rounding to be smoothed away
        (lambda t: "\n".join(t.split("\n")[:8] + t.split("\n")[9:]), r"line 9: the time step before .* is 0\.02 s"),
        (lambda t: t.replace("100\t100", "100,0\t100", 1), "line 3, DataRate: '100,0' is not a number"),
    ],
)
def test_broken_files_are_refused_in_one_sentence(tmp_path: Path, change: object, words: str) -> None:
    """Each damage gives one InputError that names the file and what is wrong."""
    path = standing_trc(tmp_path / "broken.trc")
    path.write_text(change(path.read_text()))  # type: ignore[operator]
    with pytest.raises(InputError, match=words) as caught:
        read_trc(path)[0]
    assert caught.value.path == path
    assert caught.value.remedy


def test_counts_of_the_real_files(shared_data: Path) -> None:
    """Frames, markers, rate and gaps as the headers and the description of the data say."""
    squats = read_trc(shared_data / "subject_a/markers/squats1.trc")[0]
    assert (len(squats), len(squats.names), squats.rate) == (1346, 51, pytest.approx(100.0))
    assert len(read_trc(shared_data / "subject_a/markers/static1.trc")[0].names) == 55
    walking = read_trc(shared_data / "subject_a/markers/walking1.trc")[0]
    assert 0.006 <= 1.0 - walking.seen.mean() <= 0.023
    subject_c = read_trc(shared_data / "subject_c/subject01_static.trc")[0]
    assert subject_c.rate == pytest.approx(60.0, rel=1e-9)
    run = read_trc(shared_data / "subject_b/markers/run.trc")[0]
    assert run.times[0] == pytest.approx(0.23)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_texts_of_spreadsheets_are_read(tmp_path: Path, encoding: str) -> None:
    """A byte order mark shows UTF-16 from UTF-8; the numbers are the same."""
    path = standing_trc(tmp_path / "a.trc")
    other, text = tmp_path / "b.trc", path.read_text()
    other.write_bytes((b"\xfe\xff" if encoding == "utf-16-be" else b"") + text.encode(encoding))
    np.testing.assert_array_equal(read_trc(other)[0].positions, read_trc(path)[0].positions)


@pytest.mark.parametrize("places", [(10, 11), (4,), (0, 3)])
def test_trajectories_without_a_name_are_numbered(tmp_path: Path, places: tuple[int, ...]) -> None:
    """Behind the named ones or between them: names stay above their own columns, and others are named by place."""
    messages: list[str] = []
    names, columns = list(MARKERS), list(np.moveaxis(STILL, 1, 0))
    for place in places:
        names.insert(place, "")
        columns.insert(place, np.tile([0.3, 1.0, 0.1 * place], (FRAMES, 1)))
    rows = trc_rows(np.stack(columns, axis=1))
    found = read_trc(write_trc(tmp_path / "unnamed.trc", rows, names=names), warn=messages.append)[0]
    added = [f"unnamed_{place + 1}" for place in places]
    assert [name for name in found.names if name not in MARKERS] == added
    np.testing.assert_allclose(found.select(MARKERS).positions[0], STANDING, atol=1e-6)
    assert any(", ".join(added) in message for message in messages)


def test_a_single_row_with_more_cells_is_refused(tmp_path: Path) -> None:
    """Three more numbers in one row are no trajectory."""
    rows = trc_rows(STILL)
    rows[4] += ["1.0", "2.0", "3.0"]
    with pytest.raises(InputError, match=r"line 11.*35 cells, the marker names need 32"):
        read_trc(write_trc(tmp_path / "long.trc", rows))[0]


def test_a_frame_takes_little_more_memory_than_its_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the text nor Python's numbers of a whole file are held, which take more than ten times its arrays."""
    monkeypatch.setattr(file_arrays, "LONG", 2**14)
    monkeypatch.setattr(text_files, "ROWS_AT_ONCE", 64)
    peaks = []
    for count in (600, 1800):
        path = write_trc(tmp_path / f"{count}.trc", trc_rows(to_y_up(np.tile(STANDING, (count, 1, 1)))))
        tracemalloc.start()
        read_trc(path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 1200 < 4.0 * STANDING.nbytes
