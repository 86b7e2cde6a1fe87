"""Tracking of OpenSim models against OpenSim's: ``python -m benchmarks opensim-tracking --python PYTHON``.

The same markers go into `solver.tracking.opensim_markers` and into OpenSim's InverseKinematicsTool, all weighing alike.
Prints the RMS distance of the markers, and how far the bodies' poses differ; joint angles of a public pipeline, which
weighs markers by hand, are compared as well. ``--python`` names an interpreter that has the package ``opensim``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import solver
from solver.base.so3 import log
from solver.formats.opensim_storage import read_storage
from solver.rigs.opensim.document import OpenSimModel, read_opensim
from solver.rigs.opensim.joint_poses import body_poses
from solver.tracking.opensim_markers import MarkerCoordinates, coordinates_from_markers

from .figures.figure import Figure, at_most
from .figures.table import FigureTable, table_parser
from .opensim_models import MODELS, SCALED, SUBJECT, run_judge

TRIALS = ("walking1", "DJ1")
WALK = "gait2392_walk1"
SAME = 1e-5
"""Relative excess of a squared error that counts as none."""
MIN_MASS = 1.0
"""[kg] Bodies below this, such as a patella, are left out of the poses that are compared."""


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = table_parser("opensim-tracking", __doc__, data=True)
    parser.add_argument("--python", type=Path, required=True, help="interpreter that has the package opensim")
    parser.add_argument("--models", type=Path, default=MODELS, help="folder of models (default: %(default)s)")
    options = parser.parse_args(list(arguments))
    table = FigureTable(["opensim-tracking", *arguments], options.output)
    subject = options.data / SUBJECT
    cases: list[tuple[Path, Path, Path | None]] = [
        (options.models / "gait2392_subject01.osim", options.models / f"{WALK}.trc", None)
    ]
    cases += [
        (options.models / SCALED, subject / "markers" / f"{name}.trc", subject / "reference_ik" / f"{name}.mot")
        for name in TRIALS
    ]
    with tempfile.TemporaryDirectory() as temporary:
        for path, markers, reference in cases:
            table.add(compare(options.python, path, markers, reference, Path(temporary)))
    return table.close()


def compare(python: Path, path: Path, file: Path, reference: Path | None, folder: Path) -> Iterator[Figure]:
    """The errors and differences of one trial."""
    model, markers = read_opensim(path), solver.read_recording(file).markers
    assert markers is not None
    found = coordinates_from_markers(model, markers)
    output = folder / f"{file.stem}_ik.mot"
    task = {"model": str(path), "markers": str(file), "output": str(output),
            "start": float(markers.times[0]), "stop": float(markers.times[-1])}  # fmt: skip
    run_judge(python, [task], folder)
    theirs = read_coordinates(model, output, markers.times, found)
    data = f"{file.stem}, {path.name}"
    own_rms, own = marker_errors(model, markers, found, found.values)
    their_rms, other = marker_errors(model, markers, found, theirs)
    note = f"OpenSim {1e3 * their_rms:.3f} mm; {len(markers)} frames, {len(found.names)} markers"
    yield Figure("RMS of the markers", data, 1e3 * own_rms, "mm", note=note)
    excess = float((own / other).max()) - 1.0
    yield Figure("squared error of a frame, largest relative excess over OpenSim's", data, excess, "", at_most(SAME))
    yield difference_figure("OpenSim's", data, model, found, theirs, own > 0.99 * other)
    if reference is not None:
        known = read_coordinates(model, reference, markers.times, found)
        rms, _ = marker_errors(model, markers, found, known)
        yield Figure("RMS of the markers by a public pipeline, weighed by hand", data, 1e3 * rms, "mm")
        yield difference_figure("that pipeline's", data, model, found, known, np.ones(len(markers), bool))


def read_coordinates(
    model: OpenSimModel, path: Path, times: np.ndarray, found: MarkerCoordinates
) -> dict[str, np.ndarray]:
    """Coordinates (N,) [rad or m] in a file, followers by their functions and absent ones as found."""
    storage = read_storage(path)
    angles = {name for joint in model.joints for axis in joint.rotations for name in axis.coordinates}
    values = dict(found.values)
    for name in set(storage.names) & set(values):
        column = np.interp(times, storage.times, storage.column(name))
        values[name] = np.radians(column) if storage.in_degrees and name in angles else column
    for coupling in model.couplings:
        given = np.column_stack([values[name] for name in coupling.independent])
        values[coupling.dependent] = coupling.scale * np.asarray(coupling.function.evaluate(given))
    return values


def marker_errors(
    model: OpenSimModel, markers: solver.Markers, found: MarkerCoordinates, values: dict[str, np.ndarray]
) -> tuple[float, np.ndarray]:
    """RMS distance [m] of the markers that the model has, and the summed squares (N,) [m^2] of each frame."""
    poses = body_poses(model, values)
    modelled = np.stack(
        [poses.positions[body] + poses.rotations[body] @ place for body, place in map(model.markers.get, found.names)],  # type: ignore[misc]
        axis=1,
    )
    squares = ((markers.select(found.names).positions - modelled) ** 2).sum(axis=2)
    return float(np.sqrt(np.nanmean(squares))), np.nansum(squares, axis=1)


def difference_figure(
    whose: str,
    data: str,
    model: OpenSimModel,
    found: MarkerCoordinates,
    values: dict[str, np.ndarray],
    frames: np.ndarray,
) -> Figure:
    """RMS differences of the orientations and origins of the bodies over the frames that count."""
    one, other = body_poses(model, found.values), body_poses(model, values)
    rows = []
    for name, body in model.bodies.items():
        if body.mass >= MIN_MASS:
            turn = log(one.rotations[name] @ other.rotations[name].swapaxes(1, 2))[frames]
            move = (one.positions[name] - other.positions[name])[frames]
            angle = np.degrees(np.sqrt((turn**2).sum(axis=1).mean()))
            rows.append((float(angle), 1e3 * float(np.sqrt((move**2).sum(axis=1).mean())), name))
    rows.sort(reverse=True)
    (angle, _, worst), middle = rows[0], rows[len(rows) // 2][0]
    distance = max(row[1] for row in rows)
    note = f"at most {angle:.3f} degrees ({worst}) and {distance:.3f} mm; {int(frames.sum())} frames"
    return Figure(f"bodies' orientations against {whose}, median body, RMS", data, middle, "degrees", note=note)
