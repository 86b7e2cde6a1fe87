"""The files of one run in the place of those of the run before, by moves that a journal lists.

The journal is the moment of truth: before it stands, nothing has changed; from then on the replacement is always
finished, by this process or, if it is killed, by the next.
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
"""In a workshop: the folder of files that wait for their place, and what is to be replaced by them."""
MAX_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Journal:
    """What a replacement takes away.

    Attributes:
        ours: files of the run before and what was in them, as `manifest.files_written` tells.
        stale: those of them that the new run does not have.
    """

    ours: Mapping[str, str | None]
    stale: tuple[str, ...]


JOURNAL_KIND = FileKind(Journal, "exciting dance journal", remedy="Remove the hidden folder that holds it")


def find_foreign_files(folder: Path, names: Iterable[str], ours: Mapping[str, str | None]) -> tuple[str, ...]:
    """What stands in the way of files of these names and was not written by this program, or was changed since."""
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
    """The error that names what stands in the way."""
    others = f", nor were {', '.join(foreign[1:MAX_SHOWN])}" if len(foreign) > 1 else ""
    more = f" and {len(foreign) - MAX_SHOWN} more" if len(foreign) > MAX_SHOWN else ""
    problem = f"is not as this program wrote it{others}{more}: the results need that name"
    return InputError(path / foreign[0], problem, remedy="Move it away, or name another folder")


def replace_files(folder: Path, work_folder: Path, *, keep_previous: bool) -> None:
    """Give the files that wait in a workshop their place in a folder; nobody else may hold it.

    Args:
        folder: that has files already.
        work_folder: with the new files.
        keep_previous: keep the files of the run before whose names are not written now.

    Raises:
        InputError, OSError: a file cannot be moved; the next call of `finish` goes on with it.
    """
    names, ours = set(list_files(work_folder / NEW_FOLDER)), files_written(folder)
    gone = (
        [] if keep_previous else [name for name in ours if name not in names and is_unchanged(folder, name, ours[name])]
    )
    JOURNAL_KIND.write(work_folder / JOURNAL_FILE, Journal(ours, tuple(gone)))
    finish_replacement(folder, work_folder)


def finish_replacement(folder: Path, work_folder: Path) -> None:
    """Carry out what a workshop's journal says, from wherever it was left.

    Raises:
        InputError, OSError: a file cannot be moved.
    """
    journal = JOURNAL_KIND.read(work_folder / JOURNAL_FILE)
    for name in journal.stale:
        if is_unchanged(folder, name, journal.ours.get(name)):
            (folder / name).unlink()
    # The folder's own manifest comes last: who reads it has seen all of one run.
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
    """Remove folders in which nothing is left."""
    with suppress(OSError):
        for place in (part, *part.parents):
            if place.parts:
                (folder / place).rmdir()
