"""Accuracy from a designed dance and from random feasible motion as long, at stated noise; all simulated.

The baseline is fair: random feasible postures in the same foot configurations, joined by straight ways that keep the
same limits of speed, balance and distance, its steps as quick, no posture held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from solver.dance.design.dance import Dance
from solver.dance.design.objective import noise_model
from solver.dance.workflows.design import design_dance
from solver.identification.base_parameters import BaseParameters, base_parameters
from solver.identification.excitation.excitation import PLATE_NOISE, base_regressor
from solver.identification.excitation.wrench_noise import WrenchNoise
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions, human_options
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig

from .figure import Bound, Figure, at_least, at_most
from .plain_motions import SHORTEST, random_postures

RATE, PLATE_RATE = 50.0, 500.0
"""[1/s] of the frames that are counted; of the plate's samples."""
PLATE = np.array([0.2, 0.2, 0.2, 0.02, 0.02, 0.02])
"""[N, N m] of a sample of a good plate."""
EACH, SECONDS = 3, 60.0
"""Postures in each foot configuration; [s] of random motion."""
LOST = ("step", "hold")
"""Kinds of segments in which a dance changes its foot configuration or holds."""


@dataclass(frozen=True, slots=True)
class Case:
    """A rig whose dance is compared.

    Attributes:
        name: in words.
        rig: makes it.
        options: of its dance.
        bounds: must and aim of random / dance at the same limits.
    """

    name: str
    rig: Callable[[], Rig]
    options: Callable[..., DanceOptions]
    bounds: tuple[Bound, Bound]


CASES = (
    Case("person", lambda: human(1.75, 65.0, "female"), human_options, (at_least(2.0), at_least(4.0))),
    Case("HOAP-3", lambda: hoap3("middle", torque="peak"), DanceOptions, (at_least(4.0), at_least(8.0))),
    Case("HRP-2 stand-in", hrp2, lambda **c: DanceOptions(step=None, **c), (at_least(2.5), at_least(4.0))),
)


def figures(workers: int, seeds: tuple[int, ...] = (0, 1)) -> Iterator[list[Figure]]:
    """Rows of every case and seed, as they are found."""
    for case in CASES:
        for seed in seeds:
            yield compare_dances(case, workers, seed)


def compare_dances(case: Case, workers: int, seed: int) -> list[Figure]:
    """A dance compared with its baselines."""
    rig = case.rig()
    options = case.options(postures=dict.fromkeys(FOOT_CONFIGURATIONS, EACH), workers=workers, seed=seed)
    dance, structure = design_dance(rig, options), base_parameters(rig)
    kinds = {kind: sum(s.duration for s in dance.segments if s.kind == kind) for kind in LOST}
    data = f"simulated, {case.name}, seed {seed}, {len(dance.postures)} postures"

    def row(what: str, shortest: float, must: Bound, aim: Bound) -> Figure:
        baseline = random_postures(rig, options, SECONDS, seed, shortest)
        found = [deviation_ratio(rig, structure, baseline, dance, noise) for noise in wrench_noises(rig)]
        note = (
            f"noise: plate 0.2 N, 0.02 N m at 500 Hz and {format_motion_errors(rig)}; the plate's alone: "
            f"{found[1]:.3g}; 2 N, 1 N m and the motion's: {found[2]:.3g}; {dance.duration:.0f} s of dance, "
            f"{baseline.duration:.0f} s of random motion, per second"
        )
        return Figure(what, data, found[0], "", must, aim, note)

    what = "random / dance, geometric mean of the deviations"
    result = [
        row(f"{what}, same limits, transitions of {options.min_duration:g} s", options.min_duration, *case.bounds)
    ]
    if rig.is_person:
        share = 100.0 * sum(kinds.values()) / dance.duration
        note = ", ".join(f"{kind}s {seconds:.1f} s" for kind, seconds in kinds.items())
        result += [
            row(f"{what}, random at its fastest, transitions of {SHORTEST:g} s", SHORTEST, at_least(1.2),
                at_least(2.0)),
            Figure("share of the dance that is steps and holds", data, share, "%", at_most(30.0), at_most(15.0),
                   note=note),
        ]  # fmt: skip
    return result


def wrench_noises(rig: Rig) -> tuple[WrenchNoise, WrenchNoise, WrenchNoise]:
    """Noise of a good plate with the motion's errors and without, and of the paper's residuals with them."""
    errors = noise_model(rig).motion
    return (
        WrenchNoise(PLATE, PLATE_RATE, errors),
        WrenchNoise(PLATE, PLATE_RATE),
        WrenchNoise(PLATE_NOISE, PLATE_RATE, errors),
    )


def format_motion_errors(rig: Rig) -> str:
    """The motion's errors as text."""
    errors = noise_model(rig).motion
    if errors is None:
        return "none of the motion"
    return (
        f"motion {1e3 * errors.position:g} mm, {1e3 * errors.angle:g} mrad white at {errors.rate:g} Hz, "
        f"{errors.cutoff:g} Hz filter"
    )


def deviation_ratio(rig: Rig, structure: BaseParameters, baseline: Dance, dance: Dance, noise: WrenchNoise) -> float:
    """Geometric mean over the base parameters of a baseline's deviations over those of a dance, both per second."""
    first, second = (deviations_per_second(rig, structure, one, noise) for one in (baseline, dance))
    return float(np.exp(np.mean(np.log(first / second))))


def deviations_per_second(rig: Rig, structure: BaseParameters, dance: Dance, noise: WrenchNoise) -> np.ndarray:
    """Standard deviation (B,) of every base parameter from one second of a dance on average."""
    motion = dance.sample(rig, RATE)
    rows = noise.whitening(rig, motion) @ base_regressor(rig, motion, structure) / np.sqrt(RATE)
    flat = rows.reshape(-1, len(structure))
    size = np.linalg.norm(flat, axis=0)
    inverse = np.linalg.pinv(np.linalg.qr(flat / size, mode="r"))
    return np.linalg.norm(inverse, axis=1) / size * np.sqrt(dance.duration)
