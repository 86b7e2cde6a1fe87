"""The four-level hierarchical identification of jovic2016 (7), and the constrained program of bonnet2016 (8).

Both are solved as hierarchies of quadratic programs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..base.errors import InvalidValue
from ..qp import Level, Rows, solve_hierarchy
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from .base_estimation import WELL_KNOWN, BaseEstimate, estimate_base
from .constraints import ConstraintOptions, direction_rows, fixed_link_rows, physical_rows, plausible_rows
from .estimate import Estimate
from .regression import Regression
from .weighted_equations import parameter_scale

if TYPE_CHECKING:
    from .identify import IdentifyOptions


@dataclass(frozen=True, slots=True)
class HierarchicalOptions:
    """Options of the hierarchical method.

    Attributes:
        constraints: of levels 1 and 2.
        scaled: whether level 4 measures the distance from the reference in typical sizes of each parameter; False is
            the paper's plain norm, which adds kilograms to kg m^2.
    """

    constraints: ConstraintOptions = field(default_factory=ConstraintOptions)
    scaled: bool = True


def hierarchical(regression: Regression, rig: Rig, options: HierarchicalOptions | None = None) -> Estimate:
    """(l1 <= A1 phi <= u1) > (l2 <= A2 phi <= u2) > (Y phi = f) > (phi = phi_ref), each as well as those before allow.

    Level 1: masses, their sum, centres of mass in their boxes, inertia rows in all directions. Level 2: symmetry and
    mass bounds. The result's `levels` list the optimum of each and show that no lower level worsened it.

    Raises:
        InvalidValue: regression and rig name different links.
        UnknownLink: an option names a link that does not exist.
        BackendError: the active-set method did not converge.
    """
    began = time.perf_counter()
    options = HierarchicalOptions() if options is None else options
    if regression.links != rig.links:
        raise InvalidValue("the regression has other links than the rig")
    reference = rig.prior
    limits = options.constraints
    scale = parameter_scale(rig, reference).ravel()
    rows = Rows.stack([physical_rows(rig, limits), fixed_link_rows(rig, reference, limits)])
    levels = [
        Level("physical", rows, direction_rows(rig, reference, limits)),
        Level("plausible", plausible_rows(rig, reference, limits)),
        Level("data", Rows.equalities(regression.factor, regression.target, "equation")),
        Level("prior", prior_rows(reference, scale if options.scaled else np.ones_like(scale))),
    ]
    name = "hierarchical" if options.scaled else "hierarchical, plain norm"
    found = _solve(name, levels, regression, reference, scale)
    relaxed = [level.name for level in found.levels[:2] if not level.met]
    notes = tuple(f"the {name} level cannot be met exactly; its rows were relaxed" for name in relaxed)
    return replace(found, notes=notes, seconds=time.perf_counter() - began)


def _solve(
    name: str, levels: Sequence[Level], regression: Regression, reference: InertialParameters, scale: np.ndarray
) -> Estimate:
    """The estimate of a method from its hierarchy."""
    found = solve_hierarchy(levels, scale=scale, guess=reference.vector)
    parameters = InertialParameters.from_vector(reference.links, found.x)
    cost, cost_prior = regression.cost(parameters), regression.cost(reference)
    return Estimate(name, parameters, reference, found.status, cost, cost_prior, found.active, found.levels)


def prior_rows(reference: InertialParameters, scale: np.ndarray) -> Rows:
    """phi / scale = phi_ref / scale, one row per parameter."""
    values = reference.vector / scale
    return Rows(sparse.diags_array(1.0 / scale), values, values, tuple(f"prior {i}" for i in range(len(values))))


def fit_hierarchical(regression: Regression, rig: Rig, options: IdentifyOptions) -> Estimate:
    """The method ``hierarchical`` of `identification_methods`."""
    return hierarchical(regression, rig, HierarchicalOptions(constraints=options.complete_constraints()))


@dataclass(frozen=True, slots=True)
class ConstrainedOptions:
    """Options of the constrained method.

    Attributes:
        constraints: masses, boxes and inertia directions; its symmetry and mass bounds are not used, as in the paper.
        known_std: base parameters whose relative standard deviation is at most this are equality rows; 0.1 is the
            paper's 10 % rule.
        corrected: whether that standard deviation accounts for correlated residuals; the paper's does not.
    """

    constraints: ConstraintOptions = field(default_factory=ConstraintOptions)
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
    reference = rig.prior
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
    found = _solve("constrained", levels, regression, reference, scale)
    notes = []
    if len(equalities) and not found.levels[1].met:
        notes.append("the base-parameter rows contradict the physical ones and were met in the least-squares sense")
    return replace(
        found,
        settings={"base parameters": len(known), "base parameters kept": int(known.sum())},
        notes=tuple(notes),
        seconds=time.perf_counter() - began,
    )


def fit_constrained(regression: Regression, rig: Rig, options: IdentifyOptions) -> Estimate:
    """The method ``constrained`` of `identification_methods`."""
    return constrained(regression, rig, ConstrainedOptions(constraints=options.complete_constraints()))
