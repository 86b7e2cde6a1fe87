"""pytest's options ``--changed`` and ``--base``: run the tests that a change affects; and how long tests will take."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.import_graph import ImportGraph

DURATIONS = "exciting_dance/durations"
"""Name in pytest's cache, a folder that git ignores: seconds of each test when it last ran."""
MAIN = ("origin/main", "main", "HEAD")
"""Without ``--base`` a branch is compared with where it left the first of them that exists."""
AFFECT_ALL = {"pyproject.toml", "requirements.txt"}
"""Files that no test imports and every test depends on: pytest's configuration and the versions of all packages."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("changes")
    group.addoption("--changed", action="store_true", help="only tests that depend on a file changed since the base")
    group.addoption("--base", metavar="COMMIT", help="what --changed compares with, by default main")


def pytest_configure(config: pytest.Config) -> None:
    """Find the affected files once; workers of pytest-xdist receive them with the options."""
    if config.option.changed and not hasattr(config.option, "affected"):
        config.option.changed_files = sorted(find_changed(config.rootpath, config.option.base))
        config.option.affected = sorted(find_affected(config.rootpath, config.option.changed_files))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``--changed`` no file is collected that nothing changed for."""
    affected = getattr(config.option, "affected", None)
    if affected is None or collection_path.is_dir():
        return None
    return collection_path.relative_to(config.rootpath).as_posix() not in affected or None


def find_changed(root: Path, base: str | None) -> set[str]:
    """Files that differ from where this branch left ``base``: committed, uncommitted and new ones.

    Raises:
        pytest.UsageError: ``root`` is in no git clone, or git knows no such commit.
    """
    if not git(root, "rev-parse", "--git-dir"):
        raise pytest.UsageError(f"--changed needs git and a clone; {root} is none")
    for start in (base,) if base else MAIN:
        if fork := git(root, "merge-base", start, "HEAD"):
            listed = git(root, "diff", "--name-only", "--no-renames", "-z", fork.strip())
            return set((listed + git(root, "ls-files", "--others", "--exclude-standard", "-z")).split("\0")) - {""}
    raise pytest.UsageError(f"--base {base}: git knows no such commit; give a branch, a tag or a hash")


def find_affected(root: Path, changed: Iterable[str]) -> set[str]:
    """Files of tests/ that depend on a changed file."""
    graph = ImportGraph(root)
    affected = graph.affected_by(graph.files if AFFECT_ALL.intersection(changed) else changed)
    return {name for name in affected if name.startswith("tests/")}


def git(root: Path, *arguments: str) -> str:
    """What git prints; nothing where it fails."""
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""


class Durations:
    """Says before the tests start how long they took when they last ran, and records how long they take."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._cache: pytest.Cache | None = getattr(config, "cache", None)  # missing with -p no:cacheprovider
        self._earlier: dict[str, float] = self._cache.get(DURATIONS, {}) if self._cache else {}
        self._now: dict[str, float] = defaultdict(float)
        self._announced = False

    def pytest_sessionstart(self) -> None:
        """Say what ``--changed`` found."""
        if self._config.option.changed:
            test_files = [name for name in self._config.option.affected if Path(name).name.startswith("test_")]
            self._write(
                f"{len(self._config.option.changed_files)} files changed, {len(test_files)} test files affected"
            )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without workers pytest itself collects."""
        if session.items:
            self._announce([item.nodeid for item in session.items], 1)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """With workers each of them collects the same tests."""
        self._announce(ids, len(self._config.option.tx))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up set-up, call and tear-down."""
        self._now[report.nodeid] += report.duration

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Keep the durations. A change that affects no test passes."""
        if self._cache and self._now:
            self._cache.set(DURATIONS, self._earlier | self._now)
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._config.option.changed:
            session.exitstatus = pytest.ExitCode.OK

    def _announce(self, tests: list[str], workers: int) -> None:
        if not self._announced:
            self._announced = True
            self._write(forecast(tests, self._earlier, workers))

    def _write(self, line: str) -> None:
        if reporter := self._config.pluginmanager.get_plugin("terminalreporter"):
            reporter.write_line(line)


def forecast(tests: list[str], earlier: dict[str, float], workers: int) -> str:
    """How long tests will take, in one sentence: no less than the longest file, which one worker runs.

    Args:
        tests: identifiers, each of which begins with its file.
        earlier: seconds of tests when they last ran. A test without a record counts as the mean of the others.
        workers: processes that run the tests.
    """
    known = [earlier[test] for test in tests if test in earlier]
    if not known:
        return f"{len(tests)} tests: no record yet of how long they take"
    mean = sum(known) / len(known)
    by_file: dict[str, float] = defaultdict(float)
    for test in tests:
        by_file[test.partition("::")[0]] += earlier.get(test, mean)
    seconds = max(sum(by_file.values()) / workers, *by_file.values())
    length = f"{seconds:.0f} s" if seconds < 100.0 else f"{seconds / 60.0:.0f} minutes"
    note = f"; {len(tests) - len(known)} of them have no record" if len(known) < len(tests) else ""
    return f"{len(tests)} tests: about {length} by their last run{note}"
