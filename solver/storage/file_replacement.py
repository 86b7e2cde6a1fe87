"""Replacement of a previous run's files by moves that a journal lists.

Before the journal is written, nothing has changed. After that the replacement is always finished, by this process or,
if it is killed, by the next one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..errors import InputError
from .codec import FileKind
from .manifest import MANIFEST_FILE, files_written, is_unchanged, list_files

NEW_FOLDER, JOURNAL_FILE = "new", "journal.json"
"""In a work folder: the folder of new files, and the file that lists what they replace."""
MAX_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Journal:
    """What a replacement removes.

    Attributes:
        ours: files of the previous run with their digests, see `manifest.files_written`.
        stale: those of them that the new run does not have.
    """

    ours: Mapping[str, str | None]
    stale: tuple[str, ...]


JOURNAL_KIND = FileKind(Journal, "exciting dance journal", remedy="Remove the hidden folder that holds it")


def find_foreign_files(folder: Path, names: Iterable[str], ours: Mapping[str, str | None]) -> tuple[str, ...]:
    """Existing files that block files of these names and were not written by this program, or were changed since."""
    known = {name.casefold(): digest for name, digest in ours.items()}  # one file to some file systems
    found = []
    for name in names:
        above = [str(part) for part in PurePosixPath(name).parents if part.parts]
        found += [part for part in above if os.path.lexists(folder / part) and not os.path.isdir(folder / part)]
        own = name.casefold() in known or PurePosixPath(name).name == MANIFEST_FILE
        if os.path.lexists(folder / name) and not (own and is_unchanged(folder, name, known.get(name.casefold()))):
            found.append(name)
    return tuple(dict.fromkeys(found))


def foreign_file_error(path: Path, foreign: tuple[str, ...]) -> InputError:
    """The error that names the foreign files."""
    others = f", as were {', '.join(foreign[1:MAX_SHOWN])}" if len(foreign) > 1 else ""
    more = f" and {len(foreign) - MAX_SHOWN} more" if len(foreign) > MAX_SHOWN else ""
    problem = f"was not written by this program, or was changed since{others}{more}: the results need that name"
    return InputError(path / foreign[0], problem, remedy="Move it away, or name another folder")


def replace_files(folder: Path, work_folder: Path, *, keep_previous: bool) -> None:
    """Move the new files of a work folder into a folder that this process has locked.

    Args:
        folder: that has files already.
        work_folder: with the new files.
        keep_previous: keep files of the previous run whose names are not written now.

    Raises:
        InputError, OSError: a file cannot be moved; the next call of `finish_replacement` continues.
    """
    names, ours = set(list_files(work_folder / NEW_FOLDER)), files_written(folder)
    stale = [name for name in ours if name not in names and is_unchanged(folder, name, ours[name])]
    JOURNAL_KIND.write(work_folder / JOURNAL_FILE, Journal(ours, () if keep_previous else tuple(stale)))
    finish_replacement(folder, work_folder)


def finish_replacement(folder: Path, work_folder: Path) -> None:
    """Carry out or continue the replacement in a work folder's journal.

    Raises:
        InputError, OSError: a file cannot be moved.
    """
    journal = JOURNAL_KIND.read(work_folder / JOURNAL_FILE)
    for name in journal.stale:
        if is_unchanged(folder, name, journal.ours.get(name)):
            (folder / name).unlink()
    # The folder's manifest is moved last: when a reader sees it, all files of the run are in place.
    names = sorted(list_files(work_folder / NEW_FOLDER), key=lambda name: (name == MANIFEST_FILE, name))
    if strange := find_foreign_files(folder, names, journal.ours):
        raise foreign_file_error(folder, strange)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(work_folder / NEW_FOLDER / name, folder / name)
    for name in journal.stale:
        _remove_empty(folder, PurePosixPath(name).parent)
    (work_folder / JOURNAL_FILE).unlink()
    shutil.rmtree(work_folder / NEW_FOLDER, ignore_errors=True)


def _remove_empty(folder: Path, part: PurePosixPath) -> None:
    """Remove empty folders."""
    with suppress(OSError):
        for place in (part, *part.parents):
            if place.parts:
                (folder / place).rmdir()
