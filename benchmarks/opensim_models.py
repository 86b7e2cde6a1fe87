"""Figures of OpenSim models: ``python -m benchmarks opensim [--python PYTHON] [--data DIR] [--models DIR]``.

Identifies the masses of a subject's scaled model on some trials, and lets OpenSim's own inverse dynamics measure the
residual force and moment at the pelvis on the other ones, with the model as it was, scaled to the right mass, and
identified; motions and corrected plates are the same for all three, and both pass the filter of the identification.
``--python`` names an interpreter that has the package ``opensim``, which this program does not need. Reading and
writing of every model is in ``python -m benchmarks inputs``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

import solver
from solver.formats.model_writer import write_identified_model
from solver.formats.opensim_storage import read_storage, write_storage
from solver.options.plates import PlateOptions
from solver.options.study import Settings
from solver.rigs.opensim.rig import from_opensim
from solver.signals import preset_of
from solver.signals.filters import low_pass
from solver.signals.trial import Trial
from solver.study.joint_motion import convert_joint_recordings
from solver.study.prepare import prepare
from solver.values.motion import rate_of

from .figures.figure import Figure, at_most, missing
from .figures.table import FigureTable, table_parser
from .recordings import DATA

MODELS = DATA.parent / "models" / "opensim"
SUBJECT, SCALED = "subject_a", "subject_a_scaled.osim"
PRESET = "human_8hz"
"""Filter of the equations, which OpenSim's both sides pass as well: its own tool would filter the motion alone."""
FOLDS = (
    (("squats1", "STS1", "DJ1", "walking1"), ("DJ2", "walkingTI1")),
    (("squats1", "STS1", "DJ2", "walkingTI1"), ("DJ1", "walking1")),
    (("STS1", "DJ1", "DJ2", "walking1", "walkingTI1"), ("squats1",)),
)
"""Trials to identify on, and trials not used."""
ROOT = ("pelvis_tx_force", "pelvis_ty_force", "pelvis_tz_force"), (
    "pelvis_tilt_moment", "pelvis_list_moment", "pelvis_rotation_moment",
)  # fmt: skip
"""Residuals at the pelvis in the results of OpenSim's inverse dynamics."""
MUST = 0.8
"""Of the residuals, identified over scaled."""
EULER = tuple(tuple(f"arm_{way}_{side}" for way in ("flex", "add", "rot")) for side in "rl")
"""Coordinates that jump between equivalent triples near gimbal lock."""


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = table_parser("opensim", __doc__, data=True)
    parser.add_argument("--python", type=Path, help="interpreter that has the package opensim")
    parser.add_argument("--models", type=Path, default=MODELS, help="folder of models (default: %(default)s)")
    options = parser.parse_args(list(arguments))
    table = FigureTable(["opensim", *arguments], options.output)
    with tempfile.TemporaryDirectory() as folder:
        if options.python is None or not (options.models / SCALED).is_file():
            reason = "needs --python" if options.python is None else f"no {SCALED} in {options.models}"
            table.add(missing(residual_rows("trials of subject_a", np.full((2, 3), np.nan)), reason))
        else:
            table.add(residual_figures(options, Path(folder)))
    return table.close()


def residual_figures(options: argparse.Namespace, folder: Path) -> Iterator[Figure]:
    """Residuals at the pelvis on trials not used, of the model as it was, scaled, and identified."""
    model = options.models / SCALED
    rig = from_opensim(model)
    names = {trial for fold in FOLDS for part in fold for trial in part}
    recordings = {name: read_trial(options.data / SUBJECT, name) for name in sorted(names)}
    for fitted, tested in FOLDS:
        study = solver.identify([recordings[name] for name in fitted], rig=rig, settings=solver.Settings())
        assert study.mass is not None
        place = folder / "_".join(fitted)
        place.mkdir()
        study.write(place / "study")
        models = {
            "as it was": model,
            "scaled": place / "scaled.osim",
            "identified": place / "study" / f"{model.stem}_identified.osim",
        }
        write_identified_model(rig, models["scaled"], rig.prior.scaled(study.mass.mass))
        plates = PlateOptions(known=study.known_plates)
        records = convert_joint_recordings(rig, [recordings[name] for name in tested])
        prepared = prepare(rig, records, Settings(plates=plates), stated_mass=study.mass.mass)
        for trial in prepared.trials:
            storage = options.data / SUBJECT / "reference_ik" / f"{trial.name}.mot"
            data = f"{trial.name}, identified on {', '.join(fitted)}"
            yield from residual_rows(data, measure_residuals(options.python, trial, storage, models, place))


def residual_rows(data: str, residuals: np.ndarray) -> list[Figure]:
    """Rows of a trial by RMS residuals (3, 2, 3) [N, N m], axes last, of the model as it was, scaled and identified."""
    before, scaled, identified = np.linalg.norm(residuals, axis=2)
    rows = []
    for k, (what, unit) in enumerate((("force", "N"), ("moment", "N m"))):
        note = f"{identified[k]:.3g} over {scaled[k]:.3g} {unit}; model as it was {before[k]:.3g} {unit}"
        ratio = float(identified[k] / scaled[k])
        rows.append(
            Figure(f"residual {what} at the pelvis, identified / scaled", data, ratio, "", at_most(MUST), None, note)
        )
    return rows


def read_trial(folder: Path, name: str) -> solver.Recording:
    """Joint angles and forces of a trial."""
    return solver.read_recording(
        [folder / "reference_ik" / f"{name}.mot", folder / "forces" / f"{name}.mot"], name=name
    )


def measure_residuals(
    python: Path, trial: Trial, storage: Path, models: Mapping[str, Path], folder: Path
) -> np.ndarray:
    """RMS residuals (M, 2, 3) [N, N m] of every model on one trial, over its frames that count, axes last."""
    coordinates, wrench = folder / f"{trial.name}_ik.mot", folder / f"{trial.name}_wrench.mot"
    angles, preset = read_storage(storage), preset_of(PRESET)
    values = low_pass(continuous(angles.names, angles.values), rate_of(angles.times), preset)
    write_storage(coordinates, angles.times, angles.names, values)
    total = low_pass(trial.wrenches.total, trial.motion.rate, preset)
    write_wrenches(wrench, trial.wrenches.times, {"pelvis": total})
    times = trial.motion.times[trial.counted]
    tasks = [
        {"model": str(path), "coordinates": str(coordinates), "wrench": str(wrench), "bodies": ["pelvis"],
         "cutoff": -1.0, "start": float(times[0]), "stop": float(times[-1]),
         "output": str(folder / f"{trial.name}_{k}.sto")}
        for k, path in enumerate(models.values())
    ]  # fmt: skip
    run_judge(python, tasks, folder)
    found = []
    for task in tasks:
        result = read_storage(str(task["output"]))
        near = np.abs(result.times[:, None] - times).min(axis=1) < 1e-3
        found.append([[np.sqrt(np.mean(result.column(axis)[near] ** 2)) for axis in axes] for axes in ROOT])
    return np.array(found)


def run_judge(python: Path, tasks: Sequence[Mapping[str, object]], folder: Path) -> None:
    """Run OpenSim's inverse dynamics or kinematics."""
    (folder / "tasks.json").write_text(json.dumps(tasks))
    judge = Path(__file__).with_name("opensim_judge.py")
    done = subprocess.run(
        [str(python.absolute()), "-I", str(judge), str(folder / "tasks.json")],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    if done.returncode:
        raise SystemExit(f"OpenSim failed: {done.stderr[-800:]}")


def write_wrenches(path: Path, times: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> None:
    """Force and moment (N, 6) about the world's origin on each body, in the model's axes, y up."""
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    names, columns = [], []
    for body, wrench in wrenches.items():
        names += [f"{body}_{quantity}{axis}" for quantity in ("force_v", "force_p", "moment_m") for axis in "xyz"]
        columns += [wrench[:, :3] @ turn.T, np.zeros((len(times), 3)), wrench[:, 3:] @ turn.T]
    write_storage(path, times, names, np.nan_to_num(np.concatenate(columns, axis=1)))


def continuous(names: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Coordinates whose triples of angles are, of the equivalent ones, nearest to those of the frame before."""
    result = np.array(values)
    for triple in EULER:
        if not set(triple) <= set(names):
            continue
        columns = [names.index(name) for name in triple]
        for frame in range(1, len(result)):
            before, own = result[frame - 1, columns], result[frame, columns]
            a, b, c = own
            choices = [own, np.array([a + np.pi, np.pi - b, c + np.pi])]
            choices = [each + 2.0 * np.pi * np.round((before - each) / (2.0 * np.pi)) for each in choices]
            result[frame, columns] = min(choices, key=lambda each: float(np.abs(each - before).sum()))
    return result
