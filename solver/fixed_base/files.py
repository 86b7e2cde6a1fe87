"""Files of fixed-base robots: recordings, and the folders that the two verbs write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..base.so3 import to_matrix
from ..dynamics.coordinates import coordinate_names
from ..formats.csv_tables import read_table, read_wrenches_csv, table_kind
from ..formats.joint_coordinates import read_joints_csv, read_joints_storage, write_coordinates
from ..formats.model_writer import write_back
from ..formats.text_files import Warn, ignore_warning
from ..formats.urdf_writer import write_urdf
from ..formats.wrench_checks import ForceConvention
from ..identification.result import write_result_table
from ..input_checks import check_recording
from ..input_checks.joint_configurations import joint_tangents
from ..scene import study_folder as names
from ..scene.dance_folder import SUMMARY_FILE
from ..scene.motion_record import MOTION, motion_record
from ..scene.result import RESULT, SceneResult
from ..scene.rig import write_rig
from ..scene.summary import SUMMARY, SceneSummary
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..storage.atomic import write_atomically
from ..storage.json_tree import to_json_values
from ..storage.output_folder import write_folder
from ..values.filter_presets import FilterPreset
from ..values.joints import ROOT_NV
from ..values.motion import POSE, JointCoordinates
from .exciting_motions import ExcitingMotion
from .identify import FixedBaseIdentification, FixedBaseTrial
from .robot import BASE, COUPLED, DRIVES, FixedBaseRobot

STORAGE_SUFFIXES = (".mot", ".sto")
TORQUE_UNITS = {"nm": False, "nmm": False, "n": True, "kn": True}
"""Units of a measured torque or force; whether the joint is prismatic."""
MOTION_NAME, DRIVES_FILE = "exciting", "drives.csv"
EXPORT_RATE = 500.0
"""[1/s] of an exciting motion's tables."""
DRIVE_UNITS = {False: ("kg m2", "N m s/rad", "N m", "N m"), True: ("kg", "N s/m", "N", "N")}


@dataclass(frozen=True, slots=True)
class StoredFixedBase:
    """The settings of a result that describe the robot's base and the filter of its trials."""

    measured: str
    drives: bool
    bench_held: tuple[str, ...]
    mount: np.ndarray
    coupled: tuple[tuple[str, str, int], ...]
    preset: FilterPreset | None

    @staticmethod
    def from_identification(found: FixedBaseIdentification) -> StoredFixedBase:
        """Settings of an identification."""
        robot = found.robot
        assert robot.locked_links is not None
        return StoredFixedBase(
            robot.measured, robot.drives, robot.locked_links, robot.mount, robot.coupled, found.options.preset
        )

    def to_robot(self, rig: Rig) -> FixedBaseRobot:
        """The fixed-base robot of a rig."""
        return FixedBaseRobot(rig, self.measured, self.drives, self.bench_held, self.mount, self.coupled)


@dataclass(frozen=True, slots=True)
class StoredDrives:
    """The details of a result that hold the drives (n, 4) fitted with the identified inertials and with the prior."""

    drive_parameters: np.ndarray
    prior_drive_parameters: np.ndarray


def is_fixed_base_result(result: SceneResult) -> bool:
    """Whether `write_result` wrote a result."""
    return "measured" in result.settings


def pair_files(files: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Tables of joint coordinates, each with its measurements: the first with the first, and so on.

    Raises:
        InvalidValue: not as many of one as of the other.
        InputError: a file cannot be read.
    """
    coordinate_files = [f for f in files if f.suffix.lower() in STORAGE_SUFFIXES or table_kind(f) == "joints"]
    measured = [file for file in files if file not in coordinate_files]
    if len(coordinate_files) != len(measured) or not coordinate_files:
        raise InvalidValue(
            f"{len(coordinate_files)} files of joint coordinates for {len(measured)} of torques or forces: give one "
            f"of each per "
            "trial, as run.csv torques.csv"
        )
    return list(zip(coordinate_files, measured))


def read_trial(
    robot: FixedBaseRobot, coordinates: str | Path, measured: str | Path, *, warn: Warn = ignore_warning
) -> FixedBaseTrial:
    """One trial from a table of joint coordinates and one of measurements.

    Args:
        robot: columns are named after its links or joints; those that are locked may be missing.
        coordinates: .csv with ``NAME [rad]`` ..., or .mot/.sto.
        measured: .csv with ``NAME [N m]`` of every moving joint (``[N]`` of a prismatic one), or for a base sensor
            ``NAME.fx [N]`` ... of the wrench on the robot, world axes, about the root's origin.
        warn: receives a warning for data that was ignored.

    Raises:
        InputError: a malformed file, a joint without a column, a wrong unit, missing values, or times that do not
            overlap.
    """
    found = _read_coordinates(coordinates, warn)
    y = _check_joints(robot, Path(coordinates), found, warn)
    _require_complete(coordinates, y)
    times, values = _read_measurements(robot, measured, warn)
    _require_complete(measured, values)
    inside = (found.times >= times[0]) & (found.times <= times[-1])
    if inside.sum() < 2:
        intervals = f"{times[0]:g} to {times[-1]:g} s, the angles {found.times[0]:g} to {found.times[-1]:g} s"
        raise InputError(measured, f"runs from {intervals}", remedy="Give both files the same time origin")
    if ignored := int((~inside).sum()):
        warn(
            f"{Path(coordinates).name}: {ignored} of {len(inside)} frames lie outside the times of "
            f"{Path(measured).name}"
        )
    sample_times = found.times[inside]
    resampled = np.column_stack([np.interp(sample_times, times, column) for column in values.T])
    return FixedBaseTrial(Path(coordinates).stem, sample_times, y[inside], resampled)


def _read_coordinates(path: str | Path, warn: Warn) -> JointCoordinates:
    storage = Path(path).suffix.lower() in STORAGE_SUFFIXES
    return read_joints_storage(path, warn=warn) if storage else read_joints_csv(path, warn=warn)


def lock_joints_without_column(robot: FixedBaseRobot, path: str | Path, warn: Warn) -> FixedBaseRobot:
    """The robot with joints locked that have no column in a table of coordinates, and a warning that names all of them.

    A table with columns that are no joints of the robot locks none: a name may be misspelt.
    """
    given, rig = set(_read_coordinates(path, ignore_warning).names), robot.rig
    joints = {joint.name: link for link, joint in zip(rig.links[1:], rig.joints[1:])}
    missing = [name for name, link in joints.items() if link in robot.names and not {name, link} & given]
    if not missing or len(missing) == len(robot.names) or given - set(joints) - set(joints.values()):
        return robot
    warn(f"{Path(path).name}: joints without a column are fixed: {', '.join(missing)}")
    return replace(robot, locked_links=(*(robot.locked_links or ()), *(joints[name] for name in missing)))


def exciting_summary(found: ExcitingMotion) -> SceneSummary:
    """Summary for a scene, with the condition number in the message."""
    condition = f"condition number {found.condition:.1f} (best random motion: {found.random_condition:.0f})"
    seconds = found.options.seconds
    message = f"Exciting motion of {seconds:g} s and {len(found.robot.names)} joints: {condition}"
    return SceneSummary("excite", "found", True, message, notes=found.notes, duration=seconds)


def write_exciting(found: ExcitingMotion, folder: str | Path) -> tuple[str, ...]:
    """Write ``exciting.csv`` (coordinate_files and speeds, for controllers), and for Blender ``exciting.motion.npz``,
    ``summary.json`` (condition number) and ``rig.json``."""
    robot, motion = found.robot, found.sample(EXPORT_RATE)
    with write_folder(folder) as building:
        write_rig(building / names.RIG_FILE, robot.rig)
        write_coordinates(building / f"{MOTION_NAME}.csv", robot.rig, motion, degrees=False, root=False, speeds=True)
        MOTION.write(building / f"{MOTION_NAME}{names.MOTION_END}", motion_record(MOTION_NAME, robot.rig, motion))
        SUMMARY.write(building / SUMMARY_FILE, exciting_summary(found))
        return tuple(sorted(file.name for file in building.iterdir()))


def write_result(
    found: FixedBaseIdentification, trials: Sequence[str], folder: str | Path, warn: Warn = ignore_warning
) -> tuple[str, ...]:
    """``result.json`` and ``result.csv`` as of any identification, ``drives.csv``, ``rig.json`` and ``rig.urdf``, and
    the robot's own file with the identified inertials; ``warn`` receives the reason if that is not written."""
    robot, estimate = found.robot, found.estimate
    result = SceneResult(
        parameters=estimate.parameters,
        prior=estimate.prior,
        half_widths=found.std.half_widths,
        lower=found.std.lower,
        upper=found.std.upper,
        determined=found.determined,
        method=estimate.method,
        satisfies=estimate.satisfies,
        status=estimate.status.value,
        at_bounds=estimate.at_bounds,
        trials=tuple(trials),
        base_link=robot.rig.links[0],
        settings=to_json_values(StoredFixedBase.from_identification(found)) | estimate.settings,
        details={
            "rows": list(robot.row_names),
            "rmse": found.rmse.tolist(),
            "rmse of the prior": found.rmse_prior.tolist(),
            "notes": list(found.notes),
            **to_json_values(StoredDrives(found.drives, found.drives_prior)),
        },
    )
    with write_folder(folder) as building:
        RESULT.write(building / names.RESULT_FILE, result)
        write_result_table(building / names.RESULT_TABLE, result)
        write_rig(building / names.RIG_FILE, robot.rig)
        write_urdf(robot.rig, building / names.URDF_FILE, estimate.parameters)
        write_back(robot.rig, building, estimate.parameters, estimate.satisfies, warn)
        if len(found.drives):
            _write_drives(building / DRIVES_FILE, found)
        return tuple(sorted(file.name for file in building.iterdir()))


def _write_drives(path: Path, found: FixedBaseIdentification) -> None:
    robot = found.robot
    slides = [*robot.is_prismatic, *(robot.is_prismatic[robot.names.index(one)] for one, *_ in robot.coupled)]
    with write_atomically(path) as stream:
        stream.write("joint,parameter,value,unit\n")
        for joint, slide, row in zip(robot.drive_names, slides, found.drives):
            for name, value, unit in zip(DRIVES if joint in robot.names else COUPLED, row, DRIVE_UNITS[bool(slide)]):
                stream.write(f"{joint},{name},{value:.9g},{unit}\n")


def _read_measurements(robot: FixedBaseRobot, path: str | Path, warn: Warn) -> tuple[np.ndarray, np.ndarray]:
    if robot.measured == BASE:
        wrenches, _ = read_wrenches_csv(path, ForceConvention("z"), warn=warn)
        rotation = to_matrix(robot.mount)
        total = wrenches.total
        return wrenches.times, np.concatenate([total[:, :3] @ rotation, total[:, 3:] @ rotation], axis=1)
    table = read_table(path, warn=warn)
    for name, unit in zip(table.names, table.units):
        if unit.replace(" ", "").replace("*", "").lower() not in TORQUE_UNITS:
            problem = f"column {name!r} has the unit {unit!r}, which is neither a torque nor a force"
            raise InputError(
                path, problem, place="line 1", remedy="Give joint torques in N m, forces of prismatic joints in N"
            )
    return table.times, _select_joints(robot, path, table.names, table.values)


def _check_joints(robot: FixedBaseRobot, path: Path, found: JointCoordinates, warn: Warn) -> np.ndarray:
    """Coordinates (N, n) [rad, m] of the moving joints that pass the checks of recordings."""
    values = np.zeros((len(found), len(robot.is_moving)))
    values[:, robot.is_moving] = _select_joints(robot, path, found.names, found.values)
    units = ("deg or m" if "deg or m" in found.units else "rad or m",) * values.shape[1]
    root = np.tile(robot.rig.neutral[:POSE], (len(found), 1))
    joints = JointCoordinates(found.times, coordinate_names(robot.rig), values, units, root)
    checked = check_recording(Recording(path.stem, joints=joints, inputs={str(path): ""}), robot.rig)
    for note in checked.warnings:
        warn(note)
    assert checked.joints is not None
    return joint_tangents(robot.rig, checked.joints)[:, ROOT_NV:][:, robot.is_moving]


def _select_joints(robot: FixedBaseRobot, path: str | Path, given: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Columns (N, n) of the moving joints, by link or joint name."""
    columns = []
    for link in robot.names:
        joint = robot.rig.joints[robot.rig.index(link)].name
        if (index := next((given.index(name) for name in (link, joint) if name in given), None)) is None:
            known = ", ".join(given)
            remedy = f"Name a column {link} or {joint}, or lock that joint; the file has {known}"
            raise InputError(path, f"no column for joint {joint!r}", place="line 1", remedy=remedy)
        columns.append(values[:, index])
    return np.column_stack(columns)


def _require_complete(path: str | Path, values: np.ndarray) -> None:
    missing = ~np.isfinite(values).all(axis=1)
    if missing.any():
        first = int(np.argmax(missing)) + 1
        problem = f"{int(missing.sum())} of {len(missing)} rows have missing values, first in row {first}"
        raise InputError(path, problem, remedy="Cut the recording there: encoders and torque sensors have no gaps")
