"""bonnet2016 Table II and IV.D: external wrench by CAD or tables and by identified parameters, on motion not used.

HOAP-3: designed with CAD's 8.8 kg, danced in MuJoCo by a robot of 7.9 kg (`delivered_robot`), its forces MuJoCo's with
noise. The parameters are identified from one dance and tested on a shorter one of another seed; the paper judged on a
transition from half sitting to the first posture on one foot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.engine.loop import ROBOT, Sensors
from solver.identification.base_estimation import WELL_KNOWN
from solver.identification.comparison import WrenchFit
from solver.options.dances import DanceOptions
from solver.report.svg import Drawing
from solver.rigs import hoap3
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.wrenches import WRENCH_AXES

from . import plots
from .bonnet2016_bodies import ROBOT_MASS, delivered_robot
from .bonnet2016_dances import Dances
from .bonnet2016_tables import IDENTIFIED, TABLE_II
from .bonnet2016_trials import (
    IdentifiedBody,
    RecordedDance,
    compare_wrenches,
    format_noise,
    identify_body,
    play_dance,
    simulate_recording,
)
from .rows import Row

ROBOT_RATE = 500.0
"""[1/s] of the paper's encoders."""
ROBOT_SENSORS = (Sensors(angle=2e-4, position=1e-4, preset="bonnet_hoap3", force=2.5e-3), ROBOT)
"""Cameras on seven markers, encoders behind gears, a small force plate: chosen, the paper states no noise. Then a
robot that knows its root by the foot it stands on, on quieter plates."""
SEEDS = (1, 2)
"""Of the sensors' noise in the dance used and in the one not used."""


@dataclass(frozen=True, slots=True)
class WrenchTest:
    """A body identified from one dance and tested on other motion.

    Attributes:
        who: "HOAP-3" or "human".
        rig: with the prior.
        truth: of the simulated body.
        used, unseen: sensed.
        found: from `used`.
        noise: of the sensors, in words.
    """

    who: str
    rig: Rig
    truth: InertialParameters
    used: RecordedDance
    unseen: RecordedDance
    found: IdentifiedBody
    noise: str

    def fits(self) -> dict[str, WrenchFit]:
        """Of each parameter set, on the motion not used."""
        sets: Mapping[str, InertialParameters] = {
            "prior": self.found.prior,
            "scaled": self.found.scaled,
            "paper": self.found.paper,
            "ours": self.found.ours,
            "truth": self.truth,
        }
        return {name: compare_wrenches(self.rig, self.unseen.trial, chosen) for name, chosen in sets.items()}


def robot_tests(
    dances: Dances, options: DanceOptions, all_sensors: Sequence[Sensors] = ROBOT_SENSORS
) -> list[WrenchTest]:
    """HOAP-3 as in IV.C and IV.D, seen by each of the sensors; danced once."""
    rig = hoap3("battery_radio", torque="peak")
    truth = delivered_robot(rig)
    shown = [play_dance(rig, dances.of(rig, options, unseen=unseen)[0], truth) for unseen in (False, True)]
    result = []
    for sensors in all_sensors:
        used, unseen = (simulate_recording(rig, one, sensors, seed) for one, seed in zip(shown, SEEDS))
        found = identify_body(rig, used.trial, used.mass)
        result.append(WrenchTest("HOAP-3", rig, truth, used, unseen, found, format_noise(sensors)))
    return result


def wrench_drawing(test: WrenchTest, title: str) -> Drawing:
    """The wrench on the motion not used, by the prior and by the paper's program."""
    sets = {"prior": test.found.prior, "identified by (8)": test.found.paper}
    return plots.wrenches(test.rig, test.unseen.trial, sets, title)


def wrench_table(test: WrenchTest, unseen: str) -> str:
    """Table II for one body, the paper's columns first."""
    fits, paper = test.fits(), TABLE_II[test.who]
    columns = ("prior", "scaled", "paper", "ours", "truth")
    name = "CAD" if test.who == "HOAP-3" else "AT"
    titles = (name, f"{name} weighed", "Id (8)", "Id ours", "truth")
    rows = [
        f"\nTable II, {test.who}: RMS error [N, N m] and correlation of the wrench in the root's axes on {unseen};",
        "left the paper's (real), right ours (SIMULATED: MuJoCo's plates). Id (8): the paper's program; Id ours: our",
        "default; weighed: the prior scaled to the mass on the plates; truth: the body's own parameters. Where others",
        f"have the error of the truth, it is the noise of the sensors. {test.noise}",
        _line("axis", [f"paper {name}", "paper Id"], titles),
    ]
    for axis, axis_name in enumerate(WRENCH_AXES):
        theirs = [_pair(paper[k][0][axis], paper[k][1][axis]) for k in ("prior", "identified")]
        rows.append(_line(axis_name, theirs, [_pair(fits[k].rmse[axis], fits[k].correlation[axis]) for k in columns]))
    means = [_means(paper[k][0], paper[k][1]) for k in ("prior", "identified")]
    rows.append(_line("mean", means, [_means(fits[k].rmse, fits[k].correlation) for k in columns]))
    return "\n".join(rows)


def identification_rows(test: WrenchTest) -> list[Row]:
    """How many base parameters are well known, and what became of the masses."""
    data = f"MuJoCo, {test.who}, {test.used.trial.motion.times[-1] - test.used.trial.motion.times[0]:.0f} s of dance"
    base, found, truth = test.found.base, test.found, test.truth
    white, corrected = (int(base.well_known(corrected=c).sum()) for c in (False, True))
    truly = base.base.project(truth)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = int((np.abs(base.values - truly) < 0.1 * np.abs(truly)).sum())
    paper = float(IDENTIFIED) if test.who == "HOAP-3" else None
    kept = test.used.trial.motion.rate
    dense = int((base.relative_std(corrected=False) * np.sqrt(kept / ROBOT_RATE) <= WELL_KNOWN).sum())
    rows = [
        Row("falls, dance used and motion not used", data,
            float(sum(d.fell is not None for d in (test.used, test.unseen))),
            note=f"feet slip at most {1e3 * max(test.used.slip, test.unseen.slip):.2g} mm"),
        Row(f"of {test.found.structure} base parameters, sigma < 10 % by white residuals, {ROBOT_RATE:.0f} frames/s",
            data, float(dense), paper, note="as the paper judges: filtered frames count as independent"),
        Row(f"  the same, {kept:.0f} frames/s", data, float(white)),
        Row("  sigma < 10 % with correlated residuals accounted for", data, float(corrected)),
        Row("  truly within 10 % of the truth (the least squares of (7))", data, float(right)),
        Row("mass weighed on the plates [kg]", data, test.used.mass, ROBOT_MASS if test.who == "HOAP-3" else None,
            note=f"true {truth.total_mass:.3f}, prior {found.prior.total_mass:.3f}"),
    ]  # fmt: skip
    for name, chosen in (("prior", found.prior), ("prior at the weighed mass", found.scaled),
                         ("identified by (8)", found.paper), ("identified, ours", found.ours)):  # fmt: skip
        error = float(np.abs(chosen.masses - truth.masses).sum() / truth.total_mass)
        rows.append(Row(f"sum of the links' mass errors, {name} [% of the body]", data, 100.0 * error))
    return rows


def _pair(error: float, correlation: float) -> str:
    return f"{error:7.3g} {correlation:6.3f}"


def _means(errors: np.ndarray, correlations: np.ndarray) -> str:
    """Mean RMS of forces / of moments, and mean correlation."""
    return f"{errors[:3].mean():.2f}/{errors[3:].mean():.3f} {np.mean(correlations):.2f}"


def _line(first: str, theirs: Sequence[str], ours: Sequence[str]) -> str:
    cells = "".join(f"{cell:>17s}" for cell in theirs), "".join(f"{cell:>17s}" for cell in ours)
    return f"{first:6s}{cells[0]}  |{cells[1]}"
