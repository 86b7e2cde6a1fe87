"""Contributors' tools: map of packages, list of constants, automatic checks, commands on the pages."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.constants_page import MISSING, Constant, constants_of, find_constants, format_page
from docs.package_map import Package, draw, find_arrows, find_rows, folders_below, reachable, read_packages
from tests.imports import ROOT

PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "docs/architecture.md")
GITHUB = ROOT / ".github"
MODULE = '''"""A module."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = ("left", "right")
STIFFNESS = 3.5
"""[N/m] Of a spring. Chosen on two walks:
3 and 4 are worse."""
SHARE: float = 0.25  # Share of the weight, as in bonnet2016.
# How many
# are drawn.
DRAWS = 10
SIDES = (1, 2)  # left and right
BARE = -2.0
lower = 1.0
'''


def package(name: str, *imported: str) -> Package:
    """A folder that imports others."""
    return Package(name, True, f"What {name} is.", 1, 10, frozenset(imported))


def test_a_package_is_drawn_above_all_that_it_imports() -> None:
    """Each package is one row above its highest import; arrows implied by two others are omitted."""
    module = Package("module", False, "", 1, 1, frozenset({"low"}))
    packages = {
        one.name: one for one in (package("top", "middle", "low"), package("middle", "module"), package("low"), module)
    }
    assert find_rows(packages) == [["low"], ["middle"], ["top"]]
    assert sorted(find_arrows(packages)) == [("middle", "low"), ("top", "middle")]
    drawing = draw(packages)
    assert drawing.count("<rect") == 3
    assert drawing.count("<path") == 2
    assert "What middle is." in drawing


def test_cyclic_packages_cannot_be_drawn() -> None:
    """The error names the cycle."""
    with pytest.raises(ValueError, match="a -> b -> a"):
        reachable({"a": package("a", "b"), "b": package("b", "a")})


@pytest.mark.parametrize("house", ["solver", "addon"])
def test_the_map_agrees_with_the_imports(house: str) -> None:
    """Along the arrows exactly the imports of a package are reached, and each package has a description."""
    packages = read_packages(ROOT / house)
    assert [name for name, one in packages.items() if not one.summary] == []
    arrows = find_arrows(packages)
    assert arrows
    followed = {name: {one for start, one in arrows if start == name} for name in folders_below(packages)}
    for row in find_rows(packages):
        for name in row:
            followed[name] |= {far for one in followed[name] for far in followed[one]}
    assert followed == folders_below(packages)


def test_constants_are_read_as_documented(tmp_path: Path) -> None:
    """Constants are numbers with names in capitals, documented by the string after them or a comment, if any."""
    (tmp_path / "module.py").write_text(MODULE)
    stiffness, share, draws, sides, bare = constants_of(tmp_path / "module.py", tmp_path)
    assert (stiffness.name, stiffness.value, stiffness.unit) == ("STIFFNESS", "3.5", "N/m")
    assert stiffness.evidence == "Chosen on two walks: 3 and 4 are worse."
    assert (share.name, share.unit, share.evidence) == ("SHARE", "1", "Share of the weight, as in bonnet2016.")
    assert (draws.documentation, draws.unit, draws.evidence) == ("How many are drawn.", MISSING, "")
    assert (sides.value, sides.documentation) == ("(1, 2)", "left and right")
    assert (bare.value, bare.documentation, bare.unit, bare.evidence) == ("-2.0", "", MISSING, "")


def test_the_page_of_constants_quotes_the_sources() -> None:
    """Every constant of the library has a row, with the text of its module."""
    constants = find_constants(ROOT / "solver")
    assert len(constants) > 100
    sources = {path: " ".join((ROOT / path).read_text("utf-8").replace("#", " ").split()) for path in _paths(constants)}
    assert [one for one in constants if one.documentation.replace("#", " ") not in sources[one.path]] == []
    rows = [line for line in format_page(constants).splitlines() if line.startswith("| `")]
    assert len(rows) == len(constants) + sum(bool(one.evidence) for one in constants)


def _paths(constants: list[Constant]) -> set[str]:
    return {one.path for one in constants}


def load(name: str) -> Any:
    """A YAML file of the repository."""
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def hooks() -> dict[str, dict[str, Any]]:
    """pre-commit's hooks by name."""
    return {hook["id"]: hook for repository in load(".pre-commit-config.yaml")["repos"] for hook in repository["hooks"]}


def test_a_long_subject_is_refused() -> None:
    """A subject of 72 characters is accepted and one of 73 refused, whatever the body."""
    too_long = re.compile(hooks()["subject"]["entry"])
    assert not too_long.search("x" * 72 + "\n\n" + "y" * 100)
    assert too_long.search("x" * 73 + "\n\nshort")
    assert hooks()["subject"]["stages"] == ["commit-msg"]


def test_git_runs_the_same_checks_as_lint() -> None:
    """Each program of ``./dance lint`` has a hook that uses the clone's own environment."""
    commands = runpy.run_path(str(ROOT / "dance"))["commands"]("python", "lint", [])
    entries = [hook["entry"] for hook in hooks().values()]
    for command in commands:
        words = [word for word in command[1:] if word not in (".", "--check")]
        assert any(entry.startswith("./dance python " + " ".join(words)) for entry in entries), command


def steps(workflow: str) -> list[dict[str, Any]]:
    """All steps of all jobs of a workflow."""
    return [step for job in load(f".github/workflows/{workflow}")["jobs"].values() for step in job["steps"]]


def test_a_change_runs_what_a_contributor_runs() -> None:
    """The checks of a pull request are ``.ci/run``, with the interpreters of every Blender."""
    checks = steps("checks.yml")
    assert [step for step in checks if step.get("run") == ".ci/run"]
    versions = next(step["with"]["python-version"] for step in checks if "setup-python" in step.get("uses", ""))
    assert set(versions.split()) == set(runpy.run_path(str(ROOT / "dance"))["SUPPORTED"])


def test_a_change_is_tested_on_every_system_and_python() -> None:
    """The quick tests run on three systems with every Python that the package admits."""
    matrix = load(".github/workflows/checks.yml")["jobs"]["systems"]["strategy"]["matrix"]
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}
    with (ROOT / "pyproject.toml").open("rb") as stream:
        project = tomllib.load(stream)["project"]
    listed = [one.rpartition(" ")[2] for one in project["classifiers"] if "Python :: 3." in one]
    assert matrix["python"] == listed


def test_all_adds_the_slow_tests() -> None:
    """``./dance test`` runs as many processes as there are cores, on quick tests; ``--all`` selects every test."""
    commands = runpy.run_path(str(ROOT / "dance"))["commands"]
    (quick,), (every,) = commands("python", "test", ["tests/qp"]), commands("python", "test", ["--all", "tests/qp"])
    assert quick[quick.index("-n") + 1] == "auto"
    assert every == [*quick[:-1], "-m", "", "tests/qp"]


def test_the_checks_name_tests_that_exist() -> None:
    """Every file or folder of tests that ``.ci/run`` selects or excludes exists."""
    named = re.findall(r"\btests/[\w/.]+", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_packages_are_built_for_every_platform() -> None:
    """Each platform has its zip, and each of the three systems a wheel."""
    jobs = load(".github/workflows/packages.yml")["jobs"]
    builds = {row["system"]: row["build"] for row in jobs["zip"]["strategy"]["matrix"]["include"]}
    text = (ROOT / "packaging" / "build.py").read_text(encoding="utf-8")
    platforms = re.findall(r'^    "([a-z]+-[a-z0-9]+)": \(?', text, re.MULTILINE)
    assert len(platforms) >= 3
    assert sorted(" ".join(builds.values()).replace("--platform", "").split()) == sorted(platforms)
    systems = {row["system"].partition("-")[0] for row in jobs["wheel"]["strategy"]["matrix"]["include"]}
    assert systems == {"ubuntu", "macos", "windows"}


@pytest.mark.parametrize("path", sorted(GITHUB.rglob("*.yml")), ids=lambda path: path.name)
def test_files_that_automation_names_exist(path: Path) -> None:
    """Every script of a workflow exists; every form has a name, a description and fields of known types."""
    content = load(str(path.relative_to(ROOT)))
    if path.parent.name == "workflows":
        words = [word for step in steps(path.name) for word in str(step.get("run", "")).split()]
        scripts = [word for word in words if re.fullmatch(r"[\w.]+/[\w./]+", word) and not word.startswith("dist/")]
        assert [script for script in scripts if not (ROOT / script).is_file()] == []
    elif path.name != "config.yml":
        assert content["name"]
        assert content["description"]
        assert {field["type"] for field in content["body"]} <= {
            "input",
            "textarea",
            "dropdown",
            "checkboxes",
            "markdown",
        }
        identifiers = [field["id"] for field in content["body"]]
        assert len(set(identifiers)) == len(identifiers)


@pytest.mark.parametrize("page", PAGES)
def test_pages_for_contributors_name_what_exists(page: str) -> None:
    """Every path, link and command exists in this clone, except build output under out/ or dist/."""
    text = (ROOT / page).read_text(encoding="utf-8")
    quoted = re.findall(r"`([^`\n]+)`", text)
    paths = [name for name in quoted if re.fullmatch(r"\.?[\w.]+(/[\w.]+)*/?", name) and ("/" in name or "." in name)]
    paths = [name for name in paths if not name.startswith(("out/", "dist/"))]
    assert [name for name in paths if not (ROOT / name).exists()] == []
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []
    verbs = re.findall(r"\./dance (?:--python [\d.]+ )?(\w+)", text)
    assert set(verbs) <= set(runpy.run_path(str(ROOT / "dance"))["VERBS"])
    programs = [name for name in re.findall(r"\./dance python (\S+\.py)", text) if not (ROOT / name).is_file()]
    assert programs == []


def test_uv_trusts_the_certificates_of_the_system(tmp_path: Path) -> None:
    """Without any variable in its environment ``./dance`` runs uv so that it trusts what the system trusts."""
    uv, seen = tmp_path / "bin" / "uv", tmp_path / "seen"
    uv.parent.mkdir()
    uv.write_text(f"#!/bin/sh\nenv > {seen}\n")
    uv.chmod(0o755)
    words = "import runpy, sys; own = runpy.run_path(sys.argv[1]); own['main'](['help']); own['install'](sys.argv[2])"
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "SSL_"))}
    subprocess.run([sys.executable, "-c", words, str(ROOT / "dance"), str(tmp_path)], env=bare, check=True)
    given = dict(line.partition("=")[::2] for line in seen.read_text().splitlines())
    known = runpy.run_path(str(ROOT / "dance"))["CERTIFICATES"]
    assert {name: given.get(name) for name in known} == dict.fromkeys(known, "1")
    real = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if real is not None:
        text = subprocess.run([real, "pip", "install", "--help"], capture_output=True, text=True, check=True).stdout
        assert any(name in text for name in known)
