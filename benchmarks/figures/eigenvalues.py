"""Whether constrained results satisfy their constraints, by the eigenvalues of every link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from solver.identification.accumulate import accumulate_regression
from solver.identification.consistent import ConsistentOptions, consistent
from solver.identification.constraints import ConstraintOptions
from solver.identification.estimate import CONSISTENT, NONE, ROTATIONAL, Estimate
from solver.identification.hierarchical import ConstrainedOptions, HierarchicalOptions, constrained, hierarchical
from solver.identification.regression import Method, Regression, fit_axis_weights
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig

from .figure import Bound, Figure

ROUNDING = 1e-12
"""Share of the largest eigenvalue that counts as rounding."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """Trials of one body.

    Attributes:
        name: and whether they are real or simulated.
        rig: prior scaled to the total mass.
        trials: ready for identification.
        total_mass: [kg].
    """

    name: str
    rig: Rig
    trials: Sequence[Trial]
    total_mass: float


def methods(data: DataSet) -> list[tuple[Method, str]]:
    """Every constrained method and what its result must satisfy at least."""
    rig, limits = data.rig, ConstraintOptions(total_mass=data.total_mass)
    result: list[tuple[Method, str]] = [
        (lambda regression: constrained(regression, rig, ConstrainedOptions(constraints=limits)), ROTATIONAL),
        (lambda regression: hierarchical(regression, rig, HierarchicalOptions(constraints=limits)), ROTATIONAL),
    ]
    result.append((partial(_consistent, rig, ConsistentOptions(constraints=limits)), CONSISTENT))
    return result


def _consistent(rig: Rig, options: ConsistentOptions, regression: Regression) -> Estimate:
    return consistent(regression, rig, options)


def meets_requirements(estimate: Estimate, demanded: str) -> bool:
    """Whether the eigenvalues meet the requirements and the result's own status."""
    parameters = estimate.parameters
    largest = np.abs(parameters.pseudo_inertias).max()
    physical = bool(parameters.consistency_margin.min() >= -ROUNDING * largest)
    rotational = bool(parameters.rotational_margin.min() > 0.0)
    light = parameters.masses.min() < -ROUNDING * np.abs(parameters.masses).max()
    said = CONSISTENT if physical else ROTATIONAL if rotational and not light else NONE
    return (physical if demanded == CONSISTENT else rotational) and estimate.satisfies == said


def eigenvalue_figures(datasets: Sequence[DataSet]) -> tuple[list[Figure], list[str]]:
    """One row over all methods and data, and a line for each of them."""
    broken, lines = 0, []
    for data in datasets:
        parts = accumulate_regression(data.rig, data.trials, axes="world")
        for method, demanded in methods(data):
            _, estimate = fit_axis_weights(parts, method, data.rig)
            kept = meets_requirements(estimate, demanded)
            broken += not kept
            parameters = estimate.parameters
            inertia, pseudo = parameters.rotational_margin.min(), parameters.consistency_margin.min()
            lines.append(
                f"  {data.name:<34}{estimate.method:<32} smallest eigenvalue: inertia {inertia:9.2e}, pseudo-inertia "
                f"{pseudo:9.2e}; satisfies {estimate.satisfies!r}, must {demanded!r}{'' if kept else ': BROKEN'}"
            )
    names = ", ".join(data.name for data in datasets)
    figure = Figure(
        "constrained results with eigenvalues that violate their constraints",
        names, float(broken), f"of {len(lines)}", Bound(0.0, 0.0, "0"),
        note="constrained and hierarchical: inertias positive definite; consistent: pseudo-inertias semi-definite",
    )  # fmt: skip
    return [figure], lines
