"""Errors of a tracked motion that follow posture, as part of the covariance of the equations' errors.

Skin moves with the posture, and joint centres that are not exactly known let tracked links deviate with it. A link's
centre of mass is therefore displaced from its place in the tracked link by gains times the coordinates of the joints at
the link. The wrench error of a displacement is the column of the link's first moment times its mass. The gains belong
to the body: they are the same in every frame and trial, so no length of recording averages them out, and gravity
moments of slow motions, which have the same form, cannot be distinguished from them. The fit uses the covariance of the
errors and does not estimate the gains.

The origin of a link is an estimated joint centre. That displaces its centre of mass by a constant, which is the same as
another first moment: the parameters that explain a motion best contain it. It is therefore no error of the equations
but of the result, and `posterior` adds it to the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...coordinates import coordinate_links, joint_coordinates
from ...inertials import FIRST_MOMENT
from ...rig import Rig
from ...trial import Trial
from ..blocks import AXES
from ..equations import Equations

DISPLACEMENT_PER_RADIAN = 2e-3
"""[m/rad] Standard deviation of the displacement of a link's centre of mass along each axis, per radian of each
coordinate at the link: 3.5 mm in space. Skin markers move by 1.7 to 4.7 mm per radian, by segment (reviews: Leardini et
al. 2005, Gait Posture 21:212; Peters et al. 2010, Gait Posture 31:1). Chosen instead of 4 mm, with which half a run of
one person predicts the other half's forces and moments 3 % worse."""
JOINT_CENTRE_STD = 3.5e-3
"""[m] Standard deviation of a link's origin, an estimated joint centre, along each axis: estimated hip centres of ten
simulated volunteers are 6 mm from the true ones."""


@dataclass(frozen=True, slots=True)
class PostureErrors:
    """What the equations need to know about errors that follow posture.

    Attributes:
        gradients: of each axis (n, S), unweighted: products Y_b' e of the axis's base-parameter columns with the
            wrench errors e of S independent displacements of one standard deviation each.
        squares: (6,) sum of the squared wrench errors over all displacements.
    """

    gradients: tuple[np.ndarray, ...]
    squares: np.ndarray

    def merge(self, other: PostureErrors) -> PostureErrors:
        """Of both recordings: the same body, hence the same gains."""
        added = tuple(own + further for own, further in zip(self.gradients, other.gradients))
        return PostureErrors(added, self.squares + other.squares)


class PostureErrorAccumulator:
    """Sums the errors of a person's equations.

    Args:
        rig: a person.
        parameter_rows: per axis, the rows of the transposed regressor that belong to base parameters.
    """

    def __init__(self, rig: Rig, parameter_rows: Sequence[np.ndarray]) -> None:
        owners = [rig.index(link) for (link,) in coordinate_links(rig)]
        pairs = [
            (link, coordinate)
            for link in range(len(rig.links))
            for coordinate, owner in enumerate(owners)
            if link in (owner, rig.parents[owner])
        ]
        self.rig, self.parameter_rows = rig, parameter_rows
        self.links, self.coordinates = np.array(pairs).T
        self.masses = rig.prior.masses[self.links, None]
        self.gradients = [np.zeros((len(rows), 3 * len(self.links))) for rows in parameter_rows]
        self.squares = np.zeros(AXES)

    def add(self, trial: Trial, equations: Equations) -> None:
        """Add some of a trial's equations."""
        count = len(equations.frames)
        angles = joint_coordinates(self.rig, trial.motion.q[equations.frames])[:, self.coordinates].T
        moments = self.masses * DISPLACEMENT_PER_RADIAN * angles
        for axis, (row, used) in enumerate(zip(equations.rows, equations.used)):
            columns = row.reshape(-1, len(self.rig.links), count)[FIRST_MOMENT][:, self.links]
            errors = (columns * (moments * used)).reshape(-1, count)
            self.gradients[axis] += row[self.parameter_rows[axis]] @ errors.T
            self.squares[axis] += float(np.sum(errors**2))

    def finish(self) -> PostureErrors:
        """The sums."""
        return PostureErrors(tuple(self.gradients), self.squares)
