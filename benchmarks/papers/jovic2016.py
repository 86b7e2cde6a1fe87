"""The tables and figures of jovic2016 beside ours: ``python -m benchmarks.papers.jovic2016 [--quick] [--only ...]
[--data DIR] [--output DIR]``.

HRP-2 and the belt are simulated and say so; Table III uses a real subject if its folder is given. The paper's robot,
person and recordings are others than ours: the columns are there to compare the size of things, not digits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from solver.base.progress import write_lines
from solver.base.threads import one_blas_thread
from solver.dance.workflows.design import design_dance
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions
from solver.options.study import Settings
from solver.report.svg import Drawing
from solver.rigs import hrp2
from solver.study.recordings import load
from solver.study.values import StudyData
from solver.values.wrenches import WRENCH_AXES
from solver.workflow.pipeline import identify

from ..reference import reference_line
from . import plots
from .belt import PLACES, BeltResult, belt_test
from .hrp2_experiment import CHANGES, PAPER, RATE, Hrp2Result, MotionResult, base_link, hrp2_experiment, mass_error
from .jovic2016_tables import BELT_ESTIMATES, TABLE_1, TABLE_2, TABLE_3, TABLE_4

PARTS = ("hrp2", "human", "belt")
ROBOTS = 5
"""Seeds of truth, motions and noise of HRP-2."""
QUIET = 0.1
"""Share of the sensors' noise at which level forces show more than the noise."""
POSTURES = 3
"""On each foot configuration in the dance of HRP-2, which then is about as long as the paper's motion."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 where a requested one needs a real subject's recordings."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.jovic2016", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter motions, fewer seeds")
    parser.add_argument("--data", type=Path, help="folder of one subject's real recordings, for Table III")
    parser.add_argument("--sex", choices=("male", "female"), default="male", help="of that subject (default: male)")
    parser.add_argument("--output", type=Path, help="folder for the figures as SVG")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="which parts (default: all)")
    options = parser.parse_args(arguments)
    print(reference_line())
    with one_blas_thread():
        study = None
        if options.data is not None and "human" in options.only:
            study = real_study(options.data, options.sex)
        if "hrp2" in options.only:
            print_hrp2(options.quick, options.output)
        if "human" in options.only:
            print_human(study, options.output)
        if "belt" in options.only:
            print_belt(options.quick, options.output)
    if study is None and "human" in options.only:
        print("missing: a real subject's recordings, for Table III: name their folder with --data", file=sys.stderr)
        return 1
    return 0


def real_study(folder: Path, sex: str) -> StudyData:
    """The subject identified by the paper's method and filter, all trials together and one left out at a time."""
    settings = Settings(method="hierarchical", filter="jovic_human", no_cross_validation=False)
    return identify(load([folder]), sex=sex, settings=settings)


def print_hrp2(quick: bool, output: Path | None) -> None:
    """Tables I and II of one robot, Figs. 5 to 7, and both motions against the truth of several robots."""
    postures = dict.fromkeys(FOOT_CONFIGURATIONS, 1 if quick else POSTURES)
    dance = design_dance(hrp2(), DanceOptions(postures=postures, workers=1), write_lines)
    results = []
    size = {"seconds": 15.0, "candidates": 2} if quick else {"seconds": 30.0, "candidates": 8}
    for seed in range(1 if quick else ROBOTS):
        results.append(hrp2_experiment(seed=seed, dance=dance, **size))  # type: ignore[arg-type]
        print(f"HRP-2, robot {seed + 1} identified", file=sys.stderr, flush=True)
    print_table_1(results[0], 1.0)
    print_table_1(hrp2_experiment(noise=QUIET, **size), QUIET)  # type: ignore[arg-type]
    print_table_2(results[0])
    print_truth(results)
    if output is not None:
        robot, rig = results[0].robot, results[0].robot.rig
        sets = {PAPER: results[0].paper.sets[PAPER], "CAD": rig.prior}
        trial, base = results[0].paper.trial, base_link(rig)
        title = "Figs. 5 and 6: wrench of HRP-2, SIMULATED, motion used"
        _save(plots.wrenches(rig, trial, sets, title, base), output / "fig5_6.svg")
        masses = {name: found.masses for name, found in sets.items()} | {"truth": robot.truth.masses}
        title = "Fig. 7: masses of HRP-2, SIMULATED"
        _save(plots.bars(rig.links, [("mass [kg]", masses)], title), output / "fig7.svg")


def print_table_1(result: Hrp2Result, noise: float) -> None:
    """RMSE and correlation of the wrench, by the paper's motion."""
    print(
        f"\nTable I, HRP-2, {noise:g} of the noise (ours SIMULATED on a stand-in; encoders 1e-4 rad, attitude 1e-4 rad"
    )
    print("and a wander of 2e-3 rad, feet 1 N, 0.1 N m, 200 Hz, 20 Hz filter): RMSE [N, N m] and correlation. 'paper's")
    print("program' is the paper's identification with its own eps and level 4; 'its eps alone', 'its level 4 alone':")
    print("'ours, hierarchical' with that part of it; CAD scaled: to the measured mass; truth: the robot's parameters,")
    print("whose error is the noise of the sensors")
    for trial, words in ((result.paper.trial, "motion used"), (result.unseen, "unseen motion")):
        print(f" {words}")
        fits = {name: (fit.rmse, fit.correlation) for name, fit in result.fits(trial).items()}
        print_axes(fits, TABLE_1, "CAD")
    print(
        f" weighed {result.measured_mass:.2f} kg; condition of the motion chosen joint by joint {result.score:.3g}",
        end="",
    )
    print(f" (of {len(result.scores)} candidates: best {min(result.scores):.3g}, worst {max(result.scores):.3g})")


def print_table_2(result: Hrp2Result) -> None:
    """Masses in percent of CAD."""
    print("\nTable II, masses in percent of CAD (* assumed modified, beta 0.35; others 0.05), by the paper's motion")
    print(f" segment  link                   paper    true  {'  '.join(f'{name:>18s}' for name in result.paper.sets)}")
    rig, truth = result.robot.rig, result.robot.truth
    segments = cast("list[str]", rig.provenance["paper_segments"])
    for number, link in enumerate(segments, 1):
        k = rig.index(link)
        each = [100.0 * found.masses[k] / rig.prior.masses[k] for found in (truth, *result.paper.sets.values())]
        star = "*" if link in CHANGES else " "
        ours = "  ".join(f"{value:18.1f}" for value in each[1:])
        print(f" {number:7d}{star} {link:20s} {TABLE_2[number - 1]:7.2f} {each[0]:7.1f}  {ours}")
    print(f" {len(result.paper.deciding)} of {len(rig.links)} masses of the paper's program lie on a bound of level 2:")
    print(" there the bounds decide, not the data")


def print_truth(results: Sequence[Hrp2Result]) -> None:
    """Sum of the links' mass errors of both motions, over that of the drawings at the measured mass."""
    assert results[0].own is not None
    seconds = [len(motion.trial.motion) / RATE for motion in (results[0].paper, results[0].own)]
    print(
        f"\nAgainst the truth, SIMULATED, {len(results)} robots: sum of the links' mass errors [% of the body] and over"
    )
    print(f"that of CAD scaled; the paper's motion ({seconds[0]:.0f} s, both feet), our dance ({seconds[1]:.0f} s)")
    scaled = np.array([mass_error(result.scaled, result.robot.truth) for result in results])
    print(f" {'CAD scaled to the measured mass':46s}  {_each(100.0 * scaled)}")
    for motion in ("paper", "own"):
        found = [cast("MotionResult", getattr(result, motion)) for result in results]
        for name in found[0].sets:
            errors = np.array([one.mass_errors(result.robot.truth)[name] for one, result in zip(found, results)])
            words = f"{'the paper' if motion == 'paper' else 'our dance'}'s motion, {name}"
            print(f" {words:46s}  {_each(100.0 * errors)}; over CAD scaled {(errors / scaled).mean():.2f}")
        count = np.mean([len(one.deciding) for one in found])
        print(
            f"   masses of the paper's program on a bound of level 2: {count:.0f} of {len(results[0].robot.rig.links)}"
        )


def _each(values: np.ndarray) -> str:
    return f"{values.mean():5.1f} ({', '.join(f'{value:.1f}' for value in values)})"


def _save(drawing: Drawing, path: Path) -> None:
    print(f"written: {plots.save(drawing, path)}", flush=True)


def print_human(study: StudyData | None, output: Path | None) -> None:
    """Table III and Figs. 8 to 10."""
    if study is None or study.identified is None:
        print("\nTable III needs a real subject's recordings: --data DIR")
        return
    found = study.identification
    mass = f"{study.mass.mass:.1f} kg" if study.mass else "unknown mass"
    print(f"\nTable III, human (ours REAL: {', '.join(found.trials)};")
    print(f"{mass}; 6 Hz; ours: the mean of tables, not Dumas; measured mass on both sides; moments about the pelvis):")
    print("RMSE [N, N m] and correlation, mean over trials; ours: the paper's program with eps as a share of each")
    print("link's own inertia, level 4 scaled and weighed axes")
    for used in (True, False):
        print(f" {'trials used' if used else 'each trial unseen, fitted to the others'}")
        chosen = [c for c in found.comparisons if c.used == used]
        means = {
            name: (np.nanmean([f.rmse for f in fits], axis=0), np.nanmean([f.correlation for f in fits], axis=0))
            for name, fits in (("ours", [c.identified for c in chosen]), ("Dumas", [c.prior for c in chosen]))
        }
        print_axes(means, TABLE_3, "Dumas")
    print(" RMSE identified / Dumas by trial, unseen: ", end="")
    print(", ".join(f"{c.trial} {np.nanmean(c.ratio):.2f}" for c in found.comparisons if not c.used))
    if output is not None:
        trial = max((trial for trial in study.trials if trial.name in found.trials), key=lambda t: t.counted.sum())
        sets = {"identified": found.parameters, "Dumas": study.rig.prior}
        title = f"Figs. 8 and 9: wrench of a person, REAL, {trial.name}, trial used"
        _save(plots.wrenches(study.rig, trial, sets, title), output / "fig8_9.svg")
        masses = {name: each.masses for name, each in sets.items()}
        title = "Fig. 10: masses of a person, REAL"
        _save(plots.bars(study.rig.links, [("mass [kg]", masses)], title), output / "fig10.svg")


def print_axes(
    columns: Mapping[str, tuple[np.ndarray, np.ndarray]], paper: Mapping[str, tuple[float, ...]], other: str
) -> None:
    """RMSE and correlation (6,) by axis of named sets of parameters, the paper's first."""
    names = ("in print: identified", f"in print: {other}", *columns)
    print(f"   axis {''.join(f'{name:>23s}' for name in names)}")
    for axis, name in enumerate(WRENCH_AXES):
        theirs = paper[name]
        cells = [(theirs[0], theirs[2]), (theirs[1], theirs[3])]
        cells += [(float(rmse[axis]), float(correlation[axis])) for rmse, correlation in columns.values()]
        print(f"   {name}   {''.join(f'{rmse:16.2f} {correlation:6.2f}' for rmse, correlation in cells)}")


def print_belt(quick: bool, output: Path | None) -> None:
    """Table IV and Figs. 11 to 13."""
    seeds = (1,) if quick else (1, 2, 3)
    rounds = 1 if quick else 2
    print(
        f"\nTable IV, 2 kg belt (SIMULATED: markers 2 mm, plates 1 N and 1 N m, calibrated skeleton, {24 * rounds} s)"
    )
    print(" person  place        blind: found  elsewhere   P(right)   known place: found   paper: found")
    first: dict[str, BeltResult] = {}
    for seed in seeds:
        for place in PLACES:
            result = belt_test(place, seed=seed, rounds=rounds)
            first.setdefault(place, result)
            other = f"{result.elsewhere_max:.2f} {result.elsewhere}"
            print(
                f" {seed:6d}  {place:12s} {result.found:12.3f}  {other:10s} {result.probability:9.2f}"
                f" {result.paper_estimate:19.2f} {BELT_ESTIMATES[place]:14.1f}   {'met' if result.passed else 'MISSED'}"
            )
    print("\n masses [kg] by the paper's method (belt's place known), ours of person 1 / paper's")
    print(" link              bare            pelvis          right hand      left foot")
    for link, theirs in TABLE_4.items():
        ours = [first[PLACES[0]].paper[link][0], *(first[place].paper[link][1] for place in PLACES)]
        print(f" {link:16s} " + "  ".join(f"{a:6.2f} /{b:6.2f}" for a, b in zip(ours, theirs)))
    if output is not None:
        panels = []
        for place in PLACES:
            pairs = np.array([first[place].paper[link] for link in TABLE_4])
            panels.append((f"{place} [kg]", {"without the belt": pairs[:, 0], "with the belt": pairs[:, 1]}))
        title = "Figs. 11 to 13: masses by the paper's program, SIMULATED"
        _save(plots.bars(tuple(TABLE_4), panels, title), output / "fig11_13.svg")


if __name__ == "__main__":
    raise SystemExit(main())
