"""Reads the subjects of a cohort: their folders, and the data of each person.

``participants.tsv`` (BIDS) or ``subjects.csv`` in the cohort's folder has a row for each subject: its name (that of the
folder) with sex, height, mass, marker_set and static (names of the trials to calibrate with, separated by white space).
Only the sex is required.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import InputError, InvalidValue
from ..base.files import read_bytes
from ..base.numerals import numeral
from ..calibration.subject import SubjectData
from ..formats.axes_and_units import LENGTH_UNITS
from ..formats.recording import has_only_results
from ..formats.text_files import MISSING_CELLS, read_csv_rows, read_rows, require_cells, split_at_tabs
from ..formats.trial_names import printable_name
from ..storage.json_tree import parse_json_object
from ..storage.manifest import path_within
from ..values.person import MASS_GUESS, UNKNOWN

PARTICIPANTS, UNITS_FILE, SUBJECTS = "participants.tsv", "participants.json", "subjects.csv"
BIDS_PREFIX = "sub-"
KNOWN_TITLES = "participant_id (or subject), sex, height, mass, marker_set, static"
COLUMNS = {
    "name": ("participant_id", "subject", "subject_id", "name", "id"),
    "sex": ("sex", "gender"),
    "height": ("height", "stature", "body_height"),
    "mass": ("mass", "weight", "body_mass"),
    "marker_set": ("marker_set",),
    "static": ("static",),
}
"""Column titles by meaning; other columns are ignored."""
_TITLE = re.compile(r"^(?P<name>.+?)(?:\s*\[(?P<unit>[^\]]*)\]|_(?P<tail>m|cm|mm|kg|g|lb))?$")
MASSES = {"kg": 1.0, "g": 1e-3, "lb": 0.45359237}
"""By definition."""
SEXES = {"f": "female", "female": "female", "m": "male", "male": "male", UNKNOWN: UNKNOWN}
CENTIMETRE_HEIGHTS = (100.0, 280.0)
"""Range in which a height without a unit is taken as centimetres."""


@dataclass(frozen=True, slots=True)
class SubjectInfo:
    """Data of a person.

    Attributes:
        sex: ``"female"``, ``"male"`` or ``"unknown"``; None if it is not given.
        height: [m]; None: estimated from the markers.
        mass: [kg]; None: estimated from the plates.
        marker_set: name or file; None: recognised from the marker names.
        static: names of the trials to calibrate with; empty: all, those that stand still first.
        assumptions: what was assumed in reading the data.
    """

    sex: str | None = None
    height: float | None = None
    mass: float | None = None
    marker_set: str | None = None
    static: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.sex is not None:
            SubjectData(MASS_GUESS if self.mass is None else self.mass, self.sex, self.height)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A person's row of a table.

    Attributes:
        path, line: of the row.
        cells: text and unit (empty if none is given) of each cell, by meaning.
    """

    path: Path
    line: int
    cells: Mapping[str, tuple[str, str]]


def find_subject_folders(folder: Path, results_folder: Path) -> dict[str, Path]:
    """Find the subjects' folders, by name: those that begin with ``sub-`` if there are any, else all visible ones.

    Args:
        folder: of the cohort.
        results_folder: the folder of results. It is left out, as are folders that contain only results of this program.

    Raises:
        InputError: the folder does not exist or contains no folder, or two names are the same on some file systems.
    """
    if not os.path.isdir(folder):
        raise InputError(folder, "is not a folder", remedy="Specify the folder that contains one folder per subject")
    inside = [place for place in sorted(folder.iterdir()) if os.path.isdir(place) and not place.name.startswith(".")]
    inside = [p for p in inside if p.resolve() != results_folder.resolve() and not has_only_results(p)]
    chosen = [place for place in inside if place.name.startswith(BIDS_PREFIX)]
    if not chosen and not os.path.exists(folder / PARTICIPANTS):
        chosen = inside
    if not chosen:
        remedy = "Give every subject a folder with its recordings (BIDS: sub-01, sub-02 ...)"
        raise InputError(folder, "contains no subject's folder", remedy=remedy)
    found: dict[str, Path] = {}
    for place in chosen:
        name = printable_name(place.name)
        same = next((other for other in found if other.casefold() == name.casefold()), None)
        if same is not None:
            problem = f"two subjects have the same name on some file systems: {found[same].name!r} and {place.name!r}"
            raise InputError(folder, problem, remedy="Rename one of the folders")
        found[name] = place
    return found


def read_subject_table(folder: Path) -> dict[str, TableRow]:
    """Read the rows of the cohort's table, by subject; empty without a table.

    Raises:
        InputError: two tables, no column of names, a row of another length, or a subject twice.
    """
    tables = [folder / name for name in (PARTICIPANTS, SUBJECTS) if os.path.exists(folder / name)]
    if len(tables) == 2:
        raise InputError(tables[1], f"is a second table beside {PARTICIPANTS}", remedy="Keep one of them")
    if not tables:
        return {}
    path = tables[0]
    lines = list(read_rows(path, split=split_at_tabs) if path.name == PARTICIPANTS else read_csv_rows(path))
    if not lines:
        raise InputError(path, "has no header", remedy=f"Begin with a line of titles: {KNOWN_TITLES}")
    (first, titles), *rest = lines
    columns = _map_columns(path, first, titles)
    found: dict[str, TableRow] = {}
    for line, cells in require_cells(path, rest, len(titles)):
        words = {what: (cells[column].strip(), unit) for what, (column, unit) in columns.items()}
        name = words.pop("name")[0]
        if name in found:
            problem = f"the subject {name!r} is already in line {found[name].line}"
            place = f"line {line}, column {titles[columns['name'][0]].strip()!r}"
            raise InputError(path, problem, place=place, remedy="Give every subject one row and its own name")
        found[name] = TableRow(path, line, words)
    return found


def read_subject_info(folder: Path, row: TableRow | None) -> SubjectInfo:
    """Data of the person whose recordings are in a folder, by a row of the table.

    Raises:
        InputError: with file, line and column: an invalid cell, or an implausible value; or an unknown sex.
    """
    info = SubjectInfo() if row is None else _info_from_row(row)
    if info.sex is None:
        table = folder.parent / PARTICIPANTS
        path, place = (row.path, f"line {row.line}, column 'sex'") if row is not None else (table, None)
        problem = f"the sex of {folder.name!r} is not given, and the segment tables differ by sex"
        if row is None and os.path.exists(table):
            problem = f"has no row for {folder.name!r}"
        remedy = "Give it a row with its sex (female, male or unknown)"
        raise InputError(path, problem, place=place, remedy=remedy)
    return info


def find_row(name: str, rows: Mapping[str, TableRow]) -> TableRow | None:
    """The row of a subject's folder; a table may leave out the prefix that BIDS puts before a label."""
    return rows.get(name) or rows.get(name.removeprefix(BIDS_PREFIX))


def _map_columns(path: Path, line: int, titles: list[str]) -> dict[str, tuple[int, str]]:
    """Column and its unit, by meaning."""
    units = _read_units(path)
    meanings = {title: what for what, known in COLUMNS.items() for title in known}
    found: dict[str, tuple[int, str]] = {}
    for column, title in enumerate(titles):
        parts = _TITLE.match(title.strip())
        name = parts["name"].strip().lower() if parts else ""
        what = meanings.get(name) or meanings.get(name.replace(" ", "_"))
        if what is None or parts is None:
            continue
        if what in found:
            problem = f"{titles[found[what][0]].strip()!r} and {title.strip()!r} both contain the {what}"
            raise InputError(path, problem, place=f"line {line}", remedy="Keep one of the columns")
        found[what] = (column, (parts["unit"] or parts["tail"] or units.get(title.strip(), "")).strip().lower())
    if "name" not in found:
        problem = "no column contains the names of the subjects"
        raise InputError(path, problem, place=f"line {line}", remedy=f"Known titles: {KNOWN_TITLES}")
    return found


def _read_units(path: Path) -> dict[str, str]:
    """Units of columns from the BIDS description next to the table."""
    described = path.with_name(UNITS_FILE)
    if path.name != PARTICIPANTS or not os.path.exists(described):
        return {}
    tree = parse_json_object(described, read_bytes(described), "Describe each column by an object with Units")
    found = {title: entry.get("Units") for title, entry in tree.items() if isinstance(entry, dict)}
    return {title: unit for title, unit in found.items() if isinstance(unit, str)}


def _info_from_row(row: TableRow) -> SubjectInfo:
    assumed: list[str] = []
    words = {what: (word, unit) for what, (word, unit) in row.cells.items() if word.lower() not in MISSING_CELLS}

    def refused(what: str, problem: str, remedy: str) -> InputError:
        return InputError(row.path, problem, place=f"line {row.line}, column {what!r}", remedy=remedy)

    def measure(what: str, units: Mapping[str, float], usual: str) -> float | None:
        if what not in words:
            return None
        word, unit = words[what]
        try:
            value = numeral(word)
        except ValueError:
            raise refused(what, f"{word!r} is not a number", "Write n/a if it is not known") from None
        if not unit and what == "height" and CENTIMETRE_HEIGHTS[0] <= value <= CENTIMETRE_HEIGHTS[1]:
            assumed.append(f"height {value:g} in {row.path.name} without a unit: taken as centimetres")
            unit = "cm"
        if (unit or usual) not in units:
            raise refused(what, f"unit {unit!r} of {what} is unknown", f"Use one of {', '.join(units)}")
        value *= units[unit or usual]
        try:
            SubjectData(value if what == "mass" else MASS_GUESS, "male", value if what == "height" else None)
        except InvalidValue as error:
            raise refused(what, str(error), f"Correct it, or give its unit in the title: {what} [{usual}]") from None
        return value

    sex = words.get("sex", ("", ""))[0]
    if sex and sex.lower() not in SEXES:
        remedy = "Write female or male (F, M), which have segment tables, or unknown for the mean of both"
        raise refused("sex", f"{sex!r} has no segment table", remedy)
    return SubjectInfo(
        SEXES.get(sex.lower()),
        measure("height", LENGTH_UNITS, "m"),
        measure("mass", MASSES, "kg"),
        _find_marker_set(row.path, words["marker_set"][0]) if "marker_set" in words else None,
        tuple(words.get("static", ("", ""))[0].split()),
        tuple(assumed),
    )


def _find_marker_set(table: Path, source: str) -> str:
    """A built-in marker set's name, or a file below the table's folder, which may come from anybody."""
    try:
        return str(path_within(table.parent, source)) if source.lower().endswith(".json") else source
    except InvalidValue as error:
        raise InputError(table, f"the marker set {error}", remedy="Put the marker set beside this file") from None
