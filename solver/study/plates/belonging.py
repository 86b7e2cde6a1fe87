"""Whether forces and motion belong together, and if not, why: the file as it is against its likely causes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...plate_options import BELONGING
from ...signals.pooled import LEAST_BLOCKS
from ...wrenches import Wrenches
from .finding import UNKNOWN_INTERVAL, Done, Finding, interval_of
from .impossible import BESIDE, FOREIGN, OFTEN, excess, impossible
from .misfit import CERTAIN_APART, Misfit, Verdict, judged, judged_apart
from .pair import Pair, carrying, change, mean_misfit, misfit_of
from .rivals import Pushes, rivals_of
from .turned import turns_of

NEAREST, FARTHEST, STEP = 0.1, 2.0, 0.05
"""[s] Clocks that differ by more than the lag of plates, as far as they are tried, and how finely."""
OVERLAP = 0.5
"""Share of the trial that must still have forces when the clock is moved."""
MOVES = 0.02
"""Share of the weight that forces must change for their clock, or whose they are, to be read off them."""
ELSEWHERE = "somewhat beside their place"
"""A cause that does not make forces foreign: the place of plates is judged later, and corrected."""
STIRS = 0.08
"""Share of the weight that one side must change for the other to stand still beside it: tracked standing has noise."""
CARRIES = 0.8
"""Share of what the motion needs that plates must push, of those loaded, before nothing unmeasured can excuse them."""
BY_CHANCE = 0.05
"""Share of other clocks on which forces fit better: their own motion no other clock fits as well as the right one."""


@dataclass(frozen=True, slots=True)
class OtherClock:
    """A trial's forces on another clock than the file's.

    Attributes:
        seconds: by which they come late.
        verdict: on them against the file as it is.
        misfit: mean square, of the weight.
    """

    seconds: float
    verdict: Verdict
    misfit: float

    @staticmethod
    def of(item: Pair, as_it_is: Misfit, seconds: float, moved: np.ndarray, mass: float) -> OtherClock:
        """Of wrenches (N, 6) moved by so much."""
        found = misfit_of(item, moved, mass)
        return OtherClock(seconds, judged_apart(item.times, as_it_is, found), float(np.nanmean(found.square)))


def belonging_findings(pairs: Sequence[Pair], mass: float, overruled: bool) -> list[Finding]:
    """What does not belong together, by trial, with the likeliest cause.

    Args:
        pairs: trials with motion and forces.
        mass: [kg] of the body, roughly.
        overruled: nothing is to be left out.
    """
    done = Done.OVERRULED if overruled else Done.LEFT_OUT
    found, turns = [], turns_of(pairs, mass)
    for item in pairs:
        others = {other.name: other.wrenches for other in pairs if other is not item}
        if not carrying(item.measured, mass).any() and carrying(item.predicted, mass).mean() > OFTEN:
            text = "the plates carry nothing at any time: they were never stepped on, or the forces are another time's"
            found.append(Finding(BELONGING, (item.name,), 0.0, UNKNOWN_INTERVAL, "", Done.TOLD, text))
            continue
        as_it_is = misfit_of(item, item.measured, mass)
        clocks = [OtherClock.of(item, as_it_is, seconds, moved, mass) for seconds, moved in _other_clocks(item)]
        cause = likeliest(item, others, clocks, mass)
        turn = turns.get(item.name)
        if turn is not None and (cause is None or turn.verdict.share < cause[1].share):
            cause = turn.text, turn.verdict
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
            continue
        share, text = unrelated(item, clocks, mass)
        if share > BY_CHANCE:
            said = f"{text}: {FOREIGN}"
            found.append(Finding(BELONGING, (item.name,), share, UNKNOWN_INTERVAL, "", done, said))
    return found


def likeliest(
    item: Pair, others: Mapping[str, Wrenches], clocks: Sequence[OtherClock], mass: float
) -> tuple[str, Verdict] | None:
    """The cause, in words, that explains a trial's forces best, if any does beyond doubt.

    Args:
        item: the trial.
        others: forces of the other trials, by name.
        clocks: the trial's forces were they late.
        mass: [kg] of the body, roughly.
    """
    as_it_is = misfit_of(item, item.measured, mass)
    # Where a belief leaves forces impossible, that it does less badly than the file tells nothing.
    candidates = [
        (text, judged(item.times, as_it_is, misfit_of(item, believed, mass)))
        for text, believed in _beliefs(item, others, mass)
        if excess(item, believed, mass) <= OFTEN
    ]
    if change(item.predicted, mass) > MOVES:
        candidates[:0] = [(_late(clock.seconds), clock.verdict) for clock in clocks]
    sure = [candidate for candidate in candidates if candidate[1].certain]
    best = max(sure, key=lambda candidate: candidate[1].gain, default=None)
    return None if best is None or best[0] == ELSEWHERE else best


def _beliefs(item: Pair, others: Mapping[str, Wrenches], mass: float) -> Iterator[tuple[str, np.ndarray]]:
    """Causes in words, and the total wrenches (N, 6) that they make of a trial's, one after the other."""
    pushes = Pushes.of(item.wrenches)
    for rival in rivals_of(item.wrenches.frames):
        believed = np.where(np.isfinite(item.measured), rival.believed(pushes).total(), np.nan)
        yield f"{rival.cause}; {rival.remedy}", believed
    shift = _displacement(item)
    moved = item.measured
    moved[:, 3:] += np.cross(shift, moved[:, :3])
    distance = float(np.linalg.norm(shift))
    yield ELSEWHERE if distance < BESIDE else _elsewhere(distance), moved
    if change(item.predicted, mass) > MOVES:
        for name, wrenches in others.items():
            if change(wrenches.total, mass) > MOVES:
                told = f"the forces are another trial's (those of {name} fit better); name the right file"
                yield told, _at(item, wrenches)


def unrelated(item: Pair, clocks: Sequence[OtherClock], mass: float) -> tuple[float, str]:
    """Share of other clocks on which forces fit better that follow the motion on none, in words too; else 0.

    Forces that belong to a motion fit it best on their own clock, by far, if anything moves. Plates that carry only a
    part of the body are not judged: whatever else carries it may take up any change.
    """
    loaded = carrying(item.measured, mass)
    needed, pushed = item.predicted[loaded], item.measured[loaded]
    if loaded.sum() < LEAST_BLOCKS or pushed[:, 2].sum() < CARRIES * needed[:, 2].sum():
        return 0.0, ""
    motion, plates = change(needed, mass), change(pushed, mass)
    if min(motion, plates) < MOVES and max(motion, plates) > STIRS:
        what = "change while the body stands" if motion < plates else "stay while the body moves"
        return 1.0, f"the forces {what}"
    if min(motion, plates) < MOVES or not clocks:
        return 0.0, ""
    own = mean_misfit(item, mass)
    other = np.array([clock.misfit for clock in clocks])
    share = float((other < own).mean()) if own > CERTAIN_APART * float(np.median(other)) else 0.0
    return share, f"the forces fit the motion better on {100.0 * share:.0f} % of other clocks"


def _other_clocks(item: Pair) -> Iterator[tuple[float, np.ndarray]]:
    """Measured wrenches (N, 6) on clocks that differ from the file's by so many seconds, later positive."""
    measured, count = item.measured, len(item.times)
    rate = (count - 1) / (item.times[-1] - item.times[0])
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
            yield float(seconds), moved


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
