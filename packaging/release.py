"""Make a release: ``python packaging/release.py 0.2.0 [--dry-run]``.

Sets the version in every file that states it, dates the section of the changelog, commits, and makes the tag ``v0.2.0``
whose message is that section: the release notes. Nothing is pushed. It is refused, and nothing is changed, if the tree
has uncommitted changes, the tag exists, or the changelog has no text for the version.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = "CHANGELOG.md"
UNRELEASED = "unreleased"
STATEMENTS = {
    "pyproject.toml": r'^version = "(.+)"$',
    "blender_manifest.toml": r'^version = "(.+)"$',
    "solver/version.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "packaging/conda/recipe.yaml": r"^  version: (\d.*)$",
}
"""Files that state the version, and how."""


class ReleaseError(Exception):
    """Why there is no release; a sentence for the user."""


def main() -> int:
    """Print the release notes; 0 when the release was made, or could be with ``--dry-run``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version", help="three numbers, such as 0.2.0")
    parser.add_argument("--dry-run", action="store_true", help="check everything and print the notes, change nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the repository")
    options = parser.parse_args()
    try:
        texts, notes = prepare(options.root, options.version, datetime.now(UTC).date().isoformat())
        if not options.dry_run:
            commit(options.root, options.version, texts, notes)
    except ReleaseError as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    print(f"{'would make' if options.dry_run else 'made'} v{options.version} ({', '.join(texts)})\n\n{notes}")
    return 0


def prepare(root: Path, version: str, date: str) -> tuple[dict[str, str], str]:
    """The new texts by file, and the release notes.

    Args:
        root: of the repository.
        version: of the release.
        date: of the release, ISO 8601.

    Raises:
        ReleaseError: the release is refused.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ReleaseError(f"{version!r} is no version of three numbers, such as 0.2.0")
    if changed := git(root, "status", "--porcelain"):
        raise ReleaseError(f"the tree has uncommitted changes, the first is {changed.splitlines()[0].split()[-1]}")
    if git(root, "tag", "--list", f"v{version}"):
        raise ReleaseError(f"the tag v{version} exists")
    changelog = (root / CHANGELOG).read_text(encoding="utf-8")
    texts = {CHANGELOG: changelog.replace(f"## {version} ({UNRELEASED})", f"## {version} ({date})", 1)}
    notes = release_notes(changelog, version)
    for name, pattern in STATEMENTS.items():
        text = (root / name).read_text(encoding="utf-8")
        found = re.search(pattern, text, re.MULTILINE)
        if found is None:
            raise ReleaseError(f"{name} states no version")
        texts[name] = text[: found.start(1)] + version + text[found.end(1) :]
    return texts, notes


def release_notes(changelog: str, version: str) -> str:
    """The text of the changelog's section of a version that is not yet released.

    Raises:
        ReleaseError: there is none, it is empty, or it has a date.
    """
    found = re.search(rf"^## {re.escape(version)} \(([^)]+)\)\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[2].strip():
        raise ReleaseError(f"{CHANGELOG} has no section '## {version} ({UNRELEASED})' with text")
    if found[1] != UNRELEASED:
        raise ReleaseError(f"the section of {version} in {CHANGELOG} is already dated {found[1]}")
    return found[2].strip()


def commit(root: Path, version: str, texts: dict[str, str], notes: str) -> None:
    """Write the files, commit and tag; a failure restores the files and the commit before.

    Raises:
        ReleaseError: git refused.
    """
    before = git(root, "rev-parse", "HEAD")
    try:
        for name, text in texts.items():
            (root / name).write_text(text, encoding="utf-8", newline="\n")
        git(root, "commit", "--quiet", "--message", f"Release {version}", "--", *texts)
        git(root, "tag", "--annotate", "--cleanup=verbatim", f"v{version}", "--message", notes)
    except (OSError, ReleaseError) as error:
        git(root, "reset", "--quiet", "--hard", before)
        raise ReleaseError(str(error)) from error


def git(root: Path, *words: str) -> str:
    """Output of a git command.

    Raises:
        ReleaseError: it failed.
    """
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        raise ReleaseError(f"git {words[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
