"""Identification from trials: axis weights, method, frequency weights, uncertainty, comparison on used and unused
trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..base.arrays import list_names
from ..base.errors import InvalidValue, SolverError, checked
from ..base.progress import Progress, silent
from ..scene.determined import DeterminedQuantity
from ..scene.labels import display_name
from ..signals.trial import Trial
from ..skeleton.rig import Rig
from ..values.identification_methods import IDENTIFICATION_METHODS, find_method
from .accumulate import NO_COUNTED_FRAME, accumulate_regression
from .base_parameters import base_parameters
from .blocks import AXES
from .comparison import Comparison, check_flight, compare, find_undecided_reason
from .consistent import RELATIVE_STD_SETTING, ConsistentOptions, consistent
from .constraints import ConstraintOptions
from .error_model.frequency_weights import PairedWeights
from .error_model.refit import GroupFit, refit_with_frequency_weights
from .estimate import Estimate
from .posterior import posterior
from .prior import consistent_with_empirical_prior
from .regression import Method, Regression, fit_axis_weights, merge_regressions
from .result import Identification

MIN_FLIGHT_FRAMES = 5
"""Least number of frames of a flight that is checked."""
FOLDS = 10
"""Largest number of groups of trials that are left out in turn; more trials share groups with their neighbours."""
POSTERIOR_NOTE = "the intervals contain what noise and the prior leave undetermined"
SKIN_NOTE = "and errors of skin and skeleton that follow posture"


@dataclass(frozen=True, slots=True)
class IdentifyOptions:
    """Options of the identification.

    Attributes:
        method: a name of `identification_methods.IDENTIFICATION_METHODS`.
        base: base link, by name or index, at whose origin the moments are taken.
        total_mass: [kg] that the masses must sum to; None estimates it from the data. Not used by the minimum norm.
        constraints: boxes, symmetry, mass bounds; its total mass is replaced by ``total_mass``.
        symmetric: whether left and right must agree within the constraints' alpha (jovic2016 (15)) in the consistent
            method, which has no mass bounds. None: yes for people, whose link frames mirror each other, and no for
            robots. Set False for an amputee, a stroke survivor or one-sided load.
        fixed_links: links with the prior's parameters. Not used by the minimum norm. The consistent method also fixes
            links whose rotation no marker shows (`Rig.unobserved_links`).
        relative_std: relative standard deviation of a link's mass around the prior, consistent method only. None: the
            default for people; for robots the value under which the data are most likely, at most the default
            (`prior`). Intervals use the default: a single link may differ more from its prior than links do
            on average.
        cross_validate: also fit on all trials but one, or with one trial on one half of it, and test on the rest; more
            trials than `FOLDS` are left out in groups.
    """

    method: str = IDENTIFICATION_METHODS[0].name
    base: str | int = 0
    total_mass: float | None = None
    constraints: ConstraintOptions = field(default_factory=ConstraintOptions)
    symmetric: bool | None = None
    fixed_links: tuple[str, ...] = ()
    relative_std: float | None = None
    cross_validate: bool = True

    def __post_init__(self) -> None:
        find_method(self.method)

    def complete_constraints(self) -> ConstraintOptions:
        """The constraints with total mass and fixed links."""
        return replace(self.constraints, total_mass=self.total_mass, fixed_links=self.fixed_links)


@checked
def identify_trials(
    rig: Rig,
    trials: Sequence[Trial],
    options: IdentifyOptions | None = None,
    *,
    flights: Mapping[str, np.ndarray] | None = None,
    progress: Progress = silent,
) -> Identification:
    """Inertial parameters of every link of a rig from trials.

    Args:
        rig: whose prior is the reference, scaled to the body's mass.
        trials: motion and wrenches of counted frames.
        options: see there.
        flights: by trial, (N,) True in frames where nothing touches the body.
        progress: receives progress.

    Raises:
        InvalidValue: no frame counts.
        UnknownMethod: no such method.
        BackendError: the method failed.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> quick = solver.Settings(no_cross_validation=True)
        >>> trials = solver.identify(robot.recordings, rig=robot.rig, settings=quick).trials
        >>> options = solver.IdentifyOptions(method="constrained", cross_validate=False)
        >>> found = solver.identify_trials(robot.rig, trials, options)
        >>> found.estimate.satisfies in ("rotational", "consistent")
        True
    """
    options = IdentifyOptions() if options is None else options
    flights = flights or {}
    method = get_method(rig, options)
    progress(0.0, "regressor")
    structure = base_parameters(rig)
    used = tuple(trial for trial in trials if trial.counted.any())
    if not used:
        raise InvalidValue(NO_COUNTED_FRAME)
    notes: list[str] = []

    def accumulate(group: Sequence[Trial]) -> Regression:
        return accumulate_regression(rig, group, base=options.base, axes="world", structure=structure)

    def refit(groups: Sequence[Sequence[Trial]], fits: Sequence[GroupFit]) -> list[tuple[GroupFit, PairedWeights]]:
        return refit_with_frequency_weights(rig, groups, fits, method, options.base, structure)

    count = min(FOLDS, len(used))
    groups = [[used[index] for index in group] for group in np.array_split(np.arange(len(used)), count)]
    parts = [accumulate(group) for group in groups]
    progress(0.3, f"{options.method} identification")
    regression, estimate = fit_axis_weights(merge_regressions(parts), method, rig)
    first = GroupFit.of(tuple(range(len(groups))), regression, estimate, keep=True)
    progress(0.4, "comparison on trials not used")
    tested: list[list[Trial]] = []
    folds: list[GroupFit] = []
    if options.cross_validate and len(used) == 1:
        notes.append(f"one trial only: each half of {used[0].name} is tested with parameters fitted to the other half")
        halves = [[half] for half in split_halves(used[0]) if half.counted.any()]
        tested, folds = _cross_validate(rig, halves, [accumulate(half) for half in halves], method, notes)
        (fit, frequency_weights), *others = [*refit(groups, [first]), *refit(halves, folds)]
    else:
        if options.cross_validate:
            tested, folds = _cross_validate(rig, groups, parts, method, notes)
        (fit, frequency_weights), *others = refit(groups, [first, *folds])
    assert fit.regression is not None
    regression, estimate = fit.regression, fit.estimate
    comparisons = [replace(_compare(rig, trial, estimate, options, frequency_weights), used=True) for trial in used]
    comparisons += [
        _compare(rig, trial, own.estimate, options, weights)
        for group, (own, weights) in zip(tested, others)
        for trial in group
    ]
    reason = find_undecided_reason(rig, used, [trial for group in tested for trial in group], estimate, comparisons)
    evidence = regression
    if reason and find_method(options.method).has_posterior:
        reason = (
            f"the result is the prior, scaled to the body's mass, because the recordings do not decide it: {reason}"
        )
        estimate = _at_prior(estimate)
        # with equations of weight zero the posterior is the prior
        evidence = replace(regression, weights=np.zeros(AXES), posture_errors=None)
        frequency_weights = PairedWeights(*2 * (frequency_weights.prior,), *2 * (frequency_weights.prior_plates,))
    elif reason:
        reason = f"the recordings do not decide the result: {reason}"
    _note_prior(rig, estimate, options, notes)
    _note_frequency_weights(frequency_weights, notes)
    fixed = _fixed_links(rig, options)
    _note_fixed_links(rig, fixed, notes)
    root, uncertainty = None, None
    determined: tuple[DeterminedQuantity, ...] = ()
    if find_method(options.method).has_posterior:
        noise = estimate.settings["noise variance"] * estimate.settings["data inflation"]
        equations, chosen = evidence.equations_with_errors, consistent_options(rig, options)
        result = posterior(equations, noise, estimate.parameters, estimate.prior, rig, chosen)
        root, determined, uncertainty = result.root, result.determined, result.uncertainty
        notes.append(POSTERIOR_NOTE if regression.posture_errors is None else f"{POSTERIOR_NOTE}, {SKIN_NOTE}")
    return Identification(
        estimate=estimate,
        determined=determined,
        weights=regression.weights,
        frames=regression.frames,
        trials=tuple(trial.name for trial in used),
        base_link=regression.base,
        uncertainty=uncertainty,
        comparisons=tuple(comparisons),
        flights=tuple(
            check_flight(rig, trial, flights[trial.name], estimate.parameters, estimate.prior)
            for trial in trials
            if trial.name in flights and flights[trial.name].sum() >= MIN_FLIGHT_FRAMES
        ),
        notes=tuple(notes),
        frequency_weights=frequency_weights,
        covariance_root=root,
        undecided_reason=reason,
    )


def get_method(rig: Rig, options: IdentifyOptions) -> Method:
    """The method as a function of a regression.

    Args:
        rig: whose prior is the reference.
        options: see `IdentifyOptions`.

    Raises:
        UnknownMethod: no such method.
    """
    fit = find_method(options.method).load_function()
    return lambda regression: fit(regression, rig, options)


def fit_consistent(regression: Regression, rig: Rig, options: IdentifyOptions) -> Estimate:
    """The method ``consistent`` of `identification_methods`."""
    chosen = consistent_options(rig, options)
    fit = consistent_with_empirical_prior if _estimates_prior_std(chosen, options) else consistent
    return fit(regression, rig, chosen)


def _estimates_prior_std(chosen: ConsistentOptions, options: IdentifyOptions) -> bool:
    """Whether the width of the prior is estimated from the data; people have a mass prior instead."""
    return options.relative_std is None and not chosen.mass_prior


def consistent_options(rig: Rig, options: IdentifyOptions) -> ConsistentOptions:
    """The options of the consistent method that a rig's kind and the options of the identification imply."""
    constraints = replace(options.complete_constraints(), beta=None, fixed_links=_fixed_links(rig, options))
    is_person = rig.is_person
    symmetric = is_person if options.symmetric is None else options.symmetric
    paired = {link for pair in rig.pairs for link in pair}
    alike = [link for link in rig.links if link not in paired] if is_person and symmetric else []
    midline = {link: rig.rest[0][rig.index(link)][1] for link in alike}  # y points to the left
    chosen = ConsistentOptions(
        constraints=constraints, plausible=symmetric, mass_prior=is_person, midline_links=midline
    )
    if options.relative_std is not None:
        chosen = replace(chosen, relative_std=options.relative_std)
    # for unknown sex the prior is the mean of both tables: their difference widens it
    wider = {link: float(np.hypot(chosen.relative_std, std)) for link, std in rig.prior_spread.items()}
    return replace(chosen, relative_stds=wider)


def _fixed_links(rig: Rig, options: IdentifyOptions) -> tuple[str, ...]:
    """Links that keep the prior's parameters: those chosen, and with the consistent method those that no marker shows.

    Without markers a hand is tracked as if it were at rest in the forearm, so that its own motion would change its
    inertia and that of the forearm.
    """
    method = find_method(options.method)
    if not method.uses_fixed_links:
        return ()
    return tuple(dict.fromkeys((*options.fixed_links, *(rig.unobserved_links if method.has_posterior else ()))))


def _at_prior(estimate: Estimate) -> Estimate:
    """The prior, scaled to the body's mass, as the estimate."""
    prior = estimate.prior.scaled(estimate.parameters.total_mass)
    return replace(estimate, parameters=prior, prior=prior, cost=estimate.cost_prior, at_bounds=())


def _cross_validate(
    rig: Rig, groups: Sequence[Sequence[Trial]], parts: Sequence[Regression], method: Method, notes: list[str]
) -> tuple[list[list[Trial]], list[GroupFit]]:
    """Groups of trials, and for each the fit to all others."""
    tested, found = [], []
    for index, group in enumerate(groups):
        others = tuple(other for other in range(len(groups)) if other != index)
        try:
            regression, estimate = fit_axis_weights(merge_regressions([parts[other] for other in others]), method, rig)
        except SolverError as error:
            names = list_names(trial.name for trial in group)
            notes.append(f"{names} could not be tested as an unused trial: {error}")
            continue
        tested.append(list(group))
        found.append(GroupFit.of(others, regression, estimate))
    return tested, found


def split_halves(trial: Trial) -> tuple[Trial, Trial]:
    """The trial with the first half of its counted frames, and the trial with the second half."""
    frames = np.flatnonzero(trial.counted)
    first = trial.counted & (np.arange(len(trial.counted)) < frames[len(frames) // 2])
    return (
        replace(trial, name=f"{trial.name}, first half", counted=first),
        replace(trial, name=f"{trial.name}, second half", counted=trial.counted & ~first),
    )


def _compare(
    rig: Rig, trial: Trial, estimate: Estimate, options: IdentifyOptions, weights: PairedWeights
) -> Comparison:
    return compare(rig, trial, estimate.parameters, estimate.prior, base=options.base, weights=weights)


def _note_prior(rig: Rig, estimate: Estimate, options: IdentifyOptions, notes: list[str]) -> None:
    chosen = consistent_options(rig, options)
    if options.method != "consistent" or not _estimates_prior_std(chosen, options):
        return
    notes.append(
        "the data are most likely with a relative standard deviation of "
        f"{100.0 * estimate.settings[RELATIVE_STD_SETTING]:.0f} % "
        f"around the prior, "
        f"which was used; the intervals allow each link {100.0 * chosen.relative_std:.0f} %"
    )


def _note_frequency_weights(weights: PairedWeights, notes: list[str]) -> None:
    by_body = (("identified parameters", weights.identified), ("prior", weights.prior))
    listed = [f"{100.0 * (1.0 - own.improvement):.0f} % ({name})" for name, own in by_body if own is not None]
    if listed:
        notes.append(
            "reconstructed forces use filters of the tracked motion that were learnt from the measured forces of "
            f"similar trials; they reduce the error in unused parts by {' and '.join(listed)}"
        )


def _note_fixed_links(rig: Rig, fixed_links: Sequence[str], notes: list[str]) -> None:
    """A note on links that are fixed, some because they are only determined together with their parent."""
    if fixed_links:
        unobserved = any(link in rig.unobserved_links for link in fixed_links)
        why = "; a link whose rotation no marker shows is determined only together with its parent" * unobserved
        listed = ", ".join(display_name(link) for link in fixed_links)
        notes.append(f"{listed}: fixed to the prior, scaled to the body's mass{why}")
