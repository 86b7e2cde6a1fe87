"""Test a built zip in a separate Blender: ``python packaging/check.py dist/exciting_dance-...-py313.zip``.

The zip is installed into a new user folder by Blender's own operator, in a virtual environment that has bpy and numpy
and nothing else, so that only the wheels inside the zip can serve the solver. There the extension is switched on, off
and on again; a rig is added and a recording, simulated by the extension's own solver, is identified through the child
process. bpy and numpy are taken from the Python that runs this.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = (
    *("bpy", "numpy", "numpy.libs", "requests", "urllib3", "certifi", "idna", "charset_normalizer"),
    *("cattrs", "attrs", "attr", "cattr", "typing_extensions"),
)
"""Packages of Blender's own Python: numpy, and the imports of its extension tool."""
SECONDS = 600.0
PROGRAM = """
import sys, tempfile
from pathlib import Path
import bpy, addon_utils

zip_, folder = sys.argv[1:]
name = "bl_ext.user_default.exciting_dance"
for foreign in ("pinocchio", "scipy", "osqp", "clarabel", "daqp", "piqp", "highspy"):
    try:
        __import__(foreign)
    except ImportError:
        continue
    raise SystemExit(f"{foreign} was importable before the extension: the test is void")
bpy.ops.extensions.package_install_files(filepath=zip_, repo="user_default", enable_on_install=True, overwrite=True)
assert name in bpy.context.preferences.addons, "not enabled"
addon_utils.disable(name)
assert not hasattr(bpy.types.Scene, "exciting_dance"), "left behind"
assert addon_utils.enable(name, default_set=True) is not None, "not enabled again"
print("enabled, disabled, enabled", flush=True)

bpy.ops.exciting_dance.import_rig(kind="hoap3")
body = bpy.context.view_layer.objects.active
assert sum(bone["mass"] for bone in body.data.bones) > 5.0
print(f"rig: {body.name}, {len(body.data.bones)} bones", flush=True)

from bl_ext.user_default.exciting_dance.solver.demo.person import HEIGHT, SEX, record_person, simulate_person
import pinocchio
from dataclasses import replace
person = simulate_person(1)
motions = {"static": person.motions["static"], "dance": person.motions["dance"].part(0, 600)}
record_person(replace(person, motions=motions), Path(folder), 1)
settings = bpy.context.scene.exciting_dance
settings.height, settings.sex = HEIGHT, SEX
settings.files.add().path = folder
assert bpy.ops.exciting_dance.identify() == {"FINISHED"}
body = bpy.context.view_layer.objects.active
mass = sum(bone["mass"] for bone in body.data.bones)
assert abs(mass - person.truth.total_mass) < 0.03 * person.truth.total_mass, mass
print(f"identified {mass:.2f} kg, true {person.truth.total_mass:.2f} kg, with {pinocchio.__file__}", flush=True)
import os
os._exit(0)  # Blender 4.5's module sometimes never returns from its exit handlers
"""


def main() -> int:
    """0 when the zip passes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("zip", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return check(options.zip.resolve(), Path(folder))


def check(built: Path, folder: Path) -> int:
    """Run the program above in a bare environment inside ``folder``; its exit code."""
    python = bare_environment(folder / "bare")
    recorded = folder / "recorded"
    recorded.mkdir()
    own = {"BLENDER_USER_RESOURCES": str(folder / "user"), "HOME": str(folder), "OMP_NUM_THREADS": "1"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | own
    command = [str(python), "-I", "-c", PROGRAM, str(built), str(recorded)]
    return subprocess.run(command, cwd=folder, env=environment, timeout=SECONDS).returncode


def bare_environment(folder: Path) -> Path:
    """A virtual environment with Blender's module and what Blender has itself; its Python."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    words = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip())
    for name in HERE:
        for source in sources(name):
            (site / source.name).symlink_to(source)
    return python


def sources(name: str) -> list[Path]:
    """A package's folder or file, or the folder of its libraries, in this Python; nothing where it is not installed."""
    package, _, libraries = name.partition(".")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return []
    origin = Path(spec.origin)
    own = origin.parent if origin.name.startswith("__init__.") else origin
    found = own.with_name(name) if libraries else own
    return [found] if found.exists() else []


if __name__ == "__main__":
    sys.exit(main())
