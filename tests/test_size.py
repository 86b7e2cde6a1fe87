"""A ceiling on the size of the sources, which may fall and rises only with a reason."""

from __future__ import annotations

import pytest

from benchmarks.figures.structure import constants_without_data, statements

CEILINGS = {"solver": 46_038, "addon": 11_997}
"""Statements, docstrings not counted."""
TESTS = 0.6223
"""Statements of the tests, as a share of those of solver and add-on."""
CONSTANTS_WITHOUT_DATA = 685
"""Numeric constants of solver, but for rounding limits, whose documentation does not say where they come from."""
REMEDY = "delete as much as came in, or raise the ceiling in tests/test_size.py in the commit that says what came in"


@pytest.mark.parametrize("folder", CEILINGS)
def test_the_sources_do_not_grow(folder: str) -> None:
    """A folder has at most as many statements as its ceiling says."""
    count = statements(folder)
    assert count <= CEILINGS[folder], f"{folder} has {count} statements, at most {CEILINGS[folder]}: {REMEDY}"


def test_the_tests_do_not_outgrow_what_they_test() -> None:
    """The tests have at most their share of the statements of solver and add-on."""
    count, most = statements("tests"), int(TESTS * sum(map(statements, CEILINGS)))
    assert count <= most, f"the tests have {count} statements, at most {most}: {REMEDY}"


def test_new_constants_name_their_data() -> None:
    """The number of constants that nobody justified does not grow."""
    count = constants_without_data()
    assert count <= CONSTANTS_WITHOUT_DATA, (
        f"{count} constants of solver name no data, at most {CONSTANTS_WITHOUT_DATA}: write after each new constant on"
        f" which data it was chosen (see 'Tuned constants' in CONTRIBUTING.md), or {REMEDY}"
    )
