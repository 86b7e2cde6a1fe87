"""Wrong input of every kind is one error that lists the valid choices, in the library and on the command line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from inspect import signature
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import solver
from solver.base.errors import SolverError, checked
from solver.base.progress import Progress, silent
from solver.calibration import load_marker_set
from solver.cli import WRONG_INPUT, main
from solver.feasibility.collision_shapes import collision_solids
from solver.formats.file_formats import recording_suffixes
from solver.options.reading import ReadOptions
from solver.signals import PRESETS
from solver.values.identification_methods import method_names
from solver.values.rig_kinds import RIG_KINDS

SUFFIXES = ", ".join(recording_suffixes())
ROBOTS = ", ".join(row.name for row in RIG_KINDS)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "load": solver.load,
    "identify": lambda given: solver.identify(given, sex="male"),
    "track": lambda given: solver.track(given, "hoap3"),
    "calibrate": lambda given: solver.calibrate(given, sex="male"),
    "find_load": lambda given: solver.find_load(given, given, "hoap3"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: an empty folder and a file of no known format."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.docx").write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("missing.trc", "missing.trc: the file does not exist"),
        (Path("missing.trc"), "missing.trc: the file does not exist"),
        (["missing.trc"], "missing.trc: the file does not exist"),
        ("empty", f"empty: holds no recording. Name files or folders with {SUFFIXES}"),
        (["empty"], f"holds no recording. Name files or folders with {SUFFIXES}"),
        (Path("notes.docx"), f"'.docx' is not a known format. Known: {SUFFIXES}"),
        ([], SUFFIXES),
        ((), SUFFIXES),
        ("", "a path is empty"),
        ([""], "a path is empty"),
        (None, "None is not a path; give a string, a Path, or several of them"),
        (3, "3 is not a path; give a string, a Path, or several of them"),
        ([3], "3 is not a path; give a string, a Path, or several of them"),
        ("n" * 300, f"{'n' * 300}: cannot be read"),
    ],
)
def test_wrong_recordings_are_one_error(name: str, given: object, words: str, folder: Path) -> None:
    """Every function that takes recordings raises one error for other input, with the accepted kinds."""
    with pytest.raises(SolverError) as caught:
        FUNCTIONS[name](given)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: solver.build_rig("hoap4"), f"unknown rig 'hoap4'. Did you mean 'hoap3'? Known: {ROBOTS}"),
        (lambda: solver.build_rig("human"), "needs height, mass, sex"),
        (lambda: solver.build_rig("robot.urdf"), "robot.urdf: the file does not exist"),
        (lambda: solver.build_rig(Path("robot.docx")), ROBOTS),
        (lambda: solver.build_rig(None), ROBOTS),  # type: ignore[arg-type]
        (lambda: solver.build_rig(["hoap3"]), ROBOTS),  # type: ignore[arg-type]
        (lambda: load_marker_set("plugin"), "unknown marker set 'plugin'. Did you mean 'plug_in_gait'?"),
        (lambda: load_marker_set(3), "unknown marker set '3'. Known: "),  # type: ignore[arg-type]
        (lambda: solver.Settings(method="best"), f"method must be one of {', '.join(method_names())}, not 'best'"),
        (lambda: solver.Settings(method=None), ", ".join(method_names())),  # type: ignore[arg-type]
        (lambda: solver.Settings(filter="best"), ", ".join(PRESETS)),
        (lambda: solver.DanceOptions(pool="3"), "must be a whole number from 1 to 1000000, not '3'"),  # type: ignore[arg-type]
        (lambda: solver.DanceOptions(seed=0.5), "must be a whole number from 0 to 4294967295, not 0.5"),  # type: ignore[arg-type]
        (lambda: solver.Settings(plates="auto"), "solver.PlateOptions"),  # type: ignore[arg-type]
        (lambda: solver.DanceOptions(checks=0.4), "checks takes solver.CheckOptions, not 0.4"),  # type: ignore[arg-type]
        (lambda: solver.track(solver.demo.simulated_robot().recordings, "hrp2", {"filter": 3}), "track takes Settings"),  # type: ignore[arg-type]
        (lambda: solver.load("empty", {"up": "z"}), "ReadOptions"),  # type: ignore[arg-type]
        (lambda: ReadOptions(up="w"), "up must be one of auto, x, y"),
    ],
)
def test_unknown_names_and_types_are_one_error(call: Callable[[], object], words: str, folder: Path) -> None:
    """The error lists the valid choices."""
    with pytest.raises(SolverError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("wrong", [3, "x", None, object(), [1]])
def test_values_of_wrong_types_are_one_error(wrong: Any, folder: Path) -> None:
    """Every public function and value, called with a value of a wrong type, raises no bare TypeError or the like."""
    in_packages = (f"{package}.{name}" for package, names in solver.PUBLIC_IN_PACKAGES.items() for name in names)
    for value in (attrgetter(name)(solver) for name in (*solver.__all__, *in_packages)):
        if callable(value) and not (isinstance(value, type) and issubclass(value, BaseException)):
            parameters = [p for p in signature(value).parameters.values() if p.kind is not p.VAR_KEYWORD]
            needed = [p for p in parameters if p.default is p.empty]
            named = {p.name: wrong for p in needed if p.kind is p.KEYWORD_ONLY}
            with suppress(SolverError):  # some accept one or the other
                value(*[wrong] * (len(needed) - len(named)), **named)


def test_the_error_names_the_argument() -> None:
    """A wrong type is named with its argument and what that takes; an error for another reason is left as it is."""
    with pytest.raises(solver.InvalidValue, match="rig of base_parameters takes Rig, not 3"):
        solver.base_parameters(3)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        checked(lambda: 1 / 0)()

    def convert(progress: Progress) -> None:
        int("walk")

    with pytest.raises(ValueError, match="invalid literal"):
        checked(convert)(silent)


def test_a_flat_mesh_has_no_distances() -> None:
    """A collision mesh without volume, which native code cannot take, is refused with its link."""
    rig, corners = solver.hoap3(), np.random.default_rng(1).random((9, 3)) * [1.0, 1.0, 0.0]
    flat = solver.rigs.Shape(rig.links[2], "mesh", (1.0, 1.0, 1.0), np.eye(3), np.zeros(3), corners)
    with pytest.raises(solver.InvalidValue, match=rf"{rig.links[2]} are flat"):
        collision_solids(replace(rig, shapes=(*rig.shapes, flat)))


def test_a_rig_is_built_from_its_name_alone() -> None:
    """A name without arguments builds the same rig as a mapping with that kind."""
    assert solver.build_rig("hoap3") == solver.build_rig({"kind": "hoap3"})


def test_names_in_a_study_are_checked() -> None:
    """The error of an unknown standing patch or static trial lists the known ones."""
    robot = solver.demo.simulated_robot()
    with pytest.raises(SolverError, match=r"unknown name 'tail'. Known: .*left_foot"):
        solver.track(robot.recordings, robot.rig, solver.Settings(planted_foot="tail"))
    for static in ("none", ["none"]):
        with pytest.raises(SolverError, match=r"unknown trial 'none'. Known: dance"):
            solver.calibrate(robot.recordings, sex="male", static=static)
    with pytest.raises(SolverError, match="height must be between"):
        solver.calibrate(robot.recordings, sex="male", height="tall")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("identify missing.trc --sex male", "missing.trc: the file does not exist"),
        ("identify empty --sex male", SUFFIXES),
        ("identify notes.docx --sex male", SUFFIXES),
        ("track empty --rig hoap4", ROBOTS),
        ("identify empty --sex male --method best", "must be one of consistent, "),
        ("identify empty --sex male --filter best", "must be one of jovic_hrp2, "),
        ("identify empty --sex male --marker-set plugin", "plug_in_gait"),
        ("identify empty --sex male --report-only gravity", "mismatch"),
        ("identify empty --sex woman", "unknown"),
        ("dance hoap4", ROBOTS),
    ],
)
def test_wrong_command_lines_are_one_line(
    line: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line with the choices on the error stream, and no output folder."""
    assert main([*line.split(), "--output", "out", "--progress", "none"]) == WRONG_INPUT
    (error,) = capsys.readouterr().err.splitlines()
    assert words in error
    assert not (folder / "out").exists()
