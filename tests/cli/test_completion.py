"""The shells complete what the command line accepts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from solver.cli import OK, find_verbs, main
from solver.cli.completion import SCRIPTS

COMPLETIONS = {
    "exciting-dance ident": {"identify", "identify-fixed-base"},
    "exciting-dance identify --meth": {"--method"},
    "exciting-dance identify --method c": {"consistent", "constrained"},
    "exciting-dance identify --no-cross": {"--no-cross-validation"},
    "exciting-dance completion ": set(SCRIPTS),
    "exciting-dance check --method ": set(),
}
"""Words that complete the end of a line."""


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the verb prints."""
    assert main(["completion", shell]) == OK
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_verb_and_its_options_are_in_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Also the rare options of a verb."""
    text = script(shell, capsys)
    words = set(re.findall(r"[\w-]+", text))
    for module in find_verbs():
        assert module.__name__.rsplit(".", 1)[-1].replace("_", "-") in words
    options = {word.lstrip("-") for word in words}
    assert {"report-only", "no-cross-validation", "settings", "postures"} <= options
    assert len(text) < 100_000


@pytest.mark.parametrize(("line", "wanted"), COMPLETIONS.items())
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_shells_complete(
    shell: str, line: str, wanted: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verbs, options, and values of options; nothing of another verb."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "completion"
    file.write_text(script(shell, capsys), encoding="utf-8")
    if shell == "fish":
        command = f'source {file}; complete -C "{line}"'
    else:
        command = f'source {file}; COMP_WORDS=({line}); [[ "{line}" == *" " ]] && COMP_WORDS+=(""); '
        command += 'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _exciting_dance; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run([shell, "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    found = {row.split("\t")[0] for row in done.stdout.splitlines() if row} - {"completion/", "completion"}
    assert done.stderr == ""
    assert found == wanted
