"""What the program writes about a robot is read again: its own motion, results, rig and model file.

`reread_robots` is a group of cells for the table of inputs. The motion of each robot is simulated: all joints swing
within their ranges while the root sways, and one plate measures the whole wrench, from the inertials of the file.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from solver.base.errors import SolverError
from solver.cli import main as run_verb
from solver.cli.exit_codes import WRONG_INPUT
from solver.dynamics import ground_wrench, integrate
from solver.formats.csv_tables import write_wrenches_csv
from solver.formats.joint_coordinates import write_coordinates
from solver.formats.model_writer import identified_model_name
from solver.scene.rig import load_rig
from solver.signals import preset_of, smooth_motion
from solver.skeleton.rig import Rig
from solver.values.wrenches import Wrenches

from .models import G1, HUMANS, ICUB, model_file

ROBOTS = (("h1_description", "urdf", "h1.urdf"), ("h1_description", "mjcf", "h1.xml"), HUMANS[48], HUMANS[66], ICUB, G1)
SECONDS, RATE = 4.0, 100.0
SWING, SWAY = 0.3, 0.03
"""[rad, m] Largest swing of a joint; sway of the root."""
QUICK = "--no-cross-validation --report-only mismatch"
"""The simulated feet do not stay on the plate."""
STEPS = {
    "identified": f"identify {{lab}} --rig {{body}} {QUICK} --output {{home}}/first",
    "its rig.urdf": "identify {first}/moves.joints.csv {lab}/moves_wrenches.csv --rig {first}/rig.urdf "
    f"{QUICK} --output {{home}}/again",
    "its own file": f"identify {{lab}} --rig {{own}} {QUICK} --output {{home}}/own",
    "compared": "compare {first} {first}/moves.joints.csv {lab}/moves_wrenches.csv --report-only mismatch",
    "checked": "check {first}",
    "centroidal": "centroidal {first} --output {home}/centroidal",
    "moments": "moments {first} --output {home}/moments",
    "retargeted": "retarget {first} hoap3 --no-repair --output {home}/retargeted",
}
"""What is done with each robot, by what it shows."""


def record(rig: Rig, folder: Path) -> None:
    """Write a simulated robot's joint coordinates and the wrench of one plate."""
    times = np.arange(round(SECONDS * RATE)) / RATE
    waves = np.sin(np.outer(times, 2.0 * np.pi * (0.4 + 0.23 * np.arange(rig.nv) % 1.1)) + np.arange(rig.nv))
    low, high = np.clip(rig.limits.lower, -SWING, SWING), np.clip(rig.limits.upper, -SWING, SWING)
    middle, half = np.r_[np.zeros(6), 0.5 * (high + low)], np.r_[np.full(6, SWAY), 0.5 * (high - low)]
    motion = smooth_motion(rig, times, integrate(rig, rig.neutral, middle + half * waves), preset_of("human_8hz"))
    folder.mkdir()
    write_coordinates(folder / "moves_joints.csv", rig, motion, degrees=False)
    wrenches = Wrenches(motion.times, ("plate",), ground_wrench(rig, motion, rig.prior)[:, None])
    write_wrenches_csv(folder / "moves_wrenches.csv", wrenches)


def reread_robots(home: Path) -> Iterator[tuple[str, str]]:
    """Each step of each robot at hand (48 CPU s for five), and what is wrong with it; empty if it is as it must be.

    Args:
        home: an empty folder for what is written.
    """
    for number, source in enumerate(filter(None, map(model_file, ROBOTS))):
        own = home / str(number)
        own.mkdir()
        body = own / source.name
        if source.parent.name in ("urdf", "mjcf"):  # with its meshes
            shutil.copytree(source.parent.parent, own / "model")
            body = own / "model" / source.parent.name / source.name
        shutil.copy(source, body)
        try:
            record(load_rig(body), own / "lab")
        except SolverError as error:
            yield f"{source.name}, read", str(error)
            continue
        written = body.parent / identified_model_name(body)
        names = {"lab": own / "lab", "body": body, "home": own, "first": own / "first", "own": written}
        for step, words in STEPS.items():
            said = StringIO()
            with redirect_stdout(StringIO()), redirect_stderr(said):
                code = run_verb([*words.format(**names).split(), "--progress", "none"])
            yield f"{source.name}, {step}", said.getvalue().rpartition("error: ")[2] if code == WRONG_INPUT else ""
            if step == "identified" and (own / "first" / written.name).exists():
                shutil.copy(own / "first" / written.name, written)
