"""Memory and processor time of identification on long recordings: `python -m benchmarks.figures.long_recording
MINUTES`.

Simulated: a person who dances on two feet, 200 frames a second, spliced forwards and backwards to the length, with one
trial of standing. Each length is identified in a process of its own, whose peak memory is what the system says.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from solver.base.file_arrays import FileRows, iterate_slices
from solver.demo.laboratory import PlateNoise, find_lifted_feet, record_markers, record_plates, sole_centres
from solver.demo.person import HEIGHT, SEX, simulate_person
from solver.options.study import Settings
from solver.signals.trial import Recording
from solver.values.motion import Markers
from solver.values.wrenches import Wrenches
from solver.workflow.pipeline import identify

from ..peak import peak_memory
from .figure import Figure, at_most

SEED, RATE, SECONDS = 9, 200.0, 12.0
MARKERS = 55
LONGEST = 60
MUST_MEGABYTES, MUST_SECONDS, AIM_SECONDS = 2000.0, 600.0, 300.0
DATA = "simulated, spliced"
ROOT = Path(__file__).resolve().parents[2]


def recordings(minutes: float) -> tuple[Recording, Recording]:
    """Standing, and so many minutes of dancing."""
    person, generator = simulate_person(SEED, SECONDS), np.random.default_rng(SEED)
    result = []
    for name, count in (("static", 0), ("dance", round(60.0 * minutes * RATE))):
        motion = person.motions[name]
        markers = record_markers(person.rig, motion, person.placements, generator)
        feet = sole_centres(person.rig, motion)
        noise = PlateNoise(generator)
        plates = record_plates(person.rig, motion, person.truth, feet, find_lifted_feet(person.rig, motion), noise)
        frames = _splice(len(motion), count) if count else np.arange(len(motion))
        times = np.arange(len(frames)) / RATE
        shown = np.resize(np.arange(len(markers.names)), MARKERS)
        names = [f"{markers.names[k]}{'' if place < len(markers.names) else '_2'}" for place, k in enumerate(shown)]
        places, pushes = FileRows(), FileRows()
        for own in iterate_slices(len(frames)):
            places.add(markers.positions[frames[own]][:, shown])
            pushes.add(plates.values[frames[own]])
        seen = Markers(times, tuple(names), places.finish())
        result.append(Recording(name, seen, Wrenches(times, plates.frames, pushes.finish())))
    return result[0], result[1]


def _splice(length: int, count: int) -> np.ndarray:
    """Frames (count,) of a motion played forwards and backwards in turns."""
    there_and_back = np.concatenate([np.arange(length), np.arange(length - 2, 0, -1)])
    return np.resize(there_and_back, count)


def measure(minutes: float) -> None:
    """Identify once and print the processor time [s], the peak before the work and at its end [MB]."""
    given = recordings(minutes)
    before, began = peak_memory(), time.process_time()
    identify(given, sex=SEX, height=HEIGHT, settings=Settings(jobs=1))
    print(f"{time.process_time() - began:.1f} {before:.0f} {peak_memory():.0f}")


def long_figures() -> list[Figure]:
    """Peak memory and processor time."""
    command = [sys.executable, "-m", "benchmarks.figures.long_recording", str(LONGEST)]
    run = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    seconds, before, peak = (float(word) for word in run.stdout.split()[-3:])
    what = f"memory, whole identify, {RATE:.0f} Hz, {MARKERS} markers, {LONGEST} min"
    note = f"{before:.0f} MB with the recordings alone"
    return [
        Figure(what, DATA, peak, "MB", at_most(MUST_MEGABYTES), None, note),
        Figure("  the same, processor time", DATA, seconds, "s", at_most(MUST_SECONDS), at_most(AIM_SECONDS),
               timed=True),
    ]  # fmt: skip


if __name__ == "__main__":
    measure(float(sys.argv[1]))
