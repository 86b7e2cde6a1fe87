"""Bodies unknown to the identification: the robot as delivered, and a person who is not average."""

from __future__ import annotations

import numpy as np

from solver.rigs import hoap3
from solver.skeleton.rig import Rig
from solver.values.inertials import INERTIA, MASS, PER_LINK, InertialParameters, steiner, symmetric_entries

ROBOT_MASS = 7.9
"""[kg] of the paper's HOAP-3; CAD says 8.8."""
COVERED = ("right_thigh", "left_thigh", "right_shank", "left_shank")
"""Links of the leg that lost covers."""
ROBOT_SPREAD, PERSON_SPREAD = 0.05, 0.15
"""Standard deviation of a link's mass around its expectation, as a share of it; inertia follows the mass."""
COM_SHARE = 0.03
"""Standard deviation of a centre of mass, per axis, as a share of the link's box."""
SEED = 2016


def delivered_robot(cad: Rig, seed: int = SEED) -> InertialParameters:
    """HOAP-3 of 7.9 kg: the manufacturer's lighter trunk load, legs without covers, and every link a little off.

    The trunk is the table's row of 2.40 kg instead of CAD's 3.26 kg, which makes 7.94 kg. Every link's mass is then
    drawn with `ROBOT_SPREAD`, its centre of mass with `COM_SHARE` of its box; the thighs and shanks, whose covers were
    removed, give what the sum still exceeds 7.9 kg by.
    """
    lighter = hoap3("middle", torque=str(cad.provenance["torque"]))
    drawn = vary_inertials(lighter, lighter.prior, ROBOT_SPREAD, seed)
    values = drawn.values.copy()
    covered = [cad.index(link) for link in COVERED]
    excess = drawn.total_mass - ROBOT_MASS
    values[covered] *= 1.0 - excess / drawn.masses[covered].sum()
    return InertialParameters(cad.links, values)


def other_person(average: Rig, seed: int = SEED) -> InertialParameters:
    """A person of the table's mass whose links weigh `PERSON_SPREAD` more or less than the table's."""
    drawn = vary_inertials(average, average.prior, PERSON_SPREAD, seed)
    return drawn.scaled(average.prior.total_mass)


def vary_inertials(rig: Rig, prior: InertialParameters, spread: float, seed: int) -> InertialParameters:
    """Masses drawn log-normally around a prior's, centres of mass around theirs; inertias about them follow the mass.

    So each link stays a body that can exist.
    """
    generator = np.random.default_rng(seed)
    factors = np.exp(spread * generator.standard_normal(len(rig.links)))
    sizes = rig.boxes[:, 1] - rig.boxes[:, 0]
    coms = np.nan_to_num(prior.coms) + COM_SHARE * sizes * generator.standard_normal((len(rig.links), 3))
    masses = factors * prior.masses
    values = np.zeros((len(rig.links), PER_LINK))
    values[:, MASS] = masses
    values[:, 1:4] = masses[:, None] * coms
    values[:, INERTIA] = symmetric_entries(
        factors[:, None, None] * prior.inertias_at_com + masses[:, None, None] * steiner(coms)
    )
    return InertialParameters(rig.links, values)
