"""Laws of the nearest pairs of links: none is missed between measurements, and the derivatives are right."""

from __future__ import annotations

import numpy as np
import pytest

from solver.dynamics.coordinates import to_flat
from solver.options.checks import CheckOptions
from solver.posing.kinematics import PostureKinematics
from solver.posing.separation import Separation
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig


@pytest.fixture(params=["person", "HRP-2", "HOAP-3"])
def start(request: pytest.FixtureRequest) -> tuple[Rig, np.ndarray]:
    """A rig and flat coordinates (nv,)."""
    if request.param == "person":
        rig = human(1.75, 70.0, "male")
        return rig, to_flat(rig, np.array(rig.provenance["standing"]))
    rig = hrp2() if request.param == "HRP-2" else hoap3()
    return rig, to_flat(rig, rig.neutral)


def test_no_near_pair_is_missed(start: tuple[Rig, np.ndarray]) -> None:
    """On a random walk, the pairs are those of a separation that measures every pair anew, with the same distances."""
    rig, y = start
    generator = np.random.default_rng(2)
    kinematics = PostureKinematics(rig)
    kinematics.update(y)
    kept = Separation(kinematics, CheckOptions(), 0.0)
    found = 0
    for _ in range(60):
        y = y + generator.normal(size=rig.nv) * generator.choice([0.002, 0.03, 0.2])
        kinematics.update(y)
        kept.update(())
        anew = Separation(kinematics, CheckOptions(), 0.0)
        assert kept.names() == anew.names()
        np.testing.assert_allclose(kept.distances, anew.distances, atol=1e-12)
        found += len(kept.distances)
    assert found > 60


def test_derivatives_are_those_of_distances(start: tuple[Rig, np.ndarray]) -> None:
    """Central differences of the distances by each coordinate agree, in a posture without parallel faces."""
    rig, y = start
    y = y + 0.1 * np.random.default_rng(4).normal(size=rig.nv)
    kinematics = PostureKinematics(rig)
    kinematics.update(y)
    separation = Separation(kinematics, CheckOptions(), 0.0)
    rows, names = separation.rows(), separation.names()
    assert len(names)
    differences = np.full(rows.shape, np.nan)
    step = 1e-6
    for column in range(rig.nv):
        values = []
        for sign in (1.0, -1.0):
            moved = y.copy()
            moved[column] += sign * step
            kinematics.update(moved)
            separation.update(())
            values.append(dict(zip(separation.names(), separation.distances.tolist())))
        for row, name in enumerate(names):
            if names.count(name) == 1 and all(name in each for each in values):
                differences[row, column] = (values[0][name] - values[1][name]) / (2.0 * step)
    errors = np.abs(differences - rows)
    errors = errors[np.isfinite(errors)]
    assert len(errors)
    assert (errors < 1e-3).mean() > 0.9
