"""Every file that a verb writes is read by another verb, or is for people, Blender or other programs."""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest

from solver.cli import main
from solver.cli.exit_codes import WRONG_INPUT
from solver.cli.settings_file import SETTINGS
from solver.demo.person import record_person, simulate_person
from solver.demo.robot import simulate_robot
from solver.storage.manifest import read_manifest

QUICK = "--no-cross-validation"
WRITTEN = {
    "person": f"identify {{lab}}/person --sex male --mass 71 --height 1.76 --static static {QUICK}",
    "robot": f"identify {{lab}}/robot --rig hrp2 {QUICK}",
    "own": f"identify {{lab}}/robot --rig {{robot}}/rig.urdf {QUICK}",
    "tracked": "track {lab}/person/dance.trc --calibration {person}/calibration.json",
    "followed": "retarget {person} hoap3 --trial dance --no-repair",
    "dance": "dance hoap3 --postures both=1 --effort 0.1 --knot-spacing 0.4 --workers 1 --rate 20",
    "slowed": "slow {dance}/dance.motion.npz",
    "centroidal": "centroidal {person}",
    "moments": "moments {robot}",
    "performed": "perform {dance}/dance.npz {dance}/dance.motion.npz",
    "set.json": "markers {lab}/person/dance.trc",
    "hrp2.json": "rig hrp2",
    "exported.mot": "export {dance}/dance.npz",
    "exported.csv": "export {slowed}/keyed.json",
}
"""By the folder or file that is written, the verb that writes it."""
READ = (
    "identify {robot}/dance.joints.csv {lab}/robot/dance_wrenches.csv --rig {hrp2.json} " + QUICK,
    "identify {robot}/dance.joints.mot {lab}/robot/dance_wrenches.csv --rig {own}/rig_identified.urdf " + QUICK,
    "identify {person}/dance.joints.csv {lab}/person/dance.mot --force-up y --rig {person}/rig.urdf "
    + QUICK
    + " --method hierarchical",
    "identify {lab}/robot --settings {robot}/settings.toml",
    "compare {robot} {robot}/dance.joints.csv {lab}/robot/dance_wrenches.csv",
    "compare {person} {lab}/person",
    "compare {own} {lab}/robot",
    "centroidal {own}",
    "moments {person} --trial dance",
    "calibrate {lab}/person/static.trc --sex male --mass 71 --marker-set {set.json}",
    "track {person}/static.joints.mot --rig {person}/rig.json",
    "track {person}/dance.angles.mot --rig {person}/rig.json --planted-foot left_sole",
    "track {person}/dance.angles.csv --rig {person}/rig.json --planted-foot left_sole",
    "track {dance}/dance.joints.mot --rig {dance}/rig.json",
    "track {dance}/dance.joints.csv --rig hoap3 --planted-foot right_sole",
    "track {exported.mot} --rig hoap3",
    "track {exported.csv} --rig hoap3 --planted-foot right_sole",
    "track {followed}/dance.joints.mot --rig hoap3",
    "track {followed}/dance_100hz.csv --rig hoap3",
    "track {followed}/dance.bodies.npz --rig hoap3",
    "check {dance}/dance.npz",
    "check {followed}/dance.motion.npz",
    "check {robot} --trial dance",
    "retarget {dance}/dance.npz {robot}/rig.urdf --no-repair",
    "retarget {tracked} hoap3 --no-repair --mapping {followed}/mapping.json",
    "rig {robot}/rig.urdf",
)
WITH_FOLDER = ("result.json", "report.npz", "study.npz", "*.trial.npz", "*.motion.npz", "rig.json", "calibration.json")
"""Files that ``compare``, ``centroidal``, ``moments``, ``cohort``, ``check`` and ``retarget`` read by their folder."""
FOR_OTHERS = (
    "*.html", "report.txt", "result.csv", "*.markers.csv", "*.centroidal.csv", "*.moments.csv",
    "dance.json", "provenance.json", "*.recording.npz", "*.centroidal.npz", "*.moments.npz", "performance.json",
    "summary.json", SETTINGS,
)  # fmt: skip
"""Files for people and spreadsheets, then for Blender, which draws them; settings are an option of their verb."""


class Folders(dict[str, Path]):
    """What the verbs of `WRITTEN` write, each when it is first needed."""

    def __init__(self, home: Path) -> None:
        super().__init__(lab=home / "lab")
        self.home = home
        person = simulate_person(1, trials=("dance",))
        lengths = {"static": 60, "dance": 200}
        cut = {name: person.motions[name].part(0, frames) for name, frames in lengths.items()}
        for name in ("person", "robot"):
            (self["lab"] / name).mkdir(parents=True)
        record_person(replace(person, motions=cut), self["lab"] / "person", 1)
        simulate_robot(1, trials=("dance",), seconds=2.0, rate=100.0).write(self["lab"] / "robot")

    def __missing__(self, name: str) -> Path:
        self[name] = self.home / name
        assert self.run(WRITTEN[name], self[name]) != WRONG_INPUT, name
        return self[name]

    def run(self, words: str, output: Path | None) -> int:
        """The exit code of a verb."""
        arguments = [re.sub(r"{(.+?)}", lambda name: str(self[name[1]]), part) for part in words.split()]
        return main([*arguments, *([] if output is None else ["--output", str(output)]), "--progress", "none"])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """What the verbs have written."""
    return Folders(tmp_path_factory.mktemp("written"))


@pytest.mark.parametrize("words", READ)
def test_what_one_verb_writes_another_reads(
    words: str, folders: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A verb does its work on the results of others: a person's and robots' rigs, motions, dances and settings."""
    output = None if words.split()[0] in ("compare", "check", "rig") else tmp_path / "out"
    assert folders.run(words, output) != WRONG_INPUT, capsys.readouterr().err


def test_every_file_has_a_reader(folders: Folders) -> None:
    """A file that a verb writes is named in a command above, read with its folder, or listed for people and Blender."""
    for name in WRITTEN:
        manifest = read_manifest(folders[name]) if folders[name].is_dir() else None
        for file in manifest.files if manifest is not None else ():
            named = any(f"/{file.replace('static', 'dance')}" in words for words in (*READ, *WRITTEN.values()))
            listed = [pattern for pattern in (*WITH_FOLDER, *FOR_OTHERS) if fnmatch(file, pattern)]
            assert named or listed, f"{name}/{file}: no verb reads it"
