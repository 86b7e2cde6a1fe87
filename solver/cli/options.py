"""Options that several verbs share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

from ..base.errors import InvalidValue
from ..base.progress import Progress, silent, write_json_lines
from ..base.progress_bar import progress_bar
from ..base.standard_streams import cancel_when_unread
from ..formats.file_formats import recording_suffixes
from ..options.plates import PlateOptions
from ..options.reading import ReadOptions
from ..options.study import CohortOptions, Settings
from ..values.person import SEXES, SHOULDERS, TRUNKS
from .argument_types import add_options, given, marker_set, path, path_ending, positive, stature
from .printed import JSON, QUIET
from .settings_file import OPTION, SETTINGS, settings_text, show_all

if TYPE_CHECKING:
    from ..calibration.calibration import Calibration
    from ..signals.trial import Recording


class Subject(TypedDict):
    """Data of a new subject, see `study.subject_calibration.calibrate`."""

    sex: str
    height: float | None
    mass: float | None
    trunk: str
    shoulders: str
    marker_set: str | None
    static: tuple[str, ...]


FOLDER, FILE, EITHER = "folder", "file", "folder, or .json file"
"""Kind of a verb's output."""
KEYS = ".json"
"""Suffix of an output that is a file where it could be a folder."""
HELP_WIDTH = 110


PROGRESS: dict[str, Callable[[], AbstractContextManager[Progress]]] = {
    "text": progress_bar,
    "json": lambda: nullcontext(cancel_when_unread(partial(write_json_lines, stream=sys.stdout))),
    "none": lambda: nullcontext(silent),
}
"""Kinds of progress output."""


AS_WRITTEN = "python -m solver"
"""How help and examples in the source call the program."""


def program() -> str:
    """How the program was called: by the command that pip installs, or as a module under the package's name."""
    installed = "exciting-dance"
    return installed if Path(sys.argv[0]).stem == installed else f"python -m {__name__.split('.')[-3]}"


class Parser(argparse.ArgumentParser):
    """A parser that takes whole names only, and reports wrong arguments in one line, like all wrong input."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Refuse.

        Raises:
            InvalidValue: always.
        """
        raise InvalidValue(f"{message} (see {self.prog.replace(AS_WRITTEN, program())} --help)")


class Paragraphs(argparse.RawDescriptionHelpFormatter):
    """Help whose examples keep their lines and call the program as the reader did."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=HELP_WIDTH)

    def format_help(self) -> str:
        """The text."""
        return super().format_help().replace(AS_WRITTEN, program())


class HelpAll(argparse.Action):
    """``--help-all``: the help with the rare options, too."""

    def __init__(self, option_strings: Sequence[str], dest: str, **other: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=other.get("help"))

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print and leave."""
        show_all(parser)
        parser.print_help()
        parser.exit()


def add_verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    explanation: str,
    run: Callable[[argparse.Namespace, Progress], int | None],
) -> argparse.ArgumentParser:
    """A verb's parser, with the options that all verbs have; ``run`` may return an exit code."""
    text = f"{summary[0].upper()}{summary[1:]}.\n{explanation}"
    parser = verbs.add_parser(name, help=summary, description=text, formatter_class=Paragraphs)
    parser.add_argument(
        "--progress",
        choices=tuple(PROGRESS),
        default="text",
        help="progress output: a bar on stderr, or lines if it is no terminal "
        "(text), one JSON object per line on stdout "
        "(json), or none",
    )
    parser.add_argument(QUIET, action="store_true", help="print warnings and errors only, no progress and no report")
    parser.add_argument(JSON, action="store_true", help="print the result as one JSON object instead of the report")
    words = f"values for options of this verb, such as the {SETTINGS} of an earlier run"
    parser.add_argument(OPTION, type=path, metavar="FILE", help=words)
    parser.add_argument("--help-all", action=HelpAll, help="show the rare options, too, and exit")
    parser.set_defaults(run=run, parser=parser)
    return parser


def add_recordings(parser: argparse.ArgumentParser) -> None:
    """Add the files of one or more trials, and how to read them."""
    parser.add_argument(
        "files",
        nargs="+",
        type=path,
        metavar="FILE",
        help=f"recordings ({' '.join(recording_suffixes())}) or folders of them; files with the same name are one "
        "trial: walk.trc and walk.mot, robot_angles.csv and robot_wrenches.csv",
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add overrides for missing or wrong file metadata."""
    group = parser.add_argument_group("reading", "overrides for missing or wrong file metadata")
    add_options(group, ReadOptions)


def read_options(options: argparse.Namespace) -> ReadOptions:
    """How the files are to be read."""
    return ReadOptions(**given(options, ReadOptions))


def add_plates(parser: argparse.ArgumentParser) -> None:
    """How findings on the force plates are handled."""
    group = parser.add_argument_group("force plates", "which are checked before identification")
    add_options(group, PlateOptions)


def plate_options(options: argparse.Namespace) -> PlateOptions:
    """How findings on the force plates are handled."""
    return PlateOptions(**given(options, PlateOptions))


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings that the options of a verb describe."""
    return Settings(**given(options, Settings), plates=plate_options(options))


def add_subject(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """What a new subject needs, and how to calibrate it."""
    group = parser.add_argument_group("subject")
    group.add_argument("--sex", choices=SEXES, required=required, help=SEX)
    group.add_argument("--height", type=stature, metavar="M", help="stature in metres (default: from the markers)")
    add_options(group, CohortOptions)
    group.add_argument("--mass", type=positive, metavar="KG", help="body mass in kg (default: from the plates)")
    group.add_argument(
        "--marker-set",
        type=marker_set,
        metavar="NAME",
        help="name or .json file of a marker set (default: detected)",
    )
    group.add_argument(
        "--static", nargs="+", default=(), metavar="TRIAL", help="trials to calibrate with (default: all)"
    )


SEX = "table of segment inertias; unknown: mean of both tables, with a wider prior"


PARTS = "--parts", "PART=BONE", str
"""Of `by_name`, for the bones of parts of a person."""


def add_parts(parser: argparse.ArgumentParser) -> None:
    """The bones of parts of a person, where names and shape leave them open."""
    words = "bones of parts of a person: left_thigh=Bone.007; head= for a body without a head"
    parser.add_argument(PARTS[0], nargs="+", default=(), metavar=PARTS[1], help=words)


def add_calibration(parser: argparse.ArgumentParser) -> None:
    """A subject calibrated before."""
    parser.add_argument(
        "--calibration", type=path, metavar="FILE", help="calibration.json of an earlier run, instead of a new subject"
    )


def subject(options: argparse.Namespace) -> Subject:
    """The subject as stated.

    Raises:
        InvalidValue: no sex is given.
    """
    if options.sex is None:
        raise InvalidValue("a new subject needs --sex, an earlier one --calibration, joint coordinates --rig")
    return {
        "sex": options.sex,
        "height": options.height,
        "mass": options.mass,
        "trunk": options.trunk or TRUNKS[0],
        "shoulders": options.shoulders or SHOULDERS[0],
        "marker_set": options.marker_set,
        "static": tuple(options.static),
    }


def calibrated(options: argparse.Namespace, recordings: Sequence[Recording], progress: Progress) -> Calibration:
    """The subject as calibrated before, or from recordings.

    Raises:
        InputError: the file is missing or wrong, or the recordings do not show a person of the stated size.
        InvalidValue: no sex is given.
    """
    from ..calibration.calibration import CALIBRATION
    from ..study.subject_calibration import calibrate

    if options.calibration is not None:
        return CALIBRATION.read(options.calibration)
    return calibrate(recordings, **subject(options), progress=progress)


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the folder of a study, and which of its trials and inertial parameters are used."""
    parser.add_argument("study", type=path, metavar="STUDY", help="the --output of `identify`")
    parser.add_argument("--trial", metavar="NAME", nargs="+", default=(), help="only these trials")
    parser.add_argument("--prior", action="store_true", help="use the inertial parameters of the prior")


def add_output(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """The folder that receives everything at once or, if the work fails or is stopped, nothing."""
    parser.add_argument(
        "--output",
        type=path,
        required=required,
        metavar="DIR",
        help="folder for the results; it appears complete or not at all, and replaces those of an earlier run",
    )
    parser.set_defaults(receives=FOLDER)


def add_output_file(parser: argparse.ArgumentParser, words: str, *endings: str, required: bool = False) -> None:
    """The file that receives the result, whole or not at all; its suffix is one of ``endings``, if there are any."""
    kind = path_ending(*endings) if endings else path
    parser.add_argument("--output", type=kind, required=required, metavar="FILE", help=words)
    parser.set_defaults(receives=FILE)


@contextmanager
def outputs(options: argparse.Namespace) -> Iterator[None]:
    """Reserve the output for this process until the block ends; refuse before any work if it cannot be written.

    Raises:
        InputError: it cannot be written, or another run writes there.
    """
    from ..storage.atomic import check_writable
    from ..storage.output_folder import reserve_folder

    output: Path | None = getattr(options, "output", None)
    receives = getattr(options, "receives", None)
    if output is None or receives is None:
        yield
    elif receives == FILE or (receives == EITHER and output.suffix.lower() == KEYS):
        check_writable(output)
        yield
    else:
        with reserve_folder(output, extra_files={SETTINGS: settings_text(options.parser, options)}):
            yield
