"""The constrained quadratic program of bonnet2016 (8)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidValue
from ..inertials import InertialParameters
from ..qp import Level, Rows, solve_hierarchy
from ..rig import Rig
from .base_estimation import WELL_KNOWN, BaseEstimate, estimate_base
from .constraints import ConstraintOptions, direction_rows, fixed_link_rows, physical_rows
from .estimate import Estimate, compute_cost
from .hierarchical import prior_rows
from .regression import Regression
from .weighted_equations import parameter_scale

if TYPE_CHECKING:
    from .identify import IdentifyOptions


@dataclass(frozen=True, slots=True)
class ConstrainedOptions:
    """Options of the constrained method.

    Attributes:
        constraints: masses, boxes and inertia directions; its symmetry and mass bounds are not used, as in the paper.
        reference: phi_CAD; None uses the rig's prior.
        known_std: base parameters whose relative standard deviation is at most this are equality rows; 0.1 is the
            paper's 10 % rule.
        corrected: whether that standard deviation accounts for correlated residuals; the paper's does not.
    """

    constraints: ConstraintOptions = field(default_factory=ConstraintOptions)
    reference: InertialParameters | None = None
    known_std: float = WELL_KNOWN
    corrected: bool = True


def constrained(
    regression: Regression,
    rig: Rig,
    options: ConstrainedOptions | None = None,
    base: BaseEstimate | None = None,
) -> Estimate:
    """Minimise ||F - W phi||^2 + ||phi_CAD - phi||^2 subject to physical rows and to the well-known base parameters.

    The second distance is measured in typical sizes of each parameter.

    Solved as a hierarchy: physical rows, then base-parameter rows, then the cost. If the two kinds of rows agree, this
    is the paper's program. If they contradict each other, the paper's program has no solution; here the base-parameter
    rows are then met in the least-squares sense, which a note says.

    Args:
        regression: accumulated equations.
        rig: whose prior and boxes are used.
        options: see `ConstrainedOptions`.
        base: base parameters from the data; None estimates them.

    Raises:
        InvalidValue: regression and rig name different links, or too few equations.
        BackendError: the active-set method did not converge.
    """
    began = time.perf_counter()
    options = ConstrainedOptions() if options is None else options
    if regression.links != rig.links:
        raise InvalidValue("the regression has other links than the rig")
    reference = rig.prior if options.reference is None else options.reference
    base = estimate_base(regression) if base is None else base
    known = base.well_known(options.known_std, options.corrected)
    scale = parameter_scale(rig, reference).ravel()
    names = base.base.symbols
    equalities = Rows(
        base.base.regrouping[known],
        base.values[known],
        base.values[known],
        tuple(f"base parameter {names[i]}" for i in np.flatnonzero(known)),
    )
    rows = Rows.stack([physical_rows(rig, options.constraints), fixed_link_rows(rig, reference, options.constraints)])
    data = Rows.equalities(regression.factor, regression.target, "equation")
    levels = [Level("physical", rows, direction_rows(rig, reference, options.constraints))]
    levels += [Level("base parameters", equalities)] if len(equalities) else []
    levels.append(Level("fit and prior", Rows.stack([data, prior_rows(reference, scale)])))
    found = solve_hierarchy(levels, scale=scale, guess=reference.vector)
    parameters = InertialParameters.from_vector(rig.links, found.x)
    factor, target, residual_cost = regression.factor, regression.target, regression.residual_cost
    notes = []
    if len(equalities) and not found.levels[1].met:
        notes.append("the base-parameter rows contradict the physical ones and were met in the least-squares sense")
    return Estimate(
        "constrained",
        parameters,
        reference,
        found.status,
        compute_cost(factor, target, residual_cost, parameters),
        compute_cost(factor, target, residual_cost, reference),
        found.active,
        found.levels,
        settings={"base parameters": len(known), "base parameters kept": int(known.sum())},
        notes=tuple(notes),
        seconds=time.perf_counter() - began,
    )


def fit(regression: Regression, rig: Rig, options: IdentifyOptions) -> Estimate:
    """The method ``constrained`` of `identification_methods`."""
    return constrained(regression, rig, ConstrainedOptions(constraints=options.complete_constraints()))
