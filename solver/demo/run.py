"""The demonstration: simulate, record, identify from the files, draw, and compare with the truth."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.progress import PartialProgress, Progress, silent
from ..base.termination import lifeline, temporary_folder
from ..base.threads import one_blas_thread
from ..options.study import Settings
from ..scene.study_folder import PICTURE_FILE, REPORT_FILE, SCENE_FILE
from ..storage.manifest import path_within
from ..storage.output_folder import write_folder
from ..study.recordings import load
from ..values.inertials import InertialParameters
from ..workflow.pipeline import identify
from ..workflow.study import Study
from .person import HEIGHT, MASS, SEX, record_person, simulate_person
from .robot import simulate_robot

FIRST, FIRST_SECONDS = "first_look", 4.0
"""Folder of the first result, and duration [s] of its dance."""
PERSON, ROBOT, RECORDED = "person", "hrp2", "recorded"
PERSON_FILTER, ROBOT_FILTER = "jovic_human", "human_8hz"
"""The motions have frequencies up to 1.2 Hz; a higher cut-off passes more noise, which biases the masses."""
REPOSITORY = Path(__file__).resolve().parents[2]
SCENE_SECONDS = 300.0
"""[s] Longest time for Blender to make one scene."""
BLENDER_FOLDERS = ("BLENDER_USER_RESOURCES", "XDG_CACHE_HOME", "TMPDIR", "TEMP", "TMP")
"""Where Blender stores preferences, thumbnails and temporary files; none of the user's files are read or changed."""


@dataclass(frozen=True, slots=True)
class InertialError:
    """Error of parameters against the truth: root mean square over the links.

    Attributes:
        mass: [kg].
        com: [m].
        inertia: relative, Frobenius norm of the inertia about the centre of mass.
    """

    mass: float
    com: float
    inertia: float


def inertial_error(truth: InertialParameters, parameters: InertialParameters) -> InertialError:
    """The error of parameters against the truth."""
    masses = parameters.masses - truth.masses
    coms = np.linalg.norm(parameters.coms - truth.coms, axis=1)
    true, found = truth.inertias_at_com, parameters.inertias_at_com
    inertias = np.linalg.norm(found - true, axis=(1, 2)) / np.linalg.norm(true, axis=(1, 2))
    return InertialError(*(float(np.sqrt(np.mean(values**2))) for values in (masses, coms, inertias)))


def run_demo(output: Path, *, seed: int = 1, progress: Progress = silent) -> tuple[str, ...]:
    """Run the demonstration into a folder, which is written completely or not at all.

    Args:
        output: folder.
        seed: of the truth and the noise.
        progress: receives progress.

    Returns:
        text for the user: errors against the truth, then the paths of the written files.
    """
    lines = ["All data are simulated, so the truth is known."]
    with one_blas_thread(), write_folder(output) as building:
        person, truth = _person(building, seed, PartialProgress(progress, 0.0, 0.45))
        lines += _describe_error("person", person, truth)
        robot, truth = _robot(building, seed, PartialProgress(progress, 0.45, 0.75))
        lines += _describe_error("HRP-2 (stand-in)", robot, truth)
        for place, name in ((0.75, PERSON), (0.88, ROBOT)):
            progress(place, f"Blender: scene and picture of {name}")
            note = make_scene(building / name)
            lines += [note] if note else []
    progress(1.0, "done")
    made = (output / name / file for name in (PERSON, ROBOT) for file in (SCENE_FILE, PICTURE_FILE, REPORT_FILE))
    return (*lines, "", *(str(path) for path in made if path.exists()))


def identify_first(output: Path, *, seed: int = 1, progress: Progress = silent) -> str:
    """Identify a short dance of the simulated person without intervals, for a first picture after half a minute.

    Args:
        output: folder of the demonstration; the result is its subfolder ``first_look``.
        seed: of the truth and the noise.
        progress: receives progress.

    Returns:
        a sentence that names the picture, or the report if Blender is not installed.
    """
    folder = path_within(output, FIRST)
    progress(0.0, "a short dance: simulating")
    with one_blas_thread(), temporary_folder() as recorded:
        person = simulate_person(seed, FIRST_SECONDS, trials=("dance",))
        record_person(person, recorded, seed)
        study = identify(
            load(recorded),
            sex=SEX,
            height=HEIGHT,
            mass=MASS,
            static=("static",),
            settings=Settings(filter=PERSON_FILTER, no_cross_validation=True),
            progress=PartialProgress(progress, 0.25, 0.6),
        )
    study.write(folder, title="A simulated person, first look", truth=person.truth, simulated=True)
    progress(0.7, "Blender: scene and picture")
    make_scene(folder)
    progress(1.0, "a short dance: done")
    made = folder / PICTURE_FILE
    if made.exists():
        return f"first picture, masses identified from {FIRST_SECONDS:g} s of motion: {made}"
    return f"first result, masses identified from {FIRST_SECONDS:g} s of motion: {folder / REPORT_FILE}"


def make_scene(folder: Path) -> str | None:
    """Make Blender's scene and picture of a study's folder with the add-on, in another process.

    Returns:
        None, or why there is no scene.
    """
    if not (REPOSITORY / "addon" / "__main__.py").exists():
        return f"{folder.name}: no scene and picture, because pip does not install the add-on: run this in a clone"
    if importlib.util.find_spec("bpy") is None:
        return f"{folder.name}: Blender's module bpy is not installed here, so there is no scene and no picture"
    command = [sys.executable, "-m", "addon", str(folder.resolve())]
    try:
        with temporary_folder(".blender-", folder.resolve().parent) as own, lifeline() as (end, said):
            environment = os.environ | dict.fromkeys(BLENDER_FOLDERS, str(own)) | said
            done = subprocess.run(
                command, cwd=REPOSITORY, env=environment, stdin=end, capture_output=True, text=True,
                timeout=SCENE_SECONDS,
            )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{folder.name}: Blender did not finish within {SCENE_SECONDS:.0f} s, so there is no scene"
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
        return f"{folder.name}: Blender made no scene: {words[-1]}"
    return None


def _person(building: Path, seed: int, progress: Progress) -> tuple[Study, InertialParameters]:
    progress(0.0, "person: simulating")
    person = simulate_person(seed)
    recorded = building / RECORDED / PERSON
    recorded.mkdir(parents=True)
    progress(0.2, "person: recording markers and forces into files")
    record_person(person, recorded, seed)
    settings = Settings(filter=PERSON_FILTER)
    study = identify(
        load([recorded]),
        sex=SEX,
        height=HEIGHT,
        mass=MASS,
        static=("static",),
        settings=settings,
        progress=PartialProgress(progress, 0.3, 0.95),
    )
    study.write(building / PERSON, title="A simulated person", truth=person.truth, simulated=True)
    return study, person.truth


def _robot(building: Path, seed: int, progress: Progress) -> tuple[Study, InertialParameters]:
    progress(0.0, "HRP-2: simulating")
    robot = simulate_robot(seed)
    recorded = building / RECORDED / ROBOT
    recorded.mkdir(parents=True)
    robot.write(recorded)
    settings = Settings(filter=ROBOT_FILTER)
    study = identify(load([recorded]), rig=robot.rig, settings=settings, progress=PartialProgress(progress, 0.4, 0.95))
    study.write(building / ROBOT, title="A simulated HRP-2 stand-in", truth=robot.truth, simulated=True)
    return study, robot.truth


def _describe_error(name: str, study: Study, truth: InertialParameters) -> list[str]:
    result = study.identification
    assert result is not None
    found, prior = inertial_error(truth, result.parameters), inertial_error(truth, result.prior)
    head = f"{name}: error against the known truth, RMS over {len(truth.links)} links: identified (prior)"
    return [
        head,
        f"  mass {found.mass:.3f} ({prior.mass:.3f}) kg, "
        f"centre of mass {1e3 * found.com:.1f} ({1e3 * prior.com:.1f}) mm, "
        f"inertia {100.0 * found.inertia:.0f} ({100.0 * prior.inertia:.0f}) %, "
        f"total mass off by {result.parameters.total_mass - truth.total_mass:+.3f} kg; {result.estimate.satisfies}",
    ]
