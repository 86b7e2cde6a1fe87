"""Scripts and settings files that use the former name of a verb, an option or a finding keep working."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.cli import main, parser
from solver.cli.former_names import replace_former_verb
from solver.plate_options import FINDINGS, FORMER_FINDINGS, PlateOptions

PAIRS = (
    ("identify-bench arm.urdf --angles a --torques b --known tip --hold rod",
     "identify-fixed-base arm.urdf --angles a --torques b --fixed tip --lock rod"),
    ("excite arm.urdf --hold rod", "excite arm.urdf --lock rod"),
    ("find-load --before a --after b --most 2", "find-load --before a --after b --max-links 2"),
    ("identify a.trc --overrule place belonging standstill couple mass --standing left_sole",
     "identify a.trc --report-only position mismatch frozen load-moment mass --planted-foot left_sole"),
    ("retarget a.bvh hrp2 --broken-steps --overlaps --keep-pace --programmes 3",
     "retarget a.bvh hrp2 --no-step-completion --allow-collisions --keep-timing --programs 3"),
    ("dance hoap3 --shortest 2 --spacing 0.3 --swing 0.03",
     "dance hoap3 --min-duration 2 --knot-spacing 0.3 --foot-clearance 0.03"),
    ("complete dance.json --calm", "complete dance.json --interpolate"),
)  # fmt: skip


@pytest.mark.parametrize(("former", "present"), PAIRS)
def test_former_names_mean_the_present_ones(former: str, present: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Both spellings are one command line, and help lists the present one only."""
    old, new = (
        vars(parser().parse_args([*replace_former_verb(line.split()), "--output", "out"])) for line in (former, present)
    )
    own = {"run", "parser", "hidden"}
    assert {k: v for k, v in old.items() if k not in own} == {k: v for k, v in new.items() if k not in own}
    with pytest.raises(SystemExit):
        main([former.split()[0], "--help-all"])
    listed = {word.strip("[],") for word in capsys.readouterr().out.split()}
    options = [{word for word in line.split() if word.startswith("--")} for line in (former, present)]
    assert options[1] <= listed
    assert options[0] - options[1]
    assert not (options[0] - options[1]) & listed


def test_settings_files_with_former_names_load(tmp_path: Path) -> None:
    """A key that is the former name of an option sets the option of today."""
    file = tmp_path / "settings.toml"
    file.write_text('overrule = ["place", "mass"]\n', "utf-8")
    options = parser(file, "identify").parse_args(["identify", "a.trc", "--output", "out"])
    assert options.report_only == ["position", "mass"]


def test_former_findings_have_a_present_name() -> None:
    """The library takes former names of findings too."""
    assert set(FORMER_FINDINGS.values()) <= set(FINDINGS)
    assert not set(FORMER_FINDINGS) & set(FINDINGS)
    assert PlateOptions(report_only=tuple(FORMER_FINDINGS)).report_only == tuple(FORMER_FINDINGS.values())
