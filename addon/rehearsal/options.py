"""Options of a rehearsal video."""

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
ENGINES = ("auto", "painter", "cycles", "eevee")
SAMPLES = 4
"""Samples of Cycles; they only smooth edges, because no light is sampled."""
VIDEO_END = ".mp4"


@dataclass(frozen=True, slots=True)
class RehearsalOptions:
    """How a dance is taught.

    Attributes:
        rate: frame rate of the video [1/s].
        slow: tempo of the slow preview relative to real time; 0 for no preview.
        pause: [s] additional pause of the preview before each move.
        lead: [s] pause at the start of each run.
        loops: number of runs in real time.
        title: [s] duration of the title card; 0 for none.
        rest: [s] pause at the end of each run.
        first, last: [s] interval of the dance; None for its start and end.
        ghost: what the ghost shows while the body is still: ``"move"`` (the next move), ``"posture"`` (the next
            posture) or ``"none"``.
        bpm: beats per minute, counted to eight in the picture; 0 for none.
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
            raise errors.InvalidValue(f"the frame rate must be between 1 and 240 per second, not {self.rate:g}")
        if self.slow != 0.0 and not 0.05 <= self.slow <= 1.0:
            raise errors.InvalidValue(
                f"the tempo of the preview must be 0 (none) or between 0.05 and 1, not {self.slow:g}"
            )
        for name in ("pause", "lead", "title", "rest"):
            if not 0.0 <= getattr(self, name) <= 60.0:
                raise errors.InvalidValue(f"{name} must be between 0 and 60 s, not {getattr(self, name):g}")
        if not 0 <= self.loops <= 100:
            raise errors.InvalidValue(f"the number of runs in real time must be between 0 and 100, not {self.loops}")
        if self.loops == 0 and self.slow == 0.0:
            raise errors.InvalidValue("the video would be empty: set a preview tempo or at least one run in real time")
        if self.bpm != 0.0:
            from ..solver_api import TEMPO

            if not TEMPO.contains(self.bpm):
                words = f"0 (not counted) or {TEMPO.words} beats per minute, not {self.bpm:g}"
                raise errors.InvalidValue(f"the tempo must be {words}")
        if self.ghost not in GHOSTS:
            raise errors.InvalidValue(f"the ghost must be one of {', '.join(GHOSTS)}, not {self.ghost!r}")


@dataclass(frozen=True, slots=True)
class Film:
    """A film and its timing.

    Attributes:
        path: movie, image, or folder of numbered images.
        offset: [s] time of the video at which the film starts; before, its first frame is shown.
        start: [s] first time of the film that is shown.
        speed: speed of the film.
        clock: ``"video"``, or ``"dance"`` to slow down and stop with the dance.
        rate: [1/s] frame rate of numbered images; None for that of the video. A movie has its own.
    """

    path: Path
    offset: float = 0.0
    start: float = 0.0
    speed: float = 1.0
    clock: str = "video"
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.clock not in CLOCKS:
            raise errors.InvalidValue(f"the film's clock must be one of {', '.join(CLOCKS)}, not {self.clock!r}")
        if not (math.isfinite(self.speed) and self.speed > 0.0 and self.start >= 0.0):
            raise errors.InvalidValue("the film's start must be 0 s or later, and its speed positive")


@dataclass(frozen=True, slots=True)
class Staging:
    """Appearance of a rehearsal video.

    Attributes:
        size: picture size in pixels.
        view: ``"front"``, ``"behind"`` or ``"camera"``.
        camera: camera of the view ``"camera"``; it is not changed.
        mirror: whether to swap left and right, as for a teacher who faces the learner.
        colours: ``"sides"`` (left blue, right red) or ``"own"`` (the body's materials).
        title: text of the title card.
        film: film behind the body, or None.
        shadow_on_film: whether the body casts a shadow on the film (Cycles only).
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
            raise errors.InvalidValue(f"width and height must be even numbers from 16 to 8192 pixels, not {self.size}")
        if self.view not in VIEWS:
            raise errors.InvalidValue(f"the view must be one of {', '.join(VIEWS)}, not {self.view!r}")
        if self.colours not in COLOURS:
            raise errors.InvalidValue(f"the colours must be one of {', '.join(COLOURS)}, not {self.colours!r}")


@dataclass(frozen=True, slots=True)
class Rendering:
    """Rendering of the frames.

    Attributes:
        engine: ``"painter"`` (this package's own, fast on any computer), ``"cycles"``, ``"eevee"`` (needs a GPU), or
            ``"auto"``: the painter, or Cycles where there is a film, which only Cycles and EEVEE show.
        samples: samples per pixel of Cycles and EEVEE.
        denoise: denoising of Cycles; here it costs more time than it saves.
    """

    engine: str = "auto"
    samples: int = SAMPLES
    denoise: bool = False

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise errors.InvalidValue(f"the engine must be one of {', '.join(ENGINES)}, not {self.engine!r}")
        if not 1 <= self.samples <= 4096:
            raise errors.InvalidValue(f"the number of samples must be between 1 and 4096, not {self.samples}")
