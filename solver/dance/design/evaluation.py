"""Evaluation of a dance: margins of all checks, excitation, and expected standard deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dynamics.coordinates import coordinate_links
from ...feasibility.check_results import Failure
from ...identification.base_parameters import base_parameters
from ...identification.excitation.excitation import INDEPENDENT_RATE, PLATE_NOISE, Excitation
from ...identification.expected import expect_determined
from ...options.checks import VERIFICATION_RATE
from ...options.dances import EXCITATION_RATE
from ...scene.determined import DeterminedQuantity, describe_determined
from ...scene.labels import display_name, join_names
from ...skeleton.rig import ROOT_NV, Rig
from ...storage.json_tree import to_json_values
from .body_parts import body_parts
from .dance import SAME_POSTURE, Dance

LARGEST_CONDITION = 30.0
"""Largest condition number of a link that is determined. Chosen on nine simulated people: those of their default
dances were 12 to 22, of one 54 with the requested phrases; those of dances on both feet alone are infinite."""
FAST_JOINT = 4.0
"""[rad/s] Largest joint speed of a person in bonnet2016."""
HARDEST = 5
WEIGHTS = {"fast": 0.4, "far": 0.3, "on one foot": 0.3}
"""Components of the difficulty, and their weights."""
MOST_PARTS, MOVING_SHARE = 2, 0.75
"""Number of moving parts of the body that are named, and share of the largest joint motion from which they are."""
REASON_THRESHOLD = 0.6
"""Value of a component from which it is named as a reason."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Figures of a dance.

    Attributes:
        margins: where every check comes nearest to its limit, at `VERIFICATION_RATE`.
        failures: as text; none in a feasible dance.
        conditions: (L,) cond of each link's columns of the base regressor.
        total_condition: cond(W_b).
        relative_deviations: (B,) relative standard deviations at `PLATE_NOISE` and `INDEPENDENT_RATE`.
        moves: difficulty of each move.
        expected: what `identify` will determine from a recording.
    """

    margins: tuple[Failure, ...]
    failures: tuple[str, ...]
    conditions: np.ndarray
    total_condition: float
    relative_deviations: np.ndarray
    moves: tuple[Difficulty, ...] = ()
    expected: tuple[DeterminedQuantity, ...] = ()

    def describe_undetermined(self, rig: Rig) -> tuple[str, ...]:
        """Which links the dance does not determine, and what to do, one sentence; empty if it determines all."""
        links = [display_name(link) for link, value in zip(rig.links, self.conditions) if value > LARGEST_CONDITION]
        advice = "request more, on both feet and on either foot (--postures)"
        return (f"the dance does not determine {join_names(links)}: {advice}",) if links else ()

    def as_tree(self, rig: Rig, dance: Dance) -> dict[str, object]:
        """Plain values for a JSON file; infinite ones are None."""
        found: dict[str, object] = to_json_values({
            "rig": rig.provenance,
            "complete": dance.complete and not self.describe_undetermined(rig),
            "seed": dance.seed,
            "duration": dance.duration,
            "postures": len(dance.postures),
            "segments": [
                {"name": s.name, "kind": s.kind, "start": float(start), "duration": s.duration,
                 "loaded": [anchor.patch for anchor in s.anchors]}
                for s, start in zip(dance.segments, dance.starts)
            ],
            "static_criterion": dance.criterion,
            "trace": [
                {"segment": s.segment, "configuration": s.configuration, "criterion": s.criterion,
                 "straight": s.straight_criterion, "kind": s.kind}
                for s in dance.trace
            ],
            "margins": [
                {"check": m.check.name, "unit": m.check.unit, "worst": m.margin, "item": m.item, "time": m.time}
                for m in self.margins
            ],
            "conditions": dict(zip(rig.links, self.conditions)),
            "total_condition": self.total_condition,
            "base_parameters": len(self.relative_deviations),
            "moves": [
                {"segment": m.segment, "difficulty": m.score, "because": m.reasons} for m in self.moves
            ],
            "expected": [
                {"kind": one.kind, "name": one.name, "source": one.source, "half_width": one.half_width,
                 "prior_half_width": one.prior_half_width, "interval_over_prior": one.ratio}
                for one in self.expected
            ],
            "notes": dance.notes,
            "left_out": dance.left_out,
            "seconds": dance.seconds,
        })  # fmt: skip
        return found


def evaluate_dance(rig: Rig, dance: Dance) -> Evaluation:
    """Verify a dance at `VERIFICATION_RATE`, and evaluate its excitation."""
    worst: dict[str, Failure] = {}
    failures: list[str] = []
    for checks in dance.check(rig, VERIFICATION_RATE):
        failures += [str(failure) for failure in checks.first_failures]
        for margin in checks.margins:
            frame = int(np.argmin(margin.smallest))
            if margin.name not in worst or margin.smallest[frame] < worst[margin.name].margin:
                worst[margin.name] = margin.worst(frame, float(checks.times[frame]))
    if (apart := dance.largest_discontinuity()) > SAME_POSTURE:
        failures.append(f"the segments have a discontinuity of {apart:.2g}")
    structure = base_parameters(rig)
    motion = dance.sample(rig, EXCITATION_RATE)
    found = Excitation.before_motion(structure, PLATE_NOISE).with_motion(rig, motion)
    relative = found.relative_deviations(rig.prior) * np.sqrt(EXCITATION_RATE / INDEPENDENT_RATE)
    return Evaluation(
        tuple(worst.values()),
        tuple(failures),
        found.link_conditions(),
        found.total_condition,
        relative,
        rate_moves(dance),
        expect_determined(rig, [motion]),
    )


def format_report(rig: Rig, dance: Dance, found: Evaluation) -> str:
    """The report, plain text."""
    kinds = {kind: sum(s.kind == kind for s in dance.segments) for kind in ("exciting", "straight", "step")}
    replaced = [f"  {s.segment}: {dance.segments[s.segment].name}" for s in dance.trace if s.kind != "exciting"]
    lines = [
        *(
            []
            if dance.complete
            else ["PARTIAL: the design was cancelled, or something requested is missing; see the notes"]
        ),
        *(f"NOT DETERMINED: {text}" for text in found.describe_undetermined(rig)),
        f"Dance of {rig.name}: {len(dance.postures)} postures, {dance.duration:.1f} s, seed {dance.seed}",
        f"{kinds['exciting']} exciting moves, {kinds['straight']} plain ones, {kinds['step']} steps",
        "",
        f"Worst margins at {VERIFICATION_RATE:g} Hz (negative beyond the tolerance: violated)",
        *(
            f"  {m.check.name:16s} {m.margin:+12.5g} {m.check.unit:14s} at {m.time:8.3f} s  {display_name(m.item)}"
            for m in found.margins
            if np.isfinite(m.margin)
        ),
        "",
        "Criterion of the design after each move that was searched for, and with the plain path instead",
        *(
            f"  {k + 1:3d}  {dance.starts[s.segment]:8.2f} s  {s.configuration:14s} "
            f"{s.criterion:12.4g} {s.straight_criterion:12.4g}  {s.kind}"
            for k, s in enumerate(dance.trace)
        ),
        "",
        *([f"Static criterion of the postures (14): {dance.criterion:.4g}"] if np.isfinite(dance.criterion) else []),
        f"cond(W_b) {found.total_condition:.4g}",
        "",
        "What identify will determine from a recording, 95 % intervals",
        *(f"  {text}" for text in describe_determined(found.expected, "the prior")),
        "",
        "Condition number by link",
        *(f"  {display_name(link):20s} {value:12.4g}" for link, value in zip(rig.links, found.conditions)),
        "",
        "Moves and their difficulty",
        *(f"  {dance.starts[m.segment]:8.2f} s  {m}  {dance.segments[m.segment].name}" for m in found.moves),
        "",
        "Moves replaced by the plain path:",
        *(replaced or ["  none"]),
        "",
        "Notes:",
        *(f"  {note}" for note in dance.notes or ("none",)),
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Difficulty of one move.

    Attributes:
        segment: index in the dance.
        score: from 1 to `HARDEST`.
        reasons: what makes it difficult.
        moving: parts of the body that move most, the one with the largest joint motion first.
    """

    segment: int
    score: int
    reasons: tuple[str, ...]
    moving: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.score} of {HARDEST}{' ' * bool(self.reasons)}{', '.join(self.reasons)}"


def rate_moves(dance: Dance) -> tuple[Difficulty, ...]:
    """Rate every move except steps and holds by joint speed, distance from the middle of joint ranges, and support."""
    legged = dance.legged_rig(dance.rig)
    joints = slice(ROOT_NV, dance.rig.nv)
    with np.errstate(invalid="ignore"):  # a joint without limits has no middle and does not count
        middle = 0.5 * (legged.lower[joints] + legged.upper[joints])
    half = 0.5 * (legged.upper[joints] - legged.lower[joints])
    links = coordinate_links(dance.rig)
    parts_of_body = {
        name: [ROOT_NV + k for k, (link,) in enumerate(links) if link in members]
        for name, members in body_parts(dance.rig).items()
    }
    brisk = np.minimum(legged.speed[joints], FAST_JOINT)
    result = []
    for number, segment in enumerate(dance.segments):
        if segment.kind not in ("exciting", "straight"):
            continue
        y, curves, _ = segment.evaluate(legged, segment.spline_space.samples(EXCITATION_RATE))
        with np.errstate(invalid="ignore"):
            far = np.nan_to_num(np.abs(y[:, joints] - middle) / half).max()
        parts = {
            "fast": (np.abs(curves.v[:, joints]) / brisk).max(),
            "far": far,
            "on one foot": float(len(segment.anchors) == 1),
        }
        share = sum(WEIGHTS[name] * min(float(part), 1.0) for name, part in parts.items())
        reasons = tuple(name for name, part in parts.items() if part >= REASON_THRESHOLD)
        ranges = {name: np.ptp(y[:, own], axis=0).max(initial=0.0) for name, own in parts_of_body.items()}
        most = sorted(ranges, key=lambda name: -ranges[name])[:MOST_PARTS]
        moving = tuple(name for name in most if ranges[name] >= MOVING_SHARE * ranges[most[0]])
        result.append(Difficulty(number, 1 + round((HARDEST - 1) * share), reasons, moving))
    return tuple(result)
