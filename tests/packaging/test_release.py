"""A release sets every version, dates the changelog, commits and tags, or changes nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import release  # type: ignore[import-not-found]  # noqa: E402

CHANGELOG = "# Changelog\n\n## 9.8.7 (unreleased)\n\n# heading\n- A new thing.\n\n## 9.8.6 (2026-01-02)\n\n- Old.\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of the files that state the version, with one commit."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    for name in release.STATEMENTS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message", "Begin")):
        release.git(tmp_path, *words)
    return tmp_path


def run(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "packaging" / "release.py"), "--root", str(repository), *words]
    return subprocess.run(command, capture_output=True, text=True)


def state(repository: Path) -> tuple[str, str, str]:
    """What a refused release must not change: commit, tags, and files."""
    return tuple(release.git(repository, *words) for words in (("rev-parse", "HEAD"), ("tag",), ("status", "--short")))


def test_a_release_states_its_version_everywhere(repository: Path) -> None:
    """Every file states the version, the section has a date, and the message of the tag is the whole section."""
    done = run(repository, "9.8.7")
    assert done.returncode == 0, done.stderr
    for name, pattern in release.STATEMENTS.items():
        assert re.findall(pattern, (repository / name).read_text(), re.MULTILINE) == ["9.8.7"]
    assert re.search(r"^## 9\.8\.7 \(\d{4}-\d\d-\d\d\)$", (repository / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert release.git(repository, "tag", "--list", "--format=%(contents)") == "# heading\n- A new thing."
    assert release.git(repository, "rev-list", "-1", "v9.8.7") == release.git(repository, "rev-parse", "HEAD")
    assert release.git(repository, "status", "--short") == ""


def test_a_dry_run_changes_nothing(repository: Path) -> None:
    """It prints the notes."""
    before = state(repository)
    done = run(repository, "9.8.7", "--dry-run")
    assert done.returncode == 0
    assert "- A new thing." in done.stdout
    assert state(repository) == before


@pytest.mark.parametrize(
    ("version", "words"), [("9.8", "three numbers"), ("9.9.0", "has no section"), ("9.8.6", "already dated 2026-01-02")]
)
def test_a_version_without_notes_is_refused(repository: Path, version: str, words: str) -> None:
    """A malformed version, one without a section, and one with a date end in one sentence and change nothing."""
    before = state(repository)
    done = run(repository, version)
    assert (done.returncode, words in done.stderr) == (1, True)
    assert len(done.stderr.splitlines()) == 1
    assert state(repository) == before


def test_an_existing_tag_and_a_dirty_tree_are_refused(repository: Path) -> None:
    """Neither is overwritten."""
    release.git(repository, "tag", "v9.8.7")
    assert "the tag v9.8.7 exists" in run(repository, "9.8.7").stderr
    release.git(repository, "tag", "--delete", "v9.8.7")
    (repository / "note.txt").write_text("mine")
    assert "uncommitted changes" in run(repository, "9.8.7").stderr
    assert (repository / "note.txt").read_text() == "mine"


def test_a_refused_commit_restores_the_files(repository: Path) -> None:
    """A hook that refuses the commit leaves the tree as it was."""
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    before = state(repository)
    assert run(repository, "9.8.7").returncode == 1
    assert state(repository) == before


def test_the_changelog_has_notes_for_this_version() -> None:
    """The version that the repository states has a section."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.findall(release.STATEMENTS["solver/version.py"], (ROOT / "solver/version.py").read_text(), re.M)
    assert f"## {version[0]} (" in text
