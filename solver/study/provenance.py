"""Provenance of a result: program, options and input files, which show whether the result is still up to date."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import scipy

from ..base.assets import ASSETS
from ..base.errors import InputError
from ..options.study import Settings
from ..storage.codec import FileKind
from ..storage.json_tree import to_json_values
from ..storage.manifest import file_digest
from ..version import __version__
from .values import StudyData

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a result comes from.

    Attributes:
        options: every option, as plain data.
        inputs: hash of every file that was read, by its path relative to the folder of recordings.
        program: version, and a hash of the program's own files.
        created: time, ISO 8601, UTC.
        libraries: versions of the libraries used.
    """

    options: Mapping[str, object]
    inputs: Mapping[str, str]
    program: str
    created: str
    libraries: Mapping[str, str]

    def matches(self, other: Provenance) -> bool:
        """Whether program, options and inputs are the same; the time is ignored."""
        return (self.program, to_json_values(self.options), dict(self.inputs)) == (
            other.program,
            to_json_values(other.options),
            dict(other.inputs),
        )

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """Rows (title, text) for a report's method section."""
        libraries = ", ".join(f"{name} {version}" for name, version in self.libraries.items())
        files = ", ".join(f"{name} ({digest[:8]})" for name, digest in self.inputs.items())
        return (
            ("Program", f"exciting_dance {self.program}; {libraries}"),
            ("Made", self.created),
            ("Files read", files or "none"),
        )


PROVENANCE = FileKind(Provenance, "exciting dance provenance", remedy="Identify the subject again")


def collect_options(read: object, settings: Settings, subject: object) -> dict[str, object]:
    """Every option on which a study's result depends, as plain data.

    Args:
        read: reading options.
        settings: of the study; the number of processes changes no result and is left out.
        subject: data of the person, or of the rig.
    """
    chosen = to_json_values(settings)
    chosen.pop("jobs")
    return {"reading": to_json_values(read), "settings": chosen, "subject": to_json_values(subject)}


def build_provenance(folder: Path, files: Iterable[Path], options: Mapping[str, object]) -> Provenance:
    """The provenance of a result that is computed from files.

    Args:
        folder: to which paths are relative.
        files: input files.
        options: every option, as values that `plain` can convert.

    Raises:
        InputError: a file cannot be read.
    """
    inputs, folder = {}, folder.absolute()
    for file in sorted({file.absolute() for file in files}):
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.as_posix()
        try:
            inputs[name] = file_digest(file)
        except OSError as error:
            raise InputError(file, f"cannot be read: {error.strerror}", remedy="Check its permissions") from None
    return _build(options, inputs)


def provenance_of_study(study: StudyData) -> Provenance:
    """The provenance of a study that a script computed: its settings, the origin of its rig, and the files read.

    Files have the hashes that they had when they were read, and paths relative to their common folder. Recordings that
    no file contains have none.
    """
    inputs = {Path(path): digest for record in study.records for path, digest in record.recording.inputs.items()}
    try:
        folder = Path(os.path.commonpath([path.parent for path in inputs])) if inputs else Path()
    except ValueError:  # on several drives
        folder = Path()
    named = {
        (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix(): inputs[path]
        for path in sorted(inputs)
    }
    settings = to_json_values(study.settings)
    settings.pop("jobs")
    stated = {record.name: record.recording.stated for record in study.records if record.recording.stated}
    options = {"reading": stated, "settings": settings, "subject": study.rig.provenance}
    return _build(to_json_values(options), named)


def _build(options: Mapping[str, object], inputs: Mapping[str, str]) -> Provenance:
    libraries = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    return Provenance(
        to_json_values(options), inputs, program_version(), datetime.now(UTC).isoformat(timespec="seconds"), libraries
    )


@cache
def program_version() -> str:
    """Version with a hash of the program's files, because results also change between releases."""
    digest = hashlib.blake2b(digest_size=6)
    for root, pattern in ((PACKAGE_FOLDER, "*.py"), (ASSETS, "*.json")):
        for file in sorted(root.rglob(pattern)):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return f"{__version__} ({digest.hexdigest()})"
