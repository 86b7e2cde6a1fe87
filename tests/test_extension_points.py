"""A new format, robot, marker set, method or verb is one new file and one row of a table, which everything reads."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import solver
from docs.extension_tables import format_file_formats, format_identification_methods, format_rig_kinds
from solver.base.assets import marker_sets
from solver.base.errors import SolverError
from solver.calibration import load_marker_set
from solver.formats.file_formats import FILE_FORMATS, recording_suffixes
from solver.formats.recording import find_recordings
from solver.values.identification_methods import IDENTIFICATION_METHODS, method_names
from solver.values.rig_kinds import RIG_KINDS

ROOT = Path(__file__).resolve().parents[1]
FORMAT_FILE = """
import numpy as np

from ..values.motion import Markers
from ..signals.trial import Recording


def read_recording_file(path, options, motion_up, warn):
    positions = np.loadtxt(path).reshape(-1, 1, 3)
    return Recording(path.stem, Markers(np.arange(len(positions)) / 100.0, ("LASI",), positions)), "z"
"""
FORMAT_ROW = '    FileFormat("Plain text", (".xyzt",), (MARKERS,), ".plain_markers:read_recording_file"),\n'
ROBOT_FILE = """
from dataclasses import replace

from .hoap3_rig import hoap3


def stick(payload="light"):
    return replace(hoap3(payload), name="stick")
"""
ROBOT_FORMAT_FILE = """
from pathlib import Path

from .hoap3_rig import hoap3


def from_drawing(path, *, feet=None):
    return hoap3(Path(path).read_text().strip())
"""
ROBOT_FORMAT_ROW = '    RigKind("drawing", "..rigs.drawing:from_drawing", "", "A file of a test", (".drawing",)),\n'
ROBOT_ROW = '    RigKind("stick", "..rigs.stick:stick", "Stick", "A robot of a test"),\n'
METHOD_FILE = """
from .least_squares import minimum_norm


def fit(regression, rig, options, noise_estimate=None):
    return minimum_norm(regression, rig, tolerance=1e-3)
"""
METHOD_ROW = (
    '    IdentificationMethod("truncated", "..identification.truncated:fit", "Truncated", "Fewer directions",\n'
    "        uses_fixed_links=False),\n"
)
VERB_FILE = """
from .options import add_verb


def add(verbs):
    parser = add_verb(verbs, "count", "count to a number", "Counts.", run)
    parser.add_argument("number", type=int)


def run(options, progress):
    print(*range(options.number))
"""
CHECK_FILE = """
from ...scene.labels import format_length
from ..check_definition import Check, CheckItems, CheckMessages

TRUNK_HEIGHT = Check(
    name="trunk height",
    unit="m",
    limit="trunk_height above the floor",
    items=lambda body: CheckItems(("trunk",), (body.rig.links[:1],)),
    margins=lambda inputs: inputs.motion.q[:, 2:3] - inputs.body.options.trunk_height,
    comfortable_margin=lambda body: 0.1,
    messages=CheckMessages("trunk height", "{item} is {far} too low", "{item} is {far} high enough", format_length),
    category="body",
    depends_on="posture",
    needs_contacts=False,
)
"""
LIMIT_WORDS = "        trunk_height: [m] least height of the trunk.\n"
LIMIT = '    trunk_height: Annotated[float, Option(NOT_NEGATIVE, label="Trunk Height")] = 0.0\n'
OPTION = '    least_trials: Annotated[int, Option(COUNT, label="Least Trials")] = 1\n'
OPTION_USE = """    if len(recordings) < settings.least_trials:
        raise InvalidValue(f"at least {settings.least_trials} recordings are needed (--least-trials)")
"""
MARKER_SET = json.dumps({"name": "one marker", "markers": {"LASI": {"landmark": "left asis"}}})
ROW, WORDS, FIELD = "\n]", '\n    """\n', "\n\n    def "
"""What follows the last row of a list, the last words of a docstring, and the last field of a class with methods."""
EDITS: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "format": (
        ("solver/formats/plain_markers.py", "", "", FORMAT_FILE),
        ("solver/formats/file_formats.py", "FILE_FORMATS: ", ROW, FORMAT_ROW),
    ),
    "robot": (
        ("solver/rigs/stick.py", "", "", ROBOT_FILE),
        ("solver/values/rig_kinds.py", "RIG_KINDS: ", ROW, ROBOT_ROW),
    ),
    "robot format": (
        ("solver/rigs/drawing.py", "", "", ROBOT_FORMAT_FILE),
        ("solver/values/rig_kinds.py", "RIG_KINDS: ", ROW, ROBOT_FORMAT_ROW),
    ),
    "method": (
        ("solver/identification/truncated.py", "", "", METHOD_FILE),
        ("solver/values/identification_methods.py", "IDENTIFICATION_METHODS: ", ROW, METHOD_ROW),
    ),
    "verb": (
        ("solver/cli/count.py", "", "", VERB_FILE),
        ("solver/cli/__init__.py", "VERB_MODULES: ", ROW, '    "count",\n'),
    ),
    "marker set": (("assets/markersets/one_marker.json", "", "", MARKER_SET),),
    "option": (
        ("solver/options/study.py", "class Settings(", WORDS, "        least_trials: least number of recordings.\n"),
        ("solver/options/study.py", "class Settings(", "\n\n\n", OPTION),
        ("solver/workflow/pipeline.py", "def identify(", "\n    require_rates(", OPTION_USE),
    ),
    "check with an option": (
        ("solver/feasibility/checks/trunk_height.py", "", "", CHECK_FILE),
        ("solver/options/checks.py", "CHECK_ROWS = (", "\n)", '    "trunk_height:TRUNK_HEIGHT",\n'),
        (
            "solver/options/checks.py",
            "class CheckOptions(",
            WORDS,
            LIMIT_WORDS,
        ),
        ("solver/options/checks.py", "class CheckOptions(", FIELD, LIMIT),
    ),
}
"""What adds one of each: a file, in it the start of a passage, what follows its last line, and the text to add there.

A file without a passage is new. The files of an addition are those that it touches.
"""
SCRIPT = """
import contextlib, io, json, sys
from pathlib import Path

import numpy as np

import solver
from docs import checks_page, option_table
from solver.base.assets import marker_sets
from solver.calibration import load_marker_set
from solver.cli import main
from solver.base.errors import InvalidValue
from solver.feasibility import CheckOptions, check_motion, check_table
from solver.cli.argument_types import marker_set
from solver.cli.bodies import rig_named
from solver.scene.rig import load_rig

def show(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(words)
    return " ".join(out.getvalue().split())

robot = solver.demo.simulated_robot()
truncated = solver.Settings(method="truncated", no_cross_validation=True)
found = {
    "home": solver.__file__,
    "load": [len(each.markers) for each in solver.load(sys.argv[1])],
    "find": [each.name for each in solver.load([Path(sys.argv[1]) / "walk.xyzt"])],
    "track": show("track", "--help"),
    "rig": show("rig", "--help"),
    "built": [solver.build_rig({"kind": "stick", "payload": "middle"}).name, rig_named("stick").name],
    "drawn": [load_rig("robot.drawing").name, solver.build_rig("robot.drawing").name, rig_named("robot.drawing").name],
    "identify": show("identify", "--help-all"),
    "method": solver.identify(robot.recordings, rig=robot.rig, settings=truncated).identification.estimate.method,
    "settings": solver.Settings(method="truncated").method,
    "verbs": show("--help"),
    "verb": show("count", "3"),
    "option": show("identify", "--help-all"),
    "options": option_table.format_options(),
    "check": show("check", "--help-all"),
    "checks": checks_page.format_page(check_table.CHECKS),
    "sets": marker_sets(),
    "set": [marker_set("one_marker"), load_marker_set("one_marker").name],
}
try:
    solver.identify(robot.recordings, rig=robot.rig, settings=solver.Settings(least_trials=9))
except InvalidValue as error:
    found["refused"] = str(error)
q = np.tile(robot.rig.neutral, (2, 1))
still = solver.Motion(np.arange(2) / 100.0, q, *np.zeros((2, 2, robot.rig.nv)))
checked = check_motion(robot.rig, still, None, CheckOptions(trunk_height=9.0))
found["margin"] = checked.get_margin("trunk height").values.tolist()
found["failures"] = [failure.description for failure in checked.worst_failures]
if sys.argv[2] == "blender":
    from addon import registration
    from addon.base import option_fields
    from addon.display import properties
    from addon.operators import recordings, rigs

    registration.register()
    items = properties.SceneSettings.bl_rna.properties["kind"].enum_items
    methods = properties.SceneSettings.bl_rna.properties["method"].enum_items
    found["methods"] = [item.identifier for item in methods]
    found["pickers"] = [recordings.FILE_PATTERN, recordings.EXCITING_DANCE_FH_recording.bl_file_extensions]
    found["robot_picker"] = rigs.FILE_PATTERN
    found["fields"] = [option_fields.find_field(name) for name in ("least-trials", "trunk-height")]
    found["menu"] = [(item.identifier, item.name) for item in items]
    registration.unregister()
print(json.dumps(found))
"""


def add_to_copy(root: Path, path: str, start: str, end: str, text: str) -> None:
    """Make one edit of `EDITS` in a copy of the program."""
    if start:
        before = (root / path).read_text(encoding="utf-8")
        place = before.index(end, before.index(f"\n{start}")) + 1
        text = before[:place] + text + before[place:]
    (root / path).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Report of a copy of the program with one more file and row for each extension point."""
    root = tmp_path_factory.mktemp("extended")
    for name in ("solver", "addon", "assets", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "measured", "reference"))
    for edits in EDITS.values():
        for edit in edits:
            add_to_copy(root, *edit)
    data = root / "data"
    data.mkdir()
    (data / "walk.xyzt").write_text("0 0 1\n" * 12)
    (root / "robot.drawing").write_text("middle")
    blender = "blender" if importlib.util.find_spec("bpy") else "none"
    command = [sys.executable, "-c", SCRIPT, str(data), blender]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert Path(found["home"]).is_relative_to(root)
    return found


def test_a_new_format_is_one_file_and_one_row(extended: dict[str, Any]) -> None:
    """Its files are loaded and found in folders, and the command line and Blender's file pickers list its suffix."""
    assert extended["load"] == [12]
    assert extended["find"] == ["walk"]
    assert ".npz .xyzt" in extended["track"]
    if "pickers" in extended:
        pattern, suffixes = extended["pickers"]
        assert "*.xyzt" in pattern.split(";")
        assert ".xyzt" in suffixes.split(";")


def test_a_new_robot_is_one_file_and_one_row(extended: dict[str, Any]) -> None:
    """It is built by its name in the library and on the command line, and help and Blender's menu list it."""
    assert extended["built"] == ["stick", "stick"]
    assert "human, hoap3, hrp2, stick" in extended["rig"]
    assert "hoap3, hrp2, stick" in extended["track"]
    if "menu" in extended:
        assert extended["menu"][-1] == ["stick", "Stick"]


def test_a_new_robot_format_is_one_file_and_one_row(extended: dict[str, Any]) -> None:
    """Its files are read by the library and the command line, and help and Blender's file picker list its suffix."""
    assert len(set(extended["drawn"])) == 1
    assert ".drawing" in extended["rig"]
    if "robot_picker" in extended:
        assert "*.drawing" in extended["robot_picker"].split(";")


def test_a_new_marker_set_is_one_file(extended: dict[str, Any]) -> None:
    """The folder of marker sets is their table."""
    assert "one_marker" in extended["sets"]
    assert extended["set"] == ["one_marker", "one marker"]


def test_a_new_method_is_one_file_and_one_row(extended: dict[str, Any]) -> None:
    """The library identifies with it, and help and Blender's menu list it."""
    assert extended["method"] == "minimum_norm"
    assert extended["settings"] == "truncated"
    assert "minimum_norm,truncated}" in extended["identify"]
    if "methods" in extended:
        assert extended["methods"][-1] == "truncated"


def test_a_new_verb_is_one_file_and_one_row(extended: dict[str, Any]) -> None:
    """It runs, and the help lists it."""
    assert extended["verb"] == "0 1 2"
    assert "count count to a number" in extended["verbs"]


def test_a_new_option_is_its_declaration_and_its_use(extended: dict[str, Any]) -> None:
    """Its class checks it, and help, documentation and a field in Blender have it from the declaration."""
    assert extended["refused"] == "at least 9 recordings are needed (--least-trials)"
    assert "--least-trials N least number of recordings (default: 1)" in extended["option"]
    assert "| `--least-trials` | least number of recordings (default: 1) | a whole number from 1" in extended["options"]
    assert extended.get("fields", ["Identify > Least Trials"])[0] == "Identify > Least Trials"


def test_a_new_check_with_a_limit_is_one_file_and_one_row(extended: dict[str, Any]) -> None:
    """Its limit is declared beside its row; results, help, documentation and a field in Blender have it."""
    assert all(margin == [pytest.approx(extended["margin"][0][0])] for margin in extended["margin"])
    assert -9.0 <= extended["margin"][0][0] < -7.0
    assert any("trunk is" in failure for failure in extended["failures"])
    assert "--trunk-height M least height of the trunk" in extended["check"]
    assert "| trunk height | m | trunk_height above the floor |" in extended["checks"]
    assert "| `--trunk-height` | least height of the trunk | a finite number from 0 [m] |" in extended["options"]
    assert extended.get("fields", ["", "Checks > Trunk Height"])[1] == "Checks > Trunk Height"


@pytest.mark.parametrize("addition", EDITS)
def test_an_addition_touches_two_files(addition: str) -> None:
    """One is new, or says what is added; the other has its row, or uses it."""
    assert len({path for path, *_ in EDITS[addition]}) <= 2


def test_rows_are_consistent() -> None:
    """Suffixes and names are unique, and every function of a row can be imported."""
    assert len(set(recording_suffixes())) == len(recording_suffixes())
    assert len({row.name for row in RIG_KINDS}) == len(RIG_KINDS)
    assert len(set(method_names())) == len(method_names())
    assert all(callable(row.load_function()) for row in IDENTIFICATION_METHODS)
    for format_row in FILE_FORMATS:
        assert callable(format_row.load_reader())
        assert format_row.load_kind() is None or callable(format_row.load_kind())
    assert all(callable(row.load_builder()) for row in RIG_KINDS)


@pytest.mark.parametrize("as_list", [False, True])
def test_a_path_may_be_a_string_or_a_path_alone_or_in_a_list(tmp_path: Path, as_list: bool) -> None:
    """All ways to name one folder load the same trials."""
    rows = "".join(f"{k / 100},{k}\n" for k in range(12))
    (tmp_path / "walk.csv").write_text(f"time [s],knee [deg]\n{rows}")
    for folder in (tmp_path, str(tmp_path)):
        (found,) = solver.load([folder] if as_list else folder)
        assert found.name == "walk"


def test_wrong_input_is_one_error_with_the_choices(tmp_path: Path) -> None:
    """Wrong paths, and unknown formats, robots and marker sets, are one error that lists what is valid."""
    (tmp_path / "a.docx").write_text("x")
    (tmp_path / "empty").mkdir()
    suffixes = ", ".join(recording_suffixes())
    robots = ", ".join(row.name for row in RIG_KINDS)
    for call, words in (
        (lambda: solver.load([]), suffixes),
        (lambda: solver.load(tmp_path / "empty"), suffixes),
        (lambda: solver.load(tmp_path / "a.docx"), suffixes),
        (lambda: find_recordings([tmp_path / "none.trc"]), "does not exist"),
        (lambda: solver.load(3), "is not a path"),  # type: ignore[arg-type]
        (lambda: solver.load(""), "empty"),
        (lambda: solver.build_rig({"kind": "hoap4"}), robots),
        (lambda: solver.build_rig({}), robots),
        (lambda: load_marker_set("plug_in"), ", ".join(marker_sets())),
    ):
        with pytest.raises(SolverError) as caught:
            call()
        assert words in str(caught.value)


def test_the_documentation_reads_the_tables() -> None:
    """The generated tables list every suffix, kind of rig and method, and pages include them."""
    formats, rigs = format_file_formats(), format_rig_kinds()
    assert all(f"`{suffix}`" in formats for suffix in recording_suffixes())
    assert all(f"`{row.name}`" in rigs for row in RIG_KINDS)
    assert all(f"`{name}`" in format_identification_methods() for name in method_names())
    page = ROOT / "docs/tutorials/researcher.md"
    assert "{include} ../reference/identification_methods.txt" in page.read_text(encoding="utf-8")
    assert "{include} reference/file_formats.txt" in (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    assert "{include} reference/rig_kinds.txt" in (ROOT / "docs/rigs.md").read_text(encoding="utf-8")
