"""Default dances of people on whom no constant was chosen, performed with faults: expected errors, and how they dance.

The errors are those of a linear model with the errors that `identify` expects: the centres of mass of the links move
with the angles of their joints (gains of 2 mm per radian are marginalised), the plate has 1 N and 0.5 N m a sample,
and the inertials are drawn around every table. All is simulated; `people.perform_motion` performs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from itertools import groupby

import numpy as np

from solver.dance.design.body_parts import body_parts
from solver.dance.design.dance import Dance
from solver.dance.design.evaluation import HARDEST, Evaluation
from solver.dance.workflows.design import check_dance, design_dance
from solver.demo import motions, person
from solver.dynamics import link_motions, wrench_regressor
from solver.dynamics.coordinates import coordinate_links, joint_coordinates
from solver.feasibility.checks.hand_speed import hand_links
from solver.identification.excitation.wrench_noise import CoordinateNoise, WrenchNoise
from solver.identification.expected import expect_determined, wrench_quantity
from solver.options.dances import SKILLS, human_options
from solver.rigs import human
from solver.scene.determined import MOMENT_KIND, WRENCH_KIND
from solver.skeleton.rig import Rig
from solver.values.inertials import FIRST_MOMENT
from solver.values.motion import Motion
from solver.values.person import SIDES

from .figure import Bound, Figure, at_most
from .people import REPEATED, SOURCES, designed, draw_inertials, draw_person, exercise, perform_motion
from .validation import measure, record

PEOPLE = (
    (1.55, 60.0, "female"),
    (1.62, 50.0, "female"),
    (1.73, 68.0, "male"),
    (1.8, 90.0, "male"),
    (1.88, 77.0, "male"),
)
"""Height [m], mass [kg] and sex."""
NOISE = WrenchNoise(
    np.array([1.0, 1.0, 1.0, 0.5, 0.5, 0.5]),
    200.0,
    CoordinateNoise(position=0.0005, angle=0.002, rate=100.0, cutoff=6.0),
)
PER_RADIAN = 2e-3
"""[m/rad] Displacement of a centre of mass with the angle of a joint."""
RATE, ADULTS = 25.0, 200
"""[1/s] of the frames that are counted; adults that are drawn."""
SHORT, REPEATS = 12.5, 4
"""[s] Length of exercises that have two thirds of the tables' error. As long as a dance, 60 s, they have a third of it,
and no dance has half of that: the bounds are a dance without a performer's errors, and one recorded again and again."""
RECORDED = (903, 904, 905, 906, 907)
"""Seeds of people who are recorded while they dance."""
GROUPS = "limb groups that move at once, of 6, on average"
TURNING = np.radians(30.0)
"""[rad/s] Speed of a joint from which its limb moves."""


@dataclass(frozen=True, slots=True)
class Information:
    """Information of a motion on all inertials, and on the gains of the links' displacements with posture."""

    own: np.ndarray  # (10 L, 10 L)
    mixed: np.ndarray  # (10 L, G)
    gains: np.ndarray  # (G, G)


def figures() -> Iterator[list[Figure]]:
    """Rows of the default dances of all people, then of the skills of one."""
    errors, gains, measures, seconds = [], [], [], []
    for seed, (height, mass, sex) in enumerate(PEOPLE):
        rig = human(height, mass, sex)
        before = os.times()
        dance = design_dance(rig, human_options(workers=1, seed=seed))
        found = check_dance(dance)
        seconds.append(sum(os.times()[:4]) - sum(before[:4]))
        measures.append(measure_dance(rig, dance, found))
        motion, tables = dance.sample(rig, 50.0), _adults(rig, seed)
        unseen = [(whitened.T @ whitened) for whitened in _unseen_rows(rig)]
        known = [_perform(rig, [motion], seed), inform(rig, motion)]
        errors.append(
            [
                _ratios(own, tables, unseen)
                for own in (*known, Information(*(REPEATS * each for each in astuple(known[0]))))
            ]
        )
        plain = [
            _ratios(
                _perform(rig, exercise(rig, lasting, 50.0, np.random.default_rng(seed)).values(), seed), tables, unseen
            )
            for lasting in (dance.duration, SHORT)
        ]
        gains.append([errors[-1][k][1] / plain[short][1] for k, short in ((0, 0), (0, 1), (1, 0), (2, 0))])
    data = f"simulated, {len(PEOPLE)} people, performed"
    moments, wrench = np.mean(errors, axis=0)[0]
    each = ", ".join(f"{a:.2f}/{b:.2f}" for (a, b), *_ in errors)
    bounds = "; bounds: danced without an error {2:.2f}, recorded four times {3:.2f}".format(*np.mean(gains, axis=0))
    yield [
        Figure("wrench of unseen motions, error over the tables'", data, wrench, "", at_most(0.33), at_most(0.28),
               note=f"first moments / wrench by person: {each}"),
        *(Figure(f"  over that of plain exercises {lasting}, performed too", data, float(np.mean(own)), "",
                 at_most(0.55), at_most(0.45), note="by person: " + ", ".join(f"{gain:.2f}" for gain in own) + more)
          for lasting, own, more in zip(("as long", f"of {SHORT:g} s"), zip(*gains), (bounds, ""))),
        Figure("first moments, error over the tables'", data, moments, "", at_most(0.62), at_most(0.5)),
    ]  # fmt: skip
    yield [
        Figure(name, f"simulated, {len(PEOPLE)} people",
               float((np.mean if name == GROUPS else np.max)([own[name][0] for own in measures])), own_unit, must, aim,
               note="by person: " + ", ".join(f"{own[name][0]:.3g}" for own in measures))
        for name, (_, own_unit, must, aim) in measures[0].items()
    ] + [Figure("designed and verified, processor of all processes", f"simulated, {len(PEOPLE)} people", max(seconds),
                "s", at_most(24.0), at_most(12.0), timed=True)]  # fmt: skip
    yield promise_figures()
    rig = human(*PEOPLE[2])
    for skill in SKILLS:
        own = measure_dance(rig, made := design_dance(rig, human_options(skill=skill, workers=1)), check_dance(made))
        worst, unit, must, aim = own["largest condition number of a link"]
        yield [Figure(f"largest condition number of a link, {skill}", "simulated, one person", worst, unit, must, aim)]


def promise_figures() -> list[Figure]:
    """What the default dance promises over what the pipeline finds of people who perform it in a laboratory.

    The wrench is that of a second performance, from which nothing is identified.
    """
    dance = designed()
    motion = dance.sample(dance.rig, 50.0)
    promised = {(one.kind, one.name): one.ratio for one in expect_determined(dance.rig, [motion])}
    found: dict[str, list[float]] = {MOMENT_KIND: [], WRENCH_KIND: []}
    for seed in RECORDED:
        case = record(draw_person(seed, dict.fromkeys(("dance performed", REPEATED), dance.duration)))
        _, wrench, result, _ = measure(case)
        quantities = (*result.determined, wrench_quantity(case.rig, wrench[0], wrench[1]))
        for kind, ratios in found.items():
            own = [promised[kind, one.name] / one.ratio for one in quantities if one.kind == kind]
            ratios.append(float(np.exp(np.mean(np.log(own)))))
    data = f"simulated, {len(RECORDED)} people, pipeline"
    return [
        Figure(f"promise over found, geometric mean, {kind}", data, max(ratios, key=lambda own: abs(np.log(own))), "",
               Bound(0.7, 1.4, "0.7 to 1.4"), None,
               note="farthest from 1; by person: " + ", ".join(f"{own:.2f}" for own in ratios))
        for kind, ratios in found.items()
    ]  # fmt: skip


def measure_dance(rig: Rig, dance: Dance, found: Evaluation) -> Mapping[str, tuple[float, str, Bound, Bound | None]]:
    """What a dance is like: value, unit, must and aim by name."""
    motion = dance.sample(rig, 50.0)
    speed = np.abs(np.gradient(np.unwrap(joint_coordinates(rig, motion.q), axis=0), 0.02, axis=0))
    groups = {**body_parts(rig)}
    groups["trunk"] = tuple(link for link in groups["trunk"] if link != "head")
    groups["head"] = ("head",)
    owners = [link for (link,) in coordinate_links(rig)]
    moving = np.array([
        speed[:, [k for k, owner in enumerate(owners) if owner in links]].max(axis=1, initial=0.0) > TURNING
        for links in groups.values()
    ]).sum(axis=0)  # fmt: skip
    hands = np.linalg.norm(link_motions(rig, motion).velocity[:, [rig.index(link) for link in hand_links(rig)]], axis=0)
    alone = [
        sum(segment.duration for segment in run)
        for one, run in groupby(dance.segments, lambda segment: len(segment.anchors) == 1)
        if one
    ]
    seen = {segment.name: segment.duration for segment in dance.segments if segment.kind != "hold"}
    images = {dance.segments[place].name for place in dance.postures[1::2]}
    backward = ("put the", "weight onto both", "lift the left")
    distinct = sum(t for name, t in seen.items() if name not in images and not name.startswith(backward))
    return {
        "largest condition number of a link": (float(found.conditions.max()), "", at_most(30.0), at_most(20.0)),
        "speed of the hands": (float(hands.max()), "m/s", at_most(2.0), None),
        "longest time on one foot": (max(alone, default=0.0), "s", at_most(5.0), None),
        "moves rated 5 of 5": (float(sum(move.score == HARDEST for move in found.moves)), "", at_most(0.0), None),
        "material besides mirror images and ways back": (distinct, "s", at_most(20.0), None),
        GROUPS: (float(moving[moving > 0].mean()), "", at_most(4.0), at_most(3.5)),
    }


def inform(rig: Rig, motion: Motion) -> Information:
    """Information of a motion, decimated to about `RATE`."""
    some = slice(None, None, max(1, round(motion.rate / RATE)))
    motion = motion.frames(some)
    rows = wrench_regressor(rig, motion)
    whitening = NOISE.whitening(rig, motion) / np.sqrt(motion.rate)
    owners = [rig.index(link) for (link,) in coordinate_links(rig)]
    pairs = [
        (k, c) for k in range(len(rig.links)) for c, owner in enumerate(owners) if k in (owner, rig.parents[owner])
    ]
    links, coordinates = np.array(pairs).T
    moved = joint_coordinates(rig, motion.q)[:, coordinates] * rig.prior.masses[links] * PER_RADIAN
    columns = np.stack([rows[:, :, 10 * links + 1 + axis] for axis in range(3)], axis=-1) * moved[:, None, :, None]
    own = (whitening @ rows).reshape(-1, rows.shape[2])
    gains = (whitening @ columns.reshape(*rows.shape[:2], -1)).reshape(len(own), -1)
    return Information(own.T @ own, own.T @ gains, gains.T @ gains)


def _perform(rig: Rig, motions: Iterable[Motion], seed: int) -> Information:
    """Information of motions that a person performs with the same faults."""
    performed = (perform_motion(rig, motion, np.random.default_rng((seed, 3))) for motion in motions)
    return Information(*(sum(each) for each in zip(*(astuple(inform(rig, motion)) for motion in performed))))


def _adults(rig: Rig, seed: int) -> np.ndarray:
    """Covariance (10 L, 10 L) of the inertials of adults."""
    generator = np.random.default_rng((seed, 7))
    drawn = np.array([draw_inertials(rig, SOURCES[k % len(SOURCES)], generator).values.ravel() for k in range(ADULTS)])
    away = drawn - rig.prior.values.ravel()
    return away.T @ away / ADULTS


def _unseen_rows(rig: Rig) -> list[np.ndarray]:
    """Rows (6 N, 10 L) of motions on both feet and on one, by axis of the wrench."""
    start = motions.standing_posture(rig, person.CROUCH)
    legs = {side: tuple(f"{side}_{part}" for part in ("thigh", "shank", "foot")) for side in SIDES}
    apart, times = person._foot_distance(rig, start), np.arange(0.0, 12.0, 0.08)
    both = motions.Stance(start, ("right_foot", "left_foot"), legs["right"] + legs["left"])
    alone, swing = (
        motions.Stance(start, ("right_foot",), legs["right"]),
        person._one_leg_amplitudes("right", 0.5 * apart),
    )
    rows = np.concatenate([
        wrench_regressor(rig, motions.simulate_motion(rig, stance, size, times, 4242))
        for stance, size in ((both, person.WHOLE_BODY), (alone, swing))
    ])  # fmt: skip
    return [rows[:, axis] for axis in range(6)]


def _ratios(found: Information, tables: np.ndarray, unseen: list[np.ndarray]) -> tuple[float, float]:
    """Expected errors of first moments and of unseen wrenches, over the tables'."""
    gains = np.eye(len(found.gains)) + found.gains
    own: np.ndarray = found.own - found.mixed @ np.linalg.solve(gains, found.mixed.T)
    after = np.linalg.solve(np.eye(len(tables)) + tables @ own, tables)
    moments = [np.diag(covariance).reshape(-1, 10)[:, FIRST_MOMENT].mean() for covariance in (after, tables)]
    wrench = np.mean([np.sqrt(max((axis * after).sum(), 0.0) / (axis * tables).sum()) for axis in unseen])
    return float(np.sqrt(moments[0] / moments[1])), float(wrench)
