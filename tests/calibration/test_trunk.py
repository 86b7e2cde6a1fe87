"""A trunk of three parts is calibrated by the markers that are there."""

from __future__ import annotations

from benchmarks.figures.people import draw_person


def test_a_bending_trunk_follows_its_markers() -> None:
    """A person whose spine bends is found with a trunk of three within 6 mm and without a warning (simulated)."""
    found = draw_person(1, {"swings": 8.0}).calibrated("three")
    assert "abdomen" in found.rig.links
    assert found.rmse < 0.006
    assert found.warnings == ()
