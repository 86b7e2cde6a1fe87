"""Sphinx: pages in Markdown, the library's reference made from the docstrings of what ``import solver`` offers."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from operator import attrgetter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import solver  # noqa: E402
from docs import checks_page, constants_page, extension_tables, option_table, package_map  # noqa: E402
from solver.demo.person import record_person, simulate_person  # noqa: E402
from solver.feasibility.check_table import CHECKS  # noqa: E402

project = "Exciting Dance"
author = "Exciting Dance contributors"
version = release = solver.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.doctest", "sphinx.ext.napoleon"]
default_role = "py:obj"
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "show-inheritance": False}
maximum_signature_line_length = 90
napoleon_numpy_docstring = False
napoleon_use_ivar = True
SAMPLES = Path(tempfile.gettempdir()) / f"exciting_dance_samples_{os.getpid()}"
"""Data of the examples: a short dance in the folder ``dance``, a simulated person's trials in ``recordings``."""
# Examples may write files: each page runs in a folder of its own.
doctest_global_setup = f"""
import os, shutil, tempfile
import solver
os.chdir(shutil.copytree({str(SAMPLES)!r}, os.path.join(tempfile.mkdtemp(), "samples")))
"""

html_theme = "furo"
html_title = "Exciting Dance"
html_show_copyright = False
html_show_sourcelink = False

TOPICS: dict[str, tuple[str, ...]] = {
    "Recordings": ("formats", "trial", "signals", "demo"),
    "Bodies": ("rigs", "rig", "inertials", "scene"),
    "Motion and forces": ("motion", "wrenches", "dynamics"),
    "Calibration and tracking": ("calibration", "tracking"),
    "Identification": ("study", "identification", "fixed_base", "centroidal", "moments", "cohorts", "report"),
    "Dances": ("dance", "feasibility", "trajectory", "contacts"),
    "Errors and the rest": (),
}
"""Packages of the library that a page of the reference covers; the last page has the names of all others."""


def write_reference(folder: Path) -> None:
    """One page a topic, with every public name, functions first."""
    folder.mkdir(exist_ok=True)
    topic_of_package = {package: topic for topic, packages in TOPICS.items() for package in packages}
    rest = list(TOPICS)[-1]
    names: dict[str, list[str]] = {topic: [] for topic in TOPICS}
    in_packages = [f"{package}.{name}" for package, offered in solver.PUBLIC_IN_PACKAGES.items() for name in offered]
    for name in [*solver.__all__, *in_packages]:
        names[topic_of_package.get(package_of(attrgetter(name)(solver)), rest)].append(name)
    pages = []
    for topic, documented in names.items():
        page = folder / f"{topic.lower().replace(' ', '_')}.rst"
        lines = [topic, "=" * len(topic), "", ".. currentmodule:: solver", ""]
        for name in sorted(documented, key=lambda name: (isinstance(attrgetter(name)(solver), type), name)):
            # With a current module autodoc takes the dots of a name for a module of its own.
            lines += [f".. {directive(attrgetter(name)(solver))}:: {f'solver.{name}' if '.' in name else name}", ""]
        write_page(page, "\n".join(lines))
        pages.append(page)
    for stale in set(folder.glob("*.rst")) - set(pages):
        stale.unlink()


def package_of(value: object) -> str:
    """The package or module below `solver` that defines a public value."""
    return getattr(value, "__module__", "solver.version").split(".")[1]


def directive(value: object) -> str:
    """The directive of autodoc for a kind of object."""
    if isinstance(value, type):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if callable(value) else "autodata"


def write_page(page: Path, text: str) -> None:
    """Write a page unless it has this text already, because Sphinx reads every changed file again."""
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


write_reference(HERE / "reference")
CONSTANTS = constants_page.find_constants(HERE.parent / "solver")
write_page(HERE / "reference" / "constants.md", constants_page.format_page(CONSTANTS))
write_page(HERE / "reference" / "checks.md", checks_page.format_page(CHECKS))
write_page(HERE / "reference" / "options.txt", option_table.format_options())
write_page(HERE / "reference" / "package_map.txt", package_map.format_map())
write_page(HERE / "reference" / "file_formats.txt", extension_tables.format_file_formats())
write_page(HERE / "reference" / "rig_kinds.txt", extension_tables.format_rig_kinds())
write_page(HERE / "reference" / "identification_methods.txt", extension_tables.format_identification_methods())


def setup(app: Any) -> None:
    """Make the data of examples before they run, and remove them afterwards."""
    app.connect("builder-inited", make_samples)
    app.connect("build-finished", lambda app, error: shutil.rmtree(SAMPLES, ignore_errors=True))


def make_samples(app: Any) -> None:
    """Design a short dance and record a simulated person."""
    if app.builder.name == "doctest":
        options = solver.DanceOptions(postures={"both": 2}, pool=20, rounds=1, seed=1, workers=1)
        solver.design(solver.hoap3(torque="peak"), options).write(SAMPLES / "dance")
        (SAMPLES / "recordings").mkdir()
        record_person(simulate_person(1, seconds=2.0), SAMPLES / "recordings", 1)
