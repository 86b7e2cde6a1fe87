"""The numbers of the report, the cohort's page and the page of moments, against values computed by hand.

All values of the small content differ, so that an exchange of identified and prior, numerator and denominator, least
and greatest, force and moment, or of two trials, links or axes changes a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from solver.calibration.body_mass import MassEstimate, MassGroup
from solver.calibration.trial_mass import TrialMass, UnloadedReading
from solver.identification.added_load import AddedLoad
from solver.identification.comparison import Comparison, FlightCheck, WrenchFit
from solver.moments.values import JointMoments
from solver.report import cohort_page, moments_page, page, write_moments
from solver.report.charts import NARROW, WIDTH
from solver.report.cohort_content import Cohort, CohortMember, FailedSubject, build_member
from solver.report.cohort_page import write_cohort
from solver.report.content import (
    Content,
    FlightIdentification,
    Signals,
    TrackingErrors,
    TrialAngles,
)
from solver.report.document import Block, Figure, render_cards
from solver.report.figures import draw_marker_errors, draw_masses, draw_wrenches
from solver.report.tables import Table, render_table
from solver.scene.determined import DATA, MASS_KIND, MOMENT_KIND, SHAPE, TABLES, DeterminedQuantity
from solver.study.plates.finding import Action, Finding
from solver.study.residuals import Residual, TrialResidual
from solver.values.inertials import InertialParameters

LINKS = ("pelvis", "left_foot")
AXES = np.array([1.0, 2.0, 3.0, 0.4, 0.5, 0.6])
NAN = float("nan")
ZEROS = np.zeros((8, 6))
KINDS = ("measured", "identified", "prior")


def body(masses: list[float], coms: list[list[float]], inertias: list[list[float]]) -> InertialParameters:
    """Centres of mass in mm, principal inertias in g m^2."""
    return InertialParameters.from_com(
        LINKS, np.array(masses), 1e-3 * np.array(coms), 1e-3 * np.array([np.diag(row) for row in inertias])
    )


def fit(rmse: float, correlation: float, last: float = 1.0) -> WrenchFit:
    """Errors in proportion to `AXES`; the last axis was not measured if ``last`` is NaN."""
    known = np.array([1.0, 1.0, 1.0, 1.0, 1.0, last])
    return WrenchFit(rmse * AXES * known, (correlation + 0.001 * np.arange(6)) * known)


def weighed(name: str, mass: float, std: float, seconds: float, unloaded: UnloadedReading | None) -> TrialMass:
    """What one trial reads."""
    return TrialMass(name, mass, std, unloaded, seconds)


CONTENT = Content(
    title="A study",
    subject="a rig",
    simulated=True,
    method="consistent_bodies, symmetric",
    satisfies="physical",
    identified=body([12, 3], [[10, -20, 30], [1, 2, 3]], [[30, 10, 25], [4, 3, 2]]),
    prior=body([10, 4], [[-20, -60, 30], [1, 2, 10]], [[20, 9, 21], [5, 6, 7]]),
    truth=body([11.5, 3.25], [[4, -20, 22], [2, 4, 5]], [[1, 1, 1], [1, 1, 1]]),
    half_widths=np.array([[0.22, 0.001, 0.002, 0.003, 0.004, 9, 0.006, 9, 9, 0.012],
                          [0.44, 0.004, 0.005, 0.006, 0.002, 9, 0.008, 9, 9, 0.016]]),
    determined=(
        DeterminedQuantity(MASS_KIND, "total mass", LINKS, DATA, *np.array([[15.0], [0.4], [0.0]])),
        DeterminedQuantity(MASS_KIND, "thigh <to> foot", LINKS, SHAPE, *np.array([[12.5], [0.3], [0.6]])),
        DeterminedQuantity(MASS_KIND, "leg", LINKS, TABLES, *np.array([[14.5], [0.7], [0.8]])),
        DeterminedQuantity(MASS_KIND, "pelvis", LINKS[:1], TABLES, *np.array([[12.0], [0.22], [0.25]])),
        DeterminedQuantity(MOMENT_KIND, "pelvis", LINKS[:1], DATA, np.array([0.12, -0.24, 0.36]), np.full(3, 0.003),
                           np.full(3, 0.012)),
        DeterminedQuantity(MOMENT_KIND, "left foot", LINKS[1:], TABLES, np.full(3, 0.009), np.full(3, 0.004),
                           np.full(3, 0.005)),
    ),
    prior_source="the tables of <A>",
    on_bounds=(),
    comparisons=(
        Comparison("walk", False, 8, fit(10, 0.91, NAN), fit(50, 0.81, NAN), fit(80, 0.71, NAN)),
        Comparison("squat", True, 8, fit(7, 0.93), fit(10, 0.83), fit(20, 0.73)),
        Comparison("jump", False, 8, fit(36, 0.92), fit(60, 0.82), fit(90, 0.72)),
    ),
    residuals=(
        TrialResidual("squat", 100.0, 2.0, 1.25, 800.0, Residual(20, 36, 3, 6), Residual(50, 90, 8, 11)),
        TrialResidual("lunge", 200.0, NAN, 1.5, 1000.0, Residual(24, 70, 6, 12), Residual(44, 80, 9, 18)),
    ),
    signals=(
        Signals("squat", np.arange(8.0), ZEROS, ZEROS, ZEROS, np.arange(8) < 5, 2 * (np.arange(8) > 4),
                ("measured", "flight", "other support"), 0.0),
    ),
    tracking=(
        TrackingErrors("squat", ("LASI", "RASI", "C7"), np.array([0.004, 0.009, NAN]), np.array([1, 0.5, 0]), 0.007),
        TrackingErrors("walk", ("A", "B", "C"), np.array([0.003, 0.001, 0.0012]), np.array([0.9, 0.8, 0.7]), 0.0028),
    ),
    weighing=MassEstimate(
        15.5,
        0.25,
        (MassGroup(("walk",), 91.0, 92.0), MassGroup(("squat", "jump"), 93.0, 94.0)),
        (weighed("squat", 15.1, 0.21, 3.5, None), weighed("jump", 15.2, 0.22, 4.5, None),
         weighed("walk", 19.1, 0.31, 5.5, UnloadedReading(97.0, 95.0))),
        (),
    ),
    findings=(
        Finding("lag", ("walk", "jump"), -12.3, (-14.5, -10.1), "ms", Action.UNDONE, "the plates lag"),
        Finding("mass", ("squat",), 1.02, (NAN, NAN), "", Action.NOTHING, "the gain is right"),
    ),
    flights=(FlightCheck("jump", 40, (0.8, 1.0), (18.0, 72.0)),),
    from_flight=FlightIdentification((("jump", 1.2, 1.7, True), ("walk", 2.5, 2.6, False)), 1, "all determined"),
    warnings=("be <careful>",),
    load=AddedLoad(LINKS, LINKS[1:], body([0, 1.5], [[0, 0, 0], [10, 20, -30]], [[0] * 3] * 2), (LINKS[:1],),
                   np.array([0.25, 0.75]), np.array([NAN, 0.2]), 0.2),
)  # fmt: skip
MEMBERS = (
    build_member("anna", CONTENT, is_new=True),
    CohortMember("ben", "ben, 1.8 m", 10.0, 0.25, LINKS, np.array([6.0, 4.0]), np.array([2.0, 8.0]),
                 np.array([0.14, 0.3]), 12 * AXES, np.full(6, 1.3), np.full(6, 1.1), 0.0085, ("walk",), (), False,
                 22 * AXES, 32 * AXES),
)  # fmt: skip
COHORT = Cohort("a cohort", MEMBERS, (FailedSubject("cleo", "no markers"),))
SQUAT = JointMoments(
    "squat", np.arange(3.0), ("hip", "knee"), (False, True), np.array([[-10.0, 2.0], [5.0, 4.0], [0.0, 8.0]]),
    np.array([[3, 4, 0, 0, 0, 1], [0, 0, 0, 0, 7, 0], [NAN] * 6]), 10.0,
    {"noise": np.array([[3, 30], [0, 0], [60, 0.3]]), "plates": np.array([[4, 40], [0, 0], [80, 0.4]])},
)  # fmt: skip


def text(markup: str) -> str:
    """The text of HTML; a bar is its length."""
    shown = re.sub(r'<span class="share" title="([^"]*)">', r"\1", markup)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", shown)).split())


def lines(sections: Iterable[tuple[str, Iterable[Block]]]) -> list[str]:
    """What a reader sees of sections without their captions and figures: a line for each row of a table."""
    shown = []
    for title, blocks in sections:
        shown.append(f"## {title}")
        for block in blocks:
            if isinstance(block, str) and block:
                shown.append(text(block))
            elif isinstance(block, Table):
                titles = (
                    f"{column.above}: {column.title}" if column.above else column.title for column in block.columns
                )
                rows = re.findall(r"<tr>(.*?)</tr>", render_table(block).partition("<tbody>")[2])
                cells = (map(text, re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)) for row in rows)
                shown += [" | ".join(row).strip() for row in (titles, *cells)]
    return shown


def drawings() -> Iterator[str]:
    """Every kind of figure, wide and narrow, with unknown values, frames left out, bands and gait cycles."""
    times = np.linspace(0.0, 1.75, 8)
    levels = {name: (np.arange(8.0) % 3 + k)[:, None] * 10.0 * AXES for k, name in enumerate(KINDS)}
    levels["measured"][2] = NAN
    for width in (WIDTH, NARROW):
        yield draw_wrenches(replace(CONTENT.signals[0], times=times, **levels), width)
        yield draw_masses(CONTENT, width)
        yield draw_marker_errors(CONTENT.tracking, width)
    yield cohort_page.draw_masses(MEMBERS)
    cycles = {"left": np.array([[0.0, 1.0], [1.0, 2.0]]), "right": np.array([[0.5, 1.5]])}
    walked = replace(SQUAT, names=("left_hip", "knee_r"), cycles=cycles)
    yield from (block.drawing for block in moments_page.build_blocks(walked) if isinstance(block, Figure))
    for known in ({"left": cycles["left"]}, {}):
        yield page.build_angle_figure(TrialAngles("walk", np.arange(3.0), ("hip",), SQUAT.values[:, :1], known)).drawing


@pytest.mark.parametrize("name", ["report", "cohort", "moments", "drawings"])
def test_pages_show_the_numbers_computed_by_hand(name: str, tmp_path: Path) -> None:
    """Cards, tables and notes of a page, and the table files beside it, are those computed by hand; figures are drawn
    as they were when they were last looked at, by the lengths that the modules state."""
    if name == "drawings":
        shown = re.sub(r">(?=<\w)", ">\n", "\n".join(drawings())).splitlines()
    elif name == "report":
        shown = [text(render_cards(page.build_cards(CONTENT))), *lines(page.build_sections(CONTENT))]
    elif name == "cohort":
        shown = [text(render_cards(cohort_page.build_cards(COHORT))), *lines(cohort_page.build_sections(COHORT))]
        write_cohort(COHORT, tmp_path)
        shown += (tmp_path / "cohort.csv").read_text().splitlines()
    else:
        blocks = moments_page.build_blocks(SQUAT)
        figure = next(block for block in blocks if isinstance(block, Figure))
        shown = [*lines([("squat", blocks)]), figure.caption.partition("left out. ")[2]]
        write_moments(tmp_path, {"squat": SQUAT})
        shown += (tmp_path / "squat.moments.csv").read_text().splitlines()
    assert shown == (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").splitlines()
