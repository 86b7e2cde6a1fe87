"""An identification's result by link, its file, and quantities by which a body is coloured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ..base.arrays import frozen
from ..base.errors import InvalidValue
from ..storage.codec import FileKind
from ..values.inertials import PARAMETERS, PER_LINK, InertialParameters
from .determined import MOMENT_KIND, SHAPE, DeterminedQuantity


@dataclass(frozen=True, slots=True)
class SceneResult:
    """The result of an identification.

    Attributes:
        parameters, prior: of every link, in the same order.
        half_widths: (L, 10) half of the 95 % intervals of mass [kg], centre of mass [m], and inertia about it
            [kg m^2], xx xy yy xz yz zz; None if not requested.
        lower, upper: (L, 10) ends of the 95 % intervals of the parameters, or None.
        determined: what the data determine, in classes.
        method: name of the method.
        satisfies: physical consistency of the parameters, in words.
        status: of the solver, in one word.
        at_bounds: names of active bounds of parameters, ``link: mass at its lower bound``.
        trials: names of the trials used.
        base_link: link at whose origin the wrench equation is written; empty without one.
        settings: of the study, by name.
        details: further results by name, as plain numbers, texts, lists and tables; unknown numbers are None.
        columns: names of the ten columns; SI, link frame, I about the link's origin, h = m c.
    """

    parameters: InertialParameters
    prior: InertialParameters
    half_widths: np.ndarray | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    determined: tuple[DeterminedQuantity, ...] = ()
    method: str = ""
    satisfies: str = ""
    status: str = ""
    at_bounds: tuple[str, ...] = ()
    trials: tuple[str, ...] = ()
    base_link: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = PARAMETERS

    def __post_init__(self) -> None:
        links = len(self.parameters.links)
        if self.prior.links != self.parameters.links:
            raise InvalidValue("the result and its prior have different links")
        if self.columns != PARAMETERS:
            raise InvalidValue(f"the columns of a result are {', '.join(PARAMETERS)}, not {', '.join(self.columns)}")
        for name in ("half_widths", "lower", "upper"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen(name, value, (links, PER_LINK), finite=False))
        for name in ("settings", "details"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def links(self) -> tuple[str, ...]:
        """L names."""
        return self.parameters.links

    @property
    def summary(self) -> tuple[str, ...]:
        """What a reader should know first, a sentence each (`report.study_folder`)."""
        return _texts(self.details.get("summary"))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings, a sentence each."""
        return _texts(self.details.get("warnings"))

    @property
    def findings(self) -> tuple[str, ...]:
        """Findings about the force plates, a sentence each: the trials, the evidence, and the correction."""
        return _texts(self.details.get("suspected"))

    @property
    def undecided_reason(self) -> str:
        """Why the recordings do not decide the masses; empty if they do."""
        return str(self.details.get("undecided_reason", ""))

    @property
    def from_flight(self) -> bool:
        """Whether the result comes from flight phases alone, without measured forces."""
        return bool(self.details.get("from_flight"))

    @property
    def mass_change(self) -> np.ndarray:
        """Relative change of mass from the prior (L,)."""
        return self.parameters.masses / self.prior.masses - 1.0

    @property
    def limb_masses(self) -> np.ndarray:
        """Mass (L,) [kg] of each link's limb or trunk, if the data determine it with the prior's shape;
        NaN otherwise."""
        masses = {link: one.value[0] for one in self.determined if one.source == SHAPE for link in one.links}
        return np.array([masses.get(link, np.nan) for link in self.links])

    @property
    def determined_share(self) -> np.ndarray:
        """Share (L,) of the prior's variance of each link's first moment about its joint that the data remove; NaN if
        unknown."""
        shares = {one.links[0]: 1.0 - min(one.ratio, 1.0) ** 2 for one in self.determined if one.kind == MOMENT_KIND}
        return np.array([shares.get(link, np.nan) for link in self.links])


def _texts(value: object) -> tuple[str, ...]:
    """The texts of an entry of a file, which may have been edited."""
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()


def densities(parameters: InertialParameters, volumes: np.ndarray) -> np.ndarray:
    """Mass over volume (L,) [kg/m^3]; NaN where the volume (L,) [m^3] is unknown or zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(volumes) > 0.0, parameters.masses / volumes, np.nan)


def equivalent_ellipsoids(parameters: InertialParameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solid ellipsoids of uniform density with the same mass, centre of mass and inertia.

    Returns:
        centres (L, 3) [m], semi-axes (L, 3) [m] and axes (L, 3, 3) as columns, right-handed, link frame. Semi-axes
        are NaN where no such body exists: an inertia that violates the triangle inequality, or a mass that is not
        positive.
    """
    moments, axes = np.linalg.eigh(parameters.inertias_at_com)
    axes[:, :, 2] *= np.linalg.det(axes)[:, None]
    masses = parameters.masses[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = 2.5 * (moments.sum(axis=1, keepdims=True) - 2.0 * moments) / masses
        semi_axes = np.where((squares >= 0.0).all(axis=1, keepdims=True) & (masses > 0.0), np.sqrt(squares), np.nan)
    return parameters.coms, semi_axes, axes


RESULT = FileKind(SceneResult, "exciting dance result", remedy="Make it with `python -m solver identify`")
"""The file of a result, JSON."""
