"""The tables of jovic2016 compared with ours: ``python -m benchmarks.papers.jovic2016 [--quick] [--data DIR] [--only
...]``.

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

from solver.identification.comparison import AXES, Comparison
from solver.rig import Rig
from solver.study.pipeline import identify
from solver.study.recordings import load
from solver.study.values import Settings, Study
from solver.threads import one_blas_thread
from solver.trial import Trial

from ..reference import reference_line
from .belt import BELT, PLACES, BeltResult, belt_test
from .hrp2_experiment import CHANGES, hrp2_experiment
from .inconsistency import simulated_trial, tally
from .jovic2016_tables import BELT_ESTIMATES, TABLE_1, TABLE_2, TABLE_3, TABLE_4

PARTS = ("hrp2", "human", "belt", "ablation")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 where a requested one needs a real subject's recordings."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.jovic2016", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter motions, fewer seeds")
    parser.add_argument("--data", type=Path, help="folder of one subject's real recordings, for Table III")
    parser.add_argument("--sex", choices=("male", "female"), default="male", help="of that subject (default: male)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="which parts (default: all)")
    options = parser.parse_args(arguments)
    print(reference_line())
    with one_blas_thread():
        study = None
        if options.data is not None and {"human", "ablation"} & set(options.only):
            study = real_study(options.data, options.sex)
        if "hrp2" in options.only:
            print_hrp2(options.quick)
        if "human" in options.only:
            print_human(study)
        if "belt" in options.only:
            print_belt(options.quick)
        if "ablation" in options.only:
            print_ablation(options.quick, study)
    if study is None and "human" in options.only:
        print("missing: a real subject's recordings, for Table III: name their folder with --data", file=sys.stderr)
        return 1
    return 0


def real_study(folder: Path, sex: str) -> Study:
    """The subject identified by the paper's method and filter, all trials together and one left out at a time."""
    settings = Settings(method="hierarchical", preset="jovic_human", bootstrap=0, cross_validate=True)
    return identify(load([folder]), sex=sex, settings=settings)


def print_hrp2(quick: bool) -> None:
    """Tables I and II."""
    result = hrp2_experiment(seconds=15.0, candidates=2) if quick else hrp2_experiment()
    print(
        "\nTable I, HRP-2 (ours SIMULATED on a stand-in; encoders 1e-4 rad, attitude 1e-4 rad + 2e-3 rad wander, feet"
    )
    print("1 N, 0.1 N m, 200 Hz, 20 Hz filter): RMSE [N, N m] and correlation, identified against CAD")
    for title, pair in (("CAD as drawn", result.comparisons), ("CAD scaled to the measured mass", result.scaled)):
        for comparison in pair:
            print(f" {'motion used' if comparison.used else 'unseen motion'}; {title}")
            print_axes([comparison], TABLE_1, "CAD")
    print(f" weighed {result.measured_mass:.2f} kg; condition of the chosen motion {result.scores[0]:.3g}", end="")
    print(f" (worst of {len(result.scores)}: {max(result.scores):.3g}); result is {result.estimate.satisfies}")
    print("\nTable II, masses in percent of CAD (* assumed modified, beta 0.35; others 0.05)")
    print(" segment  link                    true   ours  ours, eps 0.01   paper")
    rig = result.robot.rig
    drawn = rig.prior.masses
    segments = cast("list[str]", rig.provenance["paper_segments"])
    for number, link in enumerate(segments, 1):
        k = rig.index(link)
        ours, floor = (100.0 * e.parameters.masses[k] / drawn[k] for e in (result.estimate, result.paper_floor))
        true = 100.0 * result.robot.truth.masses[k] / drawn[k]
        star = "*" if link in CHANGES else " "
        print(f" {number:7d}{star} {link:22s} {true:6.1f} {ours:6.1f} {floor:15.1f} {TABLE_2[number - 1]:7.2f}")


def print_human(study: Study | None) -> None:
    """Table III."""
    if study is None or study.identification is None:
        print("\nTable III needs a real subject's recordings: --data DIR")
        return
    mass = f"{study.mass.mass:.1f} kg" if study.mass else "unknown mass"
    print(f"\nTable III, human (ours REAL: {', '.join(study.identification.trials)};")
    print(f"{mass}; 6 Hz; the Dumas table scaled to the measured mass on both sides; moments about the pelvis):")
    print("RMSE [N, N m] and correlation, mean over trials")
    for used in (True, False):
        print(f" {'trials used' if used else 'each trial unseen, fitted to the others'}")
        print_axes([c for c in study.identification.comparisons if c.used == used], TABLE_3, "Dumas")
    print(" RMSE identified / Dumas by trial, unseen: ", end="")
    print(", ".join(f"{c.trial} {np.nanmean(c.ratio):.2f}" for c in study.identification.comparisons if not c.used))


def print_axes(comparisons: Sequence[Comparison], paper: Mapping[str, tuple[float, ...]], other: str) -> None:
    """RMSE and correlation by axis, ours and the paper's."""
    heads = f"RMSE ident.   {other:>6s}   CC ident.   {other:>6s}"
    print(f"   axis   ours: {heads} | paper: {heads}")
    for axis, name in enumerate(AXES):
        values = [
            float(np.nanmean([getattr(getattr(c, who), what)[axis] for c in comparisons]))
            for what in ("rmse", "correlation")
            for who in ("identified", "prior")
        ]
        theirs = paper[name]
        print(
            f"   {name}   {values[0]:17.2f} {values[1]:8.2f} {values[2]:11.2f} {values[3]:8.2f} |"
            f" {theirs[0]:18.2f} {theirs[1]:8.2f} {theirs[2]:11.2f} {theirs[3]:8.2f}"
        )


def print_belt(quick: bool) -> None:
    """Table IV."""
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
            shares = ", ".join(f"{link} {m:.2f}" for link, m in result.spread.items() if m > 0.1)
            off = {k: v - BELT * (k == place) for k, v in result.difference.items()}
            worst = max(off, key=lambda link: abs(off[link]))
            print(f"           ablations: any link may carry: {shares}; two blind identifications subtracted: wrong by")
            print(f"           up to {abs(off[worst]):.2f} kg ({worst}); right link {result.difference[place]:.2f} kg")
    print("\n masses [kg] by the paper's method (belt's place known), ours of person 1 / paper's")
    print(" link              bare            pelvis          right hand      left foot")
    for link, theirs in TABLE_4.items():
        ours = [first[PLACES[0]].paper[link][0], *(first[place].paper[link][1] for place in PLACES)]
        print(f" {link:16s} " + "  ".join(f"{a:6.2f} /{b:6.2f}" for a, b in zip(ours, theirs)))


def print_ablation(quick: bool, study: Study | None) -> None:
    """How often each method's result is no body."""
    count = 4 if quick else 20
    cases: list[tuple[Rig, Sequence[Trial]]] = []
    for seed in range(100, 100 + count):
        rig, trial, _ = simulated_trial(seed)
        cases.append((rig, [trial]))
    print_tally(f"{count} SIMULATED people", cases)
    if study is not None:
        trials = [trial for trial in study.trials if trial.counted.any()]
        print_tally(f"{len(trials)} REAL trials, one at a time", [(study.rig, [trial]) for trial in trials])


def print_tally(title: str, cases: Sequence[tuple[Rig, Sequence[Trial]]]) -> None:
    """One block of the ablation."""
    print(f"\nPhysical or not, {title}: number of results")
    print(" method         results  negative mass  inertia not pos. def.  not fully consistent  no result")
    for method, counts in tally(cases).items():
        failed = "; ".join(f"{n} x {message}" for message, n in counts.failed.items()) or "0"
        print(
            f" {method:14s} {counts.runs:7d} {counts.negative:14d} {counts.indefinite:22d}"
            f" {counts.inconsistent:21d}  {failed}"
        )


if __name__ == "__main__":
    raise SystemExit(main())
