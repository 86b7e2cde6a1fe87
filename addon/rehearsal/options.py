"""Options of a rehearsal video."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import bpy

from ..base.solver_api import TEMPO, Option, Options, Range, errors

CLOCKS = ("video", "dance")
GHOSTS = ("move", "posture", "none")
VIEWS = ("front", "behind", "camera")
COLOURS = ("sides", "own")
ENGINES = ("auto", "painter", "cycles", "eevee")
SAMPLES = 4
"""Samples of Cycles; they only smooth edges, because no light is sampled."""
VIDEO_END = ".mp4"


SHORT = Range(0.0, 60.0)
"""[s] Range of pauses."""


@dataclass(frozen=True, slots=True)
class RehearsalOptions(Options):
    """How a dance is taught.

    Attributes:
        slow: tempo of the slow preview relative to real time; 0 for no preview.
        pause: [s] pause before each move of the preview.
        lead: [s] pause before each run.
        loops: number of runs in real time.
        bpm: beats per minute, counted to eight in the picture; 0 for none.
        ghost: what the ghost shows while the body is still; ``"move"`` (the next move), ``"posture"`` (the next
            posture) or ``"none"``.
        title_time: [s] duration of the title card; 0 for none.
        rest: [s] pause at the end of each run.
        start: [s] first time of the dance that is shown; None: its start.
        stop: [s] last time of the dance that is shown; None: its end.
        rate: [1/s] frames per second of the video.
    """

    slow: Annotated[float, Option(Range(0.05, 1.0, also=0.0), label="Preview Tempo")] = 0.5
    pause: Annotated[float, Option(SHORT, label="Pause")] = 1.0
    lead: Annotated[float, Option(SHORT, label="Lead-in")] = 3.0
    loops: Annotated[int, Option(Range(0, 100, whole=True), label="Real-Time Runs")] = 1
    bpm: Annotated[float, Option(replace(TEMPO, also=0.0), label="Tempo")] = 0.0
    ghost: Annotated[str, Option(choices=GHOSTS, label="Ghost")] = "move"
    title_time: Annotated[float, Option(SHORT, label="Title Time")] = 3.0
    rest: Annotated[float, Option(SHORT, in_code_only=True)] = 1.0
    start: Annotated[float | None, Option(usual="its start")] = None
    stop: Annotated[float | None, Option(usual="its end")] = None
    rate: Annotated[float, Option(Range(1.0, 240.0), label="Frame Rate")] = 24.0

    def require_consistent(self) -> None:
        """Something is shown.

        Raises:
            InvalidValue: there is no run.
        """
        if self.loops == 0 and self.slow == 0.0:
            raise errors.InvalidValue("the video would be empty: set a preview tempo or at least one run in real time")


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
class Staging(Options):
    """Appearance of a rehearsal video.

    Attributes:
        size: picture size in pixels.
        view: camera of the video; ``"front"``, ``"behind"`` or ``"camera"``.
        mirror: swap left and right, as for a teacher who faces the learner.
        colours: colours of the body; ``"sides"`` (left blue, right red) or ``"own"`` (its materials).
        title: text of the title card.
        no_shadow: no shadow of the body on the film; only Cycles shows one.
        film: film behind the body, or None.
        camera: camera of the view ``"camera"``; it is not changed.
    """

    size: tuple[int, int] = (640, 360)
    view: Annotated[str, Option(choices=VIEWS, label="View", in_code_only=True)] = "front"
    mirror: Annotated[bool, Option(label="Mirror")] = False
    colours: Annotated[str, Option(choices=COLOURS, label="Colours")] = "sides"
    title: Annotated[str, Option(label="Title")] = ""
    no_shadow: Annotated[bool, Option(label="No Shadow")] = False
    film: Film | None = None
    camera: bpy.types.Object | None = None

    def require_consistent(self) -> None:
        """The size is possible.

        Raises:
            InvalidValue: it is not.
        """
        if not all(16 <= side <= 8192 and side % 2 == 0 for side in self.size):
            raise errors.InvalidValue(f"width and height must be even numbers from 16 to 8192 pixels, not {self.size}")


@dataclass(frozen=True, slots=True)
class Rendering(Options):
    """Rendering of the frames.

    Attributes:
        engine: render engine; ``"painter"`` (this package's own, fast on any computer), ``"cycles"``, ``"eevee"``
            (needs a GPU), or ``"auto"``: the painter, or Cycles where there is a film, which only these two show.
        samples: samples per pixel of Cycles and EEVEE.
        denoise: denoising of Cycles; here it costs more time than it saves.
    """

    engine: Annotated[str, Option(choices=ENGINES, label="Engine")] = "auto"
    samples: Annotated[int, Option(Range(1, 4096, whole=True), label="Samples")] = SAMPLES
    denoise: Annotated[bool, Option(in_code_only=True)] = False
