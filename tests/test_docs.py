"""What the documentation states in numbers, and the names it uses, are those of the code."""

from __future__ import annotations

import argparse
import re
import subprocess
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures.vocabulary import quaint_in_page, written_pages
from solver.cli import parser
from solver.rigs import hoap3, hrp2, human
from solver.rigs.anthropometry import TABLES
from solver.skeleton.rig import Rig

ROOT = Path(__file__).resolve().parents[1]
CARDS = ROOT / "docs" / "rigs.md"
PAGES = [page for page in written_pages() if page.name != "CHANGELOG.md"]
COMMAND = re.compile(r"(?:exciting-dance|(?:\./dance|-m) solver) ([a-z][a-z-]+)((?:[^\n`]|\\\n)*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
FOLDERS = ("solver", "addon", "assets", "benchmarks", "docs", "examples", "packaging", "tests")


def card(title: str) -> str:
    """The section of a rig, on one line."""
    section = CARDS.read_text(encoding="utf-8").partition(f"\n## {title}")[2].partition("\n## ")[0]
    assert section, f"no card {title!r}"
    return " ".join(section.split())


def size(rig: Rig) -> str:
    """Counts as on the cards."""
    return f"{len(rig.links)} links, {rig.nv - 6} joint degrees of freedom"


@pytest.mark.parametrize(
    ("title", "rig"),
    [
        ("A person", human(1.75, 70.0, "male")),
        ("A person", human(1.75, 70.0, "male", variant="23dof")),
        ("HOAP-3", hoap3()),
        ("HRP-2, a stand-in", hrp2()),
    ],
)
def test_cards_count_links_and_joints(title: str, rig: Rig) -> None:
    """A card's counts are the rig's."""
    assert size(rig) in card(title)


def test_the_card_of_a_person_gives_masses_and_soles() -> None:
    """The card gives the exact mass, six corners per sole, and the correction of the thorax for women only."""
    text = card("A person")
    rig = human(1.75, 63.21, "female")
    assert "exactly the stated mass" in text
    assert rig.prior.total_mass == pytest.approx(63.21, rel=1e-12)
    assert "six corners" in text
    assert [len(patch.vertices) for patch in rig.contacts] == [6, 6]
    assert "female thorax" in text
    changed = {
        sex: any(note.startswith("torso") for note in human(1.75, 63.21, sex, tables=["dumas"]).notes)
        for sex in ("male", "female")
    }
    assert changed == {"male": False, "female": True}
    names = re.findall(r"\| `(\w+)` \|", text)
    assert names == list(TABLES)


def test_the_card_of_hoap3_gives_masses_height_and_speed() -> None:
    """The card gives the three loads, the height of the robot as built, and its speed limit."""
    text = card("HOAP-3")
    masses = [hoap3(payload).prior.total_mass for payload in ("battery_radio", "middle", "light")]
    assert re.findall(r"(\d\.\d\d) kg", text)[:3] == [f"{mass:.2f}" for mass in masses]
    assert "1 rad/s" in text
    assert np.all(hoap3().limits.speed == 1.0)


def test_the_card_of_hrp2_gives_the_distribution_of_mass() -> None:
    """The card gives the total mass, and percentages of trunk and waist, a leg, an arm and the head."""
    rig = hrp2()
    share = dict(zip(rig.links, 100.0 * rig.prior.masses / rig.prior.total_mass))
    leg = ("hip_yaw", "hip_roll", "thigh", "shank", "ankle", "foot")
    side = {name.removeprefix("left_"): value for name, value in share.items() if name.startswith("left_")}
    legs = sum(side[name] for name in leg)
    arms = sum(side.values()) - legs
    head = share["head"] + share["neck"]
    trunk = sum(share[name] for name in ("waist", "chest_yaw", "chest"))
    text = card("HRP-2, a stand-in")
    assert f"{rig.prior.total_mass:.0f} kg in all" in text
    assert f"trunk and waist {trunk:.0f} %, a leg {legs:.0f} %, an arm {arms:.0f} %, the head {head:.0f} %" in text
    assert rig.provenance["base_link"] == "chest"


def options_by_verb() -> dict[str, set[str]]:
    """The options that the help of each verb lists."""
    verbs = next(each for each in parser()._actions if isinstance(each, argparse._SubParsersAction)).choices
    return {verb: {name for each in one._actions for name in each.option_strings} for verb, one in verbs.items()}


def test_pages_use_options_that_exist() -> None:
    """Each command line on a page has a known verb and options of that verb."""
    options, found, wrong = options_by_verb(), 0, []
    for page in PAGES:
        for verb, rest in COMMAND.findall(page.read_text(encoding="utf-8")):
            found += 1
            known = options.get(verb, set())
            wrong += [(page.name, verb, word) for word in OPTION.findall(rest) if word not in known]
            wrong += [] if verb in options else [(page.name, verb, "")]
    assert found > 20
    assert wrong == []


def test_pages_name_files_and_functions_that_exist() -> None:
    """A path in backticks below a folder of the repository is tracked; a dotted name of the library can be imported."""
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    files = listing.split() or [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.*")]
    known = {*files, *(parent.as_posix() for name in files for parent in Path(name).parents)}
    paths, names, wrong = 0, 0, []
    for page in PAGES:
        for quoted in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8")):
            if re.fullmatch(rf"(?:{'|'.join(FOLDERS)})/[\w./-]+", quoted):
                paths += 1
                wrong += [] if quoted.rstrip("/") in known else [(page.name, quoted)]
            elif found := re.match(r"(?:solver|benchmarks)(?:\.[A-Za-z_]\w*)+", quoted):
                names += 1
                wrong += [] if is_importable(found[0]) else [(page.name, quoted)]
    assert paths > 10
    assert names > 10
    assert wrong == []


def is_importable(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one; one that compares with Pinocchio may lack it here."""
    parts = name.split(".")
    value = import_module(parts[0])
    for count, part in enumerate(parts[1:], 2):
        if not hasattr(value, part):
            try:
                import_module(".".join(parts[:count]))
            except ImportError as error:
                return error.name == "pinocchio"
        value = getattr(value, part)
    return True


def test_pages_are_in_plain_words() -> None:
    """No page has a word of the list for which the field has its own."""
    assert {page.name: dict(words) for page in written_pages() if (words := quaint_in_page(page))} == {}


def test_the_glossary_is_in_alphabetical_order() -> None:
    """Each term has one row, and rows are sorted."""
    rows = re.findall(r"^\| (?!Term|---)([^|]+) \|", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.M)
    terms = [row.lower().replace("-", " ") for row in rows]
    assert len(terms) > 100
    assert terms == sorted(set(terms))
