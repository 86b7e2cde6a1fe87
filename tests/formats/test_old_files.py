"""Files of ours that earlier versions wrote keep loading, or the error names the version that reads them.

The files in ``tests/data/format_version_1`` were written before classes and fields were renamed, and are never
written again. Numbers are multiples of 1/64, so that every entry is recognised.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import solver
from solver.calibration.calibration_file import CALIBRATION
from solver.dance.authoring.authored_dance import AUTHORED_DANCE
from solver.dance.design.dance import DESIGNED_DANCE
from solver.errors import InputError
from solver.formats import former_names
from solver.formats.codec import KIND_KEY, TREE_ENTRY, VERSION_KEY, FileKind, read_one_of
from solver.formats.npz_archive import is_archive, read_archive
from solver.formats.tree_leaves import INLINE_ARRAYS
from solver.formats.value_tree import to_tree
from solver.report import CONTENT
from solver.report.cohort_content import COHORT
from solver.scene.centroidal_estimate import ESTIMATE
from solver.scene.motion import RECORDING
from solver.scene.motion_record import MOTION
from solver.scene.result import RESULT
from solver.scene.rig import RIG
from solver.scene.summary import SUMMARY
from solver.scene.timeline import TIMELINE
from solver.tracking.bone_mapping import MAPPING
from tests.formats.test_codec import FULL, Colour, Square
from tests.formats.test_codec import KIND as EVERYTHING

OLD = Path(__file__).resolve().parent.parent / "data" / "format_version_1"
FILES = sorted(path.name for path in OLD.iterdir())


@cache
def _kinds() -> dict[str, FileKind[Any]]:
    """Every kind of file that the solver defines, by the name that files give themselves."""
    found: dict[str, FileKind[Any]] = {}
    for module in pkgutil.walk_packages(solver.__path__, f"{solver.__name__}."):
        if not module.name.endswith("__main__") and not module.name.startswith("solver.engine."):  # one may be missing
            values = vars(import_module(module.name)).values()
            found |= {value.name: value for value in values if isinstance(value, FileKind)}
    return found


def _tree_of(path: Path) -> dict[str, Any]:
    """The tree of a file as it was written, with its arrays in their places."""
    if not is_archive(path):
        return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    arrays, others = read_archive(path)

    def with_arrays(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {name: with_arrays(below) for name, below in entry.items()}
        if isinstance(entry, list):
            return [with_arrays(below) for below in entry]
        return INLINE_ARRAYS.store(arrays[entry], entry) if isinstance(entry, str) and entry in arrays else entry

    return with_arrays(json.loads(others[TREE_ENTRY]))  # type: ignore[no-any-return]


def _leaves(tree: Any) -> Iterator[object]:
    """Numbers and text of a tree in their order, without the names of fields and classes."""
    if isinstance(tree, Mapping):
        if set(tree) == {"type", "value"}:
            tree = {"value": tree["value"]}
        for entry in tree.values():
            yield from _leaves(entry)
    elif isinstance(tree, list):
        for entry in tree:
            yield from _leaves(entry)
    elif tree is not None:
        yield tree


@pytest.mark.parametrize("file", FILES)
def test_nothing_in_an_old_file_is_lost(file: str) -> None:
    """Every number and text of an old file is in the value that is read from it, in the same order."""
    written = _tree_of(OLD / file)
    value = read_one_of(OLD / file, list(_kinds().values()))
    kind, version = written.pop(KIND_KEY), written.pop(VERSION_KEY)
    assert (kind, version) == (_kinds()[kind].name, _kinds()[kind].version)
    assert isinstance(value, _kinds()[kind].value_type)
    if kind == MOTION.name:
        del written["motion"]["shifts"]  # of soft joints, which are no longer estimated
    old, new = list(_leaves(written)), iter(_leaves(to_tree(value)))
    assert len(old) >= 2
    for number, leaf in enumerate(old):
        assert leaf in new, f"entry {number} of {file}, {leaf!r}, is missing"  # advances the iterator


def test_old_files_are_of_every_kind() -> None:
    """Each kind of file that there was then is among the old files."""
    kinds = {_tree_of(OLD / file)[KIND_KEY] for file in FILES}
    assert len(kinds) == 18
    assert kinds <= set(_kinds())


def test_an_old_rig_is_the_same_body() -> None:
    """Links, joints, masses and limits of a rig survive in both forms of the file."""
    for rig in (RIG.read(OLD / "rig.json"), RIG.read(OLD / "rig.npz")):
        assert rig.links == ("pelvis", "left_foot", "right_foot")
        assert [joint.name for joint in rig.joints] == ["root_joint", "left_hip", "right_hip"]
        assert rig.joints[2].mimic is not None
        assert (rig.joints[2].mimic.source, rig.joints[2].mimic.multiplier) == ("left_hip", -1.0)
        np.testing.assert_array_equal(rig.prior.masses, [8.0, 1.0, 1.0])
        np.testing.assert_array_equal(rig.limits.upper[-2:], [1.0, 1.0])
        assert rig.patches == ("left_foot_sole", "right_foot_sole")


def test_old_motions_are_the_same_motions() -> None:
    """Positions, forces, the frames that count and contacts of a motion survive."""
    walk, dance = MOTION.read(OLD / "walk.motion.npz"), MOTION.read(OLD / "dance.motion.npz")
    np.testing.assert_allclose(walk.motion.q[:, -1], 5.0 * np.arange(6) / 50.0)
    np.testing.assert_array_equal(walk.motion.v[:, -2:], np.full((6, 2), 5.0))
    assert walk.wrenches is not None
    assert walk.counted is not None
    np.testing.assert_array_equal(walk.wrenches.values, 1.0 + np.arange(72.0).reshape(6, 2, 6) / 64.0)
    np.testing.assert_array_equal(walk.counted, np.arange(6) % 3 != 1)
    assert walk.excluded == (("plates overlap", 2),)
    assert dance.schedule is not None
    assert [len(phase.anchors) for phase in dance.schedule.phases] == [2, 1]
    assert dance.schedule.ground == 0.02
    assert (dance.checks.friction, dance.checks.balance_reserve, dance.checks.swing) == (0.7, 0.012, 0.06)


def test_old_dances_are_the_same_dances() -> None:
    """Segments, keys and the timeline of a dance survive."""
    dance, keyed = DESIGNED_DANCE.read(OLD / "dance.npz"), AUTHORED_DANCE.read(OLD / "keyed.json")
    timeline, summary = TIMELINE.read(OLD / "scene.timeline.npz"), SUMMARY.read(OLD / "summary.json")
    assert [(segment.name, segment.kind, segment.duration) for segment in dance.segments] == [
        ("home", "hold", 1.25), ("away", "straight", 0.75)
    ]  # fmt: skip
    np.testing.assert_array_equal(dance.segments[1].control.ravel()[:2], [2.0, 2.0 + 1.0 / 64.0])
    assert (dance.criterion, dance.seed, dance.complete, dance.poses) == (7.5, 11, False, ("home", "away"))
    assert dance.report == {"condition number": 3.5}
    assert [(key.time, key.role, key.name) for key in keyed.keys] == [(0.0, "fixed", ""), (1.0, "free", "end")]
    assert keyed.samples is not None
    np.testing.assert_array_equal(keyed.samples.times, [0.0, 0.5, 1.0])
    assert [(key.time, key.role) for key in timeline.keys] == [(0.0, "fixed"), (0.1, "free")]
    assert [(strip.start, strip.stop) for strip in timeline.strips] == [(0.0, 0.1)]
    assert (summary.status, summary.feasible, summary.duration) == ("infeasible", False, 2.5)
    assert [(failure.check, failure.margin, failure.time) for failure in summary.failures] == [("balance", -0.1, 0.5)]
    assert [(move.name, move.score) for move in summary.moves] == [("hop", 7)]


def test_old_results_are_the_same_results() -> None:
    """Inertials, standard deviations and what a report shows of them survive."""
    result, content = RESULT.read(OLD / "result.json"), CONTENT.read(OLD / "report.npz")
    estimate, cohort = ESTIMATE.read(OLD / "walk.centroidal.npz"), COHORT.read(OLD / "cohort.json")
    ramp = np.arange(30.0).reshape(3, 10) / 64.0
    assert result.std is not None
    assert result.lower is not None
    assert result.upper is not None
    np.testing.assert_array_equal(result.std, 0.1 + ramp)
    np.testing.assert_array_equal([result.lower, result.upper], [0.1 + ramp - 0.05, 0.1 + ramp + 0.05])
    assert (result.trials, result.base_link, result.settings["seed"]) == (("walk",), "pelvis", 3)
    assert result.details["list"] == [1, None]
    np.testing.assert_array_equal(content.std, ramp)
    np.testing.assert_array_equal(content.std_by_source["noise"], 3.0 + ramp)
    np.testing.assert_array_equal(content.errors[0].prior_rmse, 1.0 + np.arange(6.0) / 64.0)
    assert (content.weighings[0].reading, content.weighings[0].seconds) == (10.0, 1.5)
    assert (content.loads[0].link, content.loads[0].mass) == ("pelvis", 1.0)
    assert (estimate.method, estimate.flights) == ("recursive", ((1, 3),))
    np.testing.assert_array_equal(estimate.momentum, 2.0 + np.arange(15.0).reshape(5, 3) / 64.0)
    assert [(member.name, member.mass, member.marker_error) for member in cohort.members] == [("s1", 70.0, 0.012)]


def test_old_calibrations_are_the_same_calibrations() -> None:
    """Marker locations, lengths and draws of a calibration, recorded markers and a bone mapping survive."""
    found, mapping = CALIBRATION.read(OLD / "calibration.json"), MAPPING.read(OLD / "mapping.json")
    recording = RECORDING.read(OLD / "walk.recording.npz")
    assert [(each.marker, each.link, each.weight) for each in found.attachments] == [
        ("C7", "pelvis", 0.5), ("LANK", "left_foot", 1.0)
    ]  # fmt: skip
    np.testing.assert_array_equal(found.attachments[0].position, [0.01, 0.02, 0.03])
    assert (found.marker_set, found.height, found.lengths) == ("mine", 1.7, {"pelvis": 1.1})
    assert found.error_draws is not None
    np.testing.assert_array_equal(found.error_draws.prior, 1.0 + np.arange(36.0).reshape(3, 4, 3) / 64.0)
    assert recording.markers == ("C7", "LANK")
    np.testing.assert_array_equal(recording.positions, np.arange(24.0).reshape(4, 2, 3) / 64.0)
    assert (mapping.segments, mapping.root_segment, mapping.scale) == (("Hips", "LeftFoot"), "Hips", 0.9)


def test_former_names_are_read_and_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A field, a class and a member of an enumeration that were renamed are found under either name."""
    path = EVERYTHING.write(tmp_path / "value.json", FULL)
    present = path.read_text(encoding="utf-8")
    former = present.replace('"word"', '"text"').replace('"Square"', '"Quadrangle"').replace('"side"', '"edge"')
    former = former.replace('"BLUE"', '"AZURE"').replace('"word"', '"text"')
    path.write_text(former, encoding="utf-8")
    with pytest.raises(InputError, match=r"text|Quadrangle|AZURE"):
        EVERYTHING.read(path)
    monkeypatch.setattr(former_names, "CLASSES", {"Quadrangle": "Square"})
    fields = {"Everything": {"text": "word"}, "Square": {"edge": "side"}, "Colour": {"AZURE": "BLUE"}}
    monkeypatch.setattr(former_names, "FIELDS", fields)
    found = EVERYTHING.read(path)
    assert (found.word, found.shape, found.colour) == (FULL.word, Square(2.0, "s"), Colour.BLUE)
    assert EVERYTHING.write(tmp_path / "again.json", found).read_text(encoding="utf-8") == present


def test_an_entry_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that gives a field under its former and its present name is refused: which one counts is not known."""
    path = EVERYTHING.write(tmp_path / "value.json", FULL)
    tree = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**tree, "text": "another"}), encoding="utf-8")
    monkeypatch.setattr(former_names, "FIELDS", {"Everything": {"text": "word"}})
    with pytest.raises(InputError, match="has the entry 'word' twice"):
        EVERYTHING.read(path)


@pytest.mark.parametrize(
    ("version", "says"),
    [(2, r"Update Exciting Dance: a release after \d+\.\d+\.\d+ reads it"), (0, "development version before 0.1.0")],
)
def test_another_version_names_the_program_that_reads_it(version: int, says: str, tmp_path: Path) -> None:
    """A file of a newer or an older version is refused, and the error says which version of the program reads it."""
    path = EVERYTHING.write(tmp_path / "value.json", FULL)
    tree = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**tree, "version": version}), encoding="utf-8")
    with pytest.raises(InputError, match=says) as caught:
        EVERYTHING.read(path)
    assert f"has version {version} of 'test of everything'" in str(caught.value)
