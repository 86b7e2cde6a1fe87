"""Whether forces and motion belong together, and if not, why: the file as it is against its likely causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import frozen, frozen_times
from ...dynamics.kinematics import PIECE, motion_pieces
from ...motion import Motion
from ...plate_options import BELONGING
from ...rig import Rig
from ...signals.window_rules import GRAVITY
from ...wrenches import Wrenches
from .finding import UNKNOWN_INTERVAL, Done, Finding, interval_of
from .misfit import Misfit, Verdict, judged, judged_apart
from .rivals import Pushes, rivals_of

NEAREST, FARTHEST, STEP = 0.1, 2.0, 0.05
"""[s] Clocks that differ by more than the lag of plates, as far as they are tried, and how finely."""
OVERLAP = 0.5
"""Share of the trial that must still have forces when the clock is moved."""
MOVES = 0.02
"""Share of the weight that the force must change for the clock to be read off it."""
LOADED, EXCESS = 0.2, 0.3
"""Shares of the weight: a trial's plates carry the body, and push it by so much more than its motion allows."""
BESIDE = 0.1
"""[m] A centre of pressure farther from both feet than this is not under them: markers and soles miss by half of it."""
OFTEN = 0.3
"""Share of the loaded time in which the impossible must be seen: hard landings and a lost marker make less."""
ELSEWHERE = "somewhat beside their place"
"""A cause that does not make forces foreign: the place of plates is judged later, and corrected."""
FOLLOWS = 0.5
"""Share of the loaded time in which forces must fit the motion to be called its own."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Forces and motion that are said to belong together.

    Attributes:
        name: of the trial.
        times: (N,) [s].
        predicted: (N, 6) wrench that the motion needs by the prior, about the root link's origin, world axes [N, N m].
        root: (N, 3) [m] that origin.
        feet: (N, P, V, 3) [m] corners of the soles; no P without soles.
        wrenches: N samples; NaN where missing.
    """

    name: str
    times: np.ndarray
    predicted: np.ndarray
    root: np.ndarray
    feet: np.ndarray
    wrenches: Wrenches

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_times(self.times))
        count = len(self.times)
        for name, shape in (("predicted", (count, 6)), ("root", (count, 3)), ("feet", (count, None, None, 3))):
            object.__setattr__(self, name, frozen(name, getattr(self, name), shape))

    @property
    def measured(self) -> np.ndarray:
        """Total (N, 6), NaN in what was not measured."""
        return np.where(np.asarray(self.wrenches.measured), self.wrenches.total, np.nan)


def pair(rig: Rig, motion: Motion, wrenches: Wrenches, predicted: np.ndarray, name: str) -> Pair:
    """A trial's forces beside its motion; see the attributes."""
    most = max((len(patch.vertices) for patch in rig.contacts), default=0)
    feet = np.zeros((len(motion), len(rig.contacts), most, 3))
    for start, links in motion_pieces(rig, motion, PIECE):
        for place, patch in enumerate(rig.contacts):
            index = rig.index(patch.link)
            corners = np.resize(patch.vertices, (most, 3))  # repeated corners change no box around them
            turns, origin = links.rotation[:, :, index].transpose(2, 1, 0), links.position[:, index].T
            feet[start : start + PIECE, place] = corners @ turns + origin[:, None]
    return Pair(name, motion.times, predicted, motion.q[:, :3], feet, wrenches)


def belonging_findings(pairs: Sequence[Pair], mass: float, overruled: bool) -> list[Finding]:
    """What does not belong together, by trial, with the likeliest cause.

    Args:
        pairs: trials with motion and forces.
        mass: [kg] of the body, roughly.
        overruled: nothing is to be left out.
    """
    done = Done.OVERRULED if overruled else Done.LEFT_OUT
    found = []
    for item in pairs:
        others = {other.name: other.wrenches for other in pairs if other is not item}
        cause = likeliest(item, others, mass)
        if cause is not None:
            text, verdict = cause
            said = f"{text}; what is then left unexplained is {verdict.share:.2f} of what is left as it is"
            interval = interval_of(verdict.share, verdict.std)
            found.append(Finding(BELONGING, (item.name,), verdict.share, interval, "", done, said))
            continue
        share, text = impossible(item, mass)
        if share > OFTEN:
            said = f"{text} (in {100.0 * share:.0f} % of the loaded time)"
            found.append(Finding(BELONGING, (item.name,), share, UNKNOWN_INTERVAL, "", done, said))
    return found


def likeliest(item: Pair, others: Mapping[str, Wrenches], mass: float) -> tuple[str, Verdict] | None:
    """The cause, in words, that explains a trial's forces best, if any does beyond doubt."""
    as_it_is = _misfit(item, item.measured, mass)
    pushes = Pushes.of(item.wrenches)
    candidates: list[tuple[str, Verdict]] = []
    for rival in rivals_of(item.wrenches.frames):
        believed = np.where(np.isfinite(item.measured), rival.believed(pushes).total(), np.nan)
        verdict = judged(item.times, as_it_is, _misfit(item, believed, mass))
        candidates.append((f"{rival.cause}; {rival.remedy}", verdict))
    shift = _displacement(item)
    moved = item.measured
    moved[:, 3:] += np.cross(shift, moved[:, :3])
    verdict = judged(item.times, as_it_is, _misfit(item, moved, mass))
    distance = float(np.linalg.norm(shift))
    candidates.append((ELSEWHERE if distance < BESIDE else _elsewhere(distance), verdict))
    if np.std(item.predicted[:, :3], axis=0).max() > MOVES * mass * GRAVITY:
        for seconds, moved in _other_clocks(item):
            verdict = judged_apart(item.times, as_it_is, _misfit(item, moved, mass))
            candidates.append((_late(seconds), verdict))
        for name, wrenches in others.items():
            text = f"the forces are another trial's (those of {name} fit better); name the right file"
            candidates.append((text, judged(item.times, as_it_is, _misfit(item, _at(item, wrenches), mass))))
    sure = [candidate for candidate in candidates if candidate[1].certain]
    best = max(sure, key=lambda candidate: candidate[1].gain, default=None)
    return None if best is None or best[0] == ELSEWHERE else best


def impossible(item: Pair, mass: float) -> tuple[float, str]:
    """Share of the loaded time in which the forces cannot be the motion's, and why they may not."""
    weight, measured = mass * GRAVITY, item.measured
    vertical = np.nan_to_num(measured[:, 2])
    loaded = vertical > LOADED * weight
    if not loaded.any():
        return 0.0, ""
    # Support that nobody measured pushes too: it can explain what plates miss, never what they have too much.
    excess = float((vertical[loaded] - item.predicted[loaded, 2] > EXCESS * weight).mean())
    beside = float(_beside(item, weight)[loaded].mean())
    if excess > OFTEN or beside <= OFTEN:
        foreign = "the forces are another recording's, or on another clock"
        return excess, f"the plates push harder than the motion allows: {foreign}"
    follows = float(_misfit(item, measured, mass).explains[loaded].mean())
    place = "the places of plates are exchanged, or they are not in the markers' axes"
    if follows > FOLLOWS:
        return beside, f"the forces follow the motion, but act beside both feet: {place}"
    return beside, "the forces act beside both feet and do not follow the motion: they are another recording's"


def _beside(item: Pair, weight: float) -> np.ndarray:
    """(N,) True where a loaded plate's centre of pressure is under neither foot."""
    found = np.zeros(len(item.times), bool)
    if not item.feet.shape[1] or not np.asarray(item.wrenches.measured).all(axis=0)[3:5].all():
        return found
    low, high = item.feet[..., :2].min(axis=2), item.feet[..., :2].max(axis=2)
    points = item.wrenches.centres_of_pressure()[:, :, None, :2]
    outside = np.maximum(np.maximum(low[:, None] - points, points - high[:, None]), 0.0)
    distance = np.linalg.norm(outside, axis=3).min(axis=2)
    carries = item.wrenches.values[:, :, 2] > LOADED * weight
    return np.asarray((carries & (np.nan_to_num(distance) > BESIDE)).any(axis=1))


def _misfit(item: Pair, measured: np.ndarray, mass: float) -> Misfit:
    return Misfit.of(item.predicted, measured, item.root, mass)


def _other_clocks(item: Pair) -> list[tuple[float, np.ndarray]]:
    """Measured wrenches (N, 6) on clocks that differ from the file's by so many seconds, later positive."""
    measured, count = item.measured, len(item.times)
    rate = (count - 1) / (item.times[-1] - item.times[0])
    found = []
    for seconds in np.arange(-FARTHEST, FARTHEST + STEP, STEP):
        steps = round(abs(seconds) * rate)
        if abs(seconds) < NEAREST or steps >= count:
            continue
        moved = np.full_like(measured, np.nan)
        if seconds > 0.0:
            moved[: count - steps] = measured[steps:]
        else:
            moved[steps:] = measured[: count - steps]
        if np.isfinite(moved[:, :3]).all(axis=1).mean() > OVERLAP:
            found.append((float(seconds), moved))
    return found


def _at(item: Pair, wrenches: Wrenches) -> np.ndarray:
    """Another trial's total (N, 6) frame by frame, NaN where it is over."""
    other = np.where(np.asarray(wrenches.measured), wrenches.total, np.nan)
    taken = np.full((len(item.times), 6), np.nan)
    count = min(len(taken), len(other))
    taken[:count] = other[:count]
    return taken


def _displacement(item: Pair) -> np.ndarray:
    """Shift (3,) [m] of all plates that explains the level moments best; see `place`."""
    measured = item.measured
    known = np.isfinite(measured).all(axis=1)
    if not known.any():
        return np.zeros(3)
    force = measured[known, :3]
    missing = item.predicted[known, 3:] - (measured[known, 3:] - np.cross(item.root[known], force))
    square = float(force[:, 2] @ force[:, 2])
    return np.array([-missing[:, 1] @ force[:, 2], missing[:, 0] @ force[:, 2], 0.0]) / max(square, 1.0)


def _elsewhere(distance: float) -> str:
    return f"the plates stand {100.0 * distance:.0f} cm from where they are said to; give them the markers' origin"


def _late(seconds: float) -> str:
    word = "late" if seconds > 0.0 else "early"
    return f"the forces come {abs(seconds):.2f} s too {word}; export both with one clock"
