"""A person on hands and knees, for tests: where the patches touch is given, the joints are solved for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import least_squares

from solver.dynamics.coordinates import to_manifold
from solver.dynamics.mechanics import Mechanics
from solver.feasibility.checks.planted_feet import patch_points
from solver.rigs import human
from solver.rigs.contact_patches import with_patches
from solver.skeleton.rig import ROOT_NV, Rig
from solver.values.motion import Motion

PATCHES = ("right_palm", "left_palm", "right_knee", "left_knee")
WELL = 1e-9
"""[m] Corners so near to their places are there."""
REST = 1e-2
"""Weight of a joint's angle, and of the root's place, against metres."""


def person() -> Rig:
    """With patches on hands and knees."""
    return with_patches(human(1.75, 70.0, "female"), ["hands", "knees"])


def places(rig: Rig, hands: float, apart: float = 0.40, inwards: float = 0.3) -> dict[str, np.ndarray]:
    """Corners (V, 3) [m] on the floor of palms that point ahead and of knees under the hips; hands so far ahead."""
    found = {}
    for name in PATCHES:
        patch, sign = rig.patch(name), 1.0 if "left" in name else -1.0
        palm = "palm" in name
        hip = rig.joints[rig.index(f"{name.split('_')[0]}_thigh")].position[1]
        # the patch's link axes in the world: hands point ahead, shanks back, both with x down
        ahead = 1.0 if palm else -1.0
        axes = np.array([[0.0, 0.0, -ahead], [0.0, -ahead, 0.0], [-1.0, 0.0, 0.0]])
        normal = axes @ patch.outward
        tilt = np.arctan2(normal[0], -normal[2])  # about y, until the patch lies level
        level = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
        turned = (patch.vertices - patch.centroid) @ (level @ axes).T
        if palm:
            yaw = -sign * inwards
            turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
            turned = turned @ turn.T
        middle = [hands if palm else 0.0, sign * 0.5 * apart if palm else hip, 0.0]
        found[name] = turned + middle
    return found


def posture(rig: Rig, wanted: Mapping[str, np.ndarray], start: np.ndarray | None = None) -> np.ndarray:
    """Flat coordinates (nv,) of a posture whose patches have their corners (V, 3) [m] there.

    Raises:
        AssertionError: none was found.
    """
    nv = rig.nv
    lower = np.concatenate([np.full(ROOT_NV, -10.0), np.maximum(rig.limits.lower + 0.02, -10.0)])
    upper = np.concatenate([np.full(ROOT_NV, 10.0), np.minimum(rig.limits.upper - 0.02, 10.0)])
    rest = start_of(rig) if start is None else start
    rest = np.clip(rest, lower + 1e-6, upper - 1e-6)
    mechanics = Mechanics(rig)

    def missed(y: np.ndarray) -> np.ndarray:
        curves = to_manifold(rig, np.atleast_2d(y), *(np.zeros((2, len(np.atleast_2d(y)), nv))))
        state = mechanics.compute_state(curves.q, curves.v, curves.a)
        corners = [patch_points(rig, state.rotation, state.position, name) - wanted[name] for name in wanted]
        return np.concatenate([each.reshape(len(curves.q), -1) for each in corners], axis=1).reshape(*y.shape[:-1], -1)

    def slopes(y: np.ndarray) -> np.ndarray:
        steps = 1e-6 * np.eye(nv)
        return ((missed(y + steps) - missed(y - steps)) / 2e-6).T

    y = rest
    for weight in (REST, 0.01 * REST, 0.0):
        about = y if weight == 0.0 else rest
        w = max(weight, 1e-9) * np.where(np.arange(nv) < 3, 100.0, 1.0)  # the root goes where it is put
        y = least_squares(
            lambda x, w=w, c=about: np.concatenate([missed(x), w * (x - c)]), np.clip(y, lower + 1e-9, upper - 1e-9),
            lambda x, w=w: np.vstack([slopes(x), np.diag(w)]), bounds=(lower, upper),
            xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=100,
        ).x  # fmt: skip
    assert np.abs(missed(y)).max() < WELL, f"the patches miss their places by {np.abs(missed(y)).max():g} m"
    return y


def start_of(rig: Rig) -> np.ndarray:
    """Flat coordinates near to hands and knees."""
    y = np.zeros(rig.nv)
    y[:ROOT_NV] = [0.11, 0.0, 0.5, 0.0, np.pi / 2, 0.0]
    firsts = np.cumsum([0, *(joint.nv for joint in rig.joints)])

    def put(link: str, values: tuple[float, ...]) -> None:
        k = rig.index(link)
        y[firsts[k] : firsts[k + 1]] = values

    for side, sign in (("right", 1.0), ("left", -1.0)):
        put(f"{side}_thigh", (0.0, -np.pi / 2, 0.0))
        put(f"{side}_shank", (np.pi / 2,))
        put(f"{side}_foot", (0.0, np.radians(58.0), 0.0))
        put(f"{side}_upper_arm", (-sign * 1.2, -1.2, sign * 1.2))
        put(f"{side}_forearm", (0.1,))
        put(f"{side}_hand", (-sign * 1.2, 1.2, sign * 1.2))
    return y


def still(rig: Rig, y: np.ndarray, times: np.ndarray) -> Motion:
    """The posture held."""
    rows = np.tile(y, (len(times), 1))
    return to_manifold(rig, rows, np.zeros_like(rows), np.zeros_like(rows)).motion(times)
