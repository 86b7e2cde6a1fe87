"""An identification's result as a scene editor shows it: per link, with the quantities people colour a body by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..arrays import frozen
from ..errors import InputError, InvalidValue
from ..inertials import FIRST_MOMENT, MASS, PER_LINK, InertialParameters


@dataclass(frozen=True, slots=True)
class SceneResult:
    """What identification found.

    Attributes:
        parameters, prior: of every link, in the result's order.
        std: (L, 10) standard deviations, or None when not asked for.
        com_std: (L, 3) [m] of the centres of mass; None without ``std``.
        determined: (L, 10) share in [0, 1] that the data determined, or None.
        method: name of the method.
        satisfies: which physical consistency the parameters have, in words.
        at_bounds: names of the parameters that ended on a bound.
    """

    parameters: InertialParameters
    prior: InertialParameters
    std: np.ndarray | None = None
    com_std: np.ndarray | None = None
    determined: np.ndarray | None = None
    method: str = ""
    satisfies: str = ""
    at_bounds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        links = len(self.parameters.links)
        if self.prior.links != self.parameters.links:
            raise InvalidValue("the result and its prior name different links")
        for name, columns in (("std", PER_LINK), ("com_std", 3), ("determined", PER_LINK)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen(name, value, (links, columns), finite=False))

    @property
    def links(self) -> tuple[str, ...]:
        """L names."""
        return self.parameters.links

    @property
    def mass_change(self) -> np.ndarray:
        """Mass against the prior's (L,), as a share of the prior's."""
        return self.parameters.masses / self.prior.masses - 1.0

    @property
    def determined_share(self) -> np.ndarray:
        """Mean share of a link's ten parameters that the data determined (L,); NaN when unknown."""
        if self.determined is None:
            return np.full(len(self.links), np.nan)
        return self.determined.mean(axis=1)


def densities(parameters: InertialParameters, volumes: np.ndarray) -> np.ndarray:
    """Mass over volume (L,) [kg/m^3]; NaN where the volume (L,) [m^3] is unknown or zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(volumes) > 0.0, parameters.masses / volumes, np.nan)


def first_moment_com_std(parameters: InertialParameters, std: np.ndarray) -> np.ndarray:
    """Standard deviations of the centres of mass (L, 3) [m] where only those of the parameters (L, 10) are known.

    First order, mass and first moment taken as independent, which overstates them when they move together.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.hypot(std[:, FIRST_MOMENT], parameters.coms * std[:, MASS, None]) / np.abs(parameters.masses)[:, None]


def equivalent_ellipsoids(parameters: InertialParameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solid ellipsoids of uniform density with the same mass, centre of mass and inertia.

    Returns:
        centres (L, 3) [m], semi-axes (L, 3) [m] and axes (L, 3, 3) as columns, right-handed, link frame. Semi-axes
        are NaN where no such body exists: an inertia that breaks the triangle inequality, or no positive mass.
    """
    moments, axes = np.linalg.eigh(parameters.inertias_at_com)
    axes[:, :, 2] *= np.linalg.det(axes)[:, None]
    masses = parameters.masses[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = 2.5 * (moments.sum(axis=1, keepdims=True) - 2.0 * moments) / masses
        semi_axes = np.where((squares >= 0.0).all(axis=1, keepdims=True) & (masses > 0.0), np.sqrt(squares), np.nan)
    return parameters.coms, semi_axes, axes


def scene_result(tree: Mapping) -> SceneResult:
    """The value behind a result's tree.

    Raises:
        InvalidValue: an entry is missing or has the wrong shape.
    """
    try:
        links = tuple(str(link) for link in tree["links"])
        parameters = InertialParameters(links, np.array(tree["parameters"], float))
        std = _optional(tree, "std")
        com_std = _optional(tree, "com_std")
        if std is not None and com_std is None:
            com_std = first_moment_com_std(parameters, std)
        return SceneResult(
            parameters=parameters,
            prior=InertialParameters(links, np.array(tree["prior"], float)),
            std=std,
            com_std=com_std,
            determined=_optional(tree, "determined"),
            method=str(tree.get("method", "")),
            satisfies=str(tree.get("satisfies", "")),
            at_bounds=tuple(str(name) for name in tree.get("at_bounds") or ()),
        )
    except KeyError as error:
        raise InvalidValue(f"the result lacks the entry {error.args[0]!r}") from None
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"the result is malformed: {error}") from None


def read_result(path: str | Path) -> SceneResult:
    """Read what the scene shows of an identification's ``result.json``.

    Raises:
        InputError: missing, no JSON, or no result.
    """
    remedy = "Make it with `python -m solver identify`"
    try:
        tree = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(tree, dict):
            raise InvalidValue("the file holds no result")
        return scene_result(tree)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", remedy="Check the path") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(path, f"is not JSON ({error})", remedy=remedy) from None
    except InvalidValue as error:
        raise InputError(path, str(error), remedy=remedy) from None


def _optional(tree: Mapping, name: str) -> np.ndarray | None:
    return None if tree.get(name) is None else np.array(tree[name], float)
