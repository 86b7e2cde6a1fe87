"""Every file, body and pipeline at hand: ``python -m benchmarks inputs [--only GROUP ...]``.

A cell is one step of one input: read, track, identify, moments, write, read again. It must pass with the right answer
(``../shared/data/README.md``), or be refused for the stated reason. Groups, the quickest first: ``files`` are read,
``bodies`` read, written and read again, ``names`` are conventions of one skeleton's bones, ``reports`` files rebuilt
from public bug reports, ``clips`` skeletons that a person follows, ``written`` what a verb writes as the input of
another one, ``robots`` their own motion, rig and file after an identification, ``faults`` what is wrong in the data of
arms and humanoids, ``markers`` those used of each laboratory, and ``laboratories`` recordings on their way from markers
or joint angles to joint moments.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from solver.base.errors import SolverError
from solver.cli import main as run_verb
from solver.cli.exit_codes import WRONG_INPUT
from solver.formats.file_formats import recording_suffixes
from solver.formats.model_writer import write_identified_model
from solver.formats.urdf_writer import write_urdf
from solver.input_checks import check_recording
from solver.rigs import human
from solver.rigs.opensim.rig import is_opensim
from solver.scene.motion_record import MOTION
from solver.scene.rig import load_rig, read_rig, write_rig
from solver.study.recordings import load
from solver.tracking.bone_mapping import guess_mapping
from solver.values.inertials import InertialParameters

from .figures import wrong_measurements
from .figures.figure import Figure, at_least, missing
from .figures.markers_used import markers_used_figures
from .figures.table import FigureTable, table_parser
from .models import SHARED, places
from .rereads import reread_robots

Outcome = tuple[str, str]
"""A cell, and what is wrong with it; empty if it is as it must be."""
BODIES = ("*.urdf", "*.osim", "mjcf/*.xml", "mjcf_*.xml")
MIRRORED = "left and right are exchanged"
REFUSED = {
    "broken_bad": "inconsistent", "broken_empty": "is empty", "broken_parameter": "no marker is visible",
    "C3DRotation": "only poses of segments", "Optotrak": "damaged", "sample_pro": "State it: up",
    "sample_static": "State it: up", "_marker_errors": "no column is titled", "_tau": "no column is titled",
    "ur-20": "no column is titled", "one_plate_reversed": "plate_2 would pull", "bvh_left_handed": MIRRORED,
    "hoap3_kinematics": "<intertial> is not",
}  # fmt: skip
"""Parts of the names of files that no reader accepts as they are, and the reason that it must state."""
RIGHT: dict[str, Callable[[Any], bool]] = {
    "bmc_grf_run": lambda found: found.wrenches.frames == ("R_ground_force", "L_ground_force"),
    "bmc_gait": lambda found: len(found.markers.names) == 33 and len(found.wrenches.frames) == 2,
    "c3d_256": lambda found: len(found.markers.names) == 14 and len(found.wrenches.frames) == 2,
    "c3d_right": lambda found: np.allclose(found.wrenches.values[:, :, 2].mean(axis=0), (476.0, 284.0), atol=1.0),
    "mot_c3dadapter": lambda found: np.allclose(np.abs(found.wrenches.centres_of_pressure()[0, :, :2]), (0.2, 0.1)),
    "std_cop": lambda found: len(found.wrenches.frames) == 2 and found.wrenches.values[:, :, 2].max() > 300.0,
    "bmc_walk1": lambda found: np.allclose(np.nanmedian(found.markers.positions[:, :4, 2]), 1.04, atol=0.03),
    "mot_2000hz": lambda found: abs(found.wrenches.rate - 2000.0) < 1e-6,
}
"""What files of the same parts must hold."""
SAME = 1e-9
"""[kg, kg m, kg m2] Largest difference of an inertial parameter that was written and read again."""
SHOWN = 300
"""Characters of an error that the table shows."""
PERSON = "--height 1.75 --mass 70 --sex male"
STEPS = {
    "track": "track {files} {options} --output {out}/track",
    "identify": "identify {files} {options} --no-cross-validation --output {out}/identify",
    "moments": "moments {out}/identify --output {out}/moments",
    "write": "rig {out}/identify/rig.urdf --output {out}/rig.json",
    "read again": "compare {out}/identify {files}",
}
"""Steps of a recording and their commands; ``{data}`` and ``{models}`` are folders."""
WHOLE = tuple(STEPS)[1:]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A recording on its way.

    Attributes:
        name: in the table.
        files: and folders.
        options: of reading, of the subject and of the body.
        steps: of `STEPS`, or whole commands.
        refused: pattern of the reason for which the last step must be refused; empty: it must pass.
        noted: pattern of what the last step must say where it passes.
        right: what is wrong with the results in a folder, empty if nothing is.
    """

    name: str
    files: str
    options: str = "--sex unknown"
    steps: tuple[str, ...] = WHOLE
    refused: str = ""
    noted: str = ""
    right: Callable[[Path], str] = lambda _: ""

    def run(self, folders: dict[str, str]) -> Iterator[Outcome]:
        """The outcome of each step; later ones than a step that went wrong are not tried."""
        with tempfile.TemporaryDirectory() as out:
            words = {**folders, "out": out, "files": self.files.format(**folders)}
            words["options"] = self.options.format(**folders)
            for step in self.steps:
                last = step == self.steps[-1]
                expected = (self.refused, self.noted) if last else ("", "")
                wrong = run_command(STEPS.get(step, step).format(**words), *expected)
                wrong = wrong or (self.right(Path(out)) if last and not self.refused else "")
                yield f"{self.name}, {step.split(' {')[0]}", wrong
                if wrong:
                    return


def run_command(words: str, refused: str, noted: str = "") -> str:
    """Run a verb in this process; what is wrong with its outcome."""
    said = StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            code = run_verb([*words.split(), "--progress", "none"])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    text = said.getvalue().strip().rpartition("error: ")[2]
    if not refused:
        missing = "" if re.search(noted, said.getvalue()) else f"says nothing of {noted!r}"
        return text[:SHOWN] if code == WRONG_INPUT else missing
    return "" if code == WRONG_INPUT and re.search(refused, text) else f"not refused for {refused!r}: {text[:SHOWN]}"


def try_value(job: Callable[[], str], refused: str) -> str:
    """What is wrong with the outcome of a function that returns what is wrong, or is to be refused."""
    try:
        wrong = job()
    except SolverError as error:
        return "" if refused and re.search(refused, str(error)) else str(error)[:SHOWN]
    return f"not refused for {refused!r}" if refused else wrong


def reason_of(path: Path) -> str:
    """The reason for which a file must be refused; empty if it must be read."""
    return next((reason for part, reason in REFUSED.items() if part in path.name), "")


def read_files(data: Path) -> Iterator[Outcome]:
    """Every recording, alone."""

    def read(path: Path) -> str:
        (recording,) = map(check_recording, load(path))
        is_right = all(right(recording) for part, right in RIGHT.items() if part in path.name)
        return "" if is_right else "holds something else than its README says"

    for path in sorted(path for path in data.rglob("*") if path.suffix.lower() in recording_suffixes()):
        yield f"{path.relative_to(data)}, read", try_value(lambda path=path: read(path), reason_of(path))  # type: ignore[misc]


def read_bodies(data: Path) -> Iterator[Outcome]:
    """Every body, read, written as a file of this program, as URDF and as OpenSim model, and read again."""

    def through(path: Path, folder: Path) -> str:
        rig = load_rig(path)
        other = rig.with_prior(InertialParameters(rig.links, 1.1 * rig.prior.values))
        write_urdf(other, folder / "rig.urdf")
        masses = dict(zip(other.links, other.masses))
        again = load_rig(folder / "rig.urdf")
        apart = max(abs(mass - masses[link]) for link, mass in zip(again.links, again.masses))
        if is_opensim(rig):
            write_identified_model(rig, folder / path.name, other.prior)
            apart = max(apart, float(np.abs(load_rig(folder / path.name).prior.values - other.prior.values).max()))
        same = read_rig(write_rig(folder / "rig.json", other)) == other
        return "" if same and apart < SAME else f"read again, it differs by {apart:g}"

    folders = [folder for folder in (*places(), data) if folder.is_dir()]
    for path in dict.fromkeys(path for folder in folders for kind in BODIES for path in sorted(folder.rglob(kind))):
        with tempfile.TemporaryDirectory() as folder:
            job = try_value(lambda path=path, folder=folder: through(path, Path(folder)), reason_of(path))  # type: ignore[misc]
        yield f"{'/'.join(path.parts[-2:])}, read, written, read again", job


def match_names(data: Path) -> Iterator[Outcome]:
    """The same skeleton with the names of many programs: the same mapping, or a refusal that names what is missing."""
    segments = load(data / "clips" / "cmu_walk.bvh")[0].segments
    assert segments is not None
    rig = human(1.75, 70.0, "male")
    right: dict[str, int] = {}
    for convention, names in json.loads((data / "brought" / "bone_names.json").read_text("utf-8")).items():
        try:
            mapping = guess_mapping(replace(segments, names=tuple(names)), rig)
        except SolverError as error:
            yield convention, "" if "was found for" in str(error) else str(error)
            continue
        found = dict(zip(mapping.links, map(names.index, mapping.segments)))
        right = right or found
        yield convention, "" if found == right else f"other bones for {', '.join(dict(found.items() ^ right.items()))}"


def is_upright(out: Path) -> str:
    """Whether the root of what was tracked stays upright and its joints near their limits."""
    (path,) = (out / "track").glob("*.motion.npz")
    motion = MOTION.read(path)
    rotation = motion.motion.q[:, 3:7]
    up = 1.0 - 2.0 * (rotation[:, 0] ** 2 + rotation[:, 1] ** 2)
    height, angles = float(np.median(motion.motion.q[:, 2])), np.abs(motion.motion.q[:, 7:])
    if np.median(up) < 0.7:
        return f"the root is tilted by {np.degrees(np.arccos(np.median(up))):.0f} degrees"
    return (
        "" if 0.4 < height < 1.3 and angles.max() < 4.0 else f"root at {height:.2f} m, angles up to {angles.max():.2f}"
    )


def follow(name: str, refused: str = "", options: str = PERSON) -> Pipeline:
    """A skeleton or a robot's motion of the reports that is tracked."""
    return Pipeline(name, f"{{data}}/brought/reports/{name}", options, ("track",), refused, right=is_upright)


ARM = "identify-fixed-base {data}/brought/reports/arm.urdf --angles {data}/brought/reports/arm_q.csv --torques "
ARM += "{data}/brought/reports/arm_tau_%s.csv --no-drives --output {out}/arm"
REPORTS = (
    *(follow(f"bvh_{kind}.bvh") for kind in ("right", "daz_genesis8_names", "mmd_english_names", "rigify_def_names",
                                             "vrm_names")),
    *map(follow, ("smpl_right.npz", "smpl_y_up.npz")),
    follow("bvh_left_handed.bvh", MIRRORED),
    replace(follow("bvh_root_without_position.bvh"), right=lambda _: "", noted="the root has no position"),
    *(Pipeline(name, "", "", (f"rig {{data}}/brought/reports/{name} --output {{out}}/rig.json",), noted=note)
      for name, note in (("urdf_inertia_kg_mm2.urdf", "inertia is in another unit"),
                         ("mjcf_closed_loop.xml", "left out: connect"), ("urdf_mimic_and_imu.urdf", "mimic"))),
    follow("smpl_y_up.npz", options=f"{PERSON} --up y"),
    follow("../rest_y_motion_z.bvh"),
    *(follow(f"robot_{kind}_100hz.csv", options="--rig hrp2") for kind in ("wxyz", "degrees_bare")),
    follow("c3d_one_plate_reversed.c3d", "plate_2 would pull"),
    follow("c3d_right.c3d"),
    follow("c3d_256_analog_channels.c3d"),
    *(Pipeline(f"arm, torques {kind}", "", "", (ARM % kind,), cause)
      for kind, cause in (("right", ""), ("one_reversed", "revers|sign"), ("newton_millimetres", "N mm|unit"))),
)  # fmt: skip
LABORATORIES = (
    Pipeline("subject_a", "{data}/subject_a/markers/static1.trc {data}/subject_a/forces/static1.mot "
             "{data}/subject_a/markers/squats1.trc {data}/subject_a/forces/squats1.mot"),
    Pipeline("subject_b", "{data}/subject_b/markers/static_run.trc {data}/subject_b/markers/run.trc "
             "{data}/subject_b/forces/run.mot"),
    Pipeline("subject_c", "{data}/subject_c"),
    Pipeline("subject_e", "{data}/subject_e/run200.trc {data}/subject_e/run200.mot"),
    Pipeline("walk_d", "{data}/walk_d/walk_d.npz", "--sex male", ("track", "identify", "read again", "moments"),
             "forces without moments"),
    Pipeline("flywheel", "{data}/foreign/flywheel_standing.c3d {data}/foreign/flywheel_squat.c3d", steps=("identify",),
             refused="mass|kg"),
    Pipeline("plates_tilted", "{data}/foreign/plates_tilted_gaitnormal_1.c3d"),
    Pipeline("cmu_waist", "{data}/foreign/cmu_waist_markers.c3d", steps=("track",)),
    Pipeline("plugin_gait", "{data}/c3d/plugin_gait_static.c3d {data}/c3d/plugin_gait_motion.c3d"),
    Pipeline("sprint_8plates", "{data}/c3d/sprint_8plates.c3d", steps=("track",)),
    Pipeline("bmc_gait", "{data}/brought/bmc_gait.c3d"),
    Pipeline("bmc_walk1", "{data}/brought/bmc_walk1.trc", steps=("track",), refused="no marker is known on torso"),
    Pipeline("keypoints_halpe26", "{data}/brought/keypoints_halpe26.trc", steps=("track",), right=is_upright),
    Pipeline("keypoints_halpe26 and forces", "{data}/brought/keypoints_halpe26.trc", steps=("identify",),
             refused="has no forces|key points"),
    Pipeline("thigh_clusters", "{data}/brought/thigh_clusters_type3.c3d", steps=("markers {files}",)),
    Pipeline("thigh_clusters, a person", "{data}/brought/thigh_clusters_type3.c3d", steps=("track",),
             refused="no marker is known on torso"),
    *(Pipeline(name, f"{{data}}/c3d/{name}.c3d", steps=("track",),
               refused="Record every link of the trunk and the legs|Give it as marker_set") for name in
      ("type1", "type2", "type3", "type4")),
    *(Pipeline(f"gait2392, {kind}", "{models}/gait2392_walk1" + files, "{models}/gait2392_subject01.osim")
      for kind, files in (("markers", ".trc {models}/gait2392_walk1_grf.mot"),
                          ("angles", "_ik.mot {models}/gait2392_walk1_grf.mot"))),
    Pipeline("gait2392, moments for angles", "{models}/gait2392_walk1_inverse_dynamics.sto",
             "{models}/gait2392_subject01.osim", ("track",), "another model"),
    *(Pipeline(f"gait10dof, {kind}", f"{{data}}/brought/gait10dof/subject01_walk{end} "
               "{data}/brought/gait10dof/subject01_walk_grf.mot", "{data}/brought/gait10dof/gait10dof_subject01.osim")
      for kind, end in (("markers", ".trc"), ("angles", "_IK.mot"))),
    Pipeline("subject_a_scaled, angles", "{data}/subject_a/reference_ik/squats1.mot "
             "{data}/subject_a/forces/squats1.mot", "{models}/subject_a_scaled.osim"),
    Pipeline("tx40", "", "", ("identify-fixed-base {data}/tx40/tx40.urdf --angles {data}/tx40/tx40_train_q.csv "
                              "--torques {data}/tx40/tx40_train_tau.csv --output {out}/arm",)),
)  # fmt: skip


def run_pipelines(pipelines: Sequence[Pipeline], data: Path) -> Iterator[Outcome]:
    """The cells of pipelines."""
    for pipeline in pipelines:
        yield from pipeline.run({"data": str(data), "models": str(SHARED / "opensim")})


def follow_clips(data: Path) -> Iterator[Outcome]:
    """Every clip is followed by a person."""
    clips = sorted((data / "clips").glob("*.bvh"))
    return run_pipelines([Pipeline(clip.name, str(clip), PERSON, ("track",)) for clip in clips], data)


def read_written(_: Path) -> Iterator[Outcome]:
    """What a verb writes is the input of another one."""
    from tests.test_written_and_read import READ, Folders

    with tempfile.TemporaryDirectory() as home:
        folders = Folders(Path(home))
        for number, words in enumerate(READ):
            said = StringIO()
            with redirect_stdout(StringIO()), redirect_stderr(said):
                output = None if words.split()[0] in ("compare", "check", "rig") else Path(home) / str(number)
                code = folders.run(words, output)
            yield words, said.getvalue()[:SHOWN] if code == WRONG_INPUT else ""


def read_robots(_: Path) -> Iterator[Outcome]:
    """What is written about robots is read again."""
    with tempfile.TemporaryDirectory() as home:
        yield from reread_robots(Path(home))


GROUPS: dict[str, Callable[[Path], Iterator[Outcome]]] = {
    "files": read_files,
    "bodies": read_bodies,
    "names": match_names,
    "reports": lambda data: run_pipelines(REPORTS, data),
    "clips": follow_clips,
    "written": read_written,
    "robots": read_robots,
    "laboratories": lambda data: run_pipelines(LABORATORIES, data),
}


ROWS: dict[str, Callable[[Path], Iterable[Figure]]] = {
    "faults": lambda _: wrong_measurements.figures(quick=True),
    "markers": markers_used_figures,
}
"""Groups with a row for each body or laboratory."""


def group_figure(name: str, data: Path) -> Figure:
    """One row: how many cells of a group are as they must be."""
    row = Figure(f"{name}: cells that pass or are refused for the stated reason", "real and simulated", None, "",
                 at_least(1.0))  # fmt: skip
    if not data.is_dir():
        return missing([row], f"no folder {data}")[0]
    outcomes = list(GROUPS[name](data))
    wrong = [f"{cell}: {problem}" for cell, problem in outcomes if problem]
    return replace(
        row,
        value=1.0 - len(wrong) / len(outcomes),
        note="; ".join([f"{len(outcomes)} cells", *wrong]).replace("\n", " "),
    )


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("inputs", __doc__, data=True)
    groups = (*GROUPS, *ROWS)
    parser.add_argument("--only", nargs="+", choices=groups, default=groups, help="groups (default: all)")
    options = parser.parse_args(list(arguments))
    table = FigureTable(["inputs", *arguments], options.output)
    for name in options.only:
        rows = ROWS.get(name, lambda data, name=name: [group_figure(name, data)])  # type: ignore[misc]
        table.measure(lambda rows=rows: rows(options.data))  # type: ignore[misc]
    return table.close()
