"""The four-level hierarchical identification of jovic2016 (7)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..errors import InvalidValue
from ..inertials import InertialParameters
from ..qp import Level, Rows, solve_hierarchy
from ..rig import Rig
from .constraints import ConstraintOptions, direction_rows, fixed_link_rows, physical_rows, plausible_rows
from .estimate import Estimate, compute_cost
from .regression import Regression
from .weighted_equations import parameter_scale

if TYPE_CHECKING:
    from .identify import IdentifyOptions


@dataclass(frozen=True, slots=True)
class HierarchicalOptions:
    """Options of the hierarchical method.

    Attributes:
        constraints: of levels 1 and 2.
        reference: phi_ref of levels 2 and 4; None uses the rig's prior.
        scaled: whether level 4 measures the distance from the reference in typical sizes of each parameter; False is
            the paper's plain norm, which adds kilograms to kg m^2.
    """

    constraints: ConstraintOptions = field(default_factory=ConstraintOptions)
    reference: InertialParameters | None = None
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
    reference = rig.prior if options.reference is None else options.reference
    limits = options.constraints
    scale = parameter_scale(rig, reference).ravel()
    rows = Rows.stack([physical_rows(rig, limits), fixed_link_rows(rig, reference, limits)])
    levels = [
        Level("physical", rows, direction_rows(rig, reference, limits)),
        Level("plausible", plausible_rows(rig, reference, limits)),
        Level("data", Rows.equalities(regression.factor, regression.target, "equation")),
        Level("prior", prior_rows(reference, scale if options.scaled else np.ones_like(scale))),
    ]
    found = solve_hierarchy(levels, scale=scale, guess=reference.vector)
    parameters = InertialParameters.from_vector(rig.links, found.x)
    factor, target, residual_cost = regression.factor, regression.target, regression.residual_cost
    relaxed = [level.name for level in found.levels[:2] if not level.met]
    notes = tuple(f"the {name} level cannot be met exactly; its rows were relaxed" for name in relaxed)
    return Estimate(
        "hierarchical" if options.scaled else "hierarchical, plain norm",
        parameters,
        reference,
        found.status,
        compute_cost(factor, target, residual_cost, parameters),
        compute_cost(factor, target, residual_cost, reference),
        found.active,
        found.levels,
        notes=notes,
        seconds=time.perf_counter() - began,
    )


def prior_rows(reference: InertialParameters, scale: np.ndarray) -> Rows:
    """phi / scale = phi_ref / scale, one row per parameter."""
    values = reference.vector / scale
    return Rows(sparse.diags_array(1.0 / scale), values, values, tuple(f"prior {i}" for i in range(len(values))))


def fit(regression: Regression, rig: Rig, options: IdentifyOptions) -> Estimate:
    """The method ``hierarchical`` of `identification_methods`."""
    return hierarchical(regression, rig, HierarchicalOptions(constraints=options.complete_constraints()))
