"""The experiments of rapetti2020: `python -m benchmarks.papers.rapetti2020 [--data DIR] [--output DIR] [--quick]`.

Three bodies, three motions, three methods: orientation error, angular velocity error and time of a frame as the boxes
of Fig. 7; convergence from a far pose for several gains as Fig. 8; an elbow and its speed between limits as Fig. 3.
The T-pose is exact; walk and run are taken from one person's recorded markers, not from the paper's suit, with noise
added as of inertial units. All of it is simulated, walk and run on real motion.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.base.threads import one_blas_thread
from solver.report.svg import Axis, Drawing
from solver.tracking import Targets, Tracker, TrackingOptions
from solver.tracking.joint_limits import DEFAULT_SPEED
from solver.tracking.kinematics import Kinematics

from ..models import HUMANS, ICUB, MissingModel, model_file
from ..reference import reference_line, to_ordinary
from ..tracking_figures.accuracy import RATE_NOISE, TURN_NOISE, true_rates_of_links
from ..tracking_figures.baselines import DYNAMICAL, METHODS, PAIRWISE, WHOLE_BODY, make_tracker
from ..tracking_figures.bodies import Body, bodies, human, icub
from ..tracking_figures.limits import tendons
from ..tracking_figures.motions import RATE, SOURCES, motion, noisy, t_pose, targets
from . import plots

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TRANSIENT = 50
"""Frames left out; the paper leaves out two seconds, as long as one of the recordings is."""
GAINS = (0.0, 1.0, 5.0, 20.0, 100.0, 195.0)
"""K [1/s] of Fig. 8 here; at 100 Hz 100 is dead-beat and 200 unstable."""
PAPER_TIME = 3.0
"""[ms] Below which every mean time of the paper's dynamical method stays."""
PEER = 2.0
"""Time over whole-body's up to which pair-wise, which the paper finds cheaper, is a peer in time."""
MOTIONS = ("T-pose", "walk", "run")
"""Of Fig. 7."""
FIG_3, FIG_8 = {"iCub", "run"}, {"human 66", "standing"}
"""Further data of the drawings; those of Fig. 9 are Fig. 3's."""
LIMIT_GAINS = (np.inf, 0.5)
"""k of (12) [1/rad] in Fig. 3: the steepest, which is the default, and one that slows down earlier."""
AT_LIMIT = 1e-3
"""[rad] from a limit at which a joint counts as stopped."""
ARM = ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow", "r_wrist_prosup", "r_wrist_pitch")
"""Joints of Fig. 9."""
QUARTILES = (5.0, 25.0, 50.0, 75.0, 95.0)


@dataclass(frozen=True, slots=True)
class Frames:
    """Errors of every frame: MNTE (16), the angular velocities' (17) [rad/s] and times [ms], each (N,)."""

    mnte: np.ndarray
    rate: np.ndarray
    time: np.ndarray


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the quartiles, write the drawings; 1 where a recording or a model is missing, which it names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.rapetti2020", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the real recordings (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=Path("out/rapetti2020"), help="of the drawings")
    parser.add_argument("--quick", action="store_true", help="half a second of each motion")
    options = parser.parse_args(arguments)
    count = 120 if options.quick else None
    print(reference_line())
    with one_blas_thread():
        absent = missing_for(options.data)
        written = []
        if measured := experiments(options.data, count):
            print_boxes(measured)
            written.append(plots.save(boxes(measured), options.output / "fig7.svg"))
        drawings = ("fig8", convergence, FIG_8), ("fig3", between_limits, FIG_3), ("fig9", joint_angles, FIG_3)
        for name, draw, needed in drawings:
            if not needed & absent.keys():
                written.append(plots.save(draw(options.data), options.output / f"{name}.svg"))
    for path in written:
        print(f"written: {path}")
    for what, how in absent.items():
        print(f"missing, and with it its rows and figures: {what}: {how}")
    return 1 if absent else 0


def missing_for(data: Path) -> dict[str, str]:
    """Bodies and motions of the paper that are not there, and how to have them."""
    models = {**{f"human {freedoms}": parts for freedoms, parts in HUMANS.items()}, "iCub": ICUB}
    absent = {name: str(MissingModel(parts)) for name, parts in models.items() if model_file(parts) is None}
    for name, source in SOURCES.items():
        files = [data / file for file in (source.static, source.trial)]
        if missing_files := [str(file) for file in files if not file.is_file()]:
            absent[name] = (
                f"there is no {' and no '.join(missing_files)}: name the folder of the recordings with --data"
            )
    return absent


def experiments(data: Path, count: int | None) -> dict[tuple[str, str, str], Frames]:
    """Every body, motion and method."""
    result = {}
    for body in bodies():
        for name in MOTIONS:
            seen = t_pose(body.segments) if name == "T-pose" else motion(data, name)
            if seen is None:
                continue
            given = targets(body, noisy(seen, TURN_NOISE, RATE_NOISE), velocities=True)
            for method in METHODS:
                result[body.name, name, method] = follow_motion(
                    body, given, true_rates_of_links(body, seen), method, count
                )
    return result


def follow_motion(body: Body, given: Targets, true: np.ndarray, method: str, count: int | None) -> Frames:
    """Follow one motion with one method, frame by frame."""
    passes = 0 if method == DYNAMICAL else TrackingOptions().iterations
    tracker = make_tracker(method, body.rig, given.tasks, TrackingOptions(iterations=passes, fade_time=0.0))
    assert given.orientations is not None
    kinematics = Kinematics(body.rig)
    columns = kinematics.moved_by[body.links].T.astype(float)
    mnte, rate, times = [], [], []
    for frame in range(min(len(given), count or len(given))):
        began = time.process_time()
        step = tracker.step(given.sample(frame), 1.0 / RATE)
        times.append(1e3 * (time.process_time() - began))
        kinematics.update_kinematics(step.q)
        traces = (kinematics.rotations[body.links] * given.orientations.rotations[frame]).sum(axis=(1, 2))
        mnte.append(np.mean(0.5 * (3.0 - traces)))
        wrong = (kinematics.jacobian[3:] * step.v) @ columns - true[frame].T
        rate.append(np.sqrt(np.mean((wrong**2).sum(axis=0) / 3.0)))
    return Frames(*(np.array(values)[TRANSIENT:] for values in (mnte, rate, times)))


def print_boxes(measured: dict[tuple[str, str, str], Frames]) -> None:
    """Quartiles of everything, with the paper's bound on the time; all methods are the paper's programs."""
    print(f"{'':34s}{'MNTE':>24s}{'rate error [rad/s]':>26s}{'time [ms]':>30s}")
    for (body, name, method), frames in measured.items():
        cells = []
        for values in (frames.mnte, frames.rate, frames.time):
            low, middle, high = np.percentile(values, [25, 50, 75])
            cells.append(f"{middle:.2g} ({low:.2g} to {high:.2g})")
        slow = " > paper's 3" if method == DYNAMICAL and to_ordinary(frames.time.mean()) > PAPER_TIME else ""
        if method == PAIRWISE:
            ratio = np.median(frames.time) / np.median(measured[body, name, WHOLE_BODY].time)
            slow = f"  {ratio:.1f} of whole-body's{'' if ratio <= PEER else ', no peer: less in the paper'}"
        print(f"{body:10s} {name:7s} {method:12s}  {cells[0]:>24s}{cells[1]:>26s}{cells[2]:>26s}{slow}")


def boxes(measured: dict[tuple[str, str, str], Frames]) -> Drawing:
    """Fig. 7: boxes from the lower to the upper quartile, whiskers at 5 and 95 %, logarithmic."""
    names = list(measured)
    drawing = Drawing(80 + 26 * len(names), 760, "Errors and times of three methods, bodies and motions (simulated)")
    styles = dict(zip(METHODS, ("ours", "plain", "still")))
    for panel, (title, pick) in enumerate(
        (
            ("log10 MNTE", lambda f: f.mnte),
            ("log10 angular velocity error [rad/s]", lambda f: f.rate),
            ("log10 time [ms]", lambda f: f.time),
        )
    ):
        values = {name: np.log10(np.maximum(np.percentile(pick(measured[name]), QUARTILES), 1e-16)) for name in names}
        everything = np.concatenate(list(values.values()))
        top = 40 + 230 * panel
        y = Axis(np.floor(everything.min()), np.ceil(everything.max()), top + 190, top)
        drawing.text(10, top - 12, title, "title")
        for power in range(int(y.low), int(y.high) + 1):
            drawing.line(60, float(y(power)), 70 + 26 * len(names), float(y(power)), "grid")
            drawing.text(54, float(y(power)) + 4, str(power), "tick", "end")
        for place, name in enumerate(names):
            x = 78 + 26 * place
            low, first, middle, third, high = (float(y(value)) for value in values[name])
            style = styles[name[2]]
            for level in (low, middle, high):
                drawing.line(x - 7, level, x + 7, level, style)
            drawing.line(x, low, x, first, style)
            drawing.line(x, third, x, high, style)
            for side in (x - 7, x + 7):
                drawing.line(side, first, side, third, style)
            drawing.line(x - 7, first, x + 7, first, style)
            drawing.line(x - 7, third, x + 7, third, style)
    for place, (body, motion_name, method) in enumerate(names):
        if method == DYNAMICAL:
            drawing.text(72 + 26 * place, 720, body, "tick")
            drawing.text(72 + 26 * place, 736, motion_name, "tick")
    drawing.text(10, 754, f"green {METHODS[0]}, orange {METHODS[1]}, red {METHODS[2]}", "tick")
    return drawing


def convergence(data: Path) -> Drawing:
    """Fig. 8: the 66-DoF human from zero, its T-pose, towards standing, for several gains."""
    body, seen = human(66), motion(data, "standing")
    assert seen is not None
    given = targets(body, seen)
    sample, frames = given.sample(0), 150
    drawing = Drawing(640, 330, "Convergence from zero towards a still pose, by gain (simulated)")
    x, y = Axis(0.0, frames / RATE, 60, 600), Axis(-12.0, 0.5, 290, 30)
    for power in range(-12, 1, 2):
        drawing.line(60, float(y(power)), 600, float(y(power)), "grid")
        drawing.text(54, float(y(power)) + 4, f"1e{power}", "tick", "end")
    print("\nMNTE from zero towards a still pose, after 0.1, 0.5 and 1.5 s")
    for gain in GAINS:
        share = gain / RATE
        chosen = TrackingOptions(gain=max(share, 1e-9), iterations=0, adaptive_damping=0.0, restart_turn=np.inf)
        tracker = Tracker(body.rig, given.tasks, chosen)
        start = body.rig.neutral
        assert sample.positions is not None
        start[:3] = sample.positions[0]
        errors = [0.5 * tracker.start(sample, 1.0 / RATE, start).orientation_error ** 2]
        errors += [0.5 * tracker.step(sample, 1.0 / RATE).orientation_error ** 2 for _ in range(frames)]
        print(f"  K = {gain:5g} /s: " + ", ".join(f"{errors[k]:.1e}" for k in (10, 50, frames)))
        points = np.array([[k / RATE, np.log10(max(error, 1e-12))] for k, error in enumerate(errors)])
        plots.path(drawing, x, y, points, "ours" if share <= 1.0 else "still")
        drawing.text(604, float(y(points[-1, 1])) + 4, f"{gain:g}", "tick")
    drawing.text(330, 318, "time [s]; K [1/s] at the right", "label", "middle")
    return drawing


def follow_limits(data: Path, gain: float) -> tuple[Body, np.ndarray, np.ndarray]:
    """iCub in the run with a gain k of (12): times (N,) [s] and joint angles and speeds (2, N, nv - 6)."""
    body, seen = icub(), motion(data, "run")
    assert body is not None
    assert seen is not None
    given = targets(body, seen)
    options = TrackingOptions(iterations=0, coupled_limits=tendons(), limit_gain=gain)
    tracker = Tracker(body.rig, given.tasks, options)
    steps = [tracker.step(given.sample(k), 1.0 / RATE) for k in range(len(given))][TRANSIENT:]
    return (
        body,
        np.arange(len(steps)) / RATE,
        np.array([[step.q[7:] for step in steps], [step.v[6:] for step in steps]]),
    )


def between_limits(data: Path) -> Drawing:
    """Fig. 3: iCub's right elbow in the run, its angle and speed between the bounds of (12), by gain."""
    drawing = Drawing(
        560 * len(LIMIT_GAINS), 380, "Fig. 3: iCub's right elbow, angle and speed between limits (simulated)"
    )
    print("\niCub's right elbow in the run, by the gain k of (12); the paper does not print its own")
    for number, gain in enumerate(LIMIT_GAINS):
        body, _, found = follow_limits(data, gain)
        joint = _joint(body, "r_elbow")
        low, high = float(body.rig.limits.lower[joint]), float(body.rig.limits.upper[joint])
        speed = float(body.rig.limits.speed[joint])
        points = found[:, :, joint].T
        bound = speed if np.isfinite(speed) else DEFAULT_SPEED
        slope = min(gain, RATE / bound)
        fastest = 1.1 * max(float(np.abs(points[:, 1]).max()), 1.0)
        angles = np.linspace(low, high, 200)
        left = 560.0 * number
        x, y = Axis(low - 0.1, high + 0.1, left + 60, left + 530), Axis(-fastest, fastest, 320, 50)
        drawing.frame(x, y, x.ticks(), y.ticks())
        for curve in (np.tanh(slope * (high - angles)) * bound, -np.tanh(slope * (angles - low)) * bound):
            plots.path(drawing, x, y, np.column_stack([angles, np.clip(curve, -fastest, fastest)]), "still")
        plots.path(drawing, x, y, points, "ours")
        words = f"k = {gain:g} /rad" if np.isfinite(gain) else f"k = {slope:.3g} /rad, the steepest"
        drawing.text(left + 60, 30, words, "title")
        drawing.text(left + 295, 368, "angle [rad]; speed [rad/s]", "label", "middle")
        outside = max(float((points[:, 0] - high).max()), float((low - points[:, 0]).max()), 0.0)
        print(
            f"  {words}: at most {outside:.1e} rad outside {low:.2f} to {high:.2f} rad; stops of all joints "
            f"{_hardest_stop(body, found):.3g} rad/s2 at most"
        )
    return drawing


def _hardest_stop(body: Body, found: np.ndarray) -> float:
    """[rad/s^2] largest acceleration of angles and speeds (2, N, nv - 6) at a limit, away from it."""
    rates, ends = np.diff(found[1], axis=0) * RATE, found[0, 1:]
    limits = body.rig.limits
    stops = ((limits.upper - ends < AT_LIMIT) & (rates < 0.0)) | ((ends - limits.lower < AT_LIMIT) & (rates > 0.0))
    return float(np.abs(rates[stops]).max(initial=0.0))


def joint_angles(data: Path) -> Drawing:
    """Fig. 9: iCub's arm in the run and its limits; the paper also draws what a real robot did, which we have not."""
    body, times, found = follow_limits(data, np.inf)
    panels = []
    for name in ARM:
        joint = _joint(body, name)
        bounds = (np.full(len(times), float(limit[joint])) for limit in (body.rig.limits.lower, body.rig.limits.upper))
        panels.append(
            (f"{name} [rad]", dict(zip(("desired", "lower limit", "upper limit"), (found[0, :, joint], *bounds))))
        )
    return plots.curves_over_time(times, panels, "Fig. 9: iCub's right arm in the run (simulated)")


def _joint(body: Body, name: str) -> int:
    """Index of a hinge among the joint coordinates."""
    return next(k for k, one in enumerate(body.rig.joints) if one.name == name) - 1


if __name__ == "__main__":
    raise SystemExit(main())
