"""Messages in Blender name panel fields instead of command-line options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

import solver  # noqa: E402
from addon.base.option_fields import COMMAND_LINE, FIELDS, find_field, use_field_labels  # noqa: E402
from addon.jobs.job_messages import JobMessage  # noqa: E402
from solver.feasibility.messages import describe_unreachable, suggest_allowed_pairs  # noqa: E402
from solver.rigs import hoap3  # noqa: E402
from tests.options.test_declared import FIELDS as DECLARED  # noqa: E402

WITHOUT_FIELD = {
    *("help", "no-drives", "no-repair", "rig", "save-mapping", "up", "variant"),
    *(declared.flag[2:] for _, declared in DECLARED if not declared.option.label),
}
"""Options in the solver's messages without a field; ``up`` has one for another verb only."""


def _sentences() -> Iterator[str]:
    """All texts of the solver outside its command line."""
    root = Path(str(solver.__file__)).parent
    for path in root.rglob("*.py"):
        if not {"cli", "verbs"} & set(path.relative_to(root).parts):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                    yield node.value


def test_every_option_in_the_table_has_a_field(registered: None) -> None:
    """Each option of the table refers to a panel and a field with a label."""
    for option in FIELDS:
        assert re.fullmatch(r"[A-Z][A-Za-z ]+ > [A-Z][A-Za-z ,-]+", find_field(option)), option


def test_no_message_names_an_option_that_has_a_field(registered: None) -> None:
    """After replacement, the solver's texts contain only options of the command line, and are marked as such."""
    left: set[str] = set()
    for words in map(use_field_labels, _sentences()):
        assert words.count("--") >= words.count(COMMAND_LINE)
        left |= set(re.findall(rf"{COMMAND_LINE}--([a-z-]+)", words))
        assert not re.search(rf"(?<!{COMMAND_LINE})(?<![\w-])--[a-z]", words), words
    assert left <= WITHOUT_FIELD


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("state it (--torques JOINT=NM)", "state it (Robot Details > Torques JOINT=NM)"),
        ("State the unit (--units).", "State the unit (on the command line --units)."),
        ("--port: no port (see python -m solver capture --help)", "Stream > Port: no port"),
        ("a gap -- and no option, nor is a--b", "a gap -- and no option, nor is a--b"),
    ],
)
def test_option_is_replaced_by_its_field(registered: None, words: str, shown: str) -> None:
    """The option's value stays behind it, and replacing twice changes nothing."""
    assert use_field_labels(words) == shown
    assert use_field_labels(shown) == shown


def test_job_messages_use_field_labels(registered: None) -> None:
    """Message, failures and notes use labels of fields."""
    rig = hoap3()
    text = "right is left out: right thigh and left thigh overlap by 5 mm"
    message = describe_unreachable("robot", ("both",), (text,)) + suggest_allowed_pairs(rig, [text])
    said = JobMessage(message, "failed", (message,), (message,))
    assert "--may-touch" in message
    for text in (" ".join((said.message, *said.notes)), *said.failures):
        assert "Robot Details > Allowed Contacts right_thigh:left_thigh" in text
        assert "Checks > Shrink Support, Checks > Clearance" in text


def test_error_about_robot_details_names_the_field(
    registered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the child about an option names the field instead."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert bpy.ops.exciting_dance.import_rig(kind="hoap3") == {"FINISHED"}
    bpy.context.scene.exciting_dance.stated_soles = "foot"
    with pytest.raises(RuntimeError, match="Robot Details > Soles takes LINK=LENGTHxWIDTH"):
        bpy.ops.exciting_dance.state_rig()


def test_a_message_is_one_sentence_and_the_others_are_notes() -> None:
    """A remedy is the first note; names with points, paths and initials end no sentence."""
    said = JobMessage(
        "/a/b.trc, line 3: is damaged. Write it again, as J. Doe did. Else omit it.", "failed", (), ("own",)
    )
    assert said.message == "/a/b.trc, line 3: is damaged"
    assert said.notes == ("Write it again, as J. Doe did", "Else omit it", "own")
    assert JobMessage("Added human, female, 1.75 m").message == "Added human, female, 1.75 m"
