"""Recordings of a bench as files, and the folders that its two verbs write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError, InvalidValue
from ..filter_presets import FilterPreset
from ..formats.atomic import write_atomically
from ..formats.folder import write_folder
from ..formats.joint_coordinates import write_coordinates
from ..formats.joint_files import read_joints_csv, read_joints_storage
from ..formats.plain import plain
from ..formats.tables import kind_of_table, read_table, read_wrenches_csv
from ..formats.text import Warn, no_warning
from ..formats.urdf_writer import write_urdf
from ..identification.result_file import write_result_table
from ..rig import Rig
from ..scene import study_folder as names
from ..scene.bodies import RESULT, SceneResult
from ..scene.dance_folder import SUMMARY_FILE
from ..scene.motion_record import MOTION, motion_record
from ..scene.rig import write_rig
from ..scene.summary import SUMMARY, SceneSummary
from ..so3 import to_matrix
from .bench import BASE, DRIVES, Bench
from .exciting import ExcitingMotion
from .identify import BenchIdentification, BenchTrial

STORAGE_SUFFIXES = (".mot", ".sto")
TORQUE_UNITS = {"nm": False, "nmm": False, "n": True, "kn": True}
"""Units of a measured torque or force; whether the joint slides."""
MOTION_NAME, DRIVES_FILE = "exciting", "drives.csv"
EXPORT_RATE = 500.0
"""[1/s] of an exciting motion's tables."""
UNIT_OF_DRIVE = {False: ("kg m^2", "N m s/rad", "N m", "N m"), True: ("kg", "N s/m", "N", "N")}


@dataclass(frozen=True, slots=True)
class StoredBench:
    """Of a result's settings what its bench was and how its trials were filtered."""

    measured: str
    drives: bool
    bench_held: tuple[str, ...]
    mount: np.ndarray
    preset: FilterPreset | None

    @staticmethod
    def of(found: BenchIdentification) -> StoredBench:
        """The bench of an identification."""
        bench = found.bench
        assert bench.held is not None
        return StoredBench(bench.measured, bench.drives, bench.held, bench.mount, found.options.preset)

    def bench(self, rig: Rig) -> Bench:
        """The bench of a rig."""
        return Bench(rig, self.measured, self.drives, self.bench_held, self.mount)


@dataclass(frozen=True, slots=True)
class StoredDrives:
    """Of a result's details the drives (n, 4) beside the identified inertials and beside the prior."""

    drive_parameters: np.ndarray
    prior_drive_parameters: np.ndarray


def is_bench_result(result: SceneResult) -> bool:
    """Whether `write_bench_result` wrote a result."""
    return "measured" in result.settings


def pair_bench_files(files: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Tables of joint coordinates, each with the measurements in the same place among the others.

    Raises:
        InvalidValue: not as many of one as of the other.
        InputError: a file cannot be read.
    """
    angles = [f for f in files if f.suffix.lower() in STORAGE_SUFFIXES or kind_of_table(f) == "joints"]
    measured = [file for file in files if file not in angles]
    if len(angles) != len(measured) or not angles:
        raise InvalidValue(
            f"{len(angles)} files of joint coordinates for {len(measured)} of torques or forces: name one of each a "
            "trial, as run.csv torques.csv"
        )
    return list(zip(angles, measured))


def read_bench_trial(bench: Bench, angles: str | Path, measured: str | Path, *, warn: Warn = no_warning) -> BenchTrial:
    """One trial from a table of joint coordinates and one of what was measured.

    Args:
        bench: whose joints they are; columns are named after links or joints, those that are held may be missing.
        angles: .csv with ``NAME [rad]`` ..., or .mot/.sto.
        measured: .csv with ``NAME [N m]`` of every moving joint (``[N]`` of one that slides), or for a base sensor
            ``NAME.fx [N]`` ... of the wrench on the robot, world axes, about the root's origin.
        warn: told about what was read past.

    Raises:
        InputError: a malformed file, a joint without column, a unit that does not fit, missing values, or two clocks
            that do not overlap.
    """
    storage = Path(angles).suffix.lower() in STORAGE_SUFFIXES
    found = read_joints_storage(angles, warn=warn) if storage else read_joints_csv(angles, warn=warn)
    degrees = [np.radians(1.0) if unit.startswith("deg") else 1.0 for unit in found.units]
    y = _chosen(bench, angles, found.names, found.values * degrees)
    _require_whole(angles, y)
    times, values = _measured(bench, measured, warn)
    _require_whole(measured, values)
    inside = (found.times >= times[0]) & (found.times <= times[-1])
    if inside.sum() < 2:
        clocks = f"{times[0]:g} to {times[-1]:g} s, the angles {found.times[0]:g} to {found.times[-1]:g} s"
        raise InputError(measured, f"runs from {clocks}", remedy="Give both files one clock")
    left = int((~inside).sum())
    if left:
        warn(f"{Path(angles).name}: {left} of {len(inside)} frames lie outside the times of {Path(measured).name}")
    stamps = found.times[inside]
    resampled = np.column_stack([np.interp(stamps, times, column) for column in values.T])
    return BenchTrial(Path(angles).stem, stamps, y[inside], resampled)


def exciting_summary(found: ExcitingMotion) -> SceneSummary:
    """What was found, for a scene: the message tells what the motion is worth."""
    worth = f"condition number {found.condition:.1f} (best random motion: {found.random:.0f})"
    seconds = found.options.seconds
    message = f"Exciting motion of {seconds:g} s and {len(found.bench.names)} joints: {worth}"
    return SceneSummary("excite", "found", True, message, notes=found.notes, duration=seconds)


def write_exciting(found: ExcitingMotion, folder: str | Path) -> tuple[str, ...]:
    """``exciting.csv`` (angles and speeds, for controllers), and ``exciting.motion.npz``, ``summary.json`` (what it is
    worth) and ``rig.json`` for Blender.
    """
    bench, motion = found.bench, found.sample(EXPORT_RATE)
    with write_folder(folder) as building:
        write_rig(building / names.RIG_FILE, bench.rig)
        write_coordinates(building / f"{MOTION_NAME}.csv", bench.rig, motion, degrees=False, root=False, speeds=True)
        MOTION.write(building / f"{MOTION_NAME}{names.MOTION_END}", motion_record(MOTION_NAME, bench.rig, motion))
        SUMMARY.write(building / SUMMARY_FILE, exciting_summary(found))
        return tuple(sorted(file.name for file in building.iterdir()))


def write_bench_result(found: BenchIdentification, trials: Sequence[str], folder: str | Path) -> tuple[str, ...]:
    """``result.json`` and ``result.csv`` as of any identification, ``drives.csv``, ``rig.json`` and ``rig.urdf``."""
    bench, estimate = found.bench, found.estimate
    result = SceneResult(
        parameters=estimate.parameters,
        prior=estimate.prior,
        std=found.spread.std,
        com_std=found.spread.com_std,
        determined=found.determined,
        method=estimate.method,
        satisfies=estimate.satisfies,
        status=estimate.status.value,
        at_bounds=estimate.at_bounds,
        trials=tuple(trials),
        base_link=bench.rig.links[0],
        settings=plain(StoredBench.of(found)) | estimate.settings,
        details={
            "rows": list(row_names(bench)),
            "rmse": found.rmse.tolist(),
            "rmse of the prior": found.rmse_prior.tolist(),
            "notes": list(found.notes),
            **plain(StoredDrives(found.drives, found.drives_prior)),
        },
    )
    with write_folder(folder) as building:
        RESULT.write(building / names.RESULT_FILE, result)
        write_result_table(building / names.RESULT_TABLE, result)
        write_rig(building / names.RIG_FILE, bench.rig)
        write_urdf(bench.rig, building / names.URDF_FILE, estimate.parameters)
        if len(found.drives):
            _write_drives(building / DRIVES_FILE, found)
        return tuple(sorted(file.name for file in building.iterdir()))


def row_names(bench: Bench) -> tuple[str, ...]:
    """What each measured row is called."""
    return ("Fx", "Fy", "Fz", "Mx", "My", "Mz") if bench.measured == BASE else bench.names


def _write_drives(path: Path, found: BenchIdentification) -> None:
    slides = found.bench.slides
    with write_atomically(path) as stream:
        stream.write("joint,parameter,value,unit\n")
        for joint, slide, row in zip(found.bench.names, slides, found.drives):
            for name, value, unit in zip(DRIVES, row, UNIT_OF_DRIVE[bool(slide)]):
                stream.write(f"{joint},{name},{value:.9g},{unit}\n")


def _measured(bench: Bench, path: str | Path, warn: Warn) -> tuple[np.ndarray, np.ndarray]:
    if bench.measured == BASE:
        wrenches = read_wrenches_csv(path, "z", warn=warn)
        turn = to_matrix(bench.mount)
        total = wrenches.total
        return wrenches.times, np.concatenate([total[:, :3] @ turn, total[:, 3:] @ turn], axis=1)
    table = read_table(path, warn=warn)
    for name, unit in zip(table.names, table.units):
        if unit.replace(" ", "").replace("*", "").lower() not in TORQUE_UNITS:
            problem = f"column {name!r} has the unit {unit!r}, no torque and no force"
            raise InputError(path, problem, place="line 1", remedy="Give joint torques in N m, forces of slides in N")
    return table.times, _chosen(bench, path, table.names, table.values)


def _chosen(bench: Bench, path: str | Path, given: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Columns (N, n) of the moving joints, by link or joint name."""
    columns = []
    for link in bench.names:
        joint = bench.rig.joints[bench.rig.index(link)].name
        place = next((given.index(name) for name in (link, joint) if name in given), None)
        if place is None:
            known = ", ".join(given)
            remedy = f"Name a column {link} or {joint}, or hold that joint; it has {known}"
            raise InputError(path, f"no column tells joint {joint!r}", place="line 1", remedy=remedy)
        columns.append(values[:, place])
    return np.column_stack(columns)


def _require_whole(path: str | Path, values: np.ndarray) -> None:
    gone = ~np.isfinite(values).all(axis=1)
    if gone.any():
        problem = f"{int(gone.sum())} of {len(gone)} rows have missing values, first in row {int(np.argmax(gone)) + 1}"
        raise InputError(path, problem, remedy="Cut the recording there: encoders and torque sensors have no gaps")
