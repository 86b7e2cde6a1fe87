"""Sample recordings: a small simulated study to try the program on, with a person, a robot and a motion clip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..dynamics import link_motions
from ..skeleton.rig import Rig
from ..storage.atomic import write_atomically
from ..storage.output_folder import write_folder
from ..values.motion import Motion
from .laboratory import to_y_up
from .person import HEIGHT, MASS, SEX, record_person, simulate_person
from .robot import simulate_robot

PERSON, TEST, ROBOT, CLIP = "simulated_person", "simulated_test", "simulated_robot", "simulated_dance.bvh"
TRIAL_SECONDS, TEST_SECONDS, STATIC_SECONDS, ROBOT_SECONDS = 4.0, 3.0, 1.0, 4.0
ROBOT_RATE = 100
"""[1/s] A choice for the simulated robot."""
CLIP_STEP = 8
"""Frames of the motion for one frame of the clip, which has 25 a second."""
CENTIMETRES = 100.0
"""Of a metre. By definition."""
README = f"""Simulated sample recordings
===========================

Everything in this folder is simulated: bodies, motions and noise. The person is {HEIGHT} m tall and weighs {MASS:g} kg
({SEX}).

{PERSON}/   markers (.trc) and ground reaction forces (.mot) of a static trial, a dance and a motion on one foot
{TEST}/     another whole-body motion of the same person, to test the result on
{ROBOT}/    joint coordinates and foot wrenches of HRP-2 (.csv)
{CLIP}   the person's first motion as a motion-capture clip

Try in this folder (in a clone of the source with its `dance solver` instead of `exciting-dance`):
  exciting-dance identify {PERSON} --height {HEIGHT} --mass {MASS:g} --sex {SEX} --output results
  exciting-dance compare results {TEST}
  exciting-dance identify {ROBOT} --rig hrp2 --output results_robot
  exciting-dance retarget {CLIP} hoap3 --output dance_hoap3
"""


def write_samples(folder: str | Path, seed: int = 1) -> Path:
    """Write the samples into a folder, all of them or none; returns the folder.

    Args:
        folder: need not exist.
        seed: of bodies, motions and noise.

    Raises:
        InputError: the folder cannot be written, or holds other files of the same names.

    Example:
        >>> import tempfile
        >>> from solver.demo.samples import write_samples
        >>> folder = write_samples(tempfile.mkdtemp() + "/samples")
        >>> sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        ['README.txt', ..., 'simulated_dance.bvh', 'simulated_person', 'simulated_robot', 'simulated_test']
    """
    person = simulate_person(seed, TRIAL_SECONDS, trials=("dance", "left_leg"))
    static = person.motions["static"]
    short = static.part(0, int(STATIC_SECONDS / (static.times[1] - static.times[0])) + 1)
    trials = {**person.motions, "static": short}
    other = simulate_person(seed, TEST_SECONDS, trials=("dance",), motion_seed=seed + 1).motions["dance"]
    with write_folder(folder) as new:
        for name, motions, noise_seed in (
            (PERSON, trials, seed),
            (TEST, {"test": other}, seed + 1),
        ):
            (new / name).mkdir()
            record_person(replace(person, motions=motions), new / name, noise_seed)
        (new / ROBOT).mkdir()
        simulate_robot(seed, trials=("dance",), seconds=ROBOT_SECONDS, rate=ROBOT_RATE).write(new / ROBOT)
        write_bvh(new / CLIP, person.rig, person.motions["dance"].frames(slice(None, None, CLIP_STEP)))
        (new / "README.txt").write_text(README, encoding="utf-8")
    return Path(folder)


def write_bvh(path: Path, rig: Rig, motion: Motion) -> None:
    """Write a motion as a motion-capture clip: centimetres, y up, rotations in the order z, x, y.

    In the rest pose, with all channels at zero, the body is in its neutral posture.
    """
    rest = link_motions(rig, Motion(np.zeros(1), rig.neutral[None], np.zeros((1, rig.nv)), np.zeros((1, rig.nv))))
    moving = link_motions(rig, motion)
    # axes r and s of the world, axes c of the link, links l, frames n
    turned = np.einsum("rcln,scl->lnrs", moving.rotation, rest.rotation[..., 0])
    up = to_y_up(np.eye(3)).T
    turned = up @ turned @ up.T
    heads = CENTIMETRES * to_y_up(rest.position[..., 0].T)
    columns = [CENTIMETRES * to_y_up(moving.position[:, 0].T)]
    lines = ["HIERARCHY"]

    def write_joint(link: int, depth: int) -> None:
        parent, indent = rig.parents[link], "  " * depth
        local = turned[link] if parent < 0 else turned[parent].swapaxes(1, 2) @ turned[link]
        z, y = np.arctan2(-local[:, 0, 1], local[:, 1, 1]), np.arctan2(-local[:, 2, 0], local[:, 2, 2])
        columns.append(np.degrees(np.stack([z, np.arcsin(local[:, 2, 1].clip(-1.0, 1.0)), y], axis=1)))
        offset = heads[link] - (heads[parent] if parent >= 0 else 0.0)
        position = "Xposition Yposition Zposition " if parent < 0 else ""
        lines.extend(
            [
                f"{indent}{'ROOT' if parent < 0 else 'JOINT'} {rig.links[link]}",
                f"{indent}{{",
                f"{indent}  OFFSET {_join(offset)}",
                f"{indent}  CHANNELS {6 if parent < 0 else 3} {position}Zrotation Xrotation Yrotation",
            ]
        )
        children = [child for child in range(len(rig.links)) if rig.parents[child] == link]
        for child in children:
            write_joint(child, depth + 1)
        if not children:
            side, axis = np.unravel_index(np.abs(rig.boxes[link]).argmax(), (2, 3))
            tip = CENTIMETRES * to_y_up(rest.rotation[:, axis, link, 0] * rig.boxes[link][side, axis])
            lines.extend([f"{indent}  End Site", f"{indent}  {{", f"{indent}    OFFSET {_join(tip)}", f"{indent}  }}"])
        lines.append(f"{indent}}}")

    write_joint(0, 0)
    table = np.hstack(columns)
    frame_time = float(motion.times[1] - motion.times[0])
    with write_atomically(path) as stream:
        stream.write("\n".join(lines))
        stream.write(f"\nMOTION\nFrames: {len(table)}\nFrame Time: {frame_time:.6f}\n")
        stream.writelines(" ".join(f"{value:.4f}" for value in row) + "\n" for row in table)


def _join(vector: np.ndarray) -> str:
    return " ".join(f"{value:.4f}" for value in vector)
