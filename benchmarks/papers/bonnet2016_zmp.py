"""bonnet2016 Fig. 6: the zero-moment point with and without rebalancing, by our checks and by MuJoCo's plates.

Every exciting transition of HOAP-3's dance is taken three times: as designed; with the root going straight between the
two postures, so that nothing answers the limbs' dynamics; and with the root's horizontal place held, so that the
balance limbs do nothing at all, which is what the paper's red lines show. In MuJoCo each is played by itself from a
standing start, and stands for a second at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.engine.performance import plan
from benchmarks.engine.rebalance import fix_root, segment_zmp, straighten_root
from solver.contacts.support import support_polygon
from solver.dance.design.dance import Dance
from solver.feasibility.contact_forces import zero_moment_point
from solver.report.svg import Axis, Drawing
from solver.skeleton.rig import Rig
from solver.trajectory.segment import DanceSegment, hold_posture

from . import plots

RATE, PLAN_RATE = 50.0, 250.0
"""[1/s] of the checks' frames, and of what the controller and MuJoCo's sensors get."""
AFTER = 1.0
"""[s] of standing at the end of a played transition."""
NEAR_EDGE = 0.002
"""[m] from the sole's border at which the pressure counts as about to tip the foot: it can never be beyond."""
VARIANTS: dict[str, tuple[str, Callable[[DanceSegment], DanceSegment]]] = {
    "ours": ("rebalanced, as designed", lambda segment: segment),
    "plain": ("root goes straight", straighten_root),
    "still": ("root held (the paper's red)", fix_root),
}
"""Style of the line, what it is, and how a segment becomes it."""
PLANNED, ENGINE = "planned", "MuJoCo"
SUPPORTS = {"two feet": ("both", "right_forward"), "one foot": ("right", "left")}
DRAWN_POINTS = 60
"""Most points of a drawn transition."""


@dataclass(frozen=True, slots=True)
class Track:
    """The zero-moment point of one transition.

    Attributes:
        segment: as danced.
        points: (N, 2) [m].
        shrunk, sole: (N,) [m] inside the dance's shrunk polygon and inside that of the soles; negative outside.
        lost: share of the frames in which the legs do not reach their feet, left out of the others.
        fell: [s] after its start that it fell, if it was played and fell.
    """

    segment: DanceSegment
    points: np.ndarray
    shrunk: np.ndarray
    sole: np.ndarray
    lost: float = 0.0
    fell: float | None = None


def transitions(dance: Dance, groups: Sequence[str], most: int | None = None) -> list[DanceSegment]:
    """The exciting segments of foot configurations, the first so many."""
    found = [dance.segments[s.segment] for s in dance.trace if s.configuration in groups and s.kind == "exciting"]
    return found[:most]


def plan_tracks(rig: Rig, dance: Dance, segments: Sequence[DanceSegment], variant: str) -> list[Track]:
    """Tracks of the zero-moment point from inverse dynamics."""
    legged, result = dance.legged_rig(rig), []
    for segment in segments:
        changed = VARIANTS[variant][1](segment)
        zmp = segment_zmp(rig, legged, changed, RATE)
        kept = zmp.reached
        lost = 1.0 - float(kept.mean())
        result.append(Track(changed, zmp.points[kept], zmp.shrunk[kept], zmp.sole[kept], lost))
    return result


def play_tracks(rig: Rig, dance: Dance, segments: Sequence[DanceSegment], variant: str) -> Iterator[Track]:
    """Tracks of the zero-moment point from MuJoCo's plates, for transitions that the legs can follow."""
    from benchmarks.engine.simulate import play  # needs MuJoCo

    weight = rig.weight
    for track in plan_tracks(rig, dance, segments, variant):
        if track.lost:
            continue
        segment = track.segment
        still = hold_posture("after", segment.stop, AFTER, segment.solved, segment.anchors)
        alone = replace(dance, segments=(segment, still), postures=(), trace=())
        shown = play(rig, plan(rig, alone.sample(rig, PLAN_RATE), alone.schedule))
        moving = shown.motion.times <= segment.duration
        points = zero_moment_point(shown.plates.total[moving], 0.0, weight)
        inside = [support_polygon(rig, segment.anchors, share).margin(points) for share in (dance.checks.shrink, 0.0)]
        yield Track(segment, points, inside[0], inside[1], 0.0, shown.fell)


@dataclass(frozen=True, slots=True)
class TrackSummary:
    """One line of the table: a variant on a support, planned or played.

    Attributes:
        support, variant, source: which.
        count: transitions; `left` of them leave the shrunk polygon, `fell` fall (None: not played).
        outside: [%] of the time outside the shrunk polygon; `beyond` outside the soles' (planned), or within
            `NEAR_EDGE` of their border (played).
        excursion: [mm] farthest out of the shrunk polygon.
        margin: [mm] smallest to the soles' border.
        lost: [%] of the frames in which the legs do not reach, not counted in the others.
    """

    support: str
    variant: str
    source: str
    count: int
    left: int
    fell: int | None
    outside: float
    excursion: float
    beyond: float
    margin: float
    lost: float


def summarise_tracks(tracks: Sequence[Track], support: str, variant: str, source: str) -> TrackSummary:
    """Summarise the tracks of one variant; NaN where there is none."""
    none = np.array([np.nan])
    shrunk, sole = (np.concatenate([none[:0], *(getattr(t, part) for t in tracks)]) for part in ("shrunk", "sole"))
    engine = source == ENGINE
    return TrackSummary(
        support=support,
        variant=VARIANTS[variant][0],
        source=source,
        count=len(tracks),
        left=sum(bool((track.shrunk < 0.0).any()) for track in tracks),
        fell=sum(track.fell is not None for track in tracks) if engine else None,
        outside=100.0 * float(np.mean(shrunk < 0.0)) if len(shrunk) else np.nan,
        excursion=1e3 * max(-float(shrunk.min(initial=np.inf)), 0.0),
        beyond=100.0 * float(np.mean(sole < (NEAR_EDGE if engine else 0.0))) if len(sole) else np.nan,
        margin=1e3 * float(sole.min(initial=np.inf)),
        lost=100.0 * float(np.mean([track.lost for track in tracks])) if tracks else np.nan,
    )


def zmp_table(rig: Rig, dance: Dance, most: int | None = None, engine: bool = True) -> list[TrackSummary]:
    """Every variant on every support the dance has, planned and, where MuJoCo is installed, played."""
    result = []
    for support, groups in SUPPORTS.items():
        segments = transitions(dance, groups, most)
        for variant in VARIANTS if segments else ():
            result.append(summarise_tracks(plan_tracks(rig, dance, segments, variant), support, variant, PLANNED))
            if engine:
                result.append(
                    summarise_tracks(list(play_tracks(rig, dance, segments, variant)), support, variant, ENGINE)
                )
    return result


def format_table(found: Sequence[TrackSummary]) -> str:
    """The table as text."""
    head = (
        "\nFig. 6, HOAP-3, simulated; the paper prints no numbers: it draws red lines that leave the polygon without"
        "\nrebalancing and green ones inside it. Polygon: that of the soles "
        "shrunk as the dance requires (40 %). Planned:"
        "\ninverse dynamics at 50 Hz. MuJoCo: plates at 250 Hz, each transition from a standing start until a fall; as"
        '\npressure cannot leave the soles, "out of soles" is there the time within 2 mm of their border. A body also'
        "\nfalls where the path without rebalancing exceeds a joint's peak torque.\n"
        f"{'support':9s} {'root':32s} {'data':8s} {'n':>3s} {'leave':>5s} {'fall':>4s} {'out of polygon':>14s} "
        f"{'farthest':>9s} {'out of soles':>12s} {'margin to soles':>15s} {'unreached':>9s}"
    )
    lines = [
        f"{s.support:9s} {s.variant:32s} {s.source:8s} {s.count:3d} {s.left:5d} {'-' if s.fell is None else s.fell:>4} "
        f"{s.outside:12.2f} % {s.excursion:6.1f} mm {s.beyond:10.2f} % {s.margin:12.1f} mm {s.lost:7.2f} %"
        for s in found
    ]
    return "\n".join([head, *lines])


def zmp_drawing(rig: Rig, dance: Dance, most: int | None = None) -> Drawing:
    """Fig. 6: top view, one panel for each foot configuration, planned points of all its transitions."""
    names = [g for groups in SUPPORTS.values() for g in groups if transitions(dance, (g,), most)]
    side, top, gap = 230.0, 46.0, 22.0
    drawing = Drawing(len(names) * (side + gap) + gap, side + top + 44.0, "Zero-moment point, HOAP-3, simulated")
    for number, name in enumerate(names):
        segments = transitions(dance, (name,), most)
        whole, shrunk = (support_polygon(rig, segments[0].anchors, share) for share in (0.0, dance.checks.shrink))
        tracks = {variant: plan_tracks(rig, dance, segments, variant) for variant in reversed(VARIANTS)}
        points = np.concatenate([whole.vertices, *(t.points for found in tracks.values() for t in found)])
        middle, span = 0.5 * (points.min(axis=0) + points.max(axis=0)), 1.1 * float(np.ptp(points, axis=0).max())
        start = gap + number * (side + gap)
        x = Axis(middle[0] - span / 2, middle[0] + span / 2, start, start + side)
        y = Axis(middle[1] - span / 2, middle[1] + span / 2, top + side, top)
        for variant, found in tracks.items():
            for track in found:
                plots.path(drawing, x, y, track.points[:: len(track.points) // DRAWN_POINTS + 1], variant)
        plots.polygon(drawing, x, y, whole.vertices, "support")
        plots.polygon(drawing, x, y, shrunk.vertices, "shrunk")
        drawing.text(start, 34, name.replace("_", " "), "title")
        scale = float(x(middle[0] + 0.02) - x(middle[0]))
        drawing.line(start, top + side + 14, start + scale, top + side + 14, "mark")
        drawing.text(start + scale + 6, top + side + 18, "20 mm", "tick")
    caption = "; ".join(
        f"{colour}: {VARIANTS[v][0]}" for v, colour in (("ours", "green"), ("plain", "orange"), ("still", "red"))
    )
    drawing.text(gap, 16, f"{caption}; line: soles, dashed: shrunk by {100 * dance.checks.shrink:.0f} %")
    return drawing
