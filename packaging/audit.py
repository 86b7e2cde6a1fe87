"""What is wrong with the wheels of a built zip: of another platform or Python, unlisted, too large, or incomplete.

``python packaging/audit.py [dist]`` checks the zips of every platform and Blender in a folder.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
import zipfile
from email.parser import HeaderParser
from io import BytesIO
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

MOST_MEGABYTES = {"windows-x64": 60.0}
"""[MB] Largest zip, by platform."""
BLENDERS_OWN = {"numpy"}
"""What Blender's Python has."""
ONLY_FOR_BUILDING = {"cython", "setuptools"}
"""What some wheels require without importing it when they run."""
SYSTEMS = {"windows": "Windows", "linux": "Linux", "macos": "Darwin"}
OWN_TAG = {"windows": r"win_amd64", "linux": r"(many)?linux.*x86_64", "macos": r"macosx_.*"}


def main(arguments: list[str]) -> int:
    """Print a line for every zip; 1 if one is missing or has problems."""
    from build import BLENDERS, PLATFORMS, ROOT  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist", help="of the zips (default: dist)")
    folder = parser.parse_args(arguments).folder
    wrong = 0
    for platform in PLATFORMS:
        for python in BLENDERS:
            name = f"*{platform.replace('-', '_')}-py{python.replace('.', '')}.zip"
            found = sorted(folder.glob(name))
            problems = [problem for path in found for problem in find_problems(path, platform, python)]
            problems += [f"no {name} in {folder}"] if not found else []
            size = f"{found[-1].stat().st_size / 1e6:.1f} MB" if found else "missing"
            print(f"{platform:<12} Python {python}  {size:>8}  {'; '.join(problems) or 'complete'}")
            wrong += bool(problems)
    return int(wrong > 0)


def find_problems(path: Path, platform: str, python: str) -> list[str]:
    """One sentence for each problem of a zip; empty if it installs without network.

    Args:
        path: of the zip.
        platform: Blender's name of it, such as windows-x64.
        python: version of its Python, such as 3.13.
    """
    system = platform.split("-")[0]
    with zipfile.ZipFile(path) as archive:
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode("utf-8"))
        # Of zips built together for several platforms, this table names the platform and the wheels of the one zip.
        manifest |= manifest.get("build", {}).get("generated", {})
        names = [name for name in archive.namelist() if name.endswith(".whl")]
        requirements = {name: _requirements(archive.read(name)) for name in names}
    problems = []
    if manifest.get("platforms") != [platform]:
        problems.append(f"the manifest names the platforms {manifest.get('platforms')}, not {platform}")
    listed = {name.removeprefix("./") for name in manifest.get("wheels", [])}
    problems += [f"{name} is not in both the manifest and the zip" for name in sorted(listed ^ set(names))]
    bundled = set()
    for name in names:
        own, _, _, tags = parse_wheel_filename(PurePosixPath(name).name)
        bundled.add(canonicalize_name(own))
        if not any(_fits(tag.platform, tag.interpreter, tag.abi, OWN_TAG[system], python) for tag in tags):
            problems.append(f"{PurePosixPath(name).name} is not for Python {python} on {platform}")
    here = {
        "platform_system": SYSTEMS[system],
        "sys_platform": {"Windows": "win32", "Linux": "linux", "Darwin": "darwin"}[SYSTEMS[system]],
        "python_version": python,
        "python_full_version": f"{python}.0",
        "extra": "",
    }
    for name, needs in requirements.items():
        for need in needs:
            wanted = canonicalize_name(need.name)
            applies = need.marker is None or need.marker.evaluate(here)
            if applies and wanted not in bundled | BLENDERS_OWN | ONLY_FOR_BUILDING:
                problems.append(f"{PurePosixPath(name).name} requires {need.name}, which is not in the zip")
    size = path.stat().st_size / 1e6
    if size > MOST_MEGABYTES.get(platform, float("inf")):
        problems.append(f"the zip has {size:.1f} MB, more than {MOST_MEGABYTES[platform]:g}")
    return problems


def _fits(platform: str, interpreter: str, abi: str, own: str, python: str) -> bool:
    number = python.replace(".", "")
    if platform != "any" and not re.fullmatch(own, platform):
        return False
    return interpreter in (f"cp{number}", "py3", f"py{number}") or (interpreter.startswith("cp3") and abi == "abi3")


def _requirements(wheel: bytes) -> list[Requirement]:
    with zipfile.ZipFile(BytesIO(wheel)) as archive:
        (name,) = (name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        header = HeaderParser().parsestr(archive.read(name).decode("utf-8"))
    return [Requirement(text) for text in header.get_all("Requires-Dist") or []]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
