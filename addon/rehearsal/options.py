"""How a dance is rehearsed: the choices, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import bpy

from ..solver_api import errors

CLOCKS = ("video", "dance")
GHOSTS = ("move", "posture", "none")
VIEWS = ("front", "behind", "camera")
COLOURS = ("sides", "own")
ENGINES = ("auto", "cycles", "eevee")
SAMPLES = 4
"""Of Cycles: they only smooth edges, as no light here has to be sampled."""
VIDEO_END = ".mp4"


@dataclass(frozen=True, slots=True)
class RehearsalOptions:
    """How a dance is taught.

    Attributes:
        rate: frames of the video per second.
        slow: tempo of the preview; 0 for none.
        pause: [s] for which the preview stands still before each move, besides the dance's own stops.
        lead: [s] for which each run through the dance stands still at its start.
        loops: how often the dance is shown in real time.
        title: [s] for which the title card shows; 0 for none.
        rest: [s] for which each run stands still at its end.
        first, last: [s] of the dance; None for its start and end.
        ghost: what it shows while the body stands: ``"move"`` plays the next move, ``"posture"`` stands in the next
            posture, ``"none"``.
        bpm: beats a minute of the music or the metronome, counted to eight in the picture; 0 for none.
    """

    rate: float = 24.0
    slow: float = 0.5
    pause: float = 1.0
    lead: float = 3.0
    loops: int = 1
    title: float = 3.0
    rest: float = 1.0
    first: float | None = None
    last: float | None = None
    ghost: str = "move"
    bpm: float = 0.0

    def __post_init__(self) -> None:
        if not 1.0 <= self.rate <= 240.0:
            raise errors.InvalidValue(f"a video has 1 to 240 frames per second, not {self.rate:g}")
        if self.slow != 0.0 and not 0.05 <= self.slow <= 1.0:
            raise errors.InvalidValue(f"the preview's tempo is 0 (none) or between 0.05 and 1, not {self.slow:g}")
        for name in ("pause", "lead", "title", "rest"):
            if not 0.0 <= getattr(self, name) <= 60.0:
                raise errors.InvalidValue(f"{name} is between 0 and 60 s, not {getattr(self, name):g}")
        if not 0 <= self.loops <= 100:
            raise errors.InvalidValue(f"the dance is shown 0 to 100 times in real time, not {self.loops}")
        if self.loops == 0 and self.slow == 0.0:
            raise errors.InvalidValue("neither a preview nor a run in real time is asked for: nothing to show")
        if self.bpm != 0.0:
            from ..solver_api import FASTEST_BEAT, SLOWEST_BEAT, is_tempo

            if not is_tempo(self.bpm):
                raise errors.InvalidValue(
                    f"a tempo is 0 (not counted) or between {SLOWEST_BEAT:g} and {FASTEST_BEAT:g} beats a minute, not "
                    f"{self.bpm:g}"
                )
        if self.ghost not in GHOSTS:
            raise errors.InvalidValue(f"the ghost is one of {', '.join(GHOSTS)}, not {self.ghost!r}")


@dataclass(frozen=True, slots=True)
class Film:
    """A film and how it runs.

    Attributes:
        path: movie, image, or folder of numbered images.
        offset: [s] of the video before it starts; until then its first frame stands.
        start: [s] of the film at which it starts.
        speed: of the film against its clock.
        clock: ``"video"``, or ``"dance"``: it runs, slows down and stops with the dance.
        rate: [1/s] of images; None for the video's. A movie has its own.
    """

    path: Path
    offset: float = 0.0
    start: float = 0.0
    speed: float = 1.0
    clock: str = "video"
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.clock not in CLOCKS:
            raise errors.InvalidValue(f"the film's clock is one of {', '.join(CLOCKS)}, not {self.clock!r}")
        if not (math.isfinite(self.speed) and self.speed > 0.0 and self.start >= 0.0):
            raise errors.InvalidValue("a film starts at 0 s or later and runs at a positive speed")


@dataclass(frozen=True, slots=True)
class Staging:
    """How a rehearsal looks.

    Attributes:
        size: of the picture in pixels.
        view: ``"front"``, ``"behind"`` or ``"camera"``.
        camera: of the view ``"camera"``; it stays as it is.
        mirror: swap left and right, as a teacher who faces the pupil.
        colours: ``"sides"`` (left blue, right red) or ``"own"``, the materials that the body has.
        title: on the title card.
        film: behind the body, or None.
        shadow_on_film: let the body cast its shadow on the film (Cycles).
    """

    size: tuple[int, int] = (640, 360)
    view: str = "front"
    mirror: bool = False
    colours: str = "sides"
    title: str = ""
    film: Film | None = None
    shadow_on_film: bool = True
    camera: bpy.types.Object | None = None

    def __post_init__(self) -> None:
        if not all(16 <= side <= 8192 and side % 2 == 0 for side in self.size):
            raise errors.InvalidValue(f"a video's sides are even numbers from 16 to 8192 pixels, not {self.size}")
        if self.view not in VIEWS:
            raise errors.InvalidValue(f"the view is one of {', '.join(VIEWS)}, not {self.view!r}")
        if self.colours not in COLOURS:
            raise errors.InvalidValue(f"the colours are one of {', '.join(COLOURS)}, not {self.colours!r}")


@dataclass(frozen=True, slots=True)
class Rendering:
    """How the frames are made.

    Attributes:
        engine: ``"cycles"``, ``"eevee"`` (needs a graphics card), or ``"auto"``: EEVEE where a window shows one.
        samples: per pixel.
        denoise: of Cycles; costs more than it saves here.
    """

    engine: str = "auto"
    samples: int = SAMPLES
    denoise: bool = False

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise errors.InvalidValue(f"the engine is one of {', '.join(ENGINES)}, not {self.engine!r}")
        if not 1 <= self.samples <= 4096:
            raise errors.InvalidValue(f"1 to 4096 samples are possible, not {self.samples}")
