"""A trunk of three parts is calibrated by the markers that are there."""

from __future__ import annotations

from benchmarks.figures.volunteers import volunteer
from solver.calibration import fit_calibration


def test_a_bending_trunk_follows_its_markers() -> None:
    """A volunteer whose trunk is of one piece is found with a trunk of three within 6 mm and without a warning, since
    the larger body can hold still what the smaller does not have (simulated).
    """
    body = volunteer(1)
    height, mass, sex = (body.rig.provenance[name] for name in ("height", "mass", "sex"))
    found = fit_calibration(body.recordings, mass=float(mass), sex=str(sex), height=float(height), trunk="three")  # type: ignore[arg-type]
    assert "abdomen" in found.rig.links
    assert found.rmse < 0.006
    assert found.warnings == ()
