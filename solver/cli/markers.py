"""``markers``: propose a location for every marker, from names and motion, for approval."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..base.errors import UnknownMarker
from ..base.progress import Progress
from .argument_types import marker_set, stature
from .options import KEYS, add_output_file, add_recordings, add_verb, read_options
from .printed import warn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EXPLANATION = """
Prints for every recorded marker the landmark or link on which it is assumed to sit, the confidence, the reason (its
name in one of the usual conventions, or the link it moves with), and the other links it could belong to. A static
trial and one with motion work best. Uncertain markers are flagged: change them with --place, reject them with
--reject, or correct the file that --output writes ("landmark", "link", "use") and give it back with --marker-set;
markers that you remove from it are searched again. The file is a marker set for the --marker-set option of
`calibrate` and `identify`, which place markers that are in no built-in set in the same way.

Examples:
  python -m solver markers static.trc walk.trc --output mine.json
  python -m solver markers walk.trc --marker-set mine.json --place "M7=left shank" --reject Wand3 --output mine.json
  python -m solver markers walk.trc --marker-set plug_in_gait --output with_clusters.json
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "markers", "propose a location for every marker", EXPLANATION, run)
    add_recordings(parser)
    words = "name or .json file of a set whose markers are kept; only the other markers are searched"
    parser.add_argument("--marker-set", type=marker_set, metavar="NAME", help=words)
    words = "locations of markers, such as M7=left_shank or 'M8=right heel'"
    parser.add_argument("--place", nargs="+", type=_placed, default=(), metavar="MARKER=PLACE", help=words)
    parser.add_argument("--reject", nargs="+", default=(), metavar="MARKER", help="markers that are not to be used")
    parser.add_argument("--height", type=stature, metavar="M", help="stature in metres (default: from the markers)")
    add_output_file(parser, "the set, a .json file", KEYS)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    given = _given(options)
    from ..calibration.recognise import recognise
    from ..formats.text_table import format_table
    from ..input_checks import check_recording
    from ..scene.marker_set import marker_rows
    from ..study.recordings import load

    recordings = [check_recording(recording) for recording in load(options.files, read_options(options))]
    names = {name for found in recordings if found.markers is not None for name in found.markers.names}
    for marker in (*(marker for marker, _ in options.place), *options.reject):
        if marker not in names:
            raise UnknownMarker(marker, sorted(names))
    progress(0.0, "calibrating on the markers that are known by their names")
    found = recognise(recordings, height=options.height, given=given)
    rows = [
        (
            row.marker,
            row.location if row.use else "-",
            f"{100.0 * row.confidence:.0f}",
            row.reason,
            ", ".join(row.alternatives),
            "look" if row.needs_review else "",
        )
        for row in marker_rows(found.tree)
    ]
    warn(text for recording in recordings for text in recording.warnings)
    print(format_table(("marker", "place", "sure [%]", "because of", "or", ""), rows))
    print(f"\n{found.summary}; RMSE {1e3 * found.calibration.rmse:.1f} mm")
    if options.output is not None:
        print(f"written: {found.write(options.output)}")


def _given(options: argparse.Namespace) -> Mapping[str, Any] | None:
    """The given marker set with the changes of the command line; None if nothing is given."""
    from ..scene.marker_set import MarkerRow, apply_decisions, read_marker_set_tree

    if options.marker_set is None and not options.place and not options.reject:
        return None
    tree = {"name": "given", "markers": {}} if options.marker_set is None else read_marker_set_tree(options.marker_set)
    rows = [MarkerRow(marker, place) for marker, place in options.place]
    return apply_decisions(tree, [*rows, *(MarkerRow(marker, "", use=False) for marker in options.reject)])


def _placed(text: str) -> tuple[str, str]:
    """A marker and where it sits."""
    marker, equals, place = text.rpartition("=")
    if not (equals and marker and place.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} names no marker with its location: write MARKER=PLACE")
    return marker, place
