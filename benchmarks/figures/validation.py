"""Identification of people whom the prior does not know: `python -m benchmarks validation`.

Everything here is simulated, see `people`. The prior of each person leaves out the table around which the inertials
were drawn. Some people of each kind of motion go through the whole pipeline, from files. Their tracked motion and its
errors are then used again for many bodies by the linear model: what the equations of the recording are for other
inertials, and what prior and posterior make of it near the prior. Ratios are root mean square errors over those of the
prior.

What can be reached at most is in rows of its own (`BEST`): the error of the best linear estimator for one who knows the
mean and the covariance of these very people, as nobody does, and for one who knows those of all tables but theirs.

Inertial parameters are meant in the axes of the links as they were tracked: a torso whose axes lean 4 degrees forward
of the true ones has its centre of mass 2 cm farther back in them, and predicts forces only so. The truth is therefore
given in these axes, by the mean displacement of each link from where it was tracked to where it was; abdomen and
thorax, between which the spine bends, each by its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
from scipy.spatial.transform import Rotation

from solver.base.threads import one_blas_thread
from solver.dynamics import link_motions
from solver.identification import identify as identification
from solver.identification.comparison import compare
from solver.identification.consistent import consistent
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.posterior import posterior
from solver.identification.regression import Method, Regression
from solver.identification.result import Identification
from solver.rigs import human
from solver.signals.pooling import TWO_SIDED_STDS
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import TrialRecord
from solver.values.inertials import FIRST_MOMENT, INERTIA, MASS, InertialParameters
from solver.values.motion import Motion

from .figure import Bound, Figure, at_least, at_most
from .people import (
    MOTIONS,
    REPEATED,
    SOURCES,
    UNSEEN,
    Person,
    draw_inertials,
    draw_person,
    hip_centres,
    kept_tables,
    owner_of,
    place_inertials,
    tables_of,
)
from .table import FigureTable, table_parser

PEOPLE, BODIES = 5, 150
SECONDS, UNSEEN_SECONDS = 50.0, 12.0
STILL = "standing"
KINDS = tuple(kind for kind in MOTIONS if kind not in (UNSEEN, REPEATED))
GROUPS = {"masses": slice(MASS, MASS + 1), "first moments": FIRST_MOMENT, "inertias": INERTIA}
LIMBS = {
    "whole arm": tuple(
        tuple(f"{side}_{part}" for part in ("upper_arm", "forearm", "hand")) for side in ("left", "right")
    ),
    "whole leg": tuple(tuple(f"{side}_{part}" for part in ("thigh", "shank", "foot")) for side in ("left", "right")),
    "pelvis with torso": (("pelvis", "torso"),),
}
KNOWN = 250
"""Bodies around each table from which the best estimators take mean and covariance; they are not tested."""
BEST = ("knowing these people", "knowing these people from exact equations", "knowing the people of all other tables")
"""Estimators that know the mean and covariance of bodies, in the order of `Errors.errors`."""
EXACT = 1e-8
"""Variance of the errors of exact equations over that of the recorded ones."""
HIDDEN = 1e16
"""The same of equations that do not decide the result, which is then the prior."""
BUILT = ("height", "mass", "sex", "trunk", "lengths", "joints")
"""What a person's rig is built from."""
COVERED = (Bound(91.0, 99.0, "91 to 99"), Bound(94.0, 97.0, "94 to 97"))
POOLED = {"masses": (0.8, 0.65), "first moments": (0.85, 0.7), "inertias": (0.75, 0.6), "whole arm": (0.55, 0.4),
          "whole leg": (0.6, 0.5), "pelvis with torso": (0.55, 0.4)}  # fmt: skip
"""Must and aim of the ratios over all kinds of motion."""
MOVING = {"masses": 1.05, "first moments": 1.15, "inertias": 1.15, "whole arm": 0.65, "whole leg": 0.8,
          "pelvis with torso": 0.9}  # fmt: skip
"""Most of the ratios of every kind of motion but standing."""


@dataclass(frozen=True, slots=True)
class Case:
    """A person as the identification gets it, and the truth.

    Attributes:
        person: the truth.
        rig: calibrated, its prior without the person's table.
        records: of the trials; ``UNSEEN`` is not identified from.
        hips: (2, 3) [m] error of the hip centres from the middle of the ASIS.
        axes: (K, 4, 4) the axes of each true link in the tracked ones of the link to which it belongs, on average.
    """

    person: Person
    rig: Rig
    records: tuple[TrialRecord, ...]
    hips: np.ndarray
    axes: np.ndarray

    def place(self, inertials: InertialParameters) -> InertialParameters:
        """Inertial parameters of the true links in the tracked axes."""
        return place_inertials(inertials, self.axes, self.rig.links)

    @property
    def truth(self) -> InertialParameters:
        """The person's in the tracked axes, with the mass that the plates found."""
        return self.place(self.person.rig.prior).scaled(self.rig.prior.total_mass)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Motion and wrenches, without the unseen trial."""
        return tuple(
            r.trial for r in self.records if r.trial is not None and r.name != UNSEEN and r.trial.counted.any()
        )

    @property
    def unseen(self) -> Trial:
        """The trial that is not identified from."""
        trial = next(r.trial for r in self.records if r.name == UNSEEN)
        assert trial is not None
        return trial

    @property
    def options(self) -> IdentifyOptions:
        """The pipeline's options with the mass that the plates found."""
        return IdentifyOptions(total_mass=self.rig.prior.total_mass, cross_validate=False)


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of bodies (N, L, 10), and whether intervals contain the truth.

    Attributes:
        links: L.
        errors: (K, N, L, 10) of what was found, of the prior, and of `BEST` if K is 5.
        coms: (2, N, L) [m] distance of the centres of mass found and of the prior.
        inside: (N, L, 10).
    """

    links: tuple[str, ...]
    errors: np.ndarray
    coms: np.ndarray
    inside: np.ndarray

    @staticmethod
    def of(
        truth: np.ndarray, found: np.ndarray, prior: InertialParameters, std: np.ndarray, *best: np.ndarray
    ) -> Errors:
        """Compare values (L, 10) with the truth; ``std`` of what was found."""
        inside = np.abs(found - truth) <= TWO_SIDED_STDS * std
        values = np.array([found, prior.values, *best])
        places = values[:2, :, FIRST_MOMENT] / values[:2, :, [MASS]] - truth[:, FIRST_MOMENT] / truth[:, [MASS]]
        return Errors(prior.links, (values - truth)[:, None], np.linalg.norm(places, axis=2)[:, None], inside[None])

    @staticmethod
    def merge(parts: Sequence[Errors]) -> Errors:
        """All bodies of several."""
        errors, coms = (np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("errors", "coms"))
        return Errors(parts[0].links, errors, coms, np.concatenate([part.inside for part in parts]))

    def size(self, name: str) -> np.ndarray:
        """(K,) root mean square of one of `GROUPS` or of `LIMBS`, (2,) of centres."""
        if name == "centres":
            return np.sqrt(np.mean(self.coms**2, axis=(1, 2)))
        if name in GROUPS:
            return np.sqrt(np.mean(self.errors[..., GROUPS[name]] ** 2, axis=(1, 2, 3)))
        rows = [[self.links.index(link) for link in limb] for limb in LIMBS[name]]
        return np.sqrt(np.mean([self.errors[:, :, row, MASS].sum(axis=2) ** 2 for row in rows], axis=(0, 2)))

    def covered(self, name: str) -> float:
        """[%] of the intervals."""
        return 100.0 * float(self.inside[..., GROUPS[name]].mean())


def record(person: Person) -> Case:
    """Write a person's files, and read, calibrate, track and prepare them as the pipeline does."""
    known = person.rig.provenance
    with TemporaryDirectory() as folder:
        person.write(Path(folder))
        recordings = load([Path(folder)])
    found = calibrate(recordings, sex=str(known["sex"]), height=float(known["height"]))  # type: ignore[arg-type]
    rig = with_tables(found.rig, kept_tables(person.source))
    study = prepare(rig, track_all(found, recordings))
    mass = person.rig.prior.total_mass if study.mass is None else study.mass.mass
    places = {attachment.marker: attachment.position for attachment in found.attachments}
    hips = hip_centres(found.rig, places) - person.hips
    axes = find_axes(person, study.rig, study.records)
    return Case(person, study.rig.with_prior(study.rig.prior.scaled(mass)), study.records, hips, axes)


def find_axes(person: Person, rig: Rig, records: Sequence[TrialRecord]) -> np.ndarray:
    """`Case.axes` by all frames of the trials that are identified from."""
    places, turns = [], []
    for record in records:
        if record.trial is None or record.name == UNSEEN:
            continue
        motion, true_motion = record.trial.motion, person.motions[record.name]
        frames = np.abs(true_motion.times[:, None] - motion.times).argmin(axis=0)
        place, turn = compare_axes(rig, motion, person.rig, true_motion.frames(frames))
        places.append(place)
        turns.append(turn)
    axes = np.tile(np.eye(4), (len(person.rig.links), 1, 1))
    axes[:, :3, 3] = np.concatenate(places).mean(axis=0)
    axes[:, :3, :3] = Rotation.from_rotvec(np.concatenate(turns).mean(axis=0)).as_matrix()
    return axes


def compare_axes(rig: Rig, motion: Motion, own: Rig, true_motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Origins [m] and rotation vectors (N, K, 3) of the true links in the axes of the links to which they belong."""
    owners = [rig.index(owner_of(link)) for link in own.links]
    tracked, true = link_motions(rig, motion), link_motions(own, true_motion)
    back = tracked.rotation.transpose(3, 2, 1, 0)[:, owners]  # (N, K, 3, 3) world to link axes
    apart = (true.position - tracked.position[:, owners]).transpose(2, 1, 0)
    turns = Rotation.from_matrix(back @ true.rotation.transpose(3, 2, 0, 1)).as_rotvec()
    return (back @ apart[..., None])[..., 0], turns


def with_tables(rig: Rig, tables: Sequence[str]) -> Rig:
    """A person's rig with the prior of some tables and its own total mass."""
    known = rig.provenance
    built = {name: known[name] for name in BUILT}
    return rig.with_prior(human(**built, tables=tables).prior.scaled(rig.prior.total_mass))  # type: ignore[arg-type]


def measure(case: Case) -> tuple[Errors, np.ndarray, Identification, Regression]:
    """Errors of a person, those (2, 6) of the unseen trial's wrench of what was found and of the prior, and the result
    with its regression."""
    used: list[Regression] = []
    original = identification.get_method

    def keep(rig: Rig, options: IdentifyOptions) -> Method:
        method = original(rig, options)
        return lambda regression: used.append(regression) or method(regression)  # type: ignore[func-returns-value]

    with mock.patch.object(identification, "get_method", keep):
        found = identify_trials(case.rig, case.trials, case.options)
    assert found.uncertainty is not None
    errors = Errors.of(case.truth.values, found.parameters.values, found.prior, found.uncertainty.std)
    weights = found.frequency_weights
    compared = compare(case.rig, case.unseen, found.parameters, found.prior, base=found.base_link, weights=weights)
    return errors, np.array([compared.identified.rmse, compared.prior.rmse]), found, used[-1]


def draw_bodies(case: Case, found: Identification, regression: Regression, count: int, seed: int) -> Iterator[Errors]:
    """Errors of many bodies around each table with a person's motion and its errors, by the linear model.

    Args:
        case: the person.
        found: the result.
        regression: from which it came.
        count: of bodies, for each of `SOURCES`.
        seed: of the bodies.
    """
    equations, known = regression.equations_with_errors, case.person.rig.provenance
    settings = found.estimate.settings
    variance, inflation = settings["noise variance"], settings["data inflation"]
    weak = HIDDEN if found.undecided_reason else 1.0
    total = case.rig.prior.total_mass
    whitening = equations.whitening(variance * inflation)
    columns = whitening @ equations.factor
    errors = equations.target - equations.factor @ case.truth.vector
    bodies = np.empty((len(SOURCES), count + KNOWN, *case.rig.prior.values.shape))
    for number, source in enumerate(SOURCES):
        own = human(**{name: known[name] for name in BUILT}, tables=tables_of(source))  # type: ignore[arg-type]
        generator = np.random.default_rng((seed, number))
        for body in bodies[number]:
            body[:] = case.place(draw_inertials(own, source, generator)).scaled(total).values
    people = bodies[:, count:].reshape(len(SOURCES), KNOWN, -1)
    best, best_exact = (find_best_estimator(np.concatenate(people), columns, noise) for noise in (1.0, EXACT))
    for number, source in enumerate(SOURCES):
        rig = with_tables(case.rig, kept_tables(source))
        options = replace(
            identification.consistent_options(rig, case.options),
            noise_variance=weak * variance,
            data_inflation=inflation,
        )
        best_of_others = find_best_estimator(np.concatenate(np.delete(people, number, axis=0)), columns, 1.0)
        for body in bodies[number, :count]:
            target = equations.factor @ body.ravel()
            drawn = replace(equations, target=target + errors)
            noted = copy(regression)
            noted.__dict__["equations_with_errors"] = drawn
            parameters = consistent(noted, rig, options).parameters
            spread = posterior(drawn, weak * variance * inflation, parameters, rig.prior, rig, options).uncertainty
            exact, seen = whitening @ target, whitening @ drawn.target
            guesses = [guess.reshape(body.shape) for guess in (best(seen), best_exact(exact), best_of_others(seen))]
            yield Errors.of(body, parameters.values, rig.prior, spread.std, *guesses)


def find_best_estimator(people: np.ndarray, rows: np.ndarray, noise: float) -> Callable[[np.ndarray], np.ndarray]:
    """The linear estimator (k,) to (P,) with the least mean square error of every parameter.

    Args:
        people: (N, P) whose mean and covariance are known.
        rows: (k, P) of the equations.
        noise: variance of their errors, which are independent.
    """
    mean = people.mean(axis=0)
    spread = (people - mean) / np.sqrt(len(people) - 1.0)
    U, s, Vt = np.linalg.svd(spread @ rows.T, full_matrices=False)
    gain = (spread.T @ U) * (s / (s**2 + noise)) @ Vt
    return lambda seen: mean + gain @ (seen - rows @ mean)


def ratio_rows(kind: str, data: str, parts: Sequence[Errors], notes: Sequence[str] = ()) -> list[Figure]:
    """Coverage and ratios of one kind of motion, or of all of them if it is empty; ``parts`` by recorded person.

    The standard error of a ratio is that over recorded people (jackknife), whose bodies share the errors of a motion.
    """
    errors = Errors.merge(parts)
    covered: tuple[Bound | None, Bound | None] = COVERED if not kind else (at_least(88.0), None)
    rows = [
        Figure(f"{kind or 'all kinds'}: 95 % intervals that contain the truth: {name}", data, errors.covered(name), "%",
               covered[0], covered[1])
        for name in GROUPS
    ]  # fmt: skip
    for name in (*GROUPS, *LIMBS, "centres"):
        must, aim = (MOVING[name], 1.0) if kind and name in MOVING else POOLED.get(name, (np.inf, np.inf))
        bounded = name in POOLED and kind != STILL
        squares = np.array([part.size(name) ** 2 for part in parts])
        found, prior, *best = np.sqrt(squares.mean(axis=0))
        left = squares.sum(axis=0) - squares
        error = np.sqrt(len(parts) - 1.0) * np.std(np.sqrt(left[:, 0] / left[:, 1]))
        unit = {"first moments": "kg m", "inertias": "kg m2", "centres": "m"}.get(name, "kg")
        reached = dict(zip(BEST, np.array(best) / prior))
        note = "; ".join([f"± {error:.2g}; {found:.3g} {unit}, prior {prior:.3g}", *notes,
                          *(f"{text} {ratio:.2g}" for text, ratio in reached.items())])  # fmt: skip
        bounds = (at_most(must), at_most(aim)) if bounded else (None, None)
        rows.append(Figure(f"  error over the prior's: {name}", data, found / prior, "", bounds[0], bounds[1], note))
        rows += [
            Figure(f"  reachable error over the prior's, {name}: {text}", data, ratio, "", None, None)
            for text, ratio in reached.items()
            if not kind
        ]
        notes = ()
    return rows


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("validation", __doc__)
    parser.add_argument(
        "--people", type=int, default=PEOPLE, help="through the pipeline, a kind (default: %(default)s)"
    )
    parser.add_argument("--bodies", type=int, default=BODIES, help="by the linear model, a kind (default: %(default)s)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of motion")
    options = parser.parse_args(list(arguments))
    table = FigureTable(["validation", *arguments], options.output)
    linear: dict[str, list[Errors]] = {}
    whole: dict[str, list[Errors]] = {}
    unseen: list[np.ndarray] = []
    each = -(-options.bodies // (options.people * len(SOURCES)))
    with one_blas_thread():
        for place, kind in enumerate(options.kinds):
            hips, tracked = [], []
            for number in range(options.people):
                seed = place + number * len(options.kinds)
                case = record(draw_person(seed, {kind: SECONDS, UNSEEN: UNSEEN_SECONDS}))
                errors, wrench, found, regression = measure(case)
                whole.setdefault(kind, []).append(errors)
                linear.setdefault(kind, []).append(Errors.merge([*draw_bodies(case, found, regression, each, seed)]))
                unseen.append(wrench)
                hips.append(np.linalg.norm(case.hips, axis=1))
                tracked += [r.tracked.rmse for r in case.records if r.tracked is not None]
            apart = f"markers {1e3 * np.mean(tracked):.1f} mm, hips {1e3 * np.mean(hips):.1f} mm off on average"
            data = f"simulated, {each * options.people * len(SOURCES)} bodies, linear"
            table.add(ratio_rows(kind, data, linear[kind]))
            table.add(ratio_rows(kind, f"simulated, {options.people} people, pipeline", whole[kind], [apart]))
    for name, parts in (("linear", linear), ("pipeline", whole)):
        merged = [errors for kind in parts.values() for errors in kind]
        count = sum(len(errors.inside) for errors in merged)
        table.add(ratio_rows("", f"simulated, {count} people, {name}", merged))
    ours, prior = np.sqrt(np.mean(np.square(unseen), axis=0))
    listed = ", ".join(f"{a:.3g} ({b:.3g})" for a, b in zip(ours, prior))
    ratio = float(np.exp(np.mean(np.log(ours / prior))))
    table.add([Figure("unseen wrench, error over the prior's, six axes", f"simulated, {len(unseen)} people, pipeline",
                      ratio, "", at_most(1.0), at_most(0.7), f"N, N m (prior): {listed}")])  # fmt: skip
    return table.close()
