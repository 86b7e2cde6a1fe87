"""``markers``: which marker sits where, found out from names and motion, for approval."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..errors import UnknownMarker
from ..progress import Progress
from .argument_types import marker_set, stature
from .options import KEYS, add_output_file, add_recordings, add_verb, read_options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EXPLANATION = """
Prints for every recorded marker the landmark or link it is taken to sit on, how sure that is, what tells it (its name,
in any of the usual conventions, or which link it moves with), and the links it could lie on instead. A static trial and
one that moves serve best. What is not sure is marked: change it with --place, reject it with --reject, or correct the
file that --output writes ("landmark", "link", "use") and give it back with --marker-set: what stands there is kept,
what was taken out is looked for again. The file is a marker set, which `calibrate`, `track` and `identify` take with
--marker-set; they look by themselves where no built-in set fits.

Examples:
  python -m solver markers static.trc walk.trc --output mine.json
  python -m solver markers walk.trc --marker-set mine.json --place "M7=left shank" --reject Wand3 --output mine.json
  python -m solver markers walk.trc --marker-set plug_in_gait --output with_clusters.json
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "markers", "find out which marker sits where", EXPLANATION, run)
    add_recordings(parser)
    words = "name or .json file of a set whose places stand; only the other markers are looked for"
    parser.add_argument("--marker-set", type=marker_set, metavar="NAME", help=words)
    words = "markers and where they sit, such as M7=left_shank or 'M8=right heel'"
    parser.add_argument("--place", nargs="+", type=_placed, default=(), metavar="MARKER=PLACE", help=words)
    parser.add_argument("--reject", nargs="+", default=(), metavar="MARKER", help="markers that are not to be used")
    parser.add_argument("--height", type=stature, metavar="M", help="stature in metres (default: from the markers)")
    add_output_file(parser, "the set, a .json file", KEYS)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Recognise, tell, write."""
    given = _given(options)
    from ..calibration.recognise import recognise
    from ..formats.text_table import table
    from ..scene.marker_set import placed_markers
    from ..study.recordings import load

    recordings = load(options.files, read_options(options))
    names = {name for found in recordings if found.markers is not None for name in found.markers.names}
    for marker in (*(marker for marker, _ in options.place), *options.reject):
        if marker not in names:
            raise UnknownMarker(marker, sorted(names))
    progress(0.1, "calibrating on the markers that are known by their names")
    found = recognise(recordings, height=options.height, given=given)
    progress(1.0, "recognised")
    rows = [
        (
            row.marker,
            row.place if row.use else "-",
            f"{100.0 * row.confidence:.0f}",
            row.because,
            ", ".join(row.others),
            "look" if row.doubtful else "",
        )
        for row in placed_markers(found.tree)
    ]
    print(table(("marker", "place", "sure [%]", "because of", "or", ""), rows))
    print(f"\n{found.sentence}; RMSE {1e3 * found.calibration.rmse:.1f} mm")
    if options.output is not None:
        print(f"written: {found.write(options.output)}")


def _given(options: argparse.Namespace) -> Mapping[str, Any] | None:
    """What somebody decided: the set that is named, with what the command line changes; None where nothing is."""
    from ..scene.marker_set import PlacedMarker, approved, read_tree

    if options.marker_set is None and not options.place and not options.reject:
        return None
    tree = {"name": "given", "markers": {}} if options.marker_set is None else read_tree(options.marker_set)
    rows = [PlacedMarker(marker, place) for marker, place in options.place]
    return approved(tree, [*rows, *(PlacedMarker(marker, "", use=False) for marker in options.reject)])


def _placed(text: str) -> tuple[str, str]:
    """A marker and where it sits."""
    marker, equals, place = text.rpartition("=")
    if not (equals and marker and place.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} does not say which marker sits where: write MARKER=PLACE")
    return marker, place
