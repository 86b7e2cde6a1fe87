"""Laws of how a needed wrench changes with the motion."""

from __future__ import annotations

import numpy as np

from solver import hoap3
from solver.dynamics import difference, integrate
from solver.dynamics.wrench_derivatives import wrench_residual_derivatives
from solver.motion import Motion
from solver.pinocchio_loader import pin
from solver.rig import Rig
from solver.rigs import human

STEP, FRAMES, RATE = 1e-3, 3, 9.0


def curve(rig: Rig, motion: Motion, bend: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a of a motion displaced by ``share`` of bend sin(RATE t), by differences on the manifold."""
    steps = [STEP * side * motion.v + 0.5 * STEP**2 * side**2 * motion.a for side in (-1, 0, 1)]
    before, here, after = (
        integrate(
            rig, integrate(rig, motion.q, step), share * bend * np.sin(RATE * (motion.times + side * STEP))[:, None]
        )
        for side, step in zip((-1, 0, 1), steps)
    )
    ahead, behind = difference(rig, here, after), difference(rig, here, before)
    return here, (ahead - behind) / (2.0 * STEP), (ahead + behind) / STEP**2


def left(rig: Rig, measured: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Needed less measured wrench (N, 6), root axes, about the root's origin."""
    data = rig.model.createData()
    rows = []
    for row, wrench in enumerate(measured):
        needed = pin.rnea(rig.model, data, q[row], v[row], a[row])[:6].copy()
        pin.forwardKinematics(rig.model, data, q[row])
        rows.append(needed - data.oMi[1].actInv(pin.Force(wrench)).vector)
    return np.array(rows)


def check(rig: Rig) -> None:
    draw = np.random.default_rng(3)
    times = 0.3 + np.arange(FRAMES) * 0.1
    q = np.array([integrate(rig, rig.neutral, 0.3 * draw.standard_normal(rig.nv)) for _ in times])
    motion = Motion(times, q, draw.standard_normal((FRAMES, rig.nv)), 5.0 * draw.standard_normal((FRAMES, rig.nv)))
    measured = 50.0 * draw.standard_normal((FRAMES, 6))
    bend, share = draw.standard_normal(rig.nv), 1e-4
    there, back = (left(rig, measured, *curve(rig, motion, bend, side * share)) for side in (1.0, -1.0))
    slopes = wrench_residual_derivatives(rig, motion, measured)
    wave, rate = np.sin(RATE * times)[:, None], RATE * np.cos(RATE * times)[:, None]
    parts = ((slopes.position, wave), (slopes.rate, rate), (slopes.acceleration, -(RATE**2) * wave))
    wanted = np.sum([np.einsum("nri,ni->nr", slope, part * bend) for slope, part in parts], axis=0)
    found = (there - back) / (2.0 * share)
    np.testing.assert_allclose(found, wanted, atol=2e-3 * np.abs(wanted).max())


def test_derivatives_are_differences_for_revolute_joints() -> None:
    """A motion displaced by a wave requires the wrench that the derivatives predict, in the axes of its root."""
    check(hoap3())


def test_derivatives_are_differences_for_spherical_joints() -> None:
    """So does a person's, whose ball joints turn while they are bent."""
    check(human(1.7, 65.0, "female"))
