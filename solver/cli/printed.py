"""What a verb prints: its report and warnings, nothing (``--quiet``), or its result as one JSON object (``--json``)."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from ..base.files import read_bytes

QUIET, JSON = "--quiet", "--json"
RESULT_FILES = ("summary.json", "result.json", "cohort.json")
"""Files of a folder of results whose content belongs to the object, each under its name without the suffix."""


class Captured(io.StringIO):
    """Text that a verb prints; what it writes to the descriptor itself, as ``live`` does, is not captured."""

    def __init__(self, descriptor_of: Any) -> None:
        super().__init__()
        self._descriptor_of = descriptor_of

    def fileno(self) -> int:
        """The descriptor of the stream that is replaced."""
        return int(self._descriptor_of.fileno())


@contextmanager
def captured(options: argparse.Namespace) -> Iterator[io.StringIO]:
    """Collect what the block prints on the standard output if ``--quiet`` or ``--json`` is given."""
    text = Captured(sys.stdout)
    if options.quiet or options.json:
        with redirect_stdout(text):
            yield text
    else:
        yield text


def warn(warnings: Iterable[str]) -> None:
    """Each different warning once, on the error stream."""
    for text in dict.fromkeys(warnings):
        print(f"warning: {text}", file=sys.stderr)


def print_result(options: argparse.Namespace, code: int, report: str) -> None:
    """Print the object of ``--json``: verb, exit code, report, output with its files, and the result itself."""
    output: Path | None = getattr(options, "output", None)
    found = dict(getattr(options, "found", {}))
    files: list[str] = []
    if output is not None and output.is_dir():
        files, stored = _read_folder(output)
        found |= stored
    elif output is not None and output.is_file():
        files = [output.name]
    stated = {"output": None if output is None else str(output), "files": files, "report": report.strip()}
    _print({"verb": options.verb, "exit_code": code, **stated, **found})


def print_failure(verb: str | None, code: int, message: str) -> None:
    """Print the object of ``--json`` of a run without result."""
    _print({"verb": verb, "exit_code": code, "error": message})


def _read_folder(output: Path) -> tuple[list[str], dict[str, Any]]:
    """Names of the results in a folder, and the content of those that are meant for programs."""
    from ..storage.manifest import read_manifest

    manifest = read_manifest(output)
    files = [] if manifest is None else sorted(map(str, manifest.files))
    return files, {Path(name).stem: json.loads(read_bytes(output / name)) for name in RESULT_FILES if name in files}


def _print(tree: dict[str, Any]) -> None:
    print(json.dumps(tree, ensure_ascii=False))
