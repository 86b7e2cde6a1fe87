"""The extension's zip file: its contents, its requirements, and that Blender runs it."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import build  # type: ignore[import-not-found]  # noqa: E402

WHEELS = {name for platform in build.PLATFORMS for name in build.packages(platform)}
BLENDERS_OWN = {"cython", "numpy", "setuptools", "attrs", "cattrs", "zstandard", "tomli"}
"""What Blender's Python has, and what only a package's own tools ask for."""
PROGRAM = """
import sys, bpy, addon_utils
name = "bl_ext.user_default.exciting_dance"
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
assert name in bpy.context.preferences.addons
addon_utils.disable(name)
assert not hasattr(bpy.types.Scene, "exciting_dance")
addon_utils.enable(name)
assert bpy.ops.exciting_dance.import_rig(kind="hoap3") == {"FINISHED"}
print("bones", len(bpy.context.view_layer.objects.active.data.bones), flush=True)
import os
os._exit(0)  # Blender 4.5's module sometimes never returns from its exit handlers
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip without wheels: fast, and needs no package index."""
    pytest.importorskip("bpy", reason="Blender's tool that builds extensions comes with bpy")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / "packaging" / "build.py"), "--no-wheels", "--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.zip")
    return path


def test_zip_contains_the_extension_only(built: Path) -> None:
    """Sources, assets and licence are in the zip; tests, caches and benchmarks are not."""
    names = zipfile.ZipFile(built).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"__init__.py", "blender_manifest.toml", "addon", "solver", "assets", "LICENSE", "README.md"}
    assert "solver/workflow/pipeline.py" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_manifest_has_the_copyright(built: Path) -> None:
    """The copyright has a year, as Blender's extension platform requires."""
    with zipfile.ZipFile(built) as archive:
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode("utf-8"))
    assert all(re.fullmatch(r"\d{4}(-\d{4})? \S.*", owner) for owner in manifest["copyright"])
    assert manifest["copyright"]


def test_the_manifest_names_owners_of_bundled_code_and_the_website() -> None:
    """Our own copyright comes first, then the bundled; the website is the repository's address where there is one."""
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    notices = ["2014-2023 CNRS", '1999 A "quoted" \\ owner']
    found = tomllib.loads(build.with_copyright(build.with_website(text, "https://example.org/dance"), notices))
    plain = tomllib.loads(text)
    assert found == plain | {"copyright": plain["copyright"] + notices, "website": "https://example.org/dance"}
    assert tomllib.loads(build.with_website(text, None)) == plain


def test_requirements_of_bundled_wheels_are_bundled() -> None:
    """Requirements of a bundled package are bundled too, or part of Blender."""
    bundled = {_plain(name) for name in WHEELS}
    missing = {}
    for name in sorted(bundled):
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{name} is not installed here, so its requirements are unknown")
        parsed = (Requirement(text) for text in requirements)
        needed = {_plain(one.name) for one in parsed if one.marker is None or one.marker.evaluate({"extra": ""})}
        missing[name] = needed - bundled - BLENDERS_OWN - {name}
    assert not any(missing.values()), missing


def test_every_wheel_is_pinned() -> None:
    """For both Pythons requirements.txt pins every package in the zip."""
    for python in build.BLENDERS:
        assert build.pins(python).keys() >= WHEELS


def test_zips_of_both_pythons_share_no_blender() -> None:
    """Each Blender version matches exactly one zip: the versions of the second start where the first's end."""
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    older, newer = (
        tomllib.loads(build.complete(text, ["a.whl"], python, ["linux-x64"])) for python in ("3.11", "3.13")
    )
    assert older["blender_version_min"] == tomllib.loads(text)["blender_version_min"]
    assert older["blender_version_max"] == newer["blender_version_min"]
    assert "blender_version_max" not in newer
    assert older["wheels"] == ["./wheels/a.whl"]
    assert older["platforms"] == ["linux-x64"]


@pytest.mark.parametrize("engine", ["", "numpy"])
def test_blender_installs_and_runs_the_zip(built: Path, tmp_path: Path, engine: str) -> None:
    """Blender's own operator installs, enables, disables and enables the zip, and a rig is added by a child process.

    Also by the engine of platforms without Pinocchio.
    """
    import os

    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "user"), "ENGINE": engine}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(built)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "bones 22" in done.stdout, done.stdout + done.stderr


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
