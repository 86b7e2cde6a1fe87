"""``markers``: a marker set on the command line, from the proposal to the set that `track` takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import solver
from solver.cli import OK, main
from solver.formats.npz import write_recording_npz
from solver.scene.marker_set import marker_rows, read_marker_set_tree
from solver.signals.trial import Recording
from solver.values.motion import Markers


def test_a_proposal_is_corrected_and_given_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Simulated: unknown markers are shown with their certainty, decided, and tracked by the file that holds it all."""
    static = solver.demo.simulated_person().recordings[1].markers
    hidden = {"LTHI": "U1", "RTIB": "U2", "T10": "U3"}
    markers = Markers(static.times[:20], tuple(hidden.get(n, n) for n in static.names), static.positions[:20])
    recorded, first, second = (tmp_path / name for name in ("static.npz", "first.json", "second.json"))
    write_recording_npz(recorded, Recording("static", markers))
    quiet = ["--progress", "none"]
    assert main(["markers", str(recorded), "--output", str(first), *quiet]) == OK
    assert "left_thigh" in capsys.readouterr().out
    words = ["--marker-set", str(first), "--place", "U2=right shank", "--reject", "U3", "--output", str(second)]
    assert main(["markers", str(recorded), *words, *quiet]) == OK
    rows = {row.marker: row for row in marker_rows(read_marker_set_tree(second))}
    assert (rows["U2"].location, rows["U2"].reason, rows["U3"].use) == ("right_shank", "given", False)
    person = ["--height", "1.76", "--mass", "71", "--sex", "male", "--marker-set", str(second)]
    assert main(["track", str(recorded), *person, "--output", str(tmp_path / "tracked"), *quiet]) == OK
    errors = (tmp_path / "tracked" / "static.markers.csv").read_text(encoding="utf-8").splitlines()[0]
    assert ("U2" in errors, "U3" in errors) == (True, False)
    assert main(["markers", str(recorded), "--reject", "U9", *quiet]) == 2
    assert "unknown marker 'U9'" in capsys.readouterr().err
    assert main(["markers", str(recorded), "--place", "U2=right shink", *quiet]) == 2
    assert "Did you mean 'right shank'?" in capsys.readouterr().err
    mirrored = replace(markers, positions=markers.positions * [-1.0, 1.0, 1.0])
    write_recording_npz(tmp_path / "mirrored.npz", Recording("mirrored", mirrored))
    assert main(["markers", str(tmp_path / "mirrored.npz"), *quiet]) == 2
    assert "left and right are exchanged" in capsys.readouterr().err
