"""Laws of the selection of tests that a change affects, on small repositories written by the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.affected import forecast
from tests.import_graph import ROOT, ImportGraph

FILES = {
    "body/__init__.py": "from .arm import bend\n",
    "body/arm.py": "from . import bone\n\ndef bend():\n    return bone.LENGTH\n",
    "body/bone.py": "LENGTH = 1.0\n",
    "body/leg.py": "def kick():\n    import tools.scale\n",
    "tools/scale.py": "SCALE = 2.0\n",
    "pages/manual.md": "How to dance.\n",
    "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\npythonpath = ['.']\n",
    "tests/arms/conftest.py": "",
    "tests/arms/test_bend.py": "from body import bend\n\ndef test_bend():\n    assert bend() == 1.0\n",
    "tests/test_kick.py": "from body.leg import kick\n\ndef test_kick():\n    kick()\n",
    "tests/test_whole.py": "import body\n\ndef test_whole():\n    assert body.bend() == 1.0\n",
    "tests/test_started.py": "COMMAND = ['python', '-m', 'tools.scale']\n\ndef test_started():\n    pass\n",
    "tests/test_manual.py": "PAGES = 'pages'\n\ndef test_manual():\n    pass\n",
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with all files committed on the branch ``main``."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    run(tmp_path, "git", "init", "-q", "-b", "main")
    commit(tmp_path)
    return tmp_path


def run(folder: Path, *command: str) -> str:
    """Output of a command that must succeed."""
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTEST_"))}
    done = subprocess.run(
        command, cwd=folder, env=environment | dict.fromkeys(names, "tester"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commit(folder: Path) -> None:
    """Commit everything."""
    run(folder, "git", "add", "--all")
    run(folder, "git", "commit", "-q", "-m", "Change something")


@pytest.mark.parametrize(
    ("changed", "affected"),
    [
        ("body/bone.py", {"tests/arms/test_bend.py", "tests/test_whole.py"}),
        ("body/leg.py", {"tests/test_kick.py"}),
        ("tools/scale.py", {"tests/test_kick.py", "tests/test_started.py"}),
        ("body/__init__.py", {"tests/arms/test_bend.py", "tests/test_kick.py", "tests/test_whole.py"}),
        ("pages/manual.md", {"tests/test_manual.py"}),
        ("tests/arms/conftest.py", {"tests/arms/test_bend.py"}),
        ("tests/test_whole.py", {"tests/test_whole.py"}),
    ],
)
def test_a_change_affects_the_tests_that_use_it(clone: Path, changed: str, affected: set[str]) -> None:
    """A test is affected by its own file and by all that it uses: imports at any depth, programs, pages, fixtures."""
    found = ImportGraph(clone).affected_by([changed])
    assert {name for name in found if Path(name).name.startswith("test_")} == affected


def pytest_in(clone: Path, *options: str) -> str:
    """Output of pytest in a clone with this repository's options for changes."""
    (clone / "tests" / "conftest.py").write_text("pytest_plugins = ('tests.affected',)\n")
    for name in ("affected.py", "import_graph.py"):
        shutil.copy(ROOT / "tests" / name, clone / "tests" / name)
    (clone / ".gitignore").write_text("__pycache__\n.pytest_cache\n")
    if "tests/conftest.py" not in run(clone, "git", "ls-files"):
        commit(clone)
    return run(clone, sys.executable, "-m", "pytest", *options)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_only_affected_tests_run(clone: Path, workers: tuple[str, ...]) -> None:
    """With ``--changed`` only affected tests run, with and without workers; with no change none does, and that passes.

    The second run knows how long the first one took.
    """
    assert "0 files changed, 0 test files affected" in pytest_in(clone, "--changed", *workers)
    (clone / "body" / "bone.py").write_text("LENGTH = 1.0  # m\n")
    first = pytest_in(clone, "--changed", *workers)
    assert "1 files changed, 2 test files affected" in first
    assert "2 tests: no record yet of how long they take" in first
    assert "2 passed" in first
    commit(clone)
    second = pytest_in(clone, "--changed", "--base", "HEAD~1", *workers)
    assert "2 tests: about 0 s by their last run" in second
    assert "2 passed" in second


def test_a_change_of_the_configuration_affects_all(clone: Path) -> None:
    """Every test depends on pytest's configuration, which no test imports."""
    pytest_in(clone, "--changed")
    (clone / "pyproject.toml").write_text(FILES["pyproject.toml"] + "\n")
    assert "5 passed" in pytest_in(clone, "--changed")


def test_an_unknown_base_is_refused(clone: Path) -> None:
    """An unknown base is an error that names it, not a run without tests."""
    pytest_in(clone)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--changed", "--base", "nowhere"], cwd=clone, capture_output=True, text=True
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--base nowhere: git knows no such commit" in done.stderr


def test_a_forecast_is_at_least_the_longest_file() -> None:
    """Two workers halve the total time but not that of a file, which one worker runs; unknown tests have the mean."""
    earlier = {"a.py::one": 100.0, "a.py::two": 200.0, "b.py::three": 60.0, "gone.py::four": 900.0}
    known = ["a.py::one", "a.py::two", "b.py::three"]
    assert forecast(known, earlier, 1) == "3 tests: about 6 minutes by their last run"
    assert forecast(known, earlier, 2) == "3 tests: about 5 minutes by their last run"
    assert forecast(["b.py::three"], earlier, 2) == "1 tests: about 60 s by their last run"
    assert forecast(["b.py::three", "b.py::new"], earlier, 2).endswith("; 1 of them have no record")
    assert forecast(["b.py::three", "b.py::new"], earlier, 1).startswith("2 tests: about 2 minutes")
