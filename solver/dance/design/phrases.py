"""A dance of phrases: loops from home by a posture and back, each danced once more in the mirror, with rests.

Phrases are chosen one after another by the expected gain a second, in the criterion of the search, and each is then
searched for with the information of all earlier ones. Steps from foot to foot are searched for as well: the arms dance
in them. With head and chest too, 4.4 instead of 3.5 limb groups of a person move at once, and the required wrench of
other motions is 4 % better.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from ...base.errors import Cancelled
from ...base.progress import Progress, silent
from ...base.termination import interruptible
from ...dynamics.coordinates import Curves, coordinate_links
from ...identification.excitation.excitation import PLATE_NOISE, Excitation
from ...identification.excitation.expected_deviations import DESIGN_RATE
from ...options.dances import EXCITATION_RATE, ONE_FOOT_PHRASE, PHRASE
from ...scene.dance_counts import PICK_UP_COUNTS
from ...scene.labels import display_name
from ...skeleton.rig import ROOT_NV
from ...trajectory.legged_rig import LeggedRig
from ...trajectory.segment import DanceSegment, hold_posture
from ...trajectory.transition_problem import to_motion
from ...values.person import SIDES
from .body_parts import body_parts
from .dance import Dance, TraceEntry
from .evaluation import LARGEST_CONDITION
from .mirror import MIRRORED_SIDE
from .objective import sigma_objective
from .phrase_names import PhraseNames
from .plan import CONFIGURATION_ORDER, DesignTask, StancePlan

CANDIDATE_RATE = 10.0
"""[1/s] Samples of a phrase that is not searched for yet."""
MOST_ADDED = 2
"""Most phrases on one foot that are added to those requested, to determine every link. Chosen on nine
simulated people, of whom one needed one."""
DANCED_STEPS = (("both", "over left", 2), ("over left", "left", 2), ("over left", "over right", 1))
"""Steps in which the arms dance, and how often each is danced with a phrase on one foot, besides its mirror image."""
LONGEST_MATERIAL = 20.0
"""[s] Most that a person has to learn, without mirror images and ways back, for phrases that are added. Chosen as two
phrases on both feet, two on one foot, and the steps to it, at the slowest count: 19.2 s."""
LEAST_REST = 1
"""Counts of the shortest rest after a phrase and its image; rests end with a phrase of eight."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A posture by which a phrase may go.

    Attributes:
        configuration: of the feet.
        posture: (D,) flat coordinates.
        pose: index of its named pose.
        information: (1, B, B) of the plain phrase.
    """

    configuration: str
    posture: np.ndarray
    pose: int
    information: np.ndarray


@dataclass(frozen=True, slots=True)
class MirroredPhrase:
    """A phrase, and its mirror image if it is danced too.

    Attributes:
        phrase, image: segments.
        pose: index of the named pose.
        entry: of the trace.
        information: (1, B, B) of both.
    """

    phrase: DanceSegment
    image: DanceSegment | None
    pose: int
    entry: TraceEntry
    information: np.ndarray

    @property
    def configuration(self) -> str:
        """Of the feet."""
        return self.entry.configuration

    @property
    def parts(self) -> list[tuple[str, DanceSegment]]:
        """What is danced, each with the configuration of the feet."""
        own = self.configuration
        images = [] if self.image is None else [(MIRRORED_SIDE.get(own, own), self.image)]
        return [(own, self.phrase), *images]


class PhraseDesign:
    """The search for the phrases of a dance.

    Args:
        task, plan: what to design, with the stances and postures to choose from.
    """

    def __init__(self, task: DesignTask, plan: StancePlan) -> None:
        self._task, self._plan, self._planner = task, plan, task.planner
        self._options, self._count = task.options, task.options.count_duration
        self._objective = sigma_objective(task.rig, task.structure, task.images)
        self._known = self._objective.prior_matrices
        self._remaining = {name: task.options.postures[name] for name in plan.stances}
        self._names = PhraseNames(task.planner.legged)
        self._candidates: list[Candidate] = []
        self._gains = self._fresh = np.zeros(0)
        self._figures: list[MirroredPhrase] = []
        self._notes: list[str] = []
        self._missing: list[str] = []

    def run(self, progress: Progress) -> Dance:
        """The dance; what is finished if ``progress`` cancels after a phrase.

        Where a link is not determined, further phrases on one foot are added, in which a foot leaves the floor; where a
        person would have too much to learn, each replaces the last one on both feet.
        """
        requested = sum(self._remaining.values())
        try:
            with interruptible():
                self._find_candidates()
                self._add_figures(progress, requested)
        except (Cancelled, KeyboardInterrupt):
            if not self._figures:
                raise
            self._missing.append("cancelled: the dance holds what was done until then")
        left = sum(self._remaining.values())
        if left and not self._missing:
            self._missing.append(f"phrases that are left out, because no other posture gives a feasible one: {left}")
        self._excite_steps()
        dance = self._assemble(left)
        for _ in range(MOST_ADDED):
            conditions = self._link_conditions(dance)
            if left or "left" not in self._plan.stances or not (conditions > LARGEST_CONDITION).any():
                break
            worst = display_name(self._task.rig.links[int(np.nanargmax(conditions))])
            done = "replaces one on both feet" if self._make_room() else "is added"
            self._notes.append(f"a phrase on one foot {done}, because the requested ones do not determine {worst}")
            self._remaining["left"] = 1
            self._add_figures(silent, requested)
            left = self._remaining["left"]
            dance = self._assemble(left)
        return dance

    def _make_room(self) -> bool:
        """Remove the last phrase on both feet if a person would have too much to learn; whether one was removed."""
        both = [figure for figure in self._figures if figure.configuration == "both"]
        if self._task.mirror is None or not self._task.rig.is_person or len(both) < 2:
            return False
        steps = [self._plan.step_planner.plan_step(here, there) for here, there, _ in DANCED_STEPS]
        learned = sum(part.duration for part in (*steps, *(figure.phrase for figure in self._figures)))
        full = learned + self._duration("left") > LONGEST_MATERIAL
        if full:
            self._known = self._known - both[-1].information
            self._figures = [figure for figure in self._figures if figure is not both[-1]]
        return full

    def _link_conditions(self, dance: Dance) -> np.ndarray:
        motion = dance.sample(dance.rig, EXCITATION_RATE)
        return (
            Excitation.before_motion(self._task.structure, PLATE_NOISE).with_motion(dance.rig, motion).link_conditions()
        )

    def _add_figures(self, progress: Progress, requested: int) -> None:
        """Search for phrases until none remains, or no candidate is left."""
        while any(self._remaining.values()):
            if self._figures and self._task.is_late:
                self._missing.append(self._task.describe_late(sum(self._remaining.values())))
                break
            place = self._choose()
            if place < 0:
                break
            self._gains[place] = -np.inf
            self._add_figure(self._candidates[place])
            done = len(self._figures)
            progress(0.15 + 0.8 * min(done / requested, 1.0), f"phrases: {done} of {requested}")

    def _duration(self, configuration: str) -> float:
        """[s] of a phrase."""
        alone = len(self._plan.stances[configuration].footing.anchors) == 1
        return (ONE_FOOT_PHRASE if alone else PHRASE) * self._count

    def _find_candidates(self) -> None:
        """Find the information of the plain phrases by all postures."""
        rig, legged = self._task.rig, self._planner.legged
        for name, pool in self._plan.pools.items():
            stance, duration = self._plan.stances[name], self._duration(name)
            spline, shape = self._planner.loop_shape(duration)
            basis = spline.basis(np.arange(0.0, duration, 1.0 / CANDIDATE_RATE))
            ways = [self._planner.loop_reach(stance.entry, y, duration) * (y - stance.entry) for y in pool.y]
            rates = [
                np.einsum("kd,f->kfd", ways, part @ shape)
                for part in (basis.position, basis.velocity, basis.acceleration)
            ]
            y, dy, ddy = (part.reshape(-1, legged.size) for part in (stance.entry + rates[0], rates[1], rates[2]))
            curves, good = legged.solve_motion(y, dy, ddy, stance.footing.solved)[1:]
            reached = good.reshape(len(ways), -1).all(axis=1)
            kept = np.repeat(reached, len(basis.times))
            motion = to_motion(Curves(curves.q[kept], curves.v[kept], curves.a[kept]))
            found = self._objective.motion_matrices(rig, motion, int(reached.sum())) * (DESIGN_RATE / CANDIDATE_RATE)
            self._candidates += [
                Candidate(name, pool.y[k], int(pool.pose_indices[k]), own)
                for k, own in zip(np.flatnonzero(reached), found)
            ]
        self._gains, self._fresh = np.full(len(self._candidates), np.inf), np.full(len(self._candidates), -1)

    def _choose(self) -> int:
        """Index of the candidate with the largest gain a second; -1: none is left.

        Gains fall as more is known, so a gain of an earlier round is an upper bound: only those are computed again
        that could be the largest. Named poses are used in turn.
        """
        used = Counter(
            {(c.configuration, c.pose): 0 for c, gain in zip(self._candidates, self._gains) if np.isfinite(gain)}
        )
        used.update((figure.configuration, figure.pose) for figure in self._figures)
        least = {
            name: min((count for (own, _), count in used.items() if own == name), default=0) for name in self._remaining
        }
        allowed = np.array([
            bool(self._remaining[c.configuration])
            and (not self._options.poses or used[c.configuration, c.pose] == least[c.configuration])
            for c in self._candidates
        ], bool)  # fmt: skip
        before = np.log(self._objective.deviations(self._known)).mean()
        while True:
            bounded = np.where(allowed, self._gains, -np.inf)
            place = int(np.argmax(bounded)) if len(bounded) else -1
            if place < 0 or bounded[place] == -np.inf:
                return -1
            if self._fresh[place] == len(self._figures):
                return place
            own = self._candidates[place]
            after = np.log(self._objective.deviations(self._known + own.information)).mean()
            self._gains[place], self._fresh[place] = (
                (before - after) / self._duration(own.configuration),
                len(self._figures),
            )

    def _add_figure(self, candidate: Candidate) -> None:
        """Search for the phrase by a posture; nothing is added if neither it nor its image is feasible."""
        name, planner = candidate.configuration, self._planner
        stance = self._plan.stances[name]
        plain = planner.plan_loop("phrase", stance.entry, candidate.posture, self._duration(name), stance.footing)
        if plain is None:
            return
        columns = free_columns(planner.legged, name)
        found = planner.plan_exciting(plain, stance.footing, self._objective, self._known, columns)
        if found.segment is plain and planner.check_segment(plain)[1] < 0.0:
            return
        title = self._options.poses[candidate.pose].name if self._options.poses else ""
        phrase, image = replace(found.segment, name=self._names.find(found.segment, title)), None
        if self._task.mirror is not None and name != "right_forward":
            footing = planner.legged.get_footing(MIRRORED_SIDE[name])
            entry = self._plan.step_planner.standing_posture(MIRRORED_SIDE[name])
            image = self._task.mirror.mirror_segment(phrase, footing, entry, entry)
            if planner.check_segment(image)[1] < 0.0:
                return
            if image.name == phrase.name:
                image = replace(image, name=f"{phrase.name}, mirrored")
        self._known = self._known + found.matrices
        self._remaining[name] -= 1
        trace = TraceEntry(0, name, found.criterion, found.straight_criterion, phrase.kind)
        self._figures.append(MirroredPhrase(phrase, image, candidate.pose, trace, found.matrices))
        self._notes += found.notes

    def _excite_steps(self) -> None:
        """Let the arms dance in the steps to one foot; each is danced forth and back, on both sides."""
        often = sum(figure.configuration == "left" for figure in self._figures)
        if self._task.mirror is None or not often:
            return
        planner, steps = self._planner, self._plan.step_planner
        columns = np.concatenate([root_columns(planner.legged), arm_columns(planner.legged)])
        for here, there, ways in DANCED_STEPS:
            plain, footing = steps.plan_step(here, there), steps.footing(here, there)
            found = planner.plan_exciting(plain, footing, self._objective, self._known, columns)
            if steps.replace_step(here, there, found.segment):
                self._known = self._known + ways * often * found.matrices

    def _assemble(self, left: int) -> Dance:
        """Join the phrases by steps, with a pick-up before the first and a rest after each pair."""
        options, steps = self._options, self._plan.step_planner
        both, home = steps.both, steps.home
        segments = [hold_posture("home", home, PICK_UP_COUNTS * self._count, both.solved, both.anchors)]
        postures, trace, poses, counts = [], [], [], 0
        for block in self._order():
            before, here = len(segments), "both"
            moves = [(figure, *part) for figure in block for part in figure.parts]
            for there in dict.fromkeys(name for _, name, _ in moves):
                for figure, name, part in moves:
                    if name != there:
                        continue
                    segments += steps.plan_steps(here, there)
                    here = there
                    postures.append(len(segments))
                    poses.append(figure.pose)
                    if part is figure.phrase:
                        trace.append(replace(figure.entry, segment=len(segments)))
                    segments.append(part)
            segments += steps.plan_steps(here, "both")
            counts += round(sum(segment.duration for segment in segments[before:]) / self._count)
            if self._task.rig.is_person:
                rest = LEAST_REST + (-counts - LEAST_REST) % PHRASE
                segments.append(hold_posture("rest", home, rest * self._count, both.solved, both.anchors))
                counts += rest
        missing = tuple(dict.fromkeys([*self._plan.missing, *self._missing]))
        notes = [*self._plan.notes, *self._notes, *self._missing, *steps.notes]
        return Dance(
            self._task.rig, tuple(segments), options.kept_checks, options.step, tuple(postures), tuple(trace), np.nan,
            options.seed, not (left or missing), tuple(dict.fromkeys(notes)), left,
            tuple(options.poses[k].name for k in poses if options.poses), missing, self._count,
        )  # fmt: skip

    def _order(self) -> list[list[MirroredPhrase]]:
        """Figures that are danced without a rest: a person's on both feet and on one in turn, a robot's by stance.

        A person's turns lift either foot again and again: one that stands for minutes slides a little in each weight
        shift, in MuJoCo by 7 mm in 36 of them.
        """
        groups: dict[str, list[MirroredPhrase]] = {}
        for figure in self._figures:
            groups.setdefault(figure.configuration, []).append(figure)
        if not self._task.rig.is_person:
            return list(groups.values())
        turns = zip_longest(*(groups[name] for name in CONFIGURATION_ORDER if name in groups))
        return [[figure] for turn in turns for figure in turn if figure is not None]


def free_columns(legged: LeggedRig, configuration: str) -> np.ndarray:
    """Columns of y that may excite without Table I: the root's height and rotation, and all except loaded legs."""
    loaded = (configuration,) if configuration in legged.leg_columns else tuple(legged.leg_columns)
    legs = [columns for side, columns in legged.swing_leg_columns.items() if side not in loaded]
    return np.concatenate([root_columns(legged), legged.trunk, *legs])


def arm_columns(legged: LeggedRig) -> np.ndarray:
    """Columns of the joints of the arms."""
    parts = body_parts(legged.rig)
    arms = {link for side in SIDES for link in parts.get(f"{side}_arm", ())}
    own = [ROOT_NV + k for k, (link,) in enumerate(coordinate_links(legged.rig)) if link in arms]
    return np.intersect1d(legged.trunk, own)


def root_columns(legged: LeggedRig) -> np.ndarray:
    """Columns of the root's height and rotation that may move."""
    return 2 + np.flatnonzero(legged.root_free[2:])
