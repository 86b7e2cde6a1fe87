"""The Python distribution works where no file of the repository is available."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import build  # type: ignore[import-not-found]  # noqa: E402
from long_description import with_absolute_links  # type: ignore[import-not-found]  # noqa: E402

from solver.version import __version__  # noqa: E402


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as built by pip from this folder, with the pinned backend and without an index."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an environment with the wheel, and this environment's third-party packages by reference."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    words = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip())
    (site / "third_party.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [*build.pip(), "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, env=outside())
    return folder


def outside() -> dict[str, str]:
    """Environment variables without paths into the repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(*words: str | Path, at: Path) -> str:
    """Output of a command in a folder outside the repository."""
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=at, env=outside(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_contains_the_package_and_its_data_only(wheel: Path) -> None:
    """The wheel contains all of solver/ under the import name, the data files, and nothing else."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    inside = [path for path in (ROOT / "solver").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    sources = {f"exciting_dance/{path.relative_to(ROOT / 'solver')}" for path in inside}
    data = {f"exciting_dance/{path.relative_to(ROOT)}" for path in (ROOT / "assets").rglob("*.json")}
    assert names == sources | data


def test_the_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """The source distribution contains everything that the wheel is built from, including its description."""
    backend = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run([*backend, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (source,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and later
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(tmp_path)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    subprocess.run([*backend, "-t", "wheel"], cwd=folder, check=True, capture_output=True)
    contents = [
        {name: inside.read(name) for name in inside.namelist() if "__pycache__" not in name}
        for inside in (zipfile.ZipFile(wheel), zipfile.ZipFile(next(tmp_path.glob("*.whl"))))
    ]
    assert contents[0] == contents[1]


def test_description_has_no_relative_links(wheel: Path) -> None:
    """The description is the README without relative links and images, which PyPI could not resolve."""
    with zipfile.ZipFile(wheel) as inside:
        (name,) = (name for name in inside.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = inside.read(name).decode("utf-8")
    assert "Description-Content-Type: text/markdown" in metadata
    assert "# Exciting Dance" in metadata
    assert re.findall(r"\]\((?!https?://|#)[^)]*\)", metadata) == []


def test_links_point_to_the_tagged_version() -> None:
    """Images point to the raw file, pages to the page, of the version's tag; absolute links and anchors stay."""
    text = "![a body](docs/body.png) and [limits](docs/limits.md), [pip](https://pip.pypa.io), [above](#top)"
    found = with_absolute_links(text, "https://example.org/dance/", "1.2.0")
    assert found == (
        "![a body](https://example.org/dance/raw/v1.2.0/docs/body.png) and "
        "[limits](https://example.org/dance/blob/v1.2.0/docs/limits.md), [pip](https://pip.pypa.io), [above](#top)"
    )
    assert with_absolute_links(text, None, "1.2.0") == " and limits, [pip](https://pip.pypa.io), [above](#top)"


def test_type_checkers_read_the_annotations(wheel: Path) -> None:
    """The package declares its annotations (PEP 561)."""
    assert "exciting_dance/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_installed_package_finds_its_data(installed: Path, tmp_path: Path) -> None:
    """`exciting_dance` finds its data without the repository, and cannot import its `solver`."""
    program = (
        "import importlib.util, exciting_dance\n"
        "from exciting_dance.calibration.marker_set import marker_sets, load_marker_set\n"
        "assert importlib.util.find_spec('solver') is None\n"
        "print(len(exciting_dance.hoap3().links), len(load_marker_set(marker_sets()[0]).locations) > 0)\n"
    )
    links, placed = run(installed / "bin" / "python", "-c", program, at=tmp_path).split()
    assert int(links) == 22
    assert placed == "True"


def test_the_command_works_under_its_own_name(installed: Path, tmp_path: Path) -> None:
    """`exciting-dance` prints its version, uses its name in its help, and writes a rig."""
    command = installed / "bin" / "exciting-dance"
    assert run(command, "--version", at=tmp_path).split() == ["exciting_dance", __version__]
    output = run(command, "rig", "--help", at=tmp_path)
    assert "exciting-dance rig hoap3 --output hoap3.json" in output
    assert "python -m" not in output
    run(command, "rig", "hoap3", "--output", "hoap3.json", at=tmp_path)
    assert json.loads((tmp_path / "hoap3.json").read_text())


def test_the_module_runs_like_the_command(installed: Path, tmp_path: Path) -> None:
    """`python -m exciting_dance` is the same command line under that name."""
    output = run(installed / "bin" / "python", "-m", "exciting_dance", "--help", at=tmp_path)
    assert "python -m exciting_dance demo --output out" in output


def test_conda_requires_what_the_package_requires() -> None:
    """Recipe and pixi's workspace state the ranges of pyproject.toml; Pinocchio has another name there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [Requirement(text) for text in project["dependencies"]]
    wanted = {each.name: str(each.specifier) for each in found if each.name != "python-fcl"}
    wanted = {"pinocchio-python" if name == "pin" else name: range_ for name, range_ in wanted.items()}
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    listed = dict(line.split(" ", 1) for line in recipe["requirements"]["run"])
    assert SpecifierSet(listed.pop("python")) == SpecifierSet(project["requires-python"])
    assert listed == wanted
    workspace = tomllib.loads((ROOT / "packaging" / "conda" / "pixi.toml").read_text(encoding="utf-8"))
    assert workspace["dependencies"].items() >= wanted.items()
