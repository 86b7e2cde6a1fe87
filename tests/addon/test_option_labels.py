"""What a panel asks is never told to somebody at a window as an option of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

import solver  # noqa: E402
from addon.job_messages import JobMessage  # noqa: E402
from addon.option_labels import COMMAND_LINE, FIELDS, find_field, use_field_labels  # noqa: E402
from solver.feasibility.messages import describe_unreachable, suggest_allowed_pairs  # noqa: E402
from solver.rigs import hoap3  # noqa: E402

ASKED_NOWHERE = {
    "flight-only", "free-moment", "help", "no-repair", "overrule", "rig", "save-mapping", "swing",
    "torque-reserve", "units", "up", "variant",
}  # fmt: skip
"""Options in the solver's sentences that no panel asks, and one that it asks of another verb: the list may shrink."""


def _sentences() -> Iterator[str]:
    """Every text of the solver outside its command line."""
    root = Path(str(solver.__file__)).parent
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] != "cli":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
                    yield node.value


def test_every_field_is_one_of_a_panel(registered: None) -> None:
    """Each option of the table leads to a panel and a field with a name."""
    for option in FIELDS:
        assert re.fullmatch(r"[A-Z][A-Za-z ]+ > [A-Z][A-Za-z ,-]+", find_field(option)), option


def test_no_sentence_of_the_solver_names_an_option_that_a_panel_asks(registered: None) -> None:
    """What is left of all of the solver's sentences are options of the command line alone, and they are told so."""
    left: set[str] = set()
    for words in map(use_field_labels, _sentences()):
        assert words.count("--") >= words.count(COMMAND_LINE)
        left |= set(re.findall(rf"{COMMAND_LINE}--([a-z-]+)", words))
        assert not re.search(rf"(?<!{COMMAND_LINE})(?<![\w-])--[a-z]", words), words
    assert left <= ASKED_NOWHERE


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("state it (--torques JOINT=NM)", "state it (Not in Its File > Torques JOINT=NM)"),
        ("State the unit (--units).", "State the unit (on the command line --units)."),
        ("--port: no port (see python -m solver capture --help)", "Stream > Port: no port"),
        ("a gap -- and no option, nor is a--b", "a gap -- and no option, nor is a--b"),
    ],
)
def test_an_option_becomes_the_field(registered: None, words: str, shown: str) -> None:
    """Its value stays behind it; and saying it twice changes nothing."""
    assert use_field_labels(words) == shown
    assert use_field_labels(shown) == shown


def test_whatever_a_job_says_is_in_the_window_s_words(registered: None) -> None:
    """Message, failures and notes alike."""
    rig = hoap3()
    told = "right is left out: right thigh and left thigh overlap by 5 mm"
    words = describe_unreachable("robot", ("both",), (told,)) + suggest_allowed_pairs(rig, [told])
    said = JobMessage(words, "failed", (words,), (words,))
    assert "--may-touch" in words
    for told in (said.message, *said.failures, *said.notes):
        assert "Not in Its File > May touch right_thigh:left_thigh" in told
        assert "Checks > Shrink support, Checks > Clearance" in told


def test_a_refused_statement_names_its_field(registered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the child refuses under its option's name is refused under the field's."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert bpy.ops.exciting_dance.import_rig(kind="hoap3") == {"FINISHED"}
    bpy.context.scene.exciting_dance.stated_soles = "foot"
    with pytest.raises(RuntimeError, match="Not in Its File > Soles takes LINK=LENGTHxWIDTH"):
        bpy.ops.exciting_dance.state_rig()
