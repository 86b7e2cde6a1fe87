"""Command line ``rehearse DANCE_FOLDER --output VIDEO``: renders a video that teaches a dance."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..base.solver_api import add_options, errors, given
from ..jobs.job_messages import describe_duration
from .options import CLOCKS, VIDEO_END, Film, RehearsalOptions, Rendering, Staging
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
        options = RehearsalOptions(**given(parsed, RehearsalOptions))
        staging, rendering = _staging(parsed), Rendering(**given(parsed, Rendering))
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
    return Staging(size, parsed.view, film=film, **given(parsed, Staging))


def _video_path(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != VIDEO_END:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {VIDEO_END}")
    return path


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=DESCRIPTION, allow_abbrev=False)
    add = parser.add_argument
    add("folder", type=Path, metavar="DANCE_FOLDER", help="results folder (--output) of `python -m solver dance`")
    add("--output", type=_video_path, required=True, metavar="FILE.mp4", help="video to write")
    for kind in (RehearsalOptions, Staging, Rendering):
        add_options(parser, kind)
    add("--view", choices=AUTOMATIC_VIEWS, default="front", help="camera position (%(default)s)")
    add("--film", type=Path, metavar="FILE", help="movie, image or folder of numbered images behind the body")
    add("--film-offset", type=float, default=0.0, metavar="S", help="time of the video at which the film starts (0)")
    add("--film-start", type=float, default=0.0, metavar="S", help="first time of the film that is shown (0)")
    add("--film-speed", type=float, default=1.0, metavar="X", help="speed of the film (1)")
    add("--film-clock", choices=CLOCKS, default="video", help="what the film is synchronised with (%(default)s)")
    add("--film-rate", type=float, metavar="HZ", help="frame rate of numbered images (that of the video)")
    add("--size", default="640x360", metavar="WxH", help="picture size in pixels (%(default)s)")
    return parser
