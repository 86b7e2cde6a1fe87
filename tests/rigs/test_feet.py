"""Which links of a robot are feet, whatever its maker called them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from solver.base.errors import InvalidValue
from solver.rigs import from_urdf
from solver.skeleton.rig import Rig
from tests.bipeds import Biped

AXIS = '<link name="{0}"><collision><geometry><box size="{1}"/></geometry></collision>'


def _soles(rig: Rig) -> list[str]:
    return [sole.link for sole in rig.soles]


@pytest.mark.parametrize("size", ["0.03 0.03 0.03", "0.01 0.01 0.01"])
def test_an_ankles_axis_is_no_foot(tmp_path: Path, size: str) -> None:
    """Of two links called foot the one that the robot stands on counts, though the other ends flat, above it."""
    path = Biped().write(tmp_path)
    text = path.read_text()
    for side in ("left", "right"):
        old, new = f"{side}_ankle_pitch_link", f"{side}_foot_pitch"
        text = text.replace(old, new).replace(f'<link name="{new}">', AXIS.format(new, size))
    path.write_text(text)
    rig = from_urdf(path)
    assert _soles(rig) == ["left_foot", "right_foot"]
    assert not any("no flat sole" in note for note in rig.notes)


def test_toes_stay_feet(tmp_path: Path) -> None:
    """A toe beside the sole stands with it."""
    assert _soles(from_urdf(Biped(toes=True).write(tmp_path))) == ["left_foot", "left_toe", "right_foot", "right_toe"]


@pytest.mark.parametrize(("left", "right"), [("ll_faa", "lr_faa"), ("legl_ank2", "legr_ank2"), ("LEGL_6", "LEGR_6")])
def test_a_side_at_a_words_end(tmp_path: Path, left: str, right: str) -> None:
    """Feet whose names show nothing but their side, as a word's last letter, are the lowest mirrored ends."""
    path = Biped().write(tmp_path)
    path.write_text(path.read_text().replace("left_foot", left).replace("right_foot", right))
    rig = from_urdf(path)
    assert rig.sides == {"left": f"{left}_sole", "right": f"{right}_sole"}


def test_what_an_arm_carries_is_no_foot(tmp_path: Path) -> None:
    """Of a body without legs the ends of its arms are nothing to stand on, whatever its fingers are called."""
    text = Biped().write(tmp_path).read_text()
    whole = re.sub(r"<(link|joint) name=\"(left|right)_(hip|thigh|knee|shank|ankle|foot).*?</\1>", "", text)
    path = tmp_path / "upper.urdf"
    path.write_text(whole.replace("left_forearm", "left_index").replace("right_forearm", "right_index"))
    rig = from_urdf(path)
    assert "left_index" in rig.links
    assert "left_thigh" not in rig.links
    assert _soles(rig) == []
    with pytest.raises(InvalidValue, match="no legs found"):
        rig.require_contacts()


def test_marks_below_a_foot_carry_nothing(tmp_path: Path) -> None:
    """A cube of a millimetre below a sole, which marks a place, leaves the sole as it is and is reported."""
    path = Biped().write(tmp_path)
    before, text = from_urdf(path), path.read_text()
    mark = '<collision><origin xyz="0 0 -0.09"/><geometry><box size="0.001 0.001 0.001"/></geometry></collision>'
    for side in ("left", "right"):
        text = text.replace(f'<link name="{side}_foot">', f'<link name="{side}_foot">{mark}')
    path.write_text(text)
    rig = from_urdf(path)
    assert [sole.vertices.tolist() for sole in rig.soles] == [sole.vertices.tolist() for sole in before.soles]
    assert len(rig.shapes) == len(before.shapes)
    assert any("marks" in note for note in rig.notes)
