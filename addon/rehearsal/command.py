"""``rehearse DANCE_FOLDER --output VIDEO``: a dance's folder as a video to learn it from, by command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

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
from .video import NO_CODEC, can_write_video

VERB = "rehearse"
DESCRIPTION = "Render a video to learn a dance from: a slow preview, then real time; while the body stands, a ghost "
DESCRIPTION += "shows the next move and a countdown says when it starts."
AUTOMATIC_VIEWS = "front", "behind"


def run(arguments: Sequence[str], program: str) -> int:
    """Render; 0 when made, 2 when the input is at fault."""
    words = _parser(program).parse_args(arguments)
    try:
        options, staging, rendering = _options(words), _staging(words), Rendering(words.engine, words.samples)
        path, done = rehearse_folder(words.folder, words.output, options, staging, rendering)
    except errors.SolverError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{path}: {describe_plan(done)}")
    if not can_write_video():
        print(f"note: {NO_CODEC}", file=sys.stderr)
    return 0


def _options(words: argparse.Namespace) -> RehearsalOptions:
    return RehearsalOptions(
        rate=words.rate,
        slow=words.slow,
        pause=words.pause,
        lead=words.lead,
        loops=words.loops,
        title=words.title_time,
        first=words.start,
        last=words.stop,
        ghost=words.ghost,
        bpm=words.bpm,
    )


def _staging(words: argparse.Namespace) -> Staging:
    try:
        wide, _, high = words.size.partition("x")
        size = int(wide), int(high)
    except ValueError:
        raise errors.InvalidValue(f"--size takes WIDTHxHEIGHT, not {words.size!r}") from None
    film = None
    if words.film is not None:
        film = Film(
            words.film, words.film_offset, words.film_start, words.film_speed, words.film_clock, words.film_rate
        )
    return Staging(size, words.view, words.mirror, words.colours, words.title, film, not words.no_shadow)


def _video_path(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != VIDEO_END:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {VIDEO_END}")
    return path


def _parser(program: str) -> argparse.ArgumentParser:
    usual = RehearsalOptions()
    parser = argparse.ArgumentParser(prog=program, description=DESCRIPTION)
    add = parser.add_argument
    add("folder", type=Path, metavar="DANCE_FOLDER", help="the --output of `python -m solver dance`")
    add("--output", type=_video_path, required=True, metavar="FILE.mp4", help="the video")
    add("--slow", type=float, default=usual.slow, metavar="X", help="tempo of the preview, 0 for none (%(default)s)")
    add("--pause", type=float, default=usual.pause, metavar="S", help="before each move of the preview (%(default)s)")
    add("--lead", type=float, default=usual.lead, metavar="S", help="before each run (%(default)s)")
    add("--loops", type=int, default=usual.loops, metavar="N", help="runs in real time (%(default)s)")
    add("--start", type=float, metavar="S", help="first moment of the dance (its start)")
    add("--stop", type=float, metavar="S", help="last moment of the dance (its end)")
    add("--ghost", choices=GHOSTS, default=usual.ghost, help="what it shows (%(default)s)")
    add(
        "--bpm",
        type=float,
        default=usual.bpm,
        metavar="N",
        help="count beats to eight, 0 not (%(default)g)",
    )
    add("--mirror", action="store_true", help="left and right swapped, as a teacher who faces the pupil")
    add("--view", choices=AUTOMATIC_VIEWS, default="front", help="from where it is seen (%(default)s)")
    add("--colours", choices=COLOURS, default="sides", help="of the body: left blue and right red, or its own")
    add("--title", default="", metavar="TEXT", help="on the title card (the rig's name)")
    add("--title-time", type=float, default=usual.title, metavar="S", help="of the title card, 0 for none")
    add("--film", type=Path, metavar="FILE", help="behind the body: movie, image, or folder of numbered images")
    add("--film-offset", type=float, default=0.0, metavar="S", help="of the video before the film starts (0)")
    add("--film-start", type=float, default=0.0, metavar="S", help="where in the film it starts (0)")
    add("--film-speed", type=float, default=1.0, metavar="X", help="of the film (1)")
    add("--film-clock", choices=CLOCKS, default="video", help="what the film runs with (%(default)s)")
    add("--film-rate", type=float, metavar="HZ", help="of numbered images (the video's)")
    add("--no-shadow", action="store_true", help="of the body on the film")
    add("--size", default="640x360", metavar="WxH", help="of the picture in pixels (%(default)s)")
    add("--rate", type=float, default=usual.rate, metavar="HZ", help="frames per second (%(default)s)")
    add("--engine", choices=ENGINES, default="auto", help="EEVEE needs a graphics card (%(default)s)")
    add("--samples", type=int, default=SAMPLES, metavar="N", help="per pixel (%(default)s)")
    return parser
