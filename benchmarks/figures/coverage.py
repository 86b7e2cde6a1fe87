"""Coverage of 95 % intervals, and errors of identification over those of the tables, on simulated volunteers.

Everything here is simulated: the volunteers of `volunteers`, whose skin moves and whose skeleton is only known by
calibration, with inertials of their own and plates of 1 N and 0.5 N m of white noise. Inertials differ from the tables
of the person's stature, mass and sex as adults do among each other (`MASS_SPREAD` and the others, round values of what
Zatsiorsky's scans of 115 adults and comparisons of tables with magnetic resonance images show), left and right much
less. Nothing of this is known to the identification.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solver.calibration import Calibration
from solver.dynamics import ground_wrench
from solver.identification.body_coordinates import parameters_from_pseudo_inertias
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.result import Identification
from solver.inertials import FIRST_MOMENT, INERTIA, MASS, InertialParameters
from solver.rig import Rig
from solver.signals import light_preset, preset_of, resample, smooth_motion
from solver.study.preparation import adapt_cutoff
from solver.study.values import TrialRecord
from solver.threads import one_blas_thread
from solver.tracking import track_markers
from solver.trial import Trial
from solver.wrenches import Wrenches

from .figure import Bound, Figure, at_least, at_most
from .volunteers import PULSES, SLOW_PULSES, VOLUNTEERS, Volunteer, volunteer

MASS_SPREAD = 0.12
"""Relative standard deviation of a segment's mass about the table's; the total is the body's."""
COM_SPREAD = 0.12
"""Standard deviation of a centre of mass in radii of gyration along each axis: 10 mm of a thigh's length."""
SIZE_SPREAD = 0.06
"""Relative standard deviation of each radius of gyration."""
SIDES = 0.25
"""Share of these spreads by which left and right differ."""
FORCE_NOISE, MOMENT_NOISE = 1.0, 0.5
"""[N], [N m] of every sample."""
PRESET = "human_8hz"
ENDS = 0.5
"""[s] At either end of a trial that do not count: the filters'."""
GROUPS = (("mass", slice(MASS, MASS + 1), "kg", 1.0), ("first moment", FIRST_MOMENT, "g m", 1e3),
          ("inertia", INERTIA, "g m2", 1e3))  # fmt: skip


def draw_adult(rig: Rig, generator: np.random.Generator) -> InertialParameters:
    """Inertials of an adult with this skeleton: the table's, scaled, stretched and shifted as adults differ."""
    prior, links = rig.prior, rig.links
    draws: dict[str, np.ndarray] = {}
    for link in links:
        segment = link.removeprefix("left_").removeprefix("right_")
        draws.setdefault(segment, generator.standard_normal(7))
    values = np.empty((len(links), 10))
    for index, link in enumerate(links):
        side = link.split("_")[0]
        draw = draws[link.removeprefix("left_").removeprefix("right_")].copy()
        if side in ("left", "right"):
            draw = np.sqrt(1.0 - SIDES**2) * draw + SIDES * generator.standard_normal(7)
            draw[2] *= 1.0 if side == "left" else -1.0  # y points to the left in every link
        pseudo = prior.pseudo_inertias[index]
        com = pseudo[:3, 3] / pseudo[3, 3]
        radii = np.sqrt(np.diag(pseudo[:3, :3] / pseudo[3, 3] - np.outer(com, com)))
        stretch = np.diag(1.0 + SIZE_SPREAD * draw[4:])
        move = np.eye(4)
        move[:3, :3], move[:3, 3] = stretch, com + COM_SPREAD * draw[1:4] * radii - stretch @ com
        values[index] = parameters_from_pseudo_inertias(np.exp(MASS_SPREAD * draw[0]) * move @ pseudo @ move.T)
    return InertialParameters(links, values).scaled(prior.total_mass)


@dataclass(frozen=True, slots=True)
class Case:
    """One volunteer as the identification gets it, and the truth.

    Attributes:
        rig: calibrated, its prior of the true total mass.
        records: tracked motion and measured wrenches as trials.
        truth: inertials in the true links' frames.
        calibration: of the rig.
    """

    rig: Rig
    records: tuple[TrialRecord, ...]
    truth: InertialParameters
    calibration: Calibration

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Motion and wrenches."""
        return tuple(record.trial for record in self.records if record.trial is not None)


def draw_case(seed: int, pulses: tuple[float, float] = PULSES) -> Case:
    """Draw, measure, calibrate and track a volunteer; ``pulses`` as in `volunteer`."""
    return simulate_study(volunteer(seed, pulses), np.random.default_rng((seed, 98)))


def simulate_study(body: Volunteer, generator: np.random.Generator) -> Case:
    """Draw inertials and noise of a body; measure, calibrate and track it."""
    truth, found, preset = draw_adult(body.rig, generator), body.calibrated(), preset_of(PRESET)
    records = []
    for recording in body.recordings[1:]:
        assert recording.markers is not None
        whole = replace(recording, wrenches=simulate_plates(body, recording.name, truth, generator))
        records.append(TrialRecord(whole, track_markers(found.rig, found.attachments, recording.markers)))
    preset = adapt_cutoff(found.rig, preset, records)
    rig = found.rig.with_prior(found.rig.prior.scaled(truth.total_mass))
    done = []
    for record in records:
        poses, wrenches = record.poses, record.recording.wrenches
        assert poses is not None
        assert wrenches is not None
        light = light_preset(preset, wrenches.rate)
        motion = smooth_motion(rig, poses.times, poses.q, light)
        times = motion.times
        counted = (times > times[0] + ENDS) & (times < times[-1] - ENDS)
        trial = Trial(record.name, motion, resample(wrenches, times, light), counted, preset=preset)
        done.append(replace(record, trial=trial))
    return Case(rig, tuple(done), truth, found)


def simulate_plates(body: Volunteer, name: str, truth: InertialParameters, generator: np.random.Generator) -> Wrenches:
    """Simulate the plates during one of a body's motions, noise included."""
    motion = smooth_motion(body.rig, body.motions[name].times, body.motions[name].q, None)
    wrench = ground_wrench(body.rig, motion, truth)
    wrench += np.repeat([FORCE_NOISE, MOMENT_NOISE], 3) * generator.standard_normal(wrench.shape)
    return Wrenches(motion.times, ("plate",), wrench[:, None])


@dataclass(frozen=True, slots=True)
class Coverage:
    """One volunteer's result against the truth, by `GROUPS`.

    Attributes:
        covered: share of the 95 % intervals that hold the truth.
        width: mean width of the intervals.
        error, prior: root mean square over links and components of what is found, and of the table, from the truth.
    """

    covered: np.ndarray
    width: np.ndarray
    error: np.ndarray
    prior: np.ndarray


def compute_coverage(given: Case, found: Identification) -> Coverage:
    """Compare a result with the truth."""
    spread, truth = found.uncertainty, given.truth.values
    assert spread is not None
    inside = (truth >= spread.lower) & (truth <= spread.upper)
    parts = [part for _, part, _, _ in GROUPS]

    def distance(parameters: InertialParameters) -> np.ndarray:
        return np.array([np.sqrt(np.mean((parameters.values - truth)[:, part] ** 2)) for part in parts])

    return Coverage(
        np.array([inside[:, part].mean() for part in parts]),
        np.array([(spread.upper - spread.lower)[:, part].mean() for part in parts]),
        distance(found.parameters),
        distance(found.prior),
    )


def coverage_figures() -> list[Figure]:
    """Coverage and width of the intervals, and the error of the masses against the tables'."""
    found = []
    with one_blas_thread():
        for seed in range(VOLUNTEERS):
            given = draw_case(seed)
            options = IdentifyOptions(total_mass=given.truth.total_mass, cross_validate=False, jobs=1)
            found.append(compute_coverage(given, identify_trials(given.rig, given.trials, options)))
    data = f"simulated, {VOLUNTEERS} volunteers, skin motion"
    covered, width = (np.mean([getattr(one, name) for one in found], axis=0) for name in ("covered", "width"))
    error, prior = (np.array([getattr(one, name) for one in found]) for name in ("error", "prior"))
    figures = []
    for group, (name, _, unit, scale) in enumerate(GROUPS):
        widths = f"mean width {scale * width[group]:.3g} {unit}"
        errors = f"RMS error {scale * error[:, group].mean():.3g}, tables {scale * prior[:, group].mean():.3g}"
        listed = ", ".join(f"{100.0 * one.covered[group]:.0f}" for one in found)
        note = f"{widths}; {errors}; by volunteer {listed}"
        figures.append(
            Figure(f"95 % intervals that hold the truth: {name}", data, 100.0 * float(covered[group]), "%",
                   at_least(88.0), Bound(92.0, 97.0, "92 to 97"), note)
        )  # fmt: skip
    ratios = error[:, 0] / prior[:, 0]
    listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    figures += [
        Figure("mass error, identified / tables: share of volunteers that come nearer", data,
               100.0 * float(np.mean(ratios < 1.0)), "%", at_least(80.0), at_least(100.0), listed),
        Figure("  the same, largest", data, float(ratios.max()), "", at_most(1.1), at_most(1.0)),
    ]  # fmt: skip
    return figures


def slow_figures() -> list[Figure]:
    """The same of people who move slowly, whose forces vary no more than in quiet standing."""
    found, cutoffs = [], []
    with one_blas_thread():
        for seed in range(VOLUNTEERS):
            given = draw_case(seed, SLOW_PULSES)
            options = IdentifyOptions(total_mass=given.truth.total_mass, cross_validate=False, jobs=1)
            found.append(compute_coverage(given, identify_trials(given.rig, given.trials, options)))
            cutoffs += [trial.preset.cutoff for trial in given.trials if trial.preset is not None]
    slowest, fastest = SLOW_PULSES
    data = f"simulated, {VOLUNTEERS} volunteers, {slowest:g} to {fastest:g} Hz, skin motion"
    error, prior = (np.array([getattr(one, name)[0] for one in found]) for name in ("error", "prior"))
    covered = [100.0 * one.covered[0] for one in found]
    listed = ", ".join(f"{ours:.2f} ({tables:.2f})" for ours, tables in zip(error, prior))
    note = f"RMS errors in kg, in brackets the tables': {listed}; cut-off {min(cutoffs):.1f} to {max(cutoffs):.1f} Hz"
    held_by = f"by volunteer {', '.join(f'{share:.0f}' for share in covered)}"
    return [
        Figure("slow motions, mean mass error, identified / tables", data, float(error.mean() / prior.mean()), "",
               at_most(1.0), None, note),
        Figure("  95 % intervals that hold the truth: mass", data, float(np.mean(covered)), "%", at_least(88.0), None,
               held_by),
    ]  # fmt: skip
