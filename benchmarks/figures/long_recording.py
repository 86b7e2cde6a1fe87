"""Memory and processor time of an hour of eight force plates at 1,000 Hz and 60 markers at 100 Hz through ``identify``:
`python -m benchmarks.figures.long_recording FOLDER` for recordings that lie in a folder.

Simulated: a person who dances on two of the plates, played forwards and backwards to the length, with one trial of
standing, as C3D files. They are identified in a process of its own, whose peak memory is what the system says.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from solver.cli import main as run_verb
from solver.demo.laboratory import PlateNoise, find_lifted_feet, record_markers, record_plates, sole_centres
from solver.demo.person import HEIGHT, SEX, simulate_person
from tests.formats.recording_files import c3d_bytes

from ..peak import measure_alone, peak_memory
from .figure import Figure, at_most

SEED, SECONDS = 9, 12.0
MARKERS, RATE, PLATES, SAMPLES = 60, 100, 8, 10
"""Samples of each plate a frame."""
CORNERS = np.array([[0.3, 0.15, 0.0], [-0.3, 0.15, 0.0], [-0.3, -0.15, 0.0], [0.3, -0.15, 0.0]])
"""[m] Of a plate, in its axes."""
DOWN = np.diag([1.0, -1.0, -1.0])
"""Axes of a plate in the world."""
LONGEST = 60
MUST_MEGABYTES, MUST_SECONDS, AIM_SECONDS = 1000.0, 1200.0, 600.0
DATA = "simulated, spliced, C3D"


def write_laboratory(folder: Path, minutes: float) -> None:
    """Write standing, and so many minutes of dancing."""
    person, generator = simulate_person(SEED, SECONDS), np.random.default_rng(SEED)
    for name, motion in person.motions.items():
        if name not in ("static", "dance"):
            continue
        seen = motion.frames(slice(None, None, round(motion.rate / RATE)))
        markers = record_markers(person.rig, seen, person.placements, generator)
        feet = sole_centres(person.rig, motion)
        loads = record_plates(person.rig, motion, person.truth, feet, find_lifted_feet(person.rig, motion))
        frames = np.concatenate([np.arange(len(seen)), np.arange(len(seen) - 2, 0, -1)])
        times = (frames[:, None] + np.arange(SAMPLES) / SAMPLES).reshape(-1) / RATE
        plates = np.zeros((len(times), PLATES, 6))
        for plate, axis in np.ndindex(2, 6):
            plates[:, plate, axis] = np.interp(times, motion.times, loads.values[:, plate, axis])
        noise = PlateNoise(generator)
        plates += generator.standard_normal(plates.shape) * ([noise.force] * 3 + [noise.moment] * 3)
        centres = np.array([*feet.values(), *([3.0 + plate, 0.0, 0.0] for plate in range(PLATES - 2))])
        shown = np.resize(np.arange(len(markers.names)), MARKERS)
        names = [f"{markers.names[k]}{'_2' * (place >= len(markers.names))}" for place, k in enumerate(shown)]
        count = len(frames) if name == "static" else round(60.0 * minutes * RATE)
        _write_c3d(folder / f"{name}.c3d", count, names, markers.positions[frames][:, shown], (centres, plates))


def _write_c3d(
    path: Path, count: int, names: list[str], positions: np.ndarray, plates: tuple[np.ndarray, np.ndarray]
) -> None:
    """Write so many frames, those given again and again: positions (n, M, 3) [m], plates' centres (K, 3) [m] and
    wrenches (n r, K, 6) [N, N m] about the origin."""
    centres, loads = plates
    force = loads[:, :, :3]
    moment = (loads[:, :, 3:] - np.cross(centres, force)) @ DOWN
    channels = np.concatenate([force @ DOWN, 1e3 * moment], axis=2).reshape(-1, SAMPLES, 6 * PLATES)
    points = np.concatenate([1e3 * positions, np.zeros((*positions.shape[:2], 1))], axis=2)
    each = 6 * PLATES
    groups: dict[str, dict[str, object]] = {
        "POINT": {"USED": np.array([MARKERS]), "SCALE": np.array([-1.0]), "RATE": np.array([float(RATE)]),
                  "UNITS": "mm", "LABELS": names, "LONG_FRAMES": np.array([float(count)])},
        "ANALOG": {"USED": np.array([each]), "LABELS": [f"A{k}" for k in range(each)], "GEN_SCALE": np.array([1.0]),
                   "UNITS": ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * PLATES, "SCALE": np.ones(each),
                   "OFFSET": np.zeros(each, int), "RATE": np.array([float(SAMPLES * RATE)])},
        "FORCE_PLATFORM": {"USED": np.array([PLATES]), "TYPE": np.full(PLATES, 2), "ZERO": np.array([0, 0]),
                           "CORNERS": 1e3 * (centres[:, None] + CORNERS @ DOWN).transpose(2, 1, 0),
                           "ORIGIN": np.zeros((3, PLATES)),
                           "CHANNEL": np.arange(1, each + 1).reshape(6, PLATES, order="F")},
    }  # fmt: skip
    rows = np.concatenate([points.reshape(len(points), -1), channels.reshape(len(points), -1)], axis=1).astype("<f4")
    header = bytearray(c3d_bytes(groups, points[:1], channels[:1])[: -rows[0].nbytes])
    header[8:10] = b"\xff\xff"  # the counter of frames is exhausted
    with path.open("wb") as stream:
        stream.write(header)
        for start in range(0, count, len(rows)):
            stream.write(rows[: count - start].tobytes())
        stream.write(bytes(-stream.tell() % 512))


def measure(folder: str) -> None:
    """Identify once and print the processor time [s] and the peak memory [MB]."""
    began = time.process_time()
    run_verb(f"identify {folder} --sex {SEX} --height {HEIGHT} --jobs 1 --output {folder}/out".split())
    print(f"{time.process_time() - began:.1f} {peak_memory():.0f}")


def long_figures(minutes: float = LONGEST) -> list[Figure]:
    """Peak memory and processor time."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        write_laboratory(Path(folder), minutes)
        seconds, peak = measure_alone("figures.long_recording", folder)
    what = (
        f"memory, whole identify from files, {PLATES} plates at 1,000 Hz, {MARKERS} markers at {RATE} Hz, {minutes} min"
    )
    return [
        Figure(what, DATA, peak, "MB", at_most(MUST_MEGABYTES)),
        Figure("  the same, processor time", DATA, seconds, "s", at_most(MUST_SECONDS), at_most(AIM_SECONDS),
               timed=True),
    ]  # fmt: skip


if __name__ == "__main__":
    measure(sys.argv[1])
