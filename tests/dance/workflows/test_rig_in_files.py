"""An identified rig is stored by value in every kind of file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.differences import differences
from solver.calibration.calibration import CALIBRATION, Calibration
from solver.dance.authoring.authored_dance import AUTHORED_DANCE
from solver.dance.design.dance import DESIGNED_DANCE, Dance
from solver.dance.workflows.loading import load_dance
from solver.options.checks import CheckOptions
from solver.rigs import human
from solver.scene.motion import scene_motion
from solver.scene.rig import RIG
from solver.scene.timeline import TIMELINE, SceneTimeline
from solver.skeleton.rig import Rig
from solver.tracking.tasks import Attachment
from solver.trajectory.segment import DanceSegment
from solver.values.inertials import InertialParameters
from tests.dance.example_dances import arm_swing

ROOT = Path(__file__).parents[3]
CODE = """
import sys
from solver.{module} import {kind}
from solver.scene.rig import RIG
found = {kind}.read(sys.argv[1])
RIG.write(sys.argv[2], getattr(found, "rig", found))
"""


@pytest.fixture(scope="module")
def identified() -> Rig:
    """A person whose identified inertials differ from those of the rig's recipe."""
    rig = human(1.75, 70.0, "male")
    spread = np.random.default_rng(5).uniform(0.9, 1.5, len(rig.links))
    prior = InertialParameters(rig.links, rig.prior.values * spread[:, None]).scaled(84.0)
    return rig.with_prior(prior, "identified")


def write_calibrated(folder: Path, rig: Rig) -> Path:
    """As `calibrate` does."""
    attachments = (Attachment("knee", rig.links[1], np.array([0.1, 0.0, 1.0 / 3.0]), 0.3),)
    value = Calibration(rig, attachments, "mine", 1.75, {"thigh": 0.4}, {"knee": float("nan")})
    return CALIBRATION.write(folder / "calibration.json", value)


def write_authored(folder: Path, rig: Rig) -> Path:
    """As `repair` does."""
    keyed = arm_swing(rig, 0.3, 0.3)
    return AUTHORED_DANCE.write(folder / "keyed.json", replace(keyed, checks=CheckOptions(shrink=0.3)))


def write_designed(folder: Path, rig: Rig) -> Path:
    """As `dance` does."""
    segment = DanceSegment("home", "hold", 1.0, np.zeros((6, rig.nv)), (), ())
    return DESIGNED_DANCE.write(folder / "dance.npz", Dance(rig, (segment,), CheckOptions(shrink=0.3), None))


def write_shown(folder: Path, rig: Rig) -> Path:
    """As a scene does."""
    shown = scene_motion(rig, arm_swing(rig, 0.3, 0.3).motion(10.0))
    timeline = SceneTimeline("shown", rig, shown.times, shown.root, shown.rotations, shown.translations)
    return TIMELINE.write(folder / "scene.timeline.npz", timeline)


WRITERS: dict[str, tuple[Callable[[Path, Rig], Path], str, str]] = {
    "rig": (lambda folder, rig: RIG.write(folder / "rig.json", rig), "scene.rig", "RIG"),
    "calibration": (write_calibrated, "calibration.calibration", "CALIBRATION"),
    "timeline": (write_shown, "scene.timeline", "TIMELINE"),
    "authored dance": (write_authored, "dance.authoring.authored_dance", "AUTHORED_DANCE"),
    "designed dance": (write_designed, "dance.design.dance", "DESIGNED_DANCE"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_an_identified_rig_comes_back_by_value(name: str, identified: Rig, tmp_path: Path) -> None:
    """Written, moved to another folder and read by another process, links, inertials, limits and shapes are equal."""
    write, module, kind = WRITERS[name]
    path = write(tmp_path, identified)
    (tmp_path / "elsewhere").mkdir()
    moved = path.rename(tmp_path / "elsewhere" / path.name)
    code = CODE.format(module=module, kind=kind)
    again = tmp_path / "again.json"
    done = subprocess.run(
        [sys.executable, "-c", code, str(moved), str(again)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert differences(RIG.read(again), identified) == ()


def test_loaded_dances_use_the_identified_body(identified: Rig, tmp_path: Path) -> None:
    """Every loaded dance has the identified body, not that of the recipe."""
    for write in (write_authored, write_designed):
        assert load_dance(write(tmp_path, identified)).rig.prior.total_mass == pytest.approx(84.0, abs=1e-12)
