"""What the names of recordings and options tell before anything is read or computed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..errors import UnknownName


def require_sense(options: argparse.Namespace, files: Sequence[Path]) -> None:
    """Refuse what could only fail after long work: options of a subject, and results that nothing may replace.

    Raises:
        InputError: no recordings; a file that is not this program's has the name of one of the results; no marker set.
        UnknownName: a trial that was not given.
    """
    from ..formats.folder import check_names
    from ..formats.recording import pair_files
    from ..scene.study_folder import files_of

    trials = [name for name, _ in pair_files(files)]
    for name in options.static:
        if name not in trials:
            raise UnknownName(name, trials)
    if options.marker_set is not None:
        from ..calibration import load_marker_set

        load_marker_set(options.marker_set)
    check_names(options.output, files_of(trials))
