"""Sample recordings: complete, small, repeatable and labelled, and the tutorial runs on them as it is written."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import solver
from solver.cli import main
from solver.demo.person import HEIGHT, MASS, SEX, simulate_person
from solver.demo.samples import CLIP, PERSON, ROBOT, TEST, write_bvh, write_samples
from solver.dynamics import link_motions
from solver.formats.recording import read_recording

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "researcher.md"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples."""
    return write_samples(tmp_path_factory.mktemp("home") / "samples")


def test_samples_are_small_and_labelled(samples: Path) -> None:
    """They take at most 2 MB, every folder and clip is called simulated, and the description says so first."""
    files = [path for path in samples.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 2e6
    named = [path for path in samples.iterdir() if not path.name.startswith((".", "README"))]
    assert all(path.name.startswith("simulated") for path in named)
    assert (samples / "README.txt").read_text(encoding="utf-8").startswith("Simulated")


def test_samples_are_read_as_recordings(samples: Path) -> None:
    """Each folder holds the trials that the description names."""
    names = {folder: [trial.name for trial in solver.load(samples / folder)] for folder in (PERSON, TEST, ROBOT)}
    assert names == {PERSON: ["dance", "left_leg", "static"], TEST: ["test"], ROBOT: ["dance"]}


def test_the_same_seed_writes_the_same_samples(samples: Path, tmp_path: Path) -> None:
    """A second run writes equal files."""
    again = write_samples(tmp_path / "again")
    files = [path.relative_to(samples) for path in samples.rglob("*.*") if not path.name.startswith(".")]
    assert len(files) > 8
    assert all((again / path).read_bytes() == (samples / path).read_bytes() for path in files)


def test_the_clip_holds_the_motion(tmp_path: Path) -> None:
    """Reading the clip gives the origin of every link in every frame, to the file's digits."""
    person = simulate_person(3, 1.0, trials=("dance",))
    motion = person.motions["dance"].frames(slice(None, None, 10))
    write_bvh(tmp_path / CLIP, person.rig, motion)
    found = read_recording(tmp_path / CLIP).segments
    assert found is not None
    assert set(found.names) == set(person.rig.links)
    order = [found.names.index(link) for link in person.rig.links]
    expected = link_motions(person.rig, motion)
    apart = found.positions[:, order] - expected.position.transpose(2, 1, 0)
    np.testing.assert_allclose(apart - apart[:, :1], 0.0, atol=2e-5)
    np.testing.assert_allclose(apart[:, 0] - apart[0, 0], 0.0, atol=2e-5)


def test_the_tutorial_runs_on_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the tutorial up to the dance runs as it is written and ends with success."""
    blocks = re.findall(r"```sh\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL)
    commands = [shlex.split(line) for block in blocks for line in block.splitlines()]
    verbs = [words[1] for words in commands]
    assert verbs[:3] == ["samples", "identify", "compare"]
    monkeypatch.chdir(tmp_path)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        for words in commands[:3]:
            assert main([*words[1:], "--progress", "none"]) == 0
    assert (tmp_path / "results" / "report.html").is_file()
    stated = commands[1]
    assert stated[stated.index("--height") + 1 :][0] == f"{HEIGHT:g}"
    assert stated[stated.index("--mass") + 1] == f"{MASS:g}"
    assert stated[stated.index("--sex") + 1] == SEX
