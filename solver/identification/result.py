"""The result of an identification: parameters, their uncertainty, and what the data and what the prior determined."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ..base.arrays import Array, ArrayValue, abbreviate
from ..base.data_frames import build_data_frame
from ..scene.determined import DeterminedQuantity
from ..scene.result import SceneResult
from ..signals.pooling import TWO_SIDED_STDS
from ..storage.atomic import write_atomically
from ..values.inertials import (
    FIRST_MOMENT,
    INERTIA,
    MASS,
    PARAMETERS,
    PER_LINK,
    InertialParameters,
    LinkInertia,
    symmetric_entries,
    symmetric_matrix,
)
from .comparison import Comparison, FlightCheck
from .error_model.frequency_weights import UNWEIGHTED, PairedWeights
from .estimate import Estimate, find_bounded_parameters

INERTIA_AXES = ("xx", "xy", "yy", "xz", "yz", "zz")
UNITS = {"m": "kg", "h": "kg m", "I": "kg m2"}
"""By the first letter of a parameter's name."""


@dataclass(frozen=True, slots=True)
class Uncertainty(ArrayValue):
    """Standard deviations and intervals of the parameters: the posterior's.

    Attributes:
        std: (L, 10) standard deviations, columns as `inertials.PARAMETERS`.
        lower, upper: (L, 10) ends of the 95 % intervals.
        com_std: (L, 3) [m] standard deviations of the centres of mass.
        inertia_std: (L, 6) [kg m^2] of the inertias about the centres of mass: xx xy yy xz yz zz.
    """

    std: Annotated[np.ndarray, Array("L", 10)]
    lower: Annotated[np.ndarray, Array("L", 10)]
    upper: Annotated[np.ndarray, Array("L", 10)]
    com_std: Annotated[np.ndarray, Array("L", 3, finite=False)]
    inertia_std: Annotated[np.ndarray, Array("L", 6, finite=False)]

    @property
    def half_widths(self) -> np.ndarray:
        """(L, 10) half of the 95 % intervals: mass, centre of mass, inertia about it."""
        return TWO_SIDED_STDS * np.hstack([self.std[:, [MASS]], self.com_std, self.inertia_std])


@dataclass(frozen=True, slots=True)
class IdentifiedLink:
    """Identified parameters of one link with their uncertainty and prior; link frame.

    Every interval contains 95 %, as (lower end, upper end); None for a published method.
    `Identification.notes` list the errors that the intervals include.

    Attributes:
        link: its name.
        mass: [kg].
        mass_interval: [kg].
        com: (3,) centre of mass [m].
        com_interval: 2 times (3,) [m].
        inertia: (3, 3) about the centre of mass [kg m^2].
        inertia_interval: 2 times (3, 3) [kg m^2], entry by entry.
        prior: mass, centre of mass and inertia before identification.
    """

    link: str
    mass: float
    mass_interval: tuple[float, float] | None
    com: np.ndarray
    com_interval: tuple[np.ndarray, np.ndarray] | None
    inertia: np.ndarray
    inertia_interval: tuple[np.ndarray, np.ndarray] | None
    prior: LinkInertia

    def __repr__(self) -> str:
        interval = "" if self.mass_interval is None else " ({:.3f} to {:.3f})".format(*self.mass_interval)
        com, prior_com = (", ".join(f"{1e3 * x:.1f}" for x in vector) for vector in (self.com, self.prior.com))
        return (
            f"{self.link}: {self.mass:.3f} kg{interval}, prior {self.prior.mass:.3f}\n"
            f"  CoM ({com}) mm, prior ({prior_com}); Ixx Iyy Izz at the CoM {_diagonal(self.inertia)} g m², "
            f"prior {_diagonal(self.prior.inertia)}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Identification(ArrayValue):
    """The result of one identification; ``found["right_thigh"]`` is the result for one link.

    Attributes:
        estimate: parameters, prior, status, names on bounds, kind of consistency.
        determined: what the data determine, in classes (`find_determined`); empty for a method without a posterior.
        weights: (6,) per axis, one over the residual's standard deviation [1/N, 1/(N m)].
        frames: number of frames used.
        trials: names of the trials used.
        base_link: at whose origin the wrench equation was written.
        uncertainty: the posterior's; None for a published method.
        comparisons: measured against reconstructed wrenches, on used and unused trials.
        flights: checks in flight.
        notes: sentences for the reader.
        frequency_weights: of the identified parameters and of the prior, with which their wrenches are reconstructed.
        covariance_root: (M, L, 10) changes of the parameters whose squares sum to their covariance under the posterior;
            None for a method without one.
        undecided_reason: sentence that says why the recordings do not decide the masses (`comparison`); empty if they
            do. The default method then returns the prior, scaled to the body's mass.
    """

    estimate: Estimate
    determined: tuple[DeterminedQuantity, ...]
    weights: Annotated[np.ndarray, Array(6)]
    frames: int
    trials: tuple[str, ...]
    base_link: str
    uncertainty: Uncertainty | None = None
    comparisons: tuple[Comparison, ...] = ()
    flights: tuple[FlightCheck, ...] = ()
    notes: tuple[str, ...] = field(default=())
    frequency_weights: PairedWeights = UNWEIGHTED
    covariance_root: Annotated[np.ndarray | None, Array(None, "L", 10)] = None
    undecided_reason: str = ""

    def __repr__(self) -> str:
        found, prior = self.parameters, self.prior
        most = int(np.argmax(np.abs(found.masses - prior.masses)))
        return (
            f"{self.undecided_reason}\n"
            * bool(self.undecided_reason)
            + f"Identification of {len(found.links)} links, {found.total_mass:.2f} kg, by {self.estimate.method} "
            f"({self.estimate.satisfies}; {self.estimate.status.value})\n"
            f"  from {abbreviate(self.trials)}: {self.frames} frames\n"
            f"  most changed: {found.links[most]} {found.masses[most]:.2f} kg, "
            f"prior {prior.masses[most]:.2f} kg"
        )

    def __getitem__(self, link: str) -> IdentifiedLink:
        """Result for one link: mass [kg], centre of mass [m], inertia [kg m^2], intervals, prior.

        Raises:
            UnknownLink: no such link; the message lists the links.
        """
        found, uncertainty, row = self.parameters[link], self.uncertainty, self.parameters.index(link)
        mass = com = inertia = None
        if uncertainty is not None:
            mass = float(uncertainty.lower[row, MASS]), float(uncertainty.upper[row, MASS])
            half_width = uncertainty.half_widths[row]
            com = found.com - half_width[FIRST_MOMENT], found.com + half_width[FIRST_MOMENT]
            about_com = symmetric_matrix(half_width[INERTIA])
            inertia = found.inertia - about_com, found.inertia + about_com
        return IdentifiedLink(link, found.mass, mass, found.com, com, found.inertia, inertia, self.prior[link])

    def __iter__(self) -> Iterator[IdentifiedLink]:
        """Results of the links, in the rig's order."""
        return (self[link] for link in self.parameters.links)

    def __len__(self) -> int:
        return len(self.parameters.links)

    def _repr_html_(self) -> str:
        """A table of every link for notebooks: mass [kg] with half of its 95 % interval, and prior [kg]."""
        rows = [
            (escape(one.link), f"{one.mass:.3f} ± {width[MASS]:.3f}", f"{one.prior.mass:.3f}")
            for one, width in zip(self, self.half_widths, strict=True)
        ]
        lines = ("</td><td>".join(row) for row in [("link", "mass [kg]", "prior [kg]"), *rows])
        return "<table>" + "".join(f"<tr><td>{line}</td></tr>" for line in lines) + "</table>"

    def to_dataframe(self) -> Any:
        """Parameters as a pandas ``DataFrame``, one row per link, link frame, SI units.

        Columns: link, mass, mass_lower, mass_upper and mass_prior [kg]; com_x to com_z and prior_com_x to prior_com_z
        [m]; i_xx to i_zz about the centre of mass [kg m^2].

        Raises:
            SolverError: pandas is not installed.
        """
        found, prior, spread = self.parameters, self.prior, self.uncertainty
        unknown = np.full(len(found.links), np.nan)
        columns: dict[str, Any] = {
            "link": list(found.links),
            "mass": found.masses,
            "mass_lower": unknown if spread is None else spread.lower[:, MASS],
            "mass_upper": unknown if spread is None else spread.upper[:, MASS],
            "mass_prior": prior.masses,
        }
        columns |= {f"com_{axis}": found.coms[:, k] for k, axis in enumerate("xyz")}
        columns |= {f"prior_com_{axis}": prior.coms[:, k] for k, axis in enumerate("xyz")}
        inertias = symmetric_entries(found.inertias_at_com)
        columns |= {f"i_{axes}": inertias[:, k] for k, axes in enumerate(INERTIA_AXES)}
        return build_data_frame(columns)

    @property
    def half_widths(self) -> np.ndarray:
        """(L, 10) as `Uncertainty.half_widths`; NaN if they are unknown."""
        unknown = np.full((len(self.parameters.links), PER_LINK), np.nan)
        return unknown if self.uncertainty is None else self.uncertainty.half_widths

    @property
    def parameters(self) -> InertialParameters:
        """The identified parameters."""
        return self.estimate.parameters

    @property
    def prior(self) -> InertialParameters:
        """Inertial parameters before identification."""
        return self.estimate.prior


def _diagonal(matrix: np.ndarray) -> str:
    return "(" + ", ".join(f"{1e3 * x:.2f}" for x in np.diag(matrix)) + ")"


def write_result_table(path: str | Path, result: SceneResult) -> None:
    """Write the inertial part of a result as CSV; unknown values are empty cells.

    Raises:
        InputError: the file cannot be written.
    """
    columns = {"identified": result.parameters.values, "lower end of 95 %": result.lower,
               "upper end of 95 %": result.upper, "prior": result.prior.values}  # fmt: skip
    known = {title: values for title, values in columns.items() if values is not None}
    bounded = find_bounded_parameters(result.at_bounds, result.links)
    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["link", "parameter", "unit", *known, "at a bound"])
        for i, link in enumerate(result.links):
            for j, parameter in enumerate(PARAMETERS):
                cells = ["" if not np.isfinite(v[i, j]) else f"{v[i, j]:.12g}" for v in known.values()]
                writer.writerow([link, parameter, UNITS[parameter[0]], *cells, "yes" if bounded[i, j] else ""])
