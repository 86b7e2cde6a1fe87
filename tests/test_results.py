"""Laws of results of public functions: iteration, tables, HTML, figures; inputs by value, name and path."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import solver

QUICK = solver.Settings(no_cross_validation=True)
ROBOT = solver.demo.simulated_robot()


@pytest.fixture(scope="module")
def study() -> solver.Study:
    """The simulated robot's study."""
    return solver.identify(ROBOT.recordings, rig=ROBOT.rig, settings=QUICK)


def test_a_study_iterates_over_its_recordings(study: solver.Study) -> None:
    """Iteration gives one record per recording, in their order."""
    assert [record.name for record in study] == [recording.name for recording in ROBOT.recordings]
    assert len(study) == len(ROBOT.recordings)


def test_an_identification_iterates_over_links(study: solver.Study) -> None:
    """Iteration gives the result of every link, in the rig's order."""
    found = study.identification
    assert [link.link for link in found] == list(study.rig.links)
    assert sum(link.mass for link in found) == pytest.approx(found.parameters.total_mass)
    assert len(found) == len(study.rig.links)


def test_columns_are_complete_without_pandas(study: solver.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The builder of the data frame receives one value per link and column, equal to the parameters."""
    received = {}
    module = type(sys)("pandas")
    module.DataFrame = lambda columns: received.update(columns)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", module)
    study.identification.to_dataframe()
    assert {len(column) for column in received.values()} == {len(study.rig.links)}
    np.testing.assert_allclose(received["mass"], study.identification.parameters.masses)
    hand = study.identification["right_hand"]
    row = received["link"].index("right_hand")
    assert [received[f"com_{axis}"][row] for axis in "xyz"] == pytest.approx(hand.com)
    assert [received[f"i_{axes}"][row] for axes in ("xx", "yy", "xz")] == pytest.approx(
        [hand.inertia[0, 0], hand.inertia[1, 1], hand.inertia[0, 2]]
    )


def test_a_missing_pandas_is_named(study: solver.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas the error names the package to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(solver.SolverError, match=r"exciting-dance\[pandas\]"):
        study.to_dataframe()


def test_notebooks_show_the_report_s_figures(study: solver.Study) -> None:
    """A study shows its masses and a trial's wrenches; an identification lists every link."""
    html = study._repr_html_()
    assert html.count("<svg") == 2
    assert study.identification._repr_html_().count("<tr>") == len(study.rig.links) + 1


def test_a_figure_is_a_whole_svg_document(study: solver.Study, tmp_path: Path) -> None:
    """The file is well-formed XML whose root is SVG."""
    path = study.plot.masses().write(tmp_path / "figure.svg")
    assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_joint_angles_have_no_marker_errors(study: solver.Study) -> None:
    """A figure without data is an error, not an empty picture."""
    with pytest.raises(solver.InvalidValue, match="markers"):
        study.plot.marker_errors()


def test_an_unknown_trial_is_named_with_the_choices(study: solver.Study) -> None:
    """The error lists the trials."""
    with pytest.raises(solver.errors.UnknownName, match="dance"):
        study.plot.wrenches("walk")


def test_inputs_by_path_and_name_are_those_by_value(study: solver.Study, tmp_path: Path) -> None:
    """Files of recordings and of the rig give the study that the values give."""
    (tmp_path / "recordings").mkdir()
    ROBOT.write(tmp_path / "recordings")
    rig = solver.write_rig(tmp_path / "rig.json", ROBOT.rig)
    found = solver.identify(tmp_path / "recordings", rig=rig, settings=QUICK)
    np.testing.assert_allclose(
        found.identification.parameters.masses, study.identification.parameters.masses, rtol=1e-3
    )
    assert solver.scene.rig.load_rig("hrp2") == solver.hrp2()
