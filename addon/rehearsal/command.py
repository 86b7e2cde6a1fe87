"""Command line ``rehearse DANCE_FOLDER --output VIDEO``: renders a video that teaches a dance."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..job_messages import describe_duration
from ..solver_api import errors
from .options import (
    CLOCKS,
    COLOURS,
    ENGINES,
    GHOSTS,
    SAMPLES,
    VIDEO_END,
    Film,
    RehearsalOptions,
    Rendering,
    Staging,
)
from .rehearse import describe_plan, rehearse_folder
from .video import CANCELLED, ENCODING_FROM, INCOMPLETE, NO_CODEC, can_write_video

VERB = "rehearse"
DESCRIPTION = "Render a video that teaches a dance: a slow preview, then real time. Before each move a ghost shows it "
DESCRIPTION += "and a countdown announces its start."
AUTOMATIC_VIEWS = "front", "behind"
SECONDS_PER_LINE = 5.0
"""[s] Between lines of progress."""
LEAST_FRACTION = 0.005
"""Fraction of the work after which the time left is estimated."""


def run(arguments: Sequence[str], program: str) -> int:
    """Run the command; 0 on success, 1 if it was stopped and wrote the frames before, 2 if the input is invalid."""
    parsed = _parser(program).parse_args(arguments)
    try:
        options, staging, rendering = _options(parsed), _staging(parsed), Rendering(parsed.engine, parsed.samples)
        video, plan = rehearse_folder(parsed.folder, parsed.output, options, staging, rendering, ProgressLines())
    except errors.Cancelled as error:
        print(error, file=sys.stderr)
        return CANCELLED
    except errors.SolverError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{video.describe()}: {describe_plan(plan)}" if video.is_complete else video.describe())
    if not can_write_video():
        print(f"note: {NO_CODEC}", file=sys.stderr)
    return 0 if video.is_complete else INCOMPLETE


class ProgressLines:
    """Prints progress with the time left, every few seconds and at the end."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None  # time [s] and fraction of the first report
        self._last = time.monotonic()

    def __call__(self, fraction: float, message: str) -> None:
        """Report that a fraction of the work is done."""
        now = time.monotonic()
        self._first = self._first or (now, fraction)
        if now - self._last < SECONDS_PER_LINE and fraction < ENCODING_FROM:
            return
        self._last = now
        spent, done = now - self._first[0], fraction - self._first[1]
        known = done > LEAST_FRACTION
        left = f", {describe_duration(spent * (1.0 - fraction) / done)} left" if known else ""
        print(f"{message}{left}", flush=True)


def _options(parsed: argparse.Namespace) -> RehearsalOptions:
    return RehearsalOptions(
        rate=parsed.rate,
        slow=parsed.slow,
        pause=parsed.pause,
        lead=parsed.lead,
        loops=parsed.loops,
        title=parsed.title_time,
        first=parsed.start,
        last=parsed.stop,
        ghost=parsed.ghost,
        bpm=parsed.bpm,
    )


def _staging(parsed: argparse.Namespace) -> Staging:
    try:
        wide, _, high = parsed.size.partition("x")
        size = int(wide), int(high)
    except ValueError:
        raise errors.InvalidValue(f"--size must be WIDTHxHEIGHT, not {parsed.size!r}") from None
    film = None
    if parsed.film is not None:
        film = Film(
            parsed.film, parsed.film_offset, parsed.film_start, parsed.film_speed, parsed.film_clock, parsed.film_rate
        )
    return Staging(size, parsed.view, parsed.mirror, parsed.colours, parsed.title, film, not parsed.no_shadow)


def _video_path(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != VIDEO_END:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {VIDEO_END}")
    return path


def _parser(program: str) -> argparse.ArgumentParser:
    usual = RehearsalOptions()
    parser = argparse.ArgumentParser(prog=program, description=DESCRIPTION, allow_abbrev=False)
    add = parser.add_argument
    add("folder", type=Path, metavar="DANCE_FOLDER", help="results folder (--output) of `python -m solver dance`")
    add("--output", type=_video_path, required=True, metavar="FILE.mp4", help="video to write")
    add(
        "--slow",
        type=float,
        default=usual.slow,
        metavar="X",
        help="tempo of the slow preview; 0 for none (%(default)s)",
    )
    add(
        "--pause",
        type=float,
        default=usual.pause,
        metavar="S",
        help="pause before each move of the preview (%(default)s)",
    )
    add("--lead", type=float, default=usual.lead, metavar="S", help="pause before each run (%(default)s)")
    add("--loops", type=int, default=usual.loops, metavar="N", help="number of runs in real time (%(default)s)")
    add("--start", type=float, metavar="S", help="first time of the dance that is shown (its start)")
    add("--stop", type=float, metavar="S", help="last time of the dance that is shown (its end)")
    add("--ghost", choices=GHOSTS, default=usual.ghost, help="what the ghost shows (%(default)s)")
    add(
        "--bpm",
        type=float,
        default=usual.bpm,
        metavar="N",
        help="beats per minute, counted to eight in the picture; 0 for none (%(default)g)",
    )
    add("--mirror", action="store_true", help="swap left and right, as for a teacher who faces the learner")
    add("--view", choices=AUTOMATIC_VIEWS, default="front", help="camera position (%(default)s)")
    add(
        "--colours",
        choices=COLOURS,
        default="sides",
        help="colours of the body: left blue and right red (sides), or its materials (own)",
    )
    add("--title", default="", metavar="TEXT", help="text of the title card")
    add("--title-time", type=float, default=usual.title, metavar="S", help="duration of the title card; 0 for none")
    add("--film", type=Path, metavar="FILE", help="movie, image or folder of numbered images behind the body")
    add("--film-offset", type=float, default=0.0, metavar="S", help="time of the video at which the film starts (0)")
    add("--film-start", type=float, default=0.0, metavar="S", help="first time of the film that is shown (0)")
    add("--film-speed", type=float, default=1.0, metavar="X", help="speed of the film (1)")
    add("--film-clock", choices=CLOCKS, default="video", help="what the film is synchronised with (%(default)s)")
    add("--film-rate", type=float, metavar="HZ", help="frame rate of numbered images (that of the video)")
    add("--no-shadow", action="store_true", help="no shadow of the body on the film")
    add("--size", default="640x360", metavar="WxH", help="picture size in pixels (%(default)s)")
    add("--rate", type=float, default=usual.rate, metavar="HZ", help="frames per second (%(default)s)")
    add(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="the painter is fast everywhere, a film needs cycles, eevee needs a GPU (%(default)s)",
    )
    add("--samples", type=int, default=SAMPLES, metavar="N", help="samples per pixel of cycles and eevee (%(default)s)")
    return parser
