"""CSV tables: round trips, units, and errors that name the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.csv_tables import (
    read_markers_csv,
    read_table,
    read_wrenches_csv,
    write_markers_csv,
    write_table,
    write_wrenches_csv,
)
from solver.formats.wrench_checks import ForceConvention
from solver.values.motion import Markers
from solver.values.wrenches import Wrenches
from tests.formats.recording_files import FRAMES, MARKERS, STANDING, times


def test_markers_survive_a_round_trip(tmp_path: Path) -> None:
    """Written markers read back the same, unseen ones unseen."""
    positions = np.tile(STANDING, (FRAMES, 1, 1)) + 1e-3 * np.random.default_rng(3).normal(
        size=(FRAMES, len(MARKERS), 3)
    )
    positions[2, 5] = np.nan
    markers = Markers(times(), MARKERS, positions)
    write_markers_csv(tmp_path / "m.csv", markers)
    back = read_markers_csv(tmp_path / "m.csv")[0]
    assert back.names == markers.names
    np.testing.assert_allclose(back.times, markers.times, atol=1e-12)
    np.testing.assert_allclose(back.positions, markers.positions, rtol=1e-11)


def test_units_of_the_header_are_obeyed(tmp_path: Path) -> None:
    """Milliseconds, kilonewtons and millimetres come out in SI; a point gives the moment p x f + m."""
    (tmp_path / "w.csv").write_text(
        "# force of one plate\ntime [ms],p.fx [N],p.fy [N],p.fz [kN],p.px [mm],p.py [mm],p.pz [mm],p.mx [N m],"
        "p.my [N m],p.mz [Nmm]\n0,0,0,0.7,100,-50,0,0,0,1500\n10,0,0,0.7,100,-50,0,0,0,1500\n"
    )
    wrenches = read_wrenches_csv(tmp_path / "w.csv")[0]
    np.testing.assert_allclose(wrenches.times, [0.0, 0.01])
    np.testing.assert_allclose(wrenches.total[0], [0, 0, 700, -35, -70, 1.5])


def test_forces_alone_leave_moments_unmeasured(tmp_path: Path) -> None:
    """Without moment and point nothing is known of the moments, and nothing is invented."""
    write_table(
        tmp_path / "f.csv", times(), ["g.fx [N]", "g.fy [N]", "g.fz [N]"], np.tile([1.0, 2.0, 600.0], (FRAMES, 1))
    )
    wrenches = read_wrenches_csv(tmp_path / "f.csv")[0]
    assert wrenches.measured[0].tolist() == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("time,a.x\n0,1\n", "has no unit"),
        ("a.x [m],time [s]\n0,1\n", "must be 'time"),
        ("time [s],a.x [parsec]\n0,1\n", "parsec"),
        ("time [s],a.x [m],a.x [m]\n0,1,1\n", "twice"),
        ("time [s],a.x [m]\n", "no rows"),
        ("time [s],a.x [m]\n0,1\n0.1\n", "line 3: the row has 1 cells"),
        ("time [s],a.x [m]\n0,1\n0.1,one\n", "line 3, column 'a.x': 'one'"),
        ("time [s],a.x [m]\n0,1\n0.2,1\n\n0.1,1\n", "line 5: time 0.1"),
    ],
)
def test_broken_tables_are_refused_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    """Each damage gives one InputError with its place."""
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_table(tmp_path / "t.csv")


def test_incomplete_markers_and_sensors_are_refused(tmp_path: Path) -> None:
    """A marker needs three axes, a sensor three forces."""
    (tmp_path / "m.csv").write_text("time [s],a.x [m],a.y [m]\n0,1,1\n")
    with pytest.raises(InputError, match=r"'a' lacks the columns a\.z"):
        read_markers_csv(tmp_path / "m.csv")[0]
    (tmp_path / "w.csv").write_text("time [s],p.fx [N],p.fz [N]\n0,1,1\n")
    with pytest.raises(InputError, match=r"'p' lacks the columns Fy"):
        read_wrenches_csv(tmp_path / "w.csv")[0]


def test_missing_forces_are_refused_or_kept(tmp_path: Path) -> None:
    """An empty force cell is an error with its line unless it shall stay missing."""
    (tmp_path / "w.csv").write_text("time [s],p.fx [N],p.fy [N],p.fz [N]\n0,1,1,600\n0.1,1,,600\n0.2,1,1,600\n")
    with pytest.raises(InputError, match="line 3"):
        read_wrenches_csv(tmp_path / "w.csv")[0]
    assert np.isnan(read_wrenches_csv(tmp_path / "w.csv", missing="keep")[0].total[1, 1])


def test_a_stray_quote_is_reported_with_its_line(tmp_path: Path) -> None:
    """It would have swallowed the lines behind it."""
    path = tmp_path / "walk.csv"
    path.write_text('time [s],A.x [m],A.y [m],A.z [m]\n0.0,1,2,3\n0.1,"1,2,3\n0.2,1,2,3\n0.3,1,2,3"\n')
    with pytest.raises(InputError, match=r"walk\.csv, line 3: has a stray quote"):
        read_table(path)


def test_quoted_cells_are_read(tmp_path: Path) -> None:
    """As spreadsheets write them, each within its line; line numbers count comments and empty lines."""
    path = tmp_path / "walk.csv"
    path.write_text('# made by hand\n\n"time [s]","A.x [m]"\n"0.0","1"\n\n"0.1","2"\n')
    table = read_table(path)
    assert table.names == ("A.x",)
    assert table.lines.tolist() == [4, 6]
    assert table.values.tolist() == [[1.0], [2.0]]


FORCES = "time [s],P.fx [N],P.fy [N],P.fz [N],P.px [m],P.py [m],P.pz [m],P.mx [N m],P.my [N m],P.mz [N m]\n"


def force_rows(times: np.ndarray) -> str:
    """A table of someone on one plate."""
    return FORCES + "".join(f"{time:.3f},0,0,700,0.1,0.2,0,0,0,1\n" for time in times)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (10.0 * np.arange(20), "milliseconds"),
        (np.delete(np.arange(20) / 100.0, [8, 9]), "line 10: 2 force samples are missing"),
        (
            np.concatenate([np.arange(10), 90 + np.arange(10)]) / 100.0,
            "line 12: the time step before this row is 0.81 s",
        ),
    ],
)
def test_tables_have_a_clock_too(tmp_path: Path, times: np.ndarray, words: str) -> None:
    """Milliseconds under a title of seconds, and missing rows, are errors with the line."""
    path = tmp_path / "f.csv"
    path.write_text(force_rows(times))
    with pytest.raises(InputError, match=words):
        read_wrenches_csv(path, ForceConvention("z"))[0]


def test_forces_of_an_uneven_log_are_resampled_with_a_warning(tmp_path: Path) -> None:
    """Steps of 10 and 12 ms become an even clock; a constant load at a constant place stays what it was."""
    steps = np.where(np.arange(40) < 25, 0.010, 0.012)
    path = tmp_path / "f.csv"
    path.write_text(force_rows(np.cumsum(steps)))
    messages: list[str] = []
    found = read_wrenches_csv(path, ForceConvention("z"), warn=messages.append)[0]
    np.testing.assert_allclose(np.diff(found.times), 0.010)
    np.testing.assert_allclose(found.values, np.tile([0.0, 0.0, 700.0, 140.0, -70.0, 1.0], (len(found), 1, 1)))
    assert any("resampled to a uniform 100 Hz" in text and "0.01 to 0.012 s" in text for text in messages)


def test_each_plate_of_an_uneven_log_keeps_its_own_load(tmp_path: Path) -> None:
    """Two plates with different loads, logged at 10 and 12 ms, stay two plates with these loads."""
    stamps = np.cumsum(np.where(np.arange(40) < 25, 0.010, 0.012))
    values = np.tile(np.array([[[0.0, 0.0, 300.0, 30.0, 0.0, 0.0]], [[5.0, 0.0, 400.0, 0.0, -80.0, 1.0]]]), (1, 40, 1))
    write_wrenches_csv(tmp_path / "f.csv", Wrenches(stamps, ("one", "two"), values.swapaxes(0, 1)))
    found = read_wrenches_csv(tmp_path / "f.csv", ForceConvention("z"))[0]
    assert found.frames == ("one", "two")
    for plate in range(2):
        np.testing.assert_allclose(found.values[:, plate], np.tile(values[plate, 0], (len(found), 1)), atol=1e-6)


def test_lost_rows_are_missing_samples_where_these_may_be_kept(tmp_path: Path) -> None:
    """Two rows that a log lost are two missing samples at their times, and the others are untouched."""
    path = tmp_path / "f.csv"
    path.write_text(force_rows(np.delete(np.arange(20) / 100.0, [8, 9])))
    messages: list[str] = []
    found = read_wrenches_csv(path, ForceConvention("z"), missing="keep", warn=messages.append)[0]
    np.testing.assert_allclose(found.times, np.arange(20) / 100.0)
    assert np.isnan(found.total).any(axis=1).nonzero()[0].tolist() == [8, 9]
    assert any("2 lost samples are treated as missing" in text for text in messages)
