"""The common figures of a study as SVG, which needs no plotting library: 390 pixels wide, as telephones are.

An `SvgFigure` shows itself in a notebook; ``figure.write("masses.svg")`` writes it to a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..base.errors import InvalidValue, UnknownName
from ..storage.atomic import write_atomically
from ..study.values import StudyData
from . import figures
from .charts import NARROW
from .from_study import build_content
from .svg import make_standalone


@dataclass(frozen=True, slots=True)
class SvgFigure:
    """A figure as a complete SVG document.

    Attributes:
        svg: its markup.
    """

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def write(self, path: str | Path) -> Path:
        """Write the figure to a file, whole or not at all.

        Raises:
            InputError: the file cannot be written.
        """
        with write_atomically(path) as stream:
            stream.write(self.svg)
        return Path(path)


@dataclass(frozen=True, slots=True)
class Plots:
    """The figures of a study with an identification.

    Attributes:
        study: that is drawn.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> quick = solver.Settings(no_cross_validation=True)
        >>> study = solver.identify(robot.recordings, rig=robot.rig, settings=quick)
        >>> study.plot.masses().svg.startswith("<svg")
        True
    """

    study: StudyData

    def masses(self) -> SvgFigure:
        """Draw the mass [kg] of every link: prior, identified, and the 95 % interval.

        Raises:
            InvalidValue: the study has no identification.
        """
        return SvgFigure(make_standalone(figures.draw_masses(build_content(self.study), NARROW)))

    def wrenches(self, trial: str) -> SvgFigure:
        """Draw force [N] and moment [N m] during one trial: measured, identified, prior; left-out frames are shaded.

        Raises:
            InvalidValue: the study has no identification.
            UnknownName: no such trial with forces.
        """
        signals = {each.trial: each for each in build_content(self.study).signals}
        if trial not in signals:
            raise UnknownName(trial, list(signals))
        return SvgFigure(make_standalone(figures.draw_wrenches(signals[trial], NARROW)))

    def marker_errors(self) -> SvgFigure:
        """Draw the tracking error [mm] of every marker.

        Raises:
            InvalidValue: the study has no identification, or its motion was not tracked from markers.
        """
        tracking = build_content(self.study).tracking
        if not tracking:
            raise InvalidValue("the study has no marker errors: its motion was not tracked from markers")
        return SvgFigure(make_standalone(figures.draw_marker_errors(tracking, NARROW)))
