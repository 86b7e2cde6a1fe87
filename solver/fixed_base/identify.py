"""Physically consistent inertial parameters of a fixed-base robot, with rotor inertia and friction of its drives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Times
from ..base.errors import InvalidValue, checked
from ..base.file_arrays import cut_frames
from ..identification.consistent import ConsistentOptions, consistent
from ..identification.constraints import ConstraintOptions
from ..identification.estimate import Estimate
from ..identification.posterior import posterior
from ..identification.prior import replace_impossible_prior
from ..identification.regression import WEIGHT_ITERATIONS
from ..identification.result import Uncertainty
from ..scene.determined import DeterminedQuantity
from ..signals.filters import light_preset, low_pass, low_pass_pieces, settling_time
from ..signals.manifold import smooth_motion
from ..signals.pooling import BLOCK
from ..signals.resampling import rate_of_grid
from ..values.filter_presets import FilterPreset
from ..values.inertials import InertialParameters
from ..values.motion import Motion
from .equations import FixedBaseBlock, FixedBaseEquations, require_excited_joints, split_blocks
from .measurement_errors import TrialReadings
from .robot import DRIVES, TORQUES, FixedBaseRobot

MAX_REFUSED_RATIO = 0.3
"""Ratio of the residuals below which another reading is a reason to refuse. Measured on simulated faults of four arms:
at most 0.13 for wrong signs, columns, units and clocks, 0.36 to 0.83 for torques that are far too small."""
END_FRAMES = 15
"""Frames at either end whose derivatives depend on padding."""
MIN_FRAMES = 50
DEFAULT_FILTER = FilterPreset("bench", 4, 10.0, "equations of an arm, zero phase")


@dataclass(frozen=True, slots=True)
class FixedBaseTrial(ArrayValue):
    """A recording of a fixed-base robot.

    Attributes:
        name: of the trial.
        times: (N,) [s].
        y: (N, n) the moving joints' coordinates [rad, m], in the order of `FixedBaseRobot.names`.
        measured: (N, R) joint torques [N m, N], same order, or the base's wrench (6,) in the base link's axes about its
            origin [N, N m].
    """

    name: str
    times: Annotated[np.ndarray, Times()]
    y: Annotated[np.ndarray, Array("N", None)]
    measured: Annotated[np.ndarray, Array("N", None)]

    def require_consistent(self) -> None:
        if len(self.times) < MIN_FRAMES:
            raise InvalidValue(f"trial {self.name!r} needs at least {MIN_FRAMES} frames at increasing times")


@dataclass(frozen=True, slots=True)
class FixedBaseOptions:
    """Options of the identification.

    Attributes:
        preset: low-pass on both sides of the equations; None for exact data.
        relative_std: relative standard deviation of a link's mass around the prior; None uses the method's default.
        fixed_links: links with the prior's parameters; the root too, if torques are measured, which do not depend on
            it.
    """

    preset: FilterPreset | None = DEFAULT_FILTER
    relative_std: float | None = None
    fixed_links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixedBaseIdentification:
    """Result of an identification.

    Attributes:
        robot: that was identified.
        estimate: the inertials.
        drives: (n, 4) by joint, columns `DRIVES`, then by pair of coupled joints, columns `COUPLED`; no rows where no
            drives were requested.
        drives_prior: (n, 4) the same, as they fit best with the prior.
        std: standard deviations under data and prior.
        determined: what the data determine, in classes.
        rmse: (R,) residual per measured row of the identified inertials.
        rmse_prior: (R,) residual of the prior, with the drives fitted to it.
        frames: used.
        options: of the identification.
        notes: sentences for the reader.
    """

    robot: FixedBaseRobot
    estimate: Estimate
    drives: np.ndarray
    drives_prior: np.ndarray
    std: Uncertainty
    determined: tuple[DeterminedQuantity, ...]
    rmse: np.ndarray
    rmse_prior: np.ndarray
    frames: int
    options: FixedBaseOptions
    notes: tuple[str, ...] = ()


@checked
def identify_fixed_base(
    robot: FixedBaseRobot, trials: Sequence[FixedBaseTrial], options: FixedBaseOptions | None = None
) -> FixedBaseIdentification:
    """Inertials, and drives, of a fixed-base robot from recordings.

    Raises:
        InvalidValue: no trial, other joints than the robot has, a joint that hardly moves, or measurements that another
            reading explains far better (`measurement_errors`).
        BackendError: the solver failed.

    Example:
        >>> import solver
        >>> rig = solver.hoap3()
        >>> held = [link for link in rig.links[1:] if not link.startswith(("right_upper", "right_elbow"))]
        >>> bench = solver.fixed_base.FixedBaseRobot(rig, drives=False, locked_links=tuple(held))
        >>> options = solver.fixed_base.ExcitingOptions(seconds=2.0, max_iterations=2)
        >>> motion = solver.fixed_base.exciting_motion(bench, options).sample(100.0)
        >>> torques = bench.regressor(motion) @ rig.prior.vector  # simulated
        >>> q = motion.q[:, 7:][:, bench.is_moving]
        >>> trial = solver.fixed_base.FixedBaseTrial("simulated", motion.times, q, torques)
        >>> solver.fixed_base.identify_fixed_base(bench, [trial]).estimate.satisfies
        'consistent'
    """
    options = FixedBaseOptions() if options is None else options
    rig, notes = replace_impossible_prior(robot.rig)
    robot = replace(robot, rig=rig) if notes else robot
    readings = [_read_trial(robot, trial, options) for trial in trials]
    causes = _check_measurements(trials, readings)
    for _ in robot.names:
        pair = next(filter(None, (reading.find_coupled_drives() for reading in readings)), None)
        if pair is None:
            break
        robot = replace(robot, coupled=(*robot.coupled, pair))
        notes = (*notes, f"one drive moves {pair[0]} and {pair[1]}: its terms were added")
        readings = [_read_trial(robot, trial, options) for trial in trials]
        causes = _check_measurements(trials, readings)
    notes = (*notes, *causes)
    equations = accumulate(robot, trials, options)
    require_excited_joints(equations)
    unaffected = (robot.rig.links[0],) if robot.measured == TORQUES else ()
    constraints = ConstraintOptions(total_mass=None, beta=None, fixed_links=(*unaffected, *options.fixed_links))
    choices = ConsistentOptions(constraints=constraints)
    if options.relative_std is not None:
        choices = replace(choices, relative_std=options.relative_std)
    prior = robot.rig.prior
    equations = equations.with_weights(_weights(equations, prior))
    estimate = consistent(equations, robot.rig, choices)
    for _ in range(WEIGHT_ITERATIONS):
        equations = equations.with_weights(_weights(equations, estimate.parameters))
        estimate = consistent(equations, robot.rig, choices)
    noise = estimate.settings["noise variance"] * estimate.settings["data inflation"]
    found = posterior(equations.equations_with_errors, noise, estimate.parameters, prior, robot.rig, choices)
    drives = equations.fit_drives(estimate.parameters)
    return FixedBaseIdentification(
        robot,
        estimate,
        drives,
        equations.fit_drives(prior),
        found.uncertainty,
        found.determined,
        equations.axis_rmse(estimate.parameters),
        equations.axis_rmse(prior),
        equations.frames,
        options,
        (*notes, *_notes(robot, drives)),
    )


def _read_trial(robot: FixedBaseRobot, trial: FixedBaseTrial, options: FixedBaseOptions) -> TrialReadings:
    """The trial's readings, without the ends, whose derivatives depend on padding."""
    motion, measured = prepare_trial(robot, trial, options.preset)
    inner = slice(END_FRAMES, len(motion) - END_FRAMES)
    y = np.column_stack([np.interp(motion.times, trial.times, column) for column in trial.y.T])
    moved = Motion(*(values[inner] for values in (motion.times, motion.q, motion.v, motion.a)))
    return TrialReadings(robot, moved, measured[inner], y[inner])


def _check_measurements(trials: Sequence[FixedBaseTrial], readings: Sequence[TrialReadings]) -> list[str]:
    """Notes on trials whose measurements the motion does not explain.

    Raises:
        InvalidValue: another reading of a trial explains it far better.
    """
    notes = []
    for trial, reading in zip(trials, readings):
        if (found := reading.find_cause(reading.robot.row_names)) is None:
            continue
        cause, ratio = found
        reduced = "" if ratio == 1.0 else f"; this reduces the squared residual to {ratio:.2g} of its value"
        if ratio < MAX_REFUSED_RATIO:
            raise InvalidValue(f"trial {trial.name!r}: {cause}{reduced}. Correct the file")
        notes.append(f"trial {trial.name!r}: {cause}{reduced}")
    return notes


def accumulate(
    robot: FixedBaseRobot, trials: Sequence[FixedBaseTrial], options: FixedBaseOptions
) -> FixedBaseEquations:
    """The equations of trials; apart from the coordinates, memory does not depend on their length.

    Raises:
        InvalidValue: no trial, or one of other joints.
    """
    if not trials:
        raise InvalidValue("no trial to identify")
    blocks: list[FixedBaseBlock] = []
    for trial in trials:
        motion, measured = prepare_trial(robot, trial, options.preset)
        rate = rate_of_grid(motion.times)
        pieces = _pieces(robot, motion, measured, rate, options.preset)
        blocks += split_blocks(robot, trial.name, pieces, max(2, round(BLOCK * rate)))
    return FixedBaseEquations(robot, tuple(blocks), np.ones(len(blocks[0].factors)))


def prepare_trial(
    robot: FixedBaseRobot, trial: FixedBaseTrial, preset: FilterPreset | None
) -> tuple[Motion, np.ndarray]:
    """A trial's motion, lightly filtered and differentiated, and its measurements with the same filter.

    Raises:
        InvalidValue: another number of joints or rows than the robot has.
    """
    count = len(robot.names)
    rows = len(trial.measured.T)
    expected = count if robot.measured == TORQUES else 6
    if trial.y.shape[1] != count or rows != expected:
        raise InvalidValue(
            f"trial {trial.name!r} has {trial.y.shape[1]} coordinates and {rows} measurements; the robot has {count} "
            f"moving joints and {expected} measured rows"
        )
    still = np.zeros_like(trial.y)
    poses = robot.motion(trial.times, trial.y, still, still)
    light_filter = None if preset is None else light_preset(preset, rate_of_grid(np.asarray(trial.times)))
    motion = smooth_motion(robot.rig, trial.times, poses.q, light_filter)
    measured = trial.measured
    if len(motion) != len(measured) or not np.allclose(motion.times, trial.times, atol=1e-9):
        measured = np.column_stack([np.interp(motion.times, trial.times, column) for column in trial.measured.T])
    if light_filter is not None:
        measured = low_pass(measured, rate_of_grid(motion.times), light_filter)
    return motion, measured


def _pieces(
    robot: FixedBaseRobot, motion: Motion, measured: np.ndarray, rate: float, preset: FilterPreset | None
) -> Iterator[np.ndarray]:
    """[rows, measured] (n, R, C) through the low-pass, without the ends where it has not settled."""
    shape: list[int] = []

    def raw() -> Iterator[np.ndarray]:
        for frames in cut_frames(len(motion)):
            part = Motion(motion.times[frames], motion.q[frames], motion.v[frames], motion.a[frames])
            rows = np.concatenate([robot.regressor(part), measured[frames][:, :, None]], axis=2)
            shape[:] = rows.shape[1:]
            yield rows.reshape(len(rows), -1).T

    cut = END_FRAMES if preset is None else max(END_FRAMES, int(np.ceil(settling_time(preset) * rate)))
    done = 0
    for piece in raw() if preset is None else low_pass_pieces(raw(), rate, preset):
        frames = done + np.arange(piece.shape[1])
        done += piece.shape[1]
        kept = piece[:, (frames >= cut) & (frames < len(motion) - cut)]
        if kept.shape[1]:
            yield kept.T.reshape(-1, *shape)


def _weights(equations: FixedBaseEquations, parameters: InertialParameters) -> np.ndarray:
    rmse = equations.axis_rmse(parameters)
    floor = max(1e-6 * float(rmse.max()), float(np.finfo(float).tiny))
    return np.asarray(1.0 / np.maximum(rmse, floor))


def _notes(robot: FixedBaseRobot, drives: np.ndarray) -> tuple[str, ...]:
    notes = []
    for place, name in enumerate(DRIVES[:3]):
        if negative := [joint for joint, row in zip(robot.names, drives) if row[place] < 0.0]:
            text = f"negative {name} of {', '.join(negative)}"
            notes.append(f"{text}: the torques do not determine it, or were measured behind the drives")
    if constant := [joint for joint, row in zip(robot.names, drives) if abs(row[3]) > abs(row[2]) > 0.0]:
        size = "offset above the Coulomb friction"
        notes.append(f"{size} of {', '.join(constant)}: the zero of a sensor, a spring or a counterweight")
    return tuple(notes)
