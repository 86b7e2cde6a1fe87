"""The performer that is followed: its segments, which part of a person each is, and the soles it stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.arrays import true_runs
from ...base.errors import InvalidValue, checked
from ...base.so3 import rotation_between
from ...contacts.contact_detection import (
    LOWEST,
    belt_speed,
    contacts_by_motion,
    find_carrying_feet,
    floor_slope,
    remove_short,
    resting_places,
    stances_by_force,
)
from ...dynamics import link_motions
from ...input_checks.body_points import LEG_LENGTH
from ...rigs import human
from ...scene.labels import format_length
from ...skeleton.match import match_recording
from ...skeleton.rig import Rig
from ...storage.manifest import FileName
from ...values.motion import Motion, RestPose, SegmentPoses
from ...values.person import CHAINS, LINKS, MASS_GUESS, SIDES
from ...values.wrenches import Wrenches
from ..anatomy import LEG, ROOT, TRUNK, find_anatomy, find_joint_centres

DEFAULT_STATURE = 1.7
"""[m] If none is given."""
DEFAULT_SEX = "male"
"""[kg] They change no length by more than 1 %."""
PARENT_PART = {TRUNK: ROOT, "head": TRUNK} | {
    f"{side}_{part}": f"{side}_{chain[number - 1]}" if number else hangs
    for chain, hangs in zip(CHAINS, (TRUNK, ROOT))
    for side in SIDES
    for number, part in enumerate(chain)
}
"""The part that each part is attached to."""
MAX_BODY_SPEED, MIN_FRAMES = 15.0, 10
"""[m/s] Speed of a whole body that nobody has, and frames of a recording whose first may be left out."""
MAX_TILT = np.radians(75.0)
"""[rad] Tilt of a sole up to which its foot may be planted. Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`
and five public clips: soles of walks tilt by up to 74 degrees before toes leave the floor, those of a person who gets
up from lying by 79 and 101 in the middle."""
MIN_SOLE = 0.01
"""[m] Length of a sole below which it has no direction."""
HEEL_FRACTION, TOE_FRACTION = -0.25, 1.0
"""Heel and toe of a foot without a known sole, as fractions of the way from its ankle to its tip."""


def known_parts(
    recording: SegmentPoses, parts: Mapping[str, str] | None, needed: Sequence[str], placed: Sequence[str] = LINKS
) -> tuple[Mapping[str, str], RestPose]:
    """Segment of each part of a person, and the rest pose, of a recording that can be followed.

    Args:
        recording: of segments.
        parts: as stated; None: from names and shape.
        needed: parts that must be known.
        placed: parts whose positions must be known in every frame, as far as they are recorded.

    Raises:
        InvalidValue: there is no rest pose, no positions or not every needed part, or samples are missing.
    """
    parts = match_recording(recording) if parts is None else parts
    if missing := [part for part in needed if part not in parts]:
        raise InvalidValue(f"no segment has a name that means {', '.join(missing)}: rename the segments")
    if recording.rest is None or recording.positions is None:
        raise InvalidValue("the recording has no rest pose or no positions: track it with a person's rig first")
    turned, moved = ([recording.names.index(parts[p]) for p in some if p in parts] for some in (LINKS, placed))
    if not (np.isfinite(recording.positions[:, moved]).all() and np.isfinite(recording.rotations[:, turned]).all()):
        raise InvalidValue("segments are missing in some frames: track the recording with a person's rig first")
    return parts, recording.rest


@checked
@dataclass(frozen=True, slots=True, repr=False)
class Performer:
    """A recorded body.

    Attributes:
        recording: its segments, with positions and rest pose; no sample is missing.
        parts: segment of each part of a person.
        soles: points (P, 3) [m] of each side's sole, axes of the foot's segment.
        name: of the motion, with which names of result files begin.
        notes: what was assumed or done.
        contacts: (N,) of each side, True where its foot was measured to stand; None: detected from the motion.
    """

    recording: SegmentPoses
    parts: Mapping[str, str]
    soles: Mapping[str, np.ndarray]
    name: str = "followed"
    notes: tuple[str, ...] = ()
    contacts: Mapping[str, np.ndarray] | None = None

    def __post_init__(self) -> None:
        FileName(self.name)
        legs = [f"{side}_{name}" for side in SIDES for name in LEG]
        if missing := [part for part in legs if part not in self.parts]:
            raise InvalidValue(f"no segment of the recording is known to be the {', '.join(missing)}")
        if short := [side for side in SIDES if not self.sole_length(side) > MIN_SOLE]:
            raise InvalidValue(
                f"no length of the sole of the {' and '.join(short)} foot: give its bone a tip, or a sole"
            )

    @staticmethod
    def from_motion(rig: Rig, motion: Motion, name: str = "followed") -> Performer:
        """From a rig's own motion.

        Raises:
            InvalidValue: the rig does not have two feet.
        """
        anatomy = find_anatomy(rig)
        links = link_motions(rig, motion)
        rest_rotations, positions = rig.rest
        starts = find_joint_centres(rig, anatomy.parts)
        indices = np.array([rig.index(link) for link in anatomy.parts.values()])
        offsets = np.array(
            [rest_rotations[k].T @ (starts[part] - positions[k]) for part, k in zip(anatomy.parts, indices)]
        )
        rotations = links.rotation[:, :, indices].transpose(3, 2, 0, 1)
        heads = links.position[:, indices].transpose(2, 1, 0) + (rotations @ offsets[:, :, None])[..., 0]
        tips = np.array([positions[k] + rest_rotations[k] @ rig.tips[k] for k in indices])
        rest = RestPose(rest_rotations[indices], np.array([starts[part] for part in anatomy.parts]), tips)
        soles = {}
        for side, patch in rig.sides.items():
            contact = rig.patch(patch)
            foot = anatomy.parts.get(f"{side}_{LEG[-1]}")
            if contact.link != foot:
                raise InvalidValue(
                    f"the {side} sole of rig {rig.name!r} is on link {contact.link}, but its foot is {foot}"
                )
            soles[side] = contact.vertices - offsets[list(anatomy.parts.values()).index(foot)]
        notes = (anatomy.note,) * anatomy.guessed
        recording = SegmentPoses(motion.times, tuple(anatomy.parts.values()), rotations, heads, rest)
        return Performer(recording, anatomy.parts, soles, name, notes)

    @staticmethod
    def from_segments(
        recording: SegmentPoses, name: str = "followed", parts: Mapping[str, str] | None = None
    ) -> Performer:
        """From segments of a skeleton whose feet are as long as their bones.

        Args:
            recording: of the segments.
            name: of the motion.
            parts: segment of each part of a person; by default from names and shape.

        Raises:
            InvalidValue: there is no rest pose, no positions or no feet, or samples are missing.
        """
        feet = [f"{side}_{LEG[-1]}" for side in SIDES]
        parts, rest = known_parts(recording, parts, (*feet, *(f"{side}_{LEG[0]}" for side in SIDES)))
        floor = min(
            float(np.nanmin([rest.heads[recording.names.index(parts[foot])][2] for foot in feet])),
            float(np.nanmin([rest.tips[recording.names.index(parts[foot])][2] for foot in feet])),
        )
        soles = {}
        for side, foot in zip(SIDES, feet):
            column = recording.names.index(parts[foot])
            ankle, tip = rest.heads[column], rest.tips[column]
            way = (tip - ankle) * [1.0, 1.0, 0.0]
            points = np.array([[*(ankle + share * way)[:2], floor] for share in (HEEL_FRACTION, TOE_FRACTION)])
            soles[side] = (points - ankle) @ rest.rotations[column]
        return Performer(recording, parts, soles, name)

    @property
    def times(self) -> np.ndarray:
        """(N,) [s]."""
        return self.recording.times

    @property
    def leg_length(self) -> float:
        """[m] From the hip to the ankle of the straight leg."""
        rest = self.recording.rest
        assert rest is not None
        joints = [rest.heads[self.recording.names.index(self.parts[f"{SIDES[0]}_{part}"])] for part in LEG]
        return float(np.linalg.norm(np.diff(joints, axis=0), axis=1).sum())

    @property
    def stature(self) -> float:
        """[m] By the lengths of the legs."""
        return self.leg_length / LEG_LENGTH

    def sole_length(self, side: str) -> float:
        """[m]."""
        return float(np.linalg.norm(np.ptp(self.soles[side], axis=0)))

    def part_positions(self, part: str) -> np.ndarray:
        """Origin (N, 3) [m] of a part's segment, world."""
        assert self.recording.positions is not None
        return self.recording.positions[:, self.recording.names.index(self.parts[part])]

    def part_rotations(self, part: str) -> np.ndarray:
        """Axes (N, 3, 3) of a part's segment, world."""
        return self.recording.rotations[:, self.recording.names.index(self.parts[part])]

    def sole_points(self, side: str) -> np.ndarray:
        """Points (N, P, 3) [m] of a sole, world."""
        foot = f"{side}_{LEG[-1]}"
        return self.part_positions(foot)[:, None] + self.soles[side] @ self.part_rotations(foot).swapaxes(1, 2)

    @property
    def floor(self) -> float:
        """[m] Height on which the soles stand."""
        return min(float(np.quantile(self.sole_points(side)[..., 2].min(axis=1), LOWEST)) for side in SIDES)

    def rest_rotation(self, side: str) -> np.ndarray:
        """Axes (3, 3) of a foot's segment at rest, where its sole is level."""
        assert self.recording.rest is not None
        return self.recording.rest.rotations[self.recording.names.index(self.parts[f"{side}_{LEG[-1]}"])]

    def sole_normals(self, side: str) -> np.ndarray:
        """Directions (N, 3), world, that point up from a sole at rest."""
        return np.asarray(self.part_rotations(f"{side}_{LEG[-1]}") @ self.rest_rotation(side)[2])

    def select_frames(self, frames: slice) -> Performer:
        """The performer in some of the frames."""
        own = self.recording
        positions = None if own.positions is None else own.positions[frames]
        recording = replace(own, times=own.times[frames], rotations=own.rotations[frames], positions=positions)
        contacts = None if self.contacts is None else {side: known[frames] for side, known in self.contacts.items()}
        return replace(self, recording=recording, contacts=contacts)

    def leave_out_first_pose(self) -> Performer:
        """The performer without a first frame that is a pose of its own, such as a T-pose far from the next frame."""
        if len(self.times) < MIN_FRAMES:
            return self
        moved = np.diff([self.part_positions(part)[:3] for part in self.parts], axis=1)
        rms = np.sqrt((moved**2).sum(axis=2).mean(axis=0))
        speeds = rms / np.diff(self.times[:3])
        if speeds[0] < MAX_BODY_SPEED or speeds[1] >= MAX_BODY_SPEED:
            return self
        note = f"the first frame is left out: the body is {format_length(float(rms[0]))} away in the next one"
        return replace(self.select_frames(slice(1, None)), notes=(*self.notes, note))

    def remove_belt_motion(self) -> Performer:
        """The performer without a treadmill's belt speed, as if the floor were at rest."""
        belt = belt_speed(self.times, np.concatenate([self.sole_points(side) for side in SIDES], axis=1))
        if not belt.any():
            return self
        assert self.recording.positions is not None
        belt_displacement = -(self.times - self.times[0])[:, None] * belt
        recording = replace(self.recording, positions=self.recording.positions + belt_displacement[:, None])
        note = f"the feet are on a belt of {np.linalg.norm(belt):.2f} m/s, whose displacement is added"
        return replace(self, recording=recording, notes=(*self.notes, note))

    def level_floor(self) -> Performer:
        """The performer on a level floor, turned if the places on which the feet rest show that it slopes."""
        places = np.concatenate([resting_places(self.times, self.sole_points(side)) for side in SIDES])
        slope = floor_slope(places)
        if not slope.any():
            return self
        assert self.recording.positions is not None
        turn, about = rotation_between(np.array([*-slope, 1.0]), np.array([0.0, 0.0, 1.0])), places.mean(axis=0)
        positions = about + (self.recording.positions - about) @ turn.T
        recording = replace(self.recording, rotations=turn @ self.recording.rotations, positions=positions)
        degrees = np.degrees(np.arctan(np.linalg.norm(slope)))
        note = f"the feet stand on a floor that slopes by {degrees:.1f} degrees: it is turned level, the body with it"
        return replace(self, recording=recording, notes=(*self.notes, note))

    def with_plate_contacts(self, wrenches: Wrenches) -> Performer:
        """The performer with stances measured by plates; detected from the motion where no plate measured.

        Args:
            wrenches: of the plates, synchronised with the recording and in its world.
        """
        soles = {side: self.sole_points(side) for side in SIDES}
        stances, measured = stances_by_force(
            self.times, soles, self.remove_belt_motion().level_floor().stances(), wrenches
        )
        count = sum(bool(measured[side][a:b].any()) for side in SIDES for a, b in true_runs(stances[side]))
        total = sum(len(true_runs(stances[side])) for side in SIDES)
        note = f"{count} of {total} stances are from force plates, the others are detected from the motion"
        return replace(self, contacts=stances, notes=(*self.notes, note))

    def stances(self) -> dict[str, np.ndarray]:
        """(N,) True where each side's foot stands."""
        return dict(zip(SIDES, self._supports()[0]))

    def rests_on_other_parts(self) -> np.ndarray:
        """(N,) True where no foot stands though the body does not fall: a foot slides, or something else carries."""
        return self._supports()[1]

    def _supports(self) -> tuple[np.ndarray, np.ndarray]:
        """(2, N) True where feet stand, and (N,) where something else carries the body."""
        soles = [self.sole_points(side) for side in SIDES]
        faces_down = np.array([self.sole_normals(side)[:, 2] > np.cos(MAX_TILT) for side in SIDES])
        if self.contacts is not None:
            known = np.array([self.contacts[side] for side in SIDES])
            return known, find_carrying_feet(self.times, soles, known, self.com_height())[1]
        stances = np.array(
            [
                remove_short(self.times, contacts_by_motion(self.times, sole) & own)
                for sole, own in zip(soles, faces_down)
            ]
        )
        carries, others = find_carrying_feet(self.times, soles, stances, self.com_height())
        return stances | carries & faces_down, others | (carries & ~faces_down).any(axis=0)

    def com_height(self) -> np.ndarray:
        """Height (N,) [m] of about the centre of mass: masses of a person's table halfway along the known segments."""
        table, total, mass = human(DEFAULT_STATURE, MASS_GUESS, DEFAULT_SEX), 0.0, 0.0
        heights = {part: self.part_positions(part)[:, 2] for part in self.parts if part in table.links}
        below = {parent: part for part, parent in PARENT_PART.items() if part in heights}
        for part, height in heights.items():
            own = float(table.prior.masses[table.links.index(part)])
            total, mass = total + own * 0.5 * (height + heights[below.get(part, part)]), mass + own
        return np.asarray(total / mass)
