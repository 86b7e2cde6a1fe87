"""bonnet2016 IV.A and IV.B, Fig. 8: a person identified twice, the second time with 2.4 kg on the left arm.

The dance is designed for the average person of the tables, as drawn on the volunteer's screen. The simulated person is
not average (`other_person`). She knows her own body and the load she wears, as people do, and keeps her zero-moment
point where the dance has it (`rebalance_dance`); the identification knows neither, only the mass on the plates. Both
performances are played in MuJoCo, and so are the ten squats on which Table II judges, the arms still; the paper's
person used hers to keep balance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.engine.bodies import arm_load, find_arm_links
from benchmarks.engine.loop import PERSON
from benchmarks.engine.rebalance import rebalance_dance
from benchmarks.figures.plain_motions import squats
from solver.options.dances import paper_options
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters

from .bonnet2016_bodies import other_person
from .bonnet2016_dances import Dances
from .bonnet2016_tables import LOAD, LOAD_FOUND, OTHERS_MEAN, OTHERS_MOST, OTHERS_SPREAD, PERSON_FIT
from .bonnet2016_trials import (
    IdentifiedBody,
    RecordedDance,
    compare_wrenches,
    format_noise,
    identify_body,
    play_dance,
    simulate_recording,
)
from .bonnet2016_wrench import WrenchTest
from .rows import Row

HEIGHT, MASS, SEX = 1.75, 65.0, "female"
"""Of the volunteer."""
VARIANT = "23dof"
"""The paper's twelve segments."""
OPTIONS = paper_options("human", hold=1.0)
"""The paper's, but for the 5 s of standing in which the volunteer was shown what comes next."""
SQUATS = 10
SENSORS = (PERSON, replace(PERSON, angle=5e-5, position=2e-5, force=1e-4))
"""A laboratory's, and a tenth of their noise: the first hides in squats what the second shows."""
SEEDS = (11, 12, 13)
"""Of the sensors' noise: without load, with load, squats."""


@dataclass(frozen=True, slots=True)
class LoadTest:
    """The same dance with and without the load.

    Attributes:
        rig: the average person.
        arm: links of the loaded arm.
        load: [kg].
        performed: without and with load.
        found: the same.
        squats: without load, predicted by `found[0]`.
    """

    rig: Rig
    arm: tuple[str, ...]
    load: float
    performed: tuple[RecordedDance, RecordedDance]
    found: tuple[IdentifiedBody, IdentifiedBody]
    squats: WrenchTest


def load_tests(dances: Dances) -> list[LoadTest]:
    """The whole experiment, seen by each of the sensors; the dance keeps the limits of the loaded average person."""
    rig = human(HEIGHT, MASS, SEX, variant=VARIANT)
    average, load, link = arm_load(rig)
    drawn = rig.with_prior(average)
    dance, _ = dances.of(drawn, OPTIONS)
    body = other_person(rig)
    shown = []
    for truth in (body, _with(body, average, rig.prior)):
        herself = rig.with_prior(truth)
        shown.append(play_dance(herself, rebalance_dance(dance, drawn, herself), truth))
    once = squats(rig.with_prior(body), OPTIONS)
    shown.append(play_dance(rig.with_prior(body), replace(once, segments=once.segments * SQUATS), body))
    result = []
    for sensors in SENSORS:
        before, after, ten = (simulate_recording(rig, one, sensors, seed) for one, seed in zip(shown, SEEDS))
        scaled = [rig.with_prior(rig.prior.scaled(one.mass)) for one in (before, after)]
        found = [identify_body(own, one.trial, one.mass) for own, one in zip(scaled, (before, after))]
        test = WrenchTest("human", rig, body, before, ten, found[0], format_noise(sensors))
        arm = find_arm_links(rig, link)
        result.append(LoadTest(rig, arm, load, (before, after), (found[0], found[1]), test))
    return result


def _with(body: InertialParameters, loaded: InertialParameters, without: InertialParameters) -> InertialParameters:
    """A body with the load that one set of parameters has more than another."""
    return InertialParameters(body.links, body.values + loaded.values - without.values)


def load_rows(test: LoadTest) -> list[Row]:
    """Effect of the load on the identified masses, by the paper's program and by ours."""
    seconds = test.performed[0].trial.motion.times[-1] - test.performed[0].trial.motion.times[0]
    data = f"MuJoCo, human, the same {seconds:.0f} s twice"
    others = [k for k, link in enumerate(test.rig.links) if link not in test.arm]
    arm = [test.rig.index(link) for link in test.arm]
    rows = [
        Row("falls, without and with the load", data, float(sum(d.fell is not None for d in test.performed)), 0.0,
            note=f"feet slip at most {1e3 * max(d.slip for d in test.performed):.2g} mm"),
        Row("load on the left forearm [kg]", data, test.load, LOAD, note=f"the arm: {', '.join(test.arm)}"),
        Row("difference of the weighed masses [kg]", data, test.performed[1].mass - test.performed[0].mass, LOAD),
    ]  # fmt: skip
    for which, name in (("paper", "the paper's program (8)"), ("ours", "ours, consistent")):
        before, after = (getattr(found, which).masses for found in test.found)
        change = after - before
        arms = float(change[arm].sum())
        size = np.abs(change[others])
        most = test.rig.links[others[int(size.argmax())]]
        paper = which == "paper"
        rows += [
            Row(f"{name}: difference of the arm's mass [kg]", data, arms, LOAD_FOUND if paper else None),
            Row(f"{name}: error of the load [kg]", data, abs(arms - test.load), LOAD - LOAD_FOUND if paper else None),
            Row(f"{name}: mean difference of the other segments [kg]", data, float(size.mean()),
                OTHERS_MEAN if paper else None,
                note=f"deviation {size.std():.2g} kg" + (f", the paper's {OTHERS_SPREAD:g} kg" if paper else "")),
            Row(f"{name}: largest difference of another segment [kg]", data, float(size.max()),
                OTHERS_MOST if paper else None, note=f"of {most}" + ("; the paper's is the trunk's" if paper else "")),
        ]  # fmt: skip
    return rows


def fit_rows(test: LoadTest) -> list[Row]:
    """IV.B: residuals over the whole dance, forces and moments, mean over axes."""
    data = "MuJoCo, human, without load, dance used"
    trial, found = test.performed[0].trial, test.found[0]
    rows = []
    for which, name in (
        ("paper", "identified by (8)"),
        ("ours", "identified, ours"),
        ("prior", "anthropometric table"),
    ):
        fit = compare_wrenches(test.rig, trial, getattr(found, which))
        paper = PERSON_FIT["prior" if which == "prior" else "identified"]
        for part, unit, theirs in ((slice(0, 3), "N", paper[0]), (slice(3, 6), "N m", paper[1])):
            rows.append(
                Row(f"{name}: mean RMS error of the dance [{unit}]", data, float(fit.rmse[part].mean()), theirs)
            )
    return rows
