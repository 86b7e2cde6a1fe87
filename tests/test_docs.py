"""What the documentation states in numbers is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from solver.rig import Rig
from solver.rigs import hoap3, hrp2, human

CARDS = Path(__file__).resolve().parents[1] / "docs" / "rigs.md"


def card(title: str) -> str:
    """The section of a rig, on one line."""
    section = CARDS.read_text(encoding="utf-8").partition(f"\n## {title}")[2].partition("\n## ")[0]
    assert section, f"no card {title!r}"
    return " ".join(section.split())


def size(rig: Rig) -> str:
    """How the cards count."""
    return f"{len(rig.links)} links, {rig.model.nv - 6} joint degrees of freedom"


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


def test_the_card_of_a_person_tells_masses_and_soles() -> None:
    """The stated mass exactly, six corners a sole, a thorax that had to be mended for women only."""
    told = card("A person")
    rig = human(1.75, 63.21, "female")
    assert "exactly the stated mass" in told
    assert rig.prior.total_mass == pytest.approx(63.21, rel=1e-12)
    assert "six corners" in told
    assert [len(patch.vertices) for patch in rig.contacts] == [6, 6]
    assert "female thorax" in told
    assert any("torso" in note for note in rig.notes)
    assert not any("torso" in note for note in human(1.75, 63.21, "male").notes)


def test_the_card_of_hoap3_tells_masses_height_and_speed() -> None:
    """The three loads, how tall the robot is as built, and its speed limit."""
    told = card("HOAP-3")
    masses = [hoap3(payload).prior.total_mass for payload in ("battery_radio", "middle", "light")]
    assert re.findall(r"(\d\.\d\d) kg", told)[:3] == [f"{mass:.2f}" for mass in masses]
    assert "1 rad/s" in told
    assert np.all(hoap3().limits.speed == 1.0)


def test_the_card_of_hrp2_tells_how_its_mass_is_spread() -> None:
    """Total, and the shares of trunk and waist, a leg, an arm, the head, in whole per cents."""
    rig = hrp2()
    share = dict(zip(rig.links, 100.0 * rig.prior.masses / rig.prior.total_mass))
    leg = ("hip_yaw", "hip_roll", "thigh", "shank", "ankle", "foot")
    side = {name.removeprefix("left_"): value for name, value in share.items() if name.startswith("left_")}
    legs = sum(side[name] for name in leg)
    arms = sum(side.values()) - legs
    head = share["head"] + share["neck"]
    trunk = sum(share[name] for name in ("waist", "chest_yaw", "chest"))
    told = card("HRP-2, a stand-in")
    assert f"{rig.prior.total_mass:.0f} kg in all" in told
    assert f"trunk and waist {trunk:.0f} %, a leg {legs:.0f} %, an arm {arms:.0f} %, the head {head:.0f} %" in told
    assert rig.provenance["base_link"] == "chest"
