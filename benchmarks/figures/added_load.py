"""Loads identified blind on simulated people with moving skin: on which link, and between which links the data cannot
distinguish.

The weight of a load is what the plates read more than before; where it is, the motion must show. Everything here is
simulated: the people of `people`, recorded twice with other motions, the second time with a belt of `papers.belt` on
one link, or half of one each on a link and its parent.

How many links the data can name at all is found beside it: to the equations of a load, without errors, errors are added
that are drawn from the covariance that the search assumes, and the most likely link is found. In the second motion
both feet stay planted, so that a load on a foot is that of a shank whose load lies at the ankle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.papers.belt import BELT, belt
from solver.base.threads import one_blas_thread
from solver.identification.accumulate import accumulate_regression
from solver.identification.added_load import AddedLoad, find_added_load
from solver.identification.load_likelihood import LoadLikelihood
from solver.options.study import LoadOptions
from solver.signals import light_preset, resample
from solver.signals.trial import Trial
from solver.values.inertials import PER_LINK

from .figure import Figure, at_least, at_most, left_out
from .people import UNSEEN, draw_person, record_plates
from .validation import Case, record

PEOPLE = 5
SECONDS = 16.0
"""[s] Before and after."""
DRAWS = 8
"""Of errors, for a load on each link."""
RIGHT_MUST, RIGHT_AIM, SPLIT_MUST, SPLIT_AIM = 90.0, 97.0, 70.0, 90.0
"""[%]"""
DATA = f"simulated, {PEOPLE} people, skin motion, {SECONDS:g} s before and after"
WHOLE = f"{BELT:g} kg on each link in turn, found blind: the right link named"
DRAWN = f"{BELT:g} kg on each link in turn, errors drawn from their covariance: the right link most likely"
KEPT = f"{BELT:g} kg on each link in turn: the true set not excluded"
HALVES = f"{0.5 * BELT:g} kg each on a link and its parent: both in a set that is not excluded"


@dataclass(frozen=True, slots=True)
class LoadResult:
    """A load and its estimate.

    Attributes:
        truth: [kg] by link.
        load: the estimate.
        unobserved: links without markers.
    """

    truth: Mapping[str, float]
    load: AddedLoad
    unobserved: tuple[str, ...]

    @property
    def named(self) -> bool:
        """Whether the carriers are the true ones."""
        return set(self.load.carriers) == set(self.truth)

    @property
    def included(self) -> bool:
        """Whether the true set is the one named or among those not excluded."""
        return self.named or any(set(links) == set(self.truth) for links in self.load.alternatives)


def added_load_figures(quick: bool) -> list[Figure]:
    """Right links, indistinguishable links, and masses."""
    if quick:
        return left_out(build_figures([], [], []), "left out by --quick")
    with one_blas_thread():
        motions = {"plain exercises": SECONDS, UNSEEN: SECONDS}
        people = [record(draw_person(seed, motions)) for seed in range(PEOPLE)]
        found = [one for seed, given in enumerate(people) for one in find_loads(given, seed)]
        drawn = [right for seed, given in enumerate(people) for right in draw_most_likely(given, seed)]
    single, double = ([one for one in found if (len(one.truth) == 1) == is_single] for is_single in (True, False))
    return build_figures(single, double, drawn)


def find_loads(given: Case, seed: int) -> Iterator[LoadResult]:
    """Identify loads on every link of one person, then on every link together with its parent."""
    generator, rig = np.random.default_rng((seed, 98)), given.rig
    single = [{link: BELT} for link in rig.links]
    double = [
        {link: 0.5 * BELT, rig.links[parent]: 0.5 * BELT} for link, parent in zip(rig.links, rig.parents) if parent >= 0
    ]
    for truth in (*single, *double):
        laden = _add_load(given, truth, generator)
        yield LoadResult(truth, find_added_load(rig, given.trials, [laden]), rig.unobserved_links)


def draw_most_likely(given: Case, seed: int) -> Iterator[bool]:
    """Whether the right link is the most likely one, with errors drawn from the covariance that the search assumes."""
    generator, rig, truth = np.random.default_rng((seed, 99)), given.rig, given.truth
    first = accumulate_regression(rig, given.trials, axes="world")
    second = accumulate_regression(rig, [given.unseen], axes="world", structure=first.structure)
    likelihood = LoadLikelihood(rig, (first, second), (truth, truth), LoadOptions().margin)
    root = np.linalg.cholesky(likelihood.P)
    for index, link in enumerate(rig.links):
        load = np.linalg.solve(likelihood.loads.blocks[index], belt(given.person.rig, link).values[0])
        exact = likelihood.P[:, PER_LINK * index : PER_LINK * (index + 1)] @ load
        for _ in range(DRAWS):
            likelihood.q = root @ generator.standard_normal(len(root)) - exact
            (found, *_) = likelihood.fit_within([(k,) for k in range(len(rig.links))], 0.0)
            yield found == (index,)


def _add_load(given: Case, masses: Mapping[str, float], generator: np.random.Generator) -> Trial:
    """The unseen trial with a load: the same motion with other forces."""
    body, trial = given.person.rig, given.unseen
    truth = body.prior
    for link, mass in masses.items():
        truth = truth.replaced(link, truth.link(link) + mass / BELT * belt(body, link).values[0])
    assert trial.preset is not None
    wrenches = record_plates(body, given.person.motions[UNSEEN], truth, generator)
    return replace(trial, wrenches=resample(wrenches, trial.motion.times, light_preset(trial.preset, wrenches.rate)))


def build_figures(single: list[LoadResult], double: list[LoadResult], drawn: list[bool]) -> list[Figure]:
    """Rows of both kinds of loads; without cases the rows alone."""

    def percent(values: list[bool]) -> float | None:
        return 100.0 * float(np.mean(values)) if values else None

    def mean(values: list[float]) -> float | None:
        return float(np.mean(values)) if values else None

    observed = [one for one in single if not set(one.truth) & set(one.unobserved)]
    count = f"of {len(single)} cases; {percent([one.named for one in observed]) or 0.0:.0f} % on links with markers"
    halves = f"of {len(double)} cases; named {percent([one.named for one in double]) or 0.0:.0f} %"
    sure = "reported as carried by one link, with no other set of links that is not excluded"
    return [
        Figure(WHOLE, DATA, percent([one.named for one in single]), "%", at_least(RIGHT_MUST), at_least(RIGHT_AIM),
               count),
        Figure(DRAWN, DATA, percent(drawn), "%",
               note="what these motions can show; lowest for pelvis, feet, shanks"),
        Figure(KEPT, DATA, percent([one.included for one in single]), "%",
               at_least(95.0)),
        Figure("  the same, further sets of links not excluded, mean", DATA,
               mean([float(len(one.load.alternatives)) for one in single])),
        Figure("  the same, mass in all: mean error, which is the plates'", DATA,
               mean([abs(one.load.total - sum(one.truth.values())) for one in single]), "kg"),
        Figure(HALVES, DATA, percent([one.included for one in double]), "%", at_least(SPLIT_MUST),
               at_least(SPLIT_AIM), halves),
        Figure(f"  the same, {sure}", DATA,
               percent([len(one.load.carriers) == 1 and not one.load.alternatives for one in double]), "%",
               at_most(5.0), at_most(0.0)),
        Figure("  the same, further sets of links not excluded, mean", DATA,
               mean([float(len(one.load.alternatives)) for one in double])),
    ]  # fmt: skip
