"""A drag: points of the body follow targets, soles stay planted, joints keep their limits, the body keeps its balance.

Each iteration linearises the kinematics in flat coordinates, in which joint limits are bounds on single coordinates,
and solves the quadratic program

    minimise    sum_t w |J_t d - e_t|^2 + c d' M d / m + s |y + d - y_0|^2 + b w u h |d_r|^2
    subject to  J_k d = e_k              planted soles and pins
                l <= y + d <= u          joint limits, knees short of straight
                N J_c d >= r - n(c)      centre of mass at distances r inside the edges of the support polygon
                D d >= k - g             distances g of the nearest links from each other and from the floor

for the change d of the flat coordinates y, with mass matrix M, total mass m and the posture y_0 before the drag:
inverse kinematics of the whole body with contacts as equalities. A target counts for at most `STEP` per iteration, so
that far ones are approached on a path that keeps the constraints. Where a point is held back, the last term models
the curvature of its path, which the linearisation lacks: it damps the change d_r of joints and root's orientation by
the leg's length h and by the part u of the pull that the change before did not follow, which vanishes as targets are
reached. By how much curvature displaces planted corners and pins in the mean, a translation of the whole body takes
back.

The distances r leave room for the motion to and from the posture. A body that leans as a whole, as a rod of height
2 h, accelerates its centre of mass c by a while its zero-moment point is c - l a / g, with the length l = 4/3 h of the
pendulum. Between two keys at rest in Blender, T apart, the largest acceleration is `PEAK_ACCELERATION` |c_2 - c_1| /
T^2 at both ends, so that the zero-moment point goes beyond c_1 and c_2 by s |c_2 - c_1| with
s = `PEAK_ACCELERATION` l / (g T^2). If the polygon is w wide across an edge, r = s / (1 + 2 s) w leaves room for the
motion between any two centres of mass that keep r.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import log, vee
from ..contacts.schedule import anchors_at
from ..contacts.support import support_polygon
from ..dynamics.coordinates import coordinate_names, to_flat
from ..options.checks import CheckOptions
from ..qp.bounded import Bounds, solve_bounded
from ..skeleton.rig import ROOT_NV, Rig
from ..values.inertials import GRAVITY
from .kinematics import PostureKinematics, find_knees
from .separation import Separation
from .values import REACHED, DragResult, Pin, Target

STEP = 0.02
"""[m] Largest part of a target's distance that counts in one iteration."""
TURN = 0.1
"""[rad] Largest change of a target's or planted link's orientation that counts in one iteration."""
LARGEST_CHANGE = 0.3
"""[rad, m] Largest change of a coordinate in one iteration; the linearisation is poor beyond."""
ITERATIONS, RESTORING_ITERATIONS, FITTING_ITERATIONS = 6, 4, 12
"""Most iterations towards the targets, most that only restore the constraints, and most from another posture."""
TARGET_WEIGHT, ORIENTATION_WEIGHT = 10.0, 0.5
"""[1/m^2], [1/rad^2] of a target."""
INERTIA_WEIGHT, POSTURE_WEIGHT = 1e-3, 2e-4
"""[1/m^2], [1/rad^2] of the change measured by the mass matrix, and of the departure from the posture before.
Chosen on a person, HOAP-3 and HRP-2: a target within reach is missed by less than 0.1 mm."""
CURVATURE = 0.2
"""[1] Factor b of the damping by curvature. Measured on a person, HRP-2 and HOAP-3: from .1 to .3 an event costs about
the same; without damping the 99th percentile is twice as high, at 1 drags creep."""
PLANTED_TOLERANCE = 5e-5
"""[m] Largest displacement of a corner of a planted sole or of a pinned."""
BALANCE_TOLERANCE = 2e-4
"""[m] by which the centre of mass may be farther outside the support polygon than before."""
MOTION_TIME = 1.5
"""[s] between two postures, in which the body can move from the one to the other in balance. Measured on random drags
of a person, HRP-2 and HOAP-3: the motion from their start in 3 s passes the checks in 76 to 95 %, in 20 to 33 %
without this room."""
PEAK_ACCELERATION = 4.37
"""[1] Acceleration at the ends of a movement by 1 in time 1 between two keys of Blender with level automatic handles
of length t = 1 / 2.5614: 2 / (3 t^2). Derived: 2 / 3 times 2.5614^2."""
SEPARATION_TOLERANCE = 0.0015
"""[m] by which links may be nearer to each other than they should stay."""
RECOVERY = 0.01
"""[m] by which a centre of mass outside the polygon approaches it in one iteration."""
FOLLOWED = 0.1
"""Fraction of the distance at its start at which a call ends while targets move. Chosen on 900 simulated events of a
person: 554 take one iteration, 348 without it."""
CLOSE, SETTLED = 3e-4, 2e-4
"""[m] Distance from the targets at which iterations end; [rad, m] change of the coordinates at which the posture has
settled."""
STRONG = 0.1
"""Fraction of the largest multiplier above which a constraint is named."""
AT_EDGE = "balance: the centre of mass is at the edge of the support polygon"
SHIFTING = "the weight is shifted to the other foot first"
OUT_OF_REACH = "reach of the planted feet and pins"
STRAIGHT = np.radians(2.0)
"""[rad] that knees stay short of straight while the body is dragged: a straight leg cannot start to bend."""
QP_TOLERANCE = 1e-6
"""[m, rad] By which an iteration may miss its constraints."""


class Drag:
    """A drag of one rig from a posture.

    Args:
        rig: that is posed.
        q: (nq,) posture at the start.
        planted: names of the contact patches that carry load; their links stay where they are.
        pins: further points that stay where they are.
        checks: that a motion to the posture should pass.
        ground: [m] height of the floor, which links do not enter; None without one.

    Raises:
        InvalidValue: the posture has a wrong size, or the rig has a joint that flat coordinates do not describe.
        UnknownLink: of a pinned.
    """

    def __init__(
        self,
        rig: Rig,
        q: np.ndarray,
        planted: Sequence[str] = (),
        pins: Sequence[Pin] = (),
        *,
        checks: CheckOptions | None = None,
        ground: float | None = None,
    ) -> None:
        q = np.array(q, float)
        if q.shape != (rig.nq,) or not np.isfinite(q).all():
            raise InvalidValue(f"a posture of rig {rig.name!r} has {rig.nq} finite numbers, got shape {q.shape}")
        self.rig = rig
        self._checks, self._balanced = CheckOptions() if checks is None else checks, True
        self._kinematics = PostureKinematics(rig)
        self._planted = {anchor.patch: anchor for anchor in anchors_at(rig, q, planted)}
        self._links = {name: rig.index(rig.patch(name).link) for name in self._planted}
        self._corners = {
            link: np.concatenate([rig.patch(name).vertices for name, own in self._links.items() if own == link])
            for link in self._links.values()
        }
        self._knees = find_knees(rig)
        self._y = self._reference = to_flat(rig, q)
        self._lower = np.concatenate([np.full(ROOT_NV, -np.inf), rig.limits.lower])
        self._upper = np.concatenate([np.full(ROOT_NV, np.inf), rig.limits.upper])
        joints = slice(ROOT_NV, None)  # a posture outside its limits returns no farther than it has to
        self._lower[joints] = np.minimum(self._lower[joints], self._y[joints])
        self._upper[joints] = np.maximum(self._upper[joints], self._y[joints])
        kinematics = self._kinematics
        kinematics.update(self._y)
        self._separation = Separation(kinematics, self._checks, ground)
        self._kept = self._allowed = np.zeros(0)
        self._sole_poses = {link: (kinematics.rotations[link].copy(), kinematics.positions[link].copy())
                            for link in self._corners}  # fmt: skip
        own = ((rig.index(pinned.link), pinned.point) for pinned in pins)
        self._pinned = [(link, point, kinematics.place(link, point)) for link, point in own]
        self._metric = INERTIA_WEIGHT * kinematics.mass_matrix() / rig.prior.total_mass + 1e-7 * np.eye(rig.nv)
        moves = np.arange(ROOT_NV, rig.nv)
        self._metric[moves, moves] += POSTURE_WEIGHT
        self._slip, self._unfollowed = 0.0, 0.0
        """[m] Largest displacement of a planted corner or pinned point, and [m] part of a target's pull that the last
        change did not follow."""
        self._last_targets: list[tuple[int, bytes]] = []
        self._lifted: set[str] = set()
        self._release(())

    @property
    def planted(self) -> tuple[str, ...]:
        """Names of the patches that are planted now; a sole that was dragged away is no longer among them."""
        return tuple(name for name in self._planted if name not in self._lifted)

    def fit(self, q: np.ndarray, sole_poses: Mapping[int, tuple[np.ndarray, np.ndarray]] | None = None) -> DragResult:
        """The posture near q (nq,) in which soles and pins are in place, and limits and balance hold.

        The changes of its iterations are the smallest by the mass matrix.

        Args:
            q: posture to fit.
            sole_poses: axes (3, 3) and origin (3,) [m] of planted links by index, if they are elsewhere than at the
                start.
        """
        self._sole_poses.update(sole_poses or {})
        self._hold(self._held.links)
        self._kept = self._allowed = np.minimum(self._allowed, 0.0)  # room for the motion is needed at its end only
        self._place(to_flat(self.rig, q))
        for _ in range(FITTING_ITERATIONS):
            if self._is_kept():
                break
            change, _ = self._iterate([], bent_knees=False)
            if change is None:
                break
            self._change(change)
        return DragResult(self._kinematics.q, self._is_kept(), 0.0, (), self._slip, self._margin())

    def link_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Axes (L, 3, 3) and origins (L, 3) [m] of the links, world, in the posture of the last result."""
        return self._kinematics.rotations.copy(), self._kinematics.positions.copy()

    def move(self, targets: Sequence[Target], *, balance: bool = True) -> DragResult:
        """Move towards the targets by at most `ITERATIONS` steps; call again with the same targets until converged.

        While targets move, an iteration that brings the body hardly nearer, or nearly there, ends the call; the rest
        follows at rest.
        A planted sole that is a target's link is lifted as soon as the weight is on the others.

        Args:
            targets: of points of the body.
            balance: keep the centre of mass above the support polygon; one that is outside moves no farther out.

        Raises:
            UnknownLink: of a target.
        """
        wanted = [(self.rig.index(target.link), target) for target in targets]
        self._balanced = balance
        dragged = [index for index, _ in wanted]
        waiting = self._lift(dragged)
        targets_before, self._last_targets = self._last_targets, [(k, each.position.tobytes()) for k, each in wanted]
        is_moving = self._last_targets != targets_before
        start, before = self._y, self._distance(wanted)
        distance = before
        program, interrupted, converged = None, False, not waiting and before <= CLOSE and self._is_kept()
        for _ in range(0 if converged else ITERATIONS):
            change, program = self._iterate(wanted)
            if change is None:
                break
            self._change(change)
            last, distance = distance, self._distance(wanted)
            settled = (distance <= CLOSE and not waiting) or float(np.abs(change).max()) < SETTLED
            converged = self._slip <= PLANTED_TOLERANCE and settled
            followed = abs(last - distance) < CLOSE or distance < FOLLOWED * before
            interrupted = is_moving and not waiting and followed and self._is_kept()
            if converged or interrupted:
                break
        for _ in range(RESTORING_ITERATIONS):
            if self._is_kept():
                break
            change, _ = self._iterate([])
            if change is None:
                break
            self._change(change)
            distance = self._distance(wanted)
        is_kept = self._is_kept()
        if not is_kept or (distance > max(before - CLOSE, CLOSE) and not waiting and not interrupted):  # no progress
            converged = True
            if not is_kept or distance > before:
                self._place(start)
                distance = before
        if waiting and not self._lift(dragged):  # lifted now: the rest follows
            waiting = converged = False
        obstacles: tuple[str, ...] = ()
        if waiting and not converged:
            obstacles = (SHIFTING,)
        elif converged and distance > REACHED:
            obstacles = self._name_active(program) or (AT_EDGE if waiting else OUT_OF_REACH,)
        return DragResult(self._kinematics.q, converged, distance, obstacles, self._slip, self._margin())

    def _margin(self) -> float:
        """[m] Distance of the centre of mass from the edge of the support polygon, positive inside; NaN without one."""
        return float(self._polygon.margin(self._kinematics.com[None, :2])[0]) if self._polygon else float("nan")

    def _change(self, change: np.ndarray) -> None:
        """Change the flat coordinates, and take back by a translation of the body what curvature displaces the soles.

        Soles farther away than an iteration can bring back are not displaced by curvature alone: then the light legs
        move, not the whole body.
        """
        self._place(self._y + change, steadied=self._slip < STEP)

    def _place(self, y: np.ndarray, *, steadied: bool = False) -> None:
        """Place the body; steadied, it is translated by the mean displacement of planted corners and pinned points."""
        kinematics, held = self._kinematics, self._held
        kinematics.update(y)
        turned = (kinematics.rotations[held.links] - held.rotations)[held.owners]
        moved = (turned @ held.corners[:, :, None])[:, :, 0]
        moved += (kinematics.positions[held.links] - held.positions)[held.owners]
        pinned = [kinematics.place(link, point) - place for link, point, place in self._pinned]
        moved = np.concatenate([moved, *(shift[None] for shift in pinned)])
        if steadied and len(moved):
            mean = moved.mean(axis=0)
            kinematics.translate(-mean)
            moved -= mean
        self._slip = float((moved * moved).sum(axis=1).max(initial=0.0)) ** 0.5
        self._y = kinematics.y
        self._separation.update(held.links)

    def _set_polygon(self, patches: Sequence[str]) -> None:
        anchors = [self._planted[name] for name in patches]
        self._polygon = support_polygon(self.rig, anchors, self._checks.shrink) if anchors else None
        if self._polygon is None:
            self._kept = self._allowed = np.zeros(0)
            return
        widths = self._polygon.edge_distances(self._polygon.vertices).max(axis=0)
        height = self._kinematics.com[2] - min(float(anchor.position[2]) for anchor in anchors)
        share = PEAK_ACCELERATION * 4.0 / 3.0 * height / (GRAVITY * MOTION_TIME**2)
        distances = self._edge_distances()
        wanted = self._checks.balance_reserve + share / (1.0 + 2.0 * share) * widths
        self._kept = np.minimum(wanted, np.maximum(distances, 0.0))
        self._allowed = np.minimum(self._kept, distances)

    def _edge_distances(self) -> np.ndarray:
        if self._polygon is None:
            return np.zeros(0)
        return self._polygon.edge_distances(self._kinematics.com[None, :2])[0]

    def _lift(self, dragged: Sequence[int]) -> bool:
        """Lift the soles that are dragged, once the others carry the weight; True while one has to wait."""
        soles = [name for name, link in self._links.items() if link in dragged and name not in self._lifted]
        if not soles:
            return False
        others = [name for name in self.planted if name not in soles]
        if others and self._balanced:
            self._set_polygon(others)
            if self._allowed.min(initial=0.0) < -BALANCE_TOLERANCE:
                return True
        self._release(soles)
        return False

    def _release(self, patches: Iterable[str]) -> None:
        """Lift soles, and keep the balance on the remaining ones."""
        self._lifted.update(patches)
        self._hold(list(dict.fromkeys(self._links[name] for name in self.planted)))
        self._set_polygon(self.planted)

    def _hold(self, links: list[int]) -> None:
        """Plant links where their sole poses are."""
        rotations, positions = (np.array([self._sole_poses[link][k] for link in links]) for k in (0, 1))
        owners = np.repeat(np.arange(len(links)), [len(self._corners[link]) for link in links])
        corners = np.concatenate([np.zeros((0, 3)), *(self._corners[link] for link in links)])
        self._held = _Held(links, rotations.reshape(-1, 3, 3), positions.reshape(-1, 3), owners, corners)

    def _distance(self, wanted: Sequence[tuple[int, Target]]) -> float:
        """[m] Largest distance from a target."""
        errors = (target.position - self._kinematics.place(index, target.point) for index, target in wanted)
        return max((math.hypot(*(x for x in error.tolist() if not math.isnan(x))) for error in errors), default=0.0)

    def _is_kept(self) -> bool:
        """Whether planted soles stay, links are apart, and the centre of mass is within the polygon, or all of this no
        worse than at the start."""
        if self._slip > PLANTED_TOLERANCE:
            return False
        if (self._separation.distances < self._separation.kept - SEPARATION_TOLERANCE).any():
            return False
        return not self._balanced or bool((self._edge_distances() >= self._allowed - BALANCE_TOLERANCE).all())

    def _iterate(
        self, wanted: Sequence[tuple[int, Target]], *, bent_knees: bool = True
    ) -> tuple[np.ndarray | None, _Program]:
        """Change of the flat coordinates (nv,), None if there is none, and the solved program."""
        kinematics, y = self._kinematics, self._y
        hessian = self._metric
        gradient = np.zeros(len(y))
        if wanted:  # without targets, the smallest change that restores the constraints
            gradient[ROOT_NV:] = POSTURE_WEIGHT * (y - self._reference)[ROOT_NV:]
            hessian = hessian.copy()
            turns = np.arange(3, len(y))
            hessian[turns, turns] += CURVATURE * TARGET_WEIGHT * self._unfollowed * self.rig.leg_length
        pulls = []
        for index, target in wanted:
            rows = kinematics.point_jacobian(index, target.point)
            error = target.position - kinematics.place(index, target.point)
            free = ~np.isfinite(error)
            if free.any():
                error[free] = 0.0
                rows[free] = 0.0
            pulls.append((rows, _limited(error, STEP)))
            hessian += TARGET_WEIGHT * (rows.T @ rows)
            gradient -= TARGET_WEIGHT * (pulls[-1][1] @ rows)
            if target.rotation is not None:
                turning = kinematics.link_jacobian(index)[3:]
                turn = _limited(log(target.rotation @ kinematics.rotations[index].T), TURN)
                hessian += ORIENTATION_WEIGHT * (turning.T @ turning)
                gradient -= ORIENTATION_WEIGHT * (turn @ turning)
        matrix, low = self._equalities()
        equalities = sum(map(len, low))
        separation = self._separation
        limits = [(separation.rows(), separation.distances, separation.kept, separation.kept)]
        if self._polygon is not None and self._balanced:
            rows = self._polygon.normals @ kinematics.com_jacobian[:2]
            limits.insert(0, (rows, self._edge_distances(), self._kept, self._allowed))
        inside, least, allowed = (np.concatenate([limit[k] for limit in limits]) for k in (1, 2, 3))
        matrix += [limit[0] for limit in limits]
        missing = least - inside
        low.append(np.where(missing <= 0.0, missing, np.minimum(0.7 * missing, RECOVERY)))
        program = _Program(
            hessian, gradient, np.concatenate(matrix), np.concatenate(low), equalities, self._bounds(bent_knees)
        )
        change = program.minimise()
        if change is None and (missing > 0.0).any():  # it cannot return: then no farther out
            program.low[equalities:] = np.minimum(allowed - inside, 0.0)
            change = program.minimise()
        if change is None:
            return None, program
        change *= min(1.0, LARGEST_CHANGE / max(float(np.abs(change).max()), 1e-12))
        if pulls:
            self._unfollowed = max(float(np.linalg.norm(pull - rows @ change)) for rows, pull in pulls)
        return change, program

    def _equalities(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        kinematics, held = self._kinematics, self._held
        turns = held.rotations @ kinematics.rotations[held.links].transpose(0, 2, 1)
        angles = vee(turns)  # small: the sine is the angle
        shifts = held.positions - kinematics.positions[held.links]
        rows = [kinematics.link_jacobian(link) for link in held.links]
        right = [np.concatenate([_limited(shifts, STEP), _limited(angles, TURN)], axis=1).reshape(-1)]
        for link, point, place in self._pinned:
            rows.append(kinematics.point_jacobian(link, point))
            right.append(_limited(place - kinematics.place(link, point), STEP))
        return rows, right

    def _bounds(self, bent_knees: bool) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on the change of the flat coordinates, with knees of planted legs short of straight if so chosen."""
        lower, upper = self._lower - self._y, self._upper - self._y
        held = set(self._held.links)
        for knee in self._knees if bent_knees else ():
            if knee.foot in held:
                bent = self._y[knee.coordinate] - knee.straight
                if knee.bends > 0:
                    lower[knee.coordinate] = max(lower[knee.coordinate], min(STRAIGHT - bent, TURN))
                else:
                    upper[knee.coordinate] = min(upper[knee.coordinate], max(-STRAIGHT - bent, -TURN))
        return lower, np.maximum(upper, lower)

    def _name_active(self, program: _Program | None) -> tuple[str, ...]:
        """The constraints that hold the body back: those with multipliers that are not negligible, strongest first."""
        if program is None:
            return ()
        if program.multipliers is None:  # the constraints leave no change, whatever the targets are
            separation = self._separation
            tight = separation.kept - separation.distances
            return tuple(name for name, value in zip(separation.names(), tight) if value == tight.max() >= 0.0)[:1]
        nv, size = self.rig.nv, np.abs(program.multipliers)
        joints, others = size[ROOT_NV:nv], size[nv + program.equalities :]
        near = self._separation.names()
        edges, touching = others[: len(others) - len(near)], others[len(others) - len(near) :]
        largest = max(float(joints.max(initial=0.0)), float(others.max(initial=0.0)))
        if largest < TARGET_WEIGHT * SETTLED * STEP:
            return ()
        names = coordinate_names(self.rig)
        strong = [k for k in np.argsort(-joints) if joints[k] > STRONG * largest]
        found = [f"joint limit of {names[k].replace('_', ' ')}" for k in strong[:2]]
        found += [AT_EDGE] * bool((edges > STRONG * largest).any())
        return (*found, *(near[k] for k in np.argsort(-touching)[:1] if touching[k] > STRONG * largest))


@dataclass(frozen=True, slots=True)
class _Held:
    """Planted links: indices (K,), axes (K, 3, 3) and origins (K, 3) [m] in which they stay, and the corners (C, 3) [m]
    of their soles with the places (C,) of their links among these."""

    links: list[int]
    rotations: np.ndarray
    positions: np.ndarray
    owners: np.ndarray
    corners: np.ndarray


@dataclass(slots=True)
class _Program:
    """The quadratic program of one iteration: rows low <= A d, of which the first are equalities, and bounds."""

    hessian: np.ndarray
    gradient: np.ndarray
    matrix: np.ndarray
    low: np.ndarray
    equalities: int
    bounds: tuple[np.ndarray, np.ndarray]
    multipliers: np.ndarray | None = None

    def minimise(self) -> np.ndarray | None:
        """The minimum (nv,); None if the constraints contradict each other."""
        lower, upper = self.bounds
        high = np.full(len(self.low), np.inf)
        high[: self.equalities] = self.low[: self.equalities]
        bounds = Bounds(np.concatenate([lower, self.low]), np.concatenate([upper, high]), self.matrix)
        found = solve_bounded(self.hessian, -self.gradient, bounds, QP_TOLERANCE)
        if found.slack:
            return None
        self.multipliers = found.multipliers
        return found.x


def _limited(vectors: np.ndarray, largest: float) -> np.ndarray:
    """Vectors (..., 3), shortened to a largest length."""
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    return vectors * (largest / np.maximum(lengths, largest))
