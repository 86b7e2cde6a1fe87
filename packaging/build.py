"""Build the extension's zips: ``python packaging/build.py [--python 3.11 3.13] [--platform linux-x64 ...]``.

Collects the sources and the wheels that requirements.txt pins (bpy, numpy and development tools left out: Blender
brings numpy), takes out of the wheels what Python never reads, then lets Blender's own ``blender_ext.py`` build and
validate one zip per platform, for the Blenders of each Python. Any Python that has the bpy package runs it. Wheels are
fetched by name and version and never committed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform as machine
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from audit import find_problems  # type: ignore[import-not-found]
from slim import copyright_notices, slim  # type: ignore[import-not-found]

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("__init__.py", "blender_manifest.toml", "addon", "solver", "assets", "LICENSE", "README.md")
MADE = {ROOT / "assets" / "body_mesh.npz": "body_mesh.py", ROOT / "assets" / "workspace.blend": "workspace.py"}
"""Files that are built when they are missing or older than their scripts."""
SKIPPED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
PINOCCHIO = (
    "pin", "libpinocchio", "coal", "libcoal", "eigenpy", "cmeel", "cmeel-assimp", "cmeel-boost",
    "cmeel-console-bridge", "cmeel-octomap", "cmeel-qhull", "cmeel-tinyxml2", "cmeel-urdfdom", "cmeel-zlib",
)  # fmt: skip
"""The engine's packages where they have wheels, pinned together: their wheels share a folder."""
FCL = ("python-fcl",)
"""The engine's package where Pinocchio has no wheel."""
SHARED = (
    "scipy", "osqp", "jinja2", "markupsafe", "joblib", "cloudpickle", "clarabel", "daqp", "piqp", "highspy", "cffi",
    "pycparser", "defusedxml", "threadpoolctl",
)  # fmt: skip
"""Packages of the extension on every platform, with dependencies."""
PLATFORMS = {
    "linux-x64": (*(f"manylinux_2_{n}_x86_64" for n in (17, 24, 27, 28, 31, 34, 35)), "manylinux2014_x86_64"),
    "macos-arm64": tuple(f"macosx_{n}_0_arm64" for n in range(11, 16)),
    "macos-x64": (*(f"macosx_{n}_0_x86_64" for n in range(11, 16)), "macosx_10_13_x86_64"),
    "windows-x64": ("win_amd64",),
}
"""pip's tags by Blender's platform."""
BLENDERS = {"3.11": ("4.5.0", "5.1.0"), "3.13": ("5.1.0", None), "3.14": ("5.2.0", None)}
"""First Blender with a Python version, and the first without it. Debian's Blender 5.2 has Python 3.14."""
OWN_PYTHONS = ["3.11", "3.13"]
"""Of Blender's own downloads, for which zips are built unless others are named."""


def here() -> str:
    """Blender's name of this machine's platform; Linux's where it has no wheels."""
    arm = machine.machine() in ("arm64", "aarch64")
    found = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}.get(machine.system(), "") + (
        "-arm64" if arm else "-x64"
    )
    return found if found in PLATFORMS else "linux-x64"


def main() -> int:
    """Build the zips; 0 when every one is valid."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", choices=tuple(BLENDERS), nargs="+", default=OWN_PYTHONS)
    parser.add_argument("--platform", choices=tuple(PLATFORMS), nargs="+", default=[here()])
    parser.add_argument("--wheels", type=Path, help="folder in which downloaded wheels are cached")
    parser.add_argument("--no-wheels", action="store_true", help="for a Blender whose Python has the packages")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for made, name in MADE.items():
        script = Path(__file__).with_name(name)
        current = made.is_file() and made.stat().st_mtime >= script.stat().st_mtime
        if not current and subprocess.run([sys.executable, str(script)]).returncode:
            print(f"the zips contain {'an older' if made.is_file() else 'no'} {made.name}", file=sys.stderr)
    pythons: list[str | None] = [None] if options.no_wheels else options.python
    return max(build(python, options) for python in pythons)


def build(python: str | None, options: argparse.Namespace) -> int:
    """Build the zips for the Blenders of one Python (of all without wheels); 0 when every one is valid."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder) / "exciting_dance"
        collect(stage)
        manifest = stage / "blender_manifest.toml"
        text = with_website(manifest.read_text(encoding="utf-8"), source_address())
        if python:
            wheels = fetch(options.wheels or Path(folder) / "wheels", python, options.platform)
            (stage / "wheels").mkdir()
            slim(wheels, stage / "wheels")
            names = sorted(wheel.name for wheel in wheels)
            text = complete(text, names, python, options.platform)
            text = with_copyright(text, copyright_notices((stage / "wheels").glob("*.whl")))
        manifest.write_text(text, encoding="utf-8")
        made = Path(folder) / "zips"
        made.mkdir()
        split = ["--split-platforms"] if python else []
        if blender_ext("build", "--source-dir", str(stage), "--output-dir", str(made), *split):
            return 1
        # Wheels of one Python do not serve the other: the name says which.
        tag = f"-py{python.replace('.', '')}" if python else ""
        zips = [
            Path(shutil.move(path, options.output / f"{path.stem}{tag}.zip")) for path in sorted(made.glob("*.zip"))
        ]
    status = max(blender_ext("validate", str(path)) for path in zips)
    for path in zips if python else []:
        platform = next(name for name in PLATFORMS if name.replace("-", "_") in path.name)
        for problem in find_problems(path, platform, python):
            print(f"{path.name}: {problem}", file=sys.stderr)
            status = 1
    return status


def collect(stage: Path) -> None:
    """Copy the extension's files for the zip."""
    stage.mkdir(parents=True)
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, stage / name, ignore=SKIPPED)
        elif source.exists():
            shutil.copy2(source, stage / name)


def pins(python: str) -> dict[str, str]:
    """Pinned versions by name for a Python, from requirements.txt."""
    found: dict[str, str] = {}
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        requirement, _, marker = line.partition(";")
        name, _, version = requirement.strip().partition("==")
        old = re.search(r"python_full_version\s*<\s*'3.12'", marker)
        new = re.search(r"python_full_version\s*>=\s*'3.1[23]'", marker)
        if not ((old and python != "3.11") or (new and python == "3.11")):
            found[name] = version
    return found


def packages(platform: str) -> tuple[str, ...]:
    """Packages in the zip of a platform."""
    return (*(FCL if platform.startswith("windows") else PINOCCHIO), *SHARED)


def fetch(folder: Path, python: str, platforms: list[str]) -> list[Path]:
    """Download the wheels of all platforms; those that serve several are listed once."""
    versions = pins(python)
    found: dict[str, Path] = {}
    for platform in platforms:
        wanted = [f"{name}=={versions[name]}" for name in packages(platform) if name in versions]
        place = folder / f"{platform}-{python}"
        place.mkdir(parents=True, exist_ok=True)
        tags = [word for tag in PLATFORMS[platform] for word in ("--platform", tag)]
        only = ["--only-binary=:all:", "--implementation", "cp", "--python-version", python]
        subprocess.run([*pip(), "download", "-q", "--no-deps", "--dest", str(place), *only, *tags, *wanted], check=True)
        # A kept folder may hold the wheels of earlier pins too.
        pinned = {tuple(text.replace("-", "_").split("==")) for text in wanted}
        found |= {wheel.name: wheel for wheel in place.glob("*.whl") if tuple(wheel.name.split("-")[:2]) in pinned}
    return list(found.values())


def pip() -> list[str]:
    """pip of this Python, or the machine's, since an environment created by uv has none."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise SystemExit("pip is not installed")
    return [found]


def complete(manifest: str, wheels: list[str], python: str, platforms: list[str]) -> str:
    """The manifest with wheels, platforms and the Blender versions of that Python."""
    first, after = BLENDERS[python]
    manifest = re.sub(r'blender_version_min = "[^"]*"', f'blender_version_min = "{first}"', manifest)
    lines = [f'blender_version_max = "{after}"'] if after else []
    lines += [f"platforms = {platforms!r}".replace("'", '"')]
    lines += ["wheels = [", *(f'  "./wheels/{name}",' for name in wheels), "]"]
    head, table, rest = manifest.partition("[permissions]")
    return head + "\n".join(lines) + "\n\n" + table + rest


def with_copyright(manifest: str, notices: list[str]) -> str:
    """The manifest whose copyright names the owners of bundled code after our own."""
    own: list[str] = tomllib.loads(manifest)["copyright"]
    lines = "".join(f"  {json.dumps(notice, ensure_ascii=False)},\n" for notice in [*own, *notices])
    return re.sub(r"(?m)^copyright = \[.*\]$", lambda _: f"copyright = [\n{lines}]", manifest)


def with_website(manifest: str, source: str | None) -> str:
    """The manifest with the address of the repository as its website; unchanged while there is none."""
    line = "" if source is None else f"website = {json.dumps(source)}\n"
    return re.sub(r"(?m)^type = ", lambda found: line + found[0], manifest, count=1)


def source_address() -> str | None:
    """The address of the repository, which ``[project.urls]`` of pyproject.toml gives as ``Source``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str | None = project.get("urls", {}).get("Source")
    return address


def blender_ext(*arguments: str) -> int:
    """Run Blender's extension tool; its exit code."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise SystemExit("bpy is not installed: pip install 'exciting-dance[blender]'")
    tools = sorted(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    return subprocess.run([sys.executable, str(tools[-1]), *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
