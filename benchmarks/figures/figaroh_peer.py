"""FIGAROH's own optimal exciting trajectory: a program for an interpreter that has figaroh and IPOPT.

    python figaroh_peer.py REQUEST.npz RESULT.npz

It imports nothing of this repository, for that interpreter need not have it. It searches as FIGAROH's examples do
(`BaseOptimalTrajectory`: waypoints at rest joined by polynomials, the condition number of the base regressor lowered by
IPOPT, a random start), once for every seed and number of waypoints requested, and measures motions by FIGAROH's
regressor and base columns.

Request: ``urdf``; ``joints`` (n,) that move, the others stay at ``rest``; ``lower``, ``upper``, ``speed``, ``torque``
(n,) limits; ``seconds``; ``rate`` of the search [1/s]; ``dense`` rate of the answer; ``waypoints`` and ``seeds`` to
try; ``iterations`` of IPOPT; ``times`` (N,), ``q``, ``v``, ``a`` (N, n) of another motion to measure. Result:
``condition`` of that motion; ``base`` (K,), FIGAROH's base columns, ten parameters for each joint; and for every
start ``ended`` (S,), whether FIGAROH keeps it, ``waypoints``, ``seeds``, ``processor`` [s], ``found`` (its condition
number), and ``times`` (M,), ``q``, ``v``, ``a`` (S, M, n), NaN where it failed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import yaml
from figaroh.optimal.base_optimal_trajectory import BaseOptimalTrajectory, BaseTrajectoryIPOPTProblem
from figaroh.tools.qrdecomposition import build_baseRegressor
from figaroh.tools.regressor import build_regressor_basic, build_regressor_reduced
from pinocchio.robot_wrapper import RobotWrapper

ATTEMPTS = 500
"""At a random start that keeps the limits, as in FIGAROH's examples."""


class Search(BaseOptimalTrajectory):
    """FIGAROH's search, with its own problem for IPOPT."""

    def create_ipopt_problem(self, *request: Any) -> Any:
        """As in FIGAROH's examples."""
        return BaseTrajectoryIPOPTProblem(self, *request)


def build_robot(request: Mapping[str, Any]) -> RobotWrapper:
    """The arm with the requested limits; joints that do not move are part of their links. Without shapes."""
    model = pin.buildModelFromUrdf(str(request["urdf"]))
    names = [str(name) for name in request["joints"]]
    still = [model.getJointId(name) for name in model.names[1:] if name not in names]
    if still:
        model = pin.buildReducedModel(model, still, pin.neutral(model))
    if list(model.names[1:]) != names:
        raise SystemExit(f"the joints are {', '.join(model.names[1:])}, not {', '.join(names)}")
    model.lowerPositionLimit, model.upperPositionLimit = request["lower"], request["upper"]
    model.velocityLimit, model.effortLimit = request["speed"], request["torque"]
    robot = RobotWrapper(model, pin.GeometryModel(), pin.GeometryModel())
    robot.geom_model = robot.collision_model
    return robot


def build_config(request: Mapping[str, Any], waypoints: int) -> dict[str, Any]:
    """As FIGAROH's example of the UR10 has it, but for the time, the rate and the iterations."""
    return {
        "robot": {
            "name": "arm",
            "properties": {
                "joints": {
                    "active_joints": [str(name) for name in request["joints"]],
                    "joint_limits": {
                        "position": [float(x) for pair in zip(request["lower"], request["upper"]) for x in pair],
                        "velocity": [float(x) for x in request["speed"]],
                        "torque": [float(x) for x in request["torque"]],
                    },
                },
            },
        },
        "tasks": {
            "identification": {
                "enabled": True,
                "problem": {
                    "include_external_forces": False,
                    "use_joint_torques": True,
                    "model_components": {"friction": False, "joint_offset": False, "actuator_inertia": False},
                },
                "signal_processing": {
                    "sampling_frequency": 500.0,
                    "cutoff_frequency": 50.0,
                    "filter_type": "butterworth",
                    "filter_order": 4,
                },
            },
            "optimal_trajectory": {
                "enabled": True,
                "problem": {
                    "soft_lim": 0.0,
                    "max_attempts": ATTEMPTS,
                    "max_iterations": int(request["iterations"]),
                },
                "trajectory": {
                    "waypoints": waypoints,
                    "frequency": int(request["rate"]),
                    "segment_duration": float(request["seconds"]) / (waypoints - 1),
                },
            },
        },
    }


def build_search(request: Mapping[str, Any], waypoints: int, folder: str) -> Search:
    """Ready to solve."""
    path = Path(folder) / f"config{waypoints}.yaml"
    path.write_text(yaml.safe_dump(build_config(request, waypoints)), encoding="utf-8")
    joints = [str(name) for name in request["joints"]]
    search = Search(build_robot(request), joints, str(path))
    model, settings = search.model, search.identif_config
    settings["active_joints"] = joints
    settings["act_Jid"] = [model.getJointId(name) for name in joints]
    settings["act_J"] = [model.joints[number] for number in settings["act_Jid"]]
    settings["act_idxq"] = [joint.idx_q for joint in settings["act_J"]]
    settings["act_idxv"] = [joint.idx_v for joint in settings["act_J"]]
    np.random.seed(0)  # noqa: NPY002 (FIGAROH draws from NumPy's global generator)
    search.initialize()
    return search


def compute_condition(search: Search, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    """By FIGAROH's regressor and base columns."""
    rows = build_regressor_basic(search.robot, q, v, a, search.identif_config)
    return float(np.linalg.cond(build_baseRegressor(build_regressor_reduced(rows, search.idx_e), search.idx_b)))


def main() -> None:
    """Answer."""
    request = np.load(sys.argv[1])
    dense = float(request["dense"])
    answer: dict[str, list[Any]] = {
        name: [] for name in ("ended", "waypoints", "seeds", "processor", "found", "q", "v", "a")
    }
    times = np.arange(round(float(request["seconds"]) * dense) + 1) / dense
    with tempfile.TemporaryDirectory() as folder:
        for waypoints in map(int, request["waypoints"]):
            search = build_search(request, waypoints, folder)
            own = compute_condition(search, request["q"], request["v"], request["a"])
            for seed in map(int, request["seeds"]):
                search.results = {**{name: [] for name in ("T_F", "P_F", "V_F", "A_F")}, "iteration_data": []}
                np.random.seed(seed)  # noqa: NPY002
                began = time.process_time()
                results = search.solve(stack_reps=1)
                spent = time.process_time() - began
                ended = bool(results["T_F"])
                curves = [np.full((len(times), len(request["joints"])), np.nan)] * 3
                found = np.nan
                if ended:
                    found = compute_condition(search, *(results[name][0] for name in ("P_F", "V_F", "A_F")))
                    # the spline is still the solution's: FIGAROH rebuilds it last
                    curves = [
                        np.array([search.CB.pc(t) if not order else search.CB.pc.derivate(t, order) for t in
                                  np.minimum(times, search.CB.pc.max())])
                        for order in range(3)
                    ]  # fmt: skip
                values = (ended, waypoints, seed, spent, found, *curves)
                for name, value in zip(answer, values):
                    answer[name].append(value)
                print(f"{waypoints} waypoints, seed {seed}: {found:.4g}, {spent:.0f} s", flush=True)
                base = np.delete(np.arange(10 * search.model.nv), search.idx_e)[search.idx_b]
                np.savez(sys.argv[2], condition=own, base=base, times=times, **answer)


if __name__ == "__main__":
    main()
