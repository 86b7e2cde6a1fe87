"""Time of enabling the extension: ``python -m benchmarks.enabling``.

The add-on is registered and unregistered in a fresh process, in which Blender's module, but nothing of NumPy, is
imported. Between, the panels' polls run in Blender's first scene, which has no rig. The time is that of
registering. The first time after an installation Python compiles the modules, too, which takes three times as long.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .reference import reference_line

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import sys, os, time, json
import bpy
for name in [name for name in sys.modules if name.partition(".")[0] in ("numpy", "gpu", "blf")]:
    del sys.modules[name]
before, start = set(sys.modules), time.process_time()
from addon import registration
registration.register()
seconds = time.process_time() - start
for panel in [cls for cls in registration.CLASSES if issubclass(cls, bpy.types.Panel) and hasattr(cls, "poll")]:
    panel.poll(bpy.context)
registration.unregister()
modules = sorted(set(sys.modules) - before)
print(json.dumps({"seconds": seconds, "modules": modules}))
sys.stdout.flush()
os._exit(0)  # Blender's module sometimes never returns from its exit handlers
"""


@dataclass(frozen=True, slots=True)
class Enabling:
    """What enabling imports and costs.

    Attributes:
        seconds: of the processor.
        modules: names of those that are imported by it.
    """

    seconds: float
    modules: frozenset[str]


def measure_enabling() -> Enabling:
    """Enable the add-on once, in a process of its own."""
    words = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Enabling(found["seconds"], frozenset(found["modules"]))


def main() -> int:
    """Print the figures."""
    print(reference_line())
    done = measure_enabling()
    print(f"enabling the extension: {done.seconds:.2f} CPU s, {len(done.modules)} modules")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
