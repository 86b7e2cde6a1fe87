"""FIGAROH as the peer of arms' exciting motions, in its own interpreter: it measures what we measure."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures.fixed_base import PEER, SCRIPT, on_columns
from solver.fixed_base.exciting_motions import ExcitingOptions, build_margins, compute_condition
from solver.fixed_base.robot import FixedBaseRobot
from solver.rigs import from_urdf
from tests.fixed_base.arm import arm_text, swings

RATE = 50.0


def test_both_measure_the_same_number(tmp_path: Path) -> None:
    """The condition number of a motion by its regressor and base columns is ours by these columns, and its own motion
    keeps the requested ranges and speeds."""
    interpreter = os.environ.get(PEER)
    if not interpreter:
        pytest.skip(f"{PEER} names no interpreter with figaroh and IPOPT")
    path = tmp_path / "arm.urdf"
    path.write_text(arm_text().replace('"prismatic"', '"revolute"'), encoding="utf-8")
    rig = from_urdf(path)
    bench = FixedBaseRobot(rig, drives=False)
    margins = build_margins(bench, ExcitingOptions())
    times, q, v, a = swings(bench, 4.0, RATE)
    joints = {link: joint.name for link, joint in zip(rig.links, rig.joints)}
    request, result = tmp_path / "request.npz", tmp_path / "result.npz"
    np.savez(
        request, urdf=str(path), joints=[joints[name] for name in bench.names], lower=margins.lower,
            upper=margins.upper,
        speed=margins.speed, torque=margins.torque, seconds=4.0, rate=RATE, dense=RATE, waypoints=[4], seeds=[1],
        iterations=5, times=times, q=q, v=v, a=a,
    )  # fmt: skip
    subprocess.run([interpreter, SCRIPT, request, result], check=True, capture_output=True)
    peer = dict(np.load(result))
    other = on_columns(bench, peer["base"])
    assert len(peer["base"]) == len(bench.independent_columns)
    own = compute_condition(other, bench.motion(times, q, v, a))
    np.testing.assert_allclose(own, float(peer["condition"]), rtol=1e-6)
    for k in np.flatnonzero(peer["ended"]):
        found = bench.motion(peer["times"], *(peer[part][k] for part in "qva"))
        np.testing.assert_allclose(compute_condition(other, found), peer["found"][k], rtol=0.05)
        assert (np.abs(peer["v"][k]) <= margins.speed * 1.01).all()
