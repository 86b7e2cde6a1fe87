"""A user's script, which mypy checks as strictly as it can: right lines have no error, and each wrong line has one.

mypy refuses an ``ignore`` comment that suppresses nothing, so a wrong line that it no longer finds is an error, too.
"""

from __future__ import annotations

import solver


def right() -> float:
    """Names, arguments and attributes as they are documented."""
    person: solver.Rig = solver.human(height=1.75, mass=70.0, sex="female")
    study = solver.identify("recordings", rig=person, prior=person.prior.scaled(71.0), settings=solver.Settings())
    found = study.identification["right_thigh"]
    compared, warnings = study.compare(["walk.trc", "walk.mot"])
    study.write("results", title=", ".join(warnings))
    study.plot.masses().write("masses.svg")
    again = solver.load_study("results")
    peaks = [moments.peaks for moments in again.moments(trials=["walk"]).values()]
    options = solver.tracking.TrackingOptions()
    heights = [float(estimate.com[0, 2]) for estimate in again.centroidal().values()]
    dance = solver.design(solver.hoap3(), solver.DanceOptions())
    print(solver.__version__, compared[0].ratio, peaks, options, "right_thigh" in person.prior, dance.options)
    return found.mass + sum(heights) + sum(link.mass for link in person.prior)


def wrong() -> None:
    """One mistake in each line."""
    solver.human(height="tall", mass=70.0, sex="female")  # type: ignore[arg-type]
    solver.humann(1.75, 70.0, "female")  # type: ignore[attr-defined]
    study = solver.identify("recordings", sex="female", weight=70.0)  # type: ignore[call-arg]
    print(study.identification["right_thigh"].weight)  # type: ignore[attr-defined]
    print(study.momentss())  # type: ignore[attr-defined]
    solver.tracking.TrackingOption()  # type: ignore[attr-defined]
    solver.centroidal.estimate_centroidal(3)  # type: ignore[arg-type]
    solver.load_study(3)  # type: ignore[arg-type]
