"""A plan from a dance's exported table (.csv or .npz) and the rig: nothing else of the dance is read."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from solver.base.so3 import to_quaternion
from solver.contacts.schedule import Anchor, Phase, Schedule, stance
from solver.dance.design.dance import DESIGNED_DANCE, Dance
from solver.dance.workflows.export import export
from solver.dynamics import difference, integrate, link_motions
from solver.formats.csv_tables import read_table
from solver.formats.joint_coordinates import TORQUE_SUFFIX, coordinate_names
from solver.skeleton.rig import ROOT_NV, Rig
from solver.values.motion import Motion

from .performance import Plan, plan

LIFTED = 1e-5
"""[m] Height of a sole's lowest corner above the plane of the other sole from which it is lifted."""


def exported_plan(dance: Dance, rate: float) -> Plan:
    """The plan of a dance from the table that `export` writes at a rate [1/s]."""
    with TemporaryDirectory() as folder:
        whole, table = Path(folder) / "dance.npz", Path(folder) / "dance.csv"
        DESIGNED_DANCE.write(whole, dance)
        export(whole, table, rate)
        return read_plan(dance.rig, table)


def read_plan(rig: Rig, path: Path) -> Plan:
    """The plan of a file that `export` wrote, with the file's torques.

    Neither states contacts, and a table (.csv) not the root: it follows from the soles (`find_stances`).
    """
    names = coordinate_names(rig)[ROOT_NV:]
    if path.suffix == ".npz":
        with np.load(path) as file:
            times, angles, torques = (file[name] for name in ("joint_times", "angles", "torques"))
    else:
        table = read_table(path)
        columns, times = dict(zip(table.names, table.values.T)), table.times
        angles, torques = (np.column_stack([columns[name + end] for name in names]) for end in ("", TORQUE_SUFFIX))
    q = integrate(rig, rig.neutral, np.column_stack([np.zeros((len(times), ROOT_NV)), angles]))
    root, planted = find_stances(rig, times, q)
    q[:, : ROOT_NV + 1] = root
    step = difference(rig, q[:-1], q[1:]) / np.diff(times)[:, None]
    v = 0.5 * (np.concatenate([step[:1], step]) + np.concatenate([step, step[-1:]]))
    motion = Motion(times, q, v, np.gradient(v, times, axis=0))
    phases: list[Phase] = []
    stop = 0
    for anchors, run in groupby(planted, lambda own: tuple(own.values())):
        start, stop = stop, stop + len(list(run))
        if stop > start + 1:
            phases.append(Phase(phases[-1].stop if phases else times[0], times[min(stop, len(times) - 1)], anchors))
    return replace(plan(rig, motion, Schedule(tuple(phases))), torques=torques)


def find_stances(rig: Rig, times: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, list[dict[str, Anchor]]]:
    """Poses of the root (N, 7) and the planted soles of each frame.

    Both soles are flat on the floor at first. A sole above the plane of the other is lifted, and comes down where the
    sole that stands lets it.

    Args:
        rig: that dances.
        times: (N,) [s].
        q: (N, nq) configurations with the root at its neutral pose.
    """
    placed = link_motions(rig, Motion(times, q, np.zeros((len(q), rig.nv)), np.zeros((len(q), rig.nv))))
    planted = {anchor.patch: anchor for anchor in stance(rig, "both")}
    (first, one), (second, other) = ((anchor, rig.index(rig.patch(anchor.patch).link)) for anchor in planted.values())
    above = {}
    for anchor, own, lower, below in ((first, one, second, other), (second, other, first, one)):
        turn, place = (np.moveaxis(part[..., own, :], -1, 0) for part in (placed.rotation, placed.position))
        base, at = (np.moveaxis(part[..., below, :], -1, 0) for part in (placed.rotation, placed.position))
        corners = rig.patch(anchor.patch).vertices @ turn.swapaxes(1, 2) + place[:, None]
        floor = rig.patch(lower.patch).vertices.mean(axis=0)
        normal = base @ lower.rotation[2]
        rises = np.einsum("nvi,ni->nv", corners - at[:, None] - (base @ floor)[:, None], normal)
        above[anchor.patch] = rises.min(axis=1) > LIFTED
    stands, roots = first.patch, np.empty((len(q), ROOT_NV + 1))
    found: list[dict[str, Anchor]] = []
    for k in range(len(q)):
        down = [name for name in above if not above[name][k]] or [stands]
        if stands not in down:
            stands = down[0]
        anchor, link = planted[stands], rig.index(rig.patch(stands).link)
        turn = anchor.rotation @ placed.rotation[:, :, link, k].T
        place = anchor.position - turn @ placed.position[:, link, k]
        roots[k] = np.concatenate([place, to_quaternion(turn)])
        for name in down:
            own = rig.index(rig.patch(name).link)
            if not (found and name in found[-1]) and k:
                planted[name] = Anchor(
                    name, turn @ placed.rotation[:, :, own, k], turn @ placed.position[:, own, k] + place
                )
        found.append({name: planted[name] for name in down})
    return roots, found
