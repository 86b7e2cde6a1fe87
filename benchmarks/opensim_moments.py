"""Joint moments against OpenSim's: ``python -m benchmarks moments --python PYTHON [--data DIR] [--models DIR]``.

The same model, filtered joint angles and filtered wrenches on the feet go into `solver.moments` and into OpenSim's
InverseDynamicsTool, which computes without a further filter. Prints the largest and the RMS difference of the moments
as a share of their ranges. The last trial is computed again with knees that turn about one axis. ``--python`` names an
interpreter that has the package ``opensim``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.interpolate import make_interp_spline

import solver
from solver.base.clock import uniform_times
from solver.formats.opensim_storage import read_storage, write_storage
from solver.input_checks.joint_configurations import compute_configurations
from solver.moments import assign_wrenches, compute_moments
from solver.rigs.opensim.rig import from_opensim, model_of
from solver.signals import preset_of
from solver.signals.filters import low_pass
from solver.signals.manifold import smooth_motion
from solver.signals.resampling import resample
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.motion import JointCoordinates

from .figures.figure import Bound, Figure, at_most
from .figures.table import FigureTable, table_parser
from .opensim_models import MODELS, SCALED, SUBJECT, continuous, run_judge, write_wrenches

PRESET = "human_8hz"
FINER = 5
"""Samples per measured one: both programs interpolate the same motion, but one angles and the other one poses."""
EDGE = 0.1
"""[s] Left out at both ends, where the two programs' splines differ."""
MIN_RANGE = 1.0
"""[N m] Range below which a moment is left out of the shares: a toe that carries nothing."""
WALK = "gait2392_walk1"
TRIALS = ("walking1", "squats1", "DJ1")
MUST = 1.0
"""[%]"""


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = table_parser("moments", __doc__, data=True)
    parser.add_argument("--python", type=Path, required=True, help="interpreter that has the package opensim")
    parser.add_argument("--models", type=Path, default=MODELS, help="folder of models (default: %(default)s)")
    options = parser.parse_args(list(arguments))
    table = FigureTable(["moments", *arguments], options.output)
    with tempfile.TemporaryDirectory() as temporary:
        table.add(moment_figures(options, Path(temporary)))
    return table.close()


def moment_figures(options: argparse.Namespace, temporary: Path) -> Iterator[Figure]:
    """Rows of every trial, and of the last one with other knees."""
    folder = options.data / SUBJECT
    walk = options.models / f"{WALK}_ik.mot", options.models / f"{WALK}_grf.mot"
    cases = [(options.models / "gait2392_subject01.osim", *walk)]
    cases += [
        (options.models / SCALED, folder / "reference_ik" / f"{name}.mot", folder / "forces" / f"{name}.mot")
        for name in TRIALS
    ]
    for number, (model, angles, forces) in enumerate(cases):
        place = temporary / str(number)
        place.mkdir()
        yield from compare(options.python, model, angles, forces, place, at_most(MUST))
    place = temporary / "one_axis"
    place.mkdir()
    other = fix_small_rotations(model, place / f"{model.stem}_one_axis.osim")
    yield from compare(options.python, other, angles, forces, place, None)


def fix_small_rotations(model: Path, path: Path) -> Path:
    """Write a model whose knees do not turn about their second and third axes."""
    tree = ElementTree.parse(model)
    axes = [
        axis
        for joint in tree.iter("CustomJoint")
        if "knee" in joint.get("name", "")
        for axis in joint.iter("TransformAxis")
    ]
    for axis in axes:
        if axis.get("name") in ("rotation2", "rotation3"):
            for child in [child for child in axis if child.tag != "axis"]:
                axis.remove(child)
            ElementTree.SubElement(axis, "coordinates")
            constant = ElementTree.SubElement(axis, "Constant", name="function")
            ElementTree.SubElement(constant, "value").text = "0"
    tree.write(path)
    return path


def compare(
    python: Path, model: Path, angles: Path, forces: Path, folder: Path, must: Bound | None
) -> Iterator[Figure]:
    """The differences of one trial."""
    rig = from_opensim(model, meshes="none")
    trial = filter_trial(rig, angles, forces, folder / "ik.mot")
    contacts = assign_wrenches(rig, trial.motion, trial.wrenches)
    found = compute_moments(rig, trial, contacts=contacts)
    loads = {
        rig.links[foot]: np.where((contacts.links == foot)[:, :, None], trial.wrenches.values, 0.0).sum(axis=1)
        for foot in contacts.feet
    }
    write_wrenches(folder / "wrench.mot", trial.motion.times, loads)
    times = trial.motion.times[trial.counted]
    task = {"model": str(model), "coordinates": str(folder / "ik.mot"), "wrench": str(folder / "wrench.mot"),
            "bodies": list(loads), "cutoff": -1.0, "start": float(times[0]), "stop": float(times[-1]),
            "output": str(folder / "moments.sto")}  # fmt: skip
    run_judge(python, [task], folder)
    theirs = read_storage(folder / "moments.sto")
    inside = trial.counted & (trial.motion.times > times[0] + EDGE) & (trial.motion.times < times[-1] - EDGE)
    names = {name.rpartition("_")[0]: name for name in theirs.names}
    rows = []
    for k, name in enumerate(found.names):
        own = found.values[inside, k]
        other = np.interp(trial.motion.times[inside], theirs.times, theirs.column(names[name]))
        known = np.isfinite(own)
        if known.any() and np.ptp(other[known]) > MIN_RANGE:
            off = np.abs(own - other)[known] / np.ptp(other[known])
            rows.append((float(off.max()), name, float(np.ptp(other[known]))))
    rows.sort(reverse=True)
    (largest, worst, span), data = rows[0], f"{angles.stem}, {model.name}"
    note = f"{worst}, of {span:.1f} N m; {len(rows)} of {len(found.names)} moments, {int(inside.sum())} frames"
    yield Figure("largest difference of a moment, of its range", data, 100.0 * largest, "%", must, note=note)


def filter_trial(rig: Rig, angles: Path, forces: Path, filtered: Path) -> Trial:
    """Motion and wrenches of a trial, filtered alike; the filtered angles are written for OpenSim."""
    preset, recording = preset_of(PRESET), solver.read_recording([angles, forces], name=angles.stem)
    joints, coordinates = recording.joints, model_of(rig).coordinates
    assert joints is not None
    assert recording.wrenches is not None
    columns = [k for k, name in enumerate(joints.names) if name in coordinates]
    names, in_degrees = [joints.names[k] for k in columns], any(unit.startswith("deg") for unit in joints.units)
    values = joints.values[:, columns] if in_degrees else continuous(names, joints.values[:, columns])
    values = low_pass(values, joints.rate, preset)
    times, _ = uniform_times(joints.times)  # rounded stamps would give OpenSim's splines wrong accelerations
    fine = np.linspace(times[0], times[-1], FINER * (len(times) - 1) + 1)
    values = make_interp_spline(times, values, k=5)(fine)
    write_storage(filtered, fine, *with_followers(rig, names, values), in_degrees=in_degrees)
    joints = JointCoordinates(fine, tuple(names), values, tuple(joints.units[k] for k in columns))
    q, known = compute_configurations(rig, joints)
    assert known.all()
    motion = smooth_motion(rig, joints.times, q, None)
    wrenches = resample(recording.wrenches, motion.times, preset)
    complete = np.isfinite(wrenches.values).all(axis=(1, 2))
    return Trial(angles.stem, motion, wrenches, complete)


def with_followers(rig: Rig, names: Sequence[str], values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Coordinates with those that follow others: OpenSim's inverse dynamics leaves these at their defaults."""
    model = model_of(rig)
    columns = dict(zip(names, values.T))
    for coupling in model.couplings:
        given = np.column_stack([columns[name] for name in coupling.independent])
        columns[coupling.dependent] = coupling.scale * np.asarray(coupling.function.evaluate(given))
    return list(columns), np.column_stack(list(columns.values()))
