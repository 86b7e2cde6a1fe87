"""Checks whether a calibration succeeded: marker errors, marker locations, joint ranges and segment lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..dynamics.coordinates import coordinate_links
from ..scene.labels import display_name
from ..skeleton.rig import Rig

FAILED_RMSE = 0.012
"""[m] RMSE over markers and frames above which a calibration failed; eight real calibrations end at 1 to 8 mm."""
MAX_MARKER_ERROR, MAX_STATIC_MARKER_ERROR = 0.045, 0.020
"""[m] RMSE of one marker in moving trials (acromia, with rigid shoulders: up to 26 mm), and in static trials."""
SUSPECT_DEVIATION = 4.2
"""A landmark's marker that ends more standard deviations from its expected location causes another start of the fit."""
MAX_LOCATION_DEVIATION = 6.0
"""[standard deviations] Largest distance of a landmark's marker from its expected location, over the three axes."""
MAX_RANGE_VIOLATION = np.radians(10.0)
"""[rad] Joints may leave their ranges by this much, because the ranges are those of the general literature."""
MAX_VIOLATED_FRACTION = 0.25
"""Fraction of a recording's frames in which they may leave them by more."""
MIN_MARKERS_NEAR = 3
"""Number of markers on a link and its children that determines the rotation of its joint. Derived: three points that
are not on a line determine a rotation."""
LENGTH_STDS = {"torso": 0.08, "upper_arm": 0.08, "clavicle": 0.12, "scapula": 0.25}
"""Relative standard deviation of a segment's length about that of a person of the same stature. Trunk and upper arm
include a shoulder that moves on the trunk, which the rig's does not."""
DEFAULT_LENGTH_STD = 0.05
"""Of the other segments: 4 to 5 % between people (Winter 2009, Biomechanics and Motor Control, table 4.1)."""
MAX_LENGTH_DEVIATION = 3.5
"""[standard deviations]"""
MAX_SIDE_DIFFERENCE = 0.08
"""Relative difference between left and right."""
MAX_WARNINGS = 3


@dataclass(frozen=True, slots=True)
class FitEvidence:
    """Residuals and dimensions of a fit.

    Attributes:
        rig: as fitted.
        markers: names of the recorded markers, M.
        links: (M,) index of each marker's link.
        residuals: (F, M) [m] distance to the modelled marker, NaN where not seen.
        recordings: recording of each of the F frames.
        static: True if every recording is a static trial.
        deviations: (M,) distance of a landmark's marker from its expected location in standard deviations; NaN for
            other markers.
        range_violation: (F, nv - 6) [rad] by which joint coordinates leave their ranges, 0 inside.
        lengths, expected_lengths: [m] by link: as fitted, and of a person of that stature.
        noise: [m] standard deviation of points that were estimated, as from video, each axis.
    """

    rig: Rig
    markers: tuple[str, ...]
    links: np.ndarray
    residuals: np.ndarray
    recordings: tuple[str, ...]
    static: bool
    deviations: np.ndarray
    range_violation: np.ndarray
    lengths: Mapping[str, float]
    expected_lengths: Mapping[str, float]
    noise: float = 0.0

    @property
    def rmse(self) -> float:
        """Over markers and frames [m]."""
        return float(np.sqrt(np.nanmean(self.residuals**2)))

    def markers_near(self, link: str) -> list[str]:
        """Markers of a link and its children, whose labels may have been exchanged."""
        index = self.rig.index(link)
        near = [k for k, parent in enumerate(self.rig.parents) if k == index or parent == index]
        return [name for name, at in zip(self.markers, self.links) if at in near]


def is_suspect(evidence: FitEvidence) -> bool:
    """True if the fit may have ended in the wrong minimum, so that another start is tried."""
    return bool(np.nan_to_num(evidence.deviations).max(initial=0.0) > SUSPECT_DEVIATION) or bool(check_fit(evidence))


def check_fit(evidence: FitEvidence) -> tuple[str, ...]:
    """Messages about what is wrong with a fit, each with cause and remedy; empty if it succeeded."""
    return (
        *_check_rmse(evidence),
        *_check_markers(evidence),
        *_check_locations(evidence),
        *_check_ranges(evidence),
        *_check_lengths(evidence),
    )


def _check_rmse(evidence: FitEvidence) -> list[str]:
    if evidence.rmse < np.hypot(FAILED_RMSE, np.sqrt(3.0) * evidence.noise):
        return []
    names = tuple(dict.fromkeys(evidence.recordings))
    rows = np.array(evidence.recordings)
    errors = {name: float(np.sqrt(np.nanmean(evidence.residuals[rows == name] ** 2))) for name in names}
    worst = max(errors, key=lambda name: errors[name])
    return [
        f"the calibration failed: the marker error is {_mm(evidence.rmse)}, largest in {worst} "
        f"({_mm(errors[worst])}). Record a static trial (upright, every marker in view, arms a little away from the "
        f"body), check stature, units and marker labels, or calibrate without {worst}"
    ]


def _check_markers(evidence: FitEvidence) -> list[str]:
    bound = MAX_STATIC_MARKER_ERROR if evidence.static else MAX_MARKER_ERROR
    bound = float(np.hypot(bound, 3.0 * evidence.noise))
    errors = np.array([np.sqrt(np.mean(e[np.isfinite(e)] ** 2)) if np.isfinite(e).any() else 0.0
                       for e in evidence.residuals.T])  # fmt: skip
    off = [k for k in np.argsort(-errors) if errors[k] > bound][:MAX_WARNINGS]
    links = evidence.rig.links
    return [
        f"marker {evidence.markers[k]} is {_mm(errors[k])} from its location on the "
        f"{display_name(links[evidence.links[k]])} "
        f"(all markers: {_mm(evidence.rmse)}). Check its label and whether it was moved between the trials, or delete "
        "it from them"
        for k in off
    ]


def _check_locations(evidence: FitEvidence) -> list[str]:
    deviations = np.nan_to_num(evidence.deviations)
    off = [k for k in np.argsort(-deviations) if deviations[k] > MAX_LOCATION_DEVIATION][:MAX_WARNINGS]
    return [
        f"marker {evidence.markers[k]} is {deviations[k]:.0f} standard deviations from where its landmark on the "
        f"{display_name(evidence.rig.links[evidence.links[k]])} is expected. It is probably mislabelled (exchanged "
        f"with a "
        "neighbour?) or marks another point: correct its label, or state its location in a marker set of your own"
        for k in off
    ]


def _check_ranges(evidence: FitEvidence) -> list[str]:
    rows = np.array(evidence.recordings)
    found: dict[str, tuple[float, float, str]] = {}
    for column, (link,) in enumerate(coordinate_links(evidence.rig)):
        if len(evidence.markers_near(link)) < MIN_MARKERS_NEAR:
            continue
        for name in dict.fromkeys(evidence.recordings):
            excess = evidence.range_violation[rows == name, column]
            share = float((excess > MAX_RANGE_VIOLATION).mean())
            if share > MAX_VIOLATED_FRACTION and excess.max() > found.get(link, (0.0, 0.0, ""))[1]:
                found[link] = (share, float(excess.max()), name)
    return [
        f"the fitted {display_name(link)} leaves its joint's range by up to {np.degrees(most):.0f} degrees in "
        f"{100.0 * share:.0f} % of the frames of {name}. Check the labels and sides of "
        f"{', '.join(evidence.markers_near(link))}; without an upright static trial, record one"
        for link, (share, most, name) in found.items()
    ][:MAX_WARNINGS]


def _check_lengths(evidence: FitEvidence) -> list[str]:
    messages = []
    for link, length in evidence.lengths.items():
        segment = link.removeprefix("left_").removeprefix("right_")
        ratio = length / evidence.expected_lengths[link] - 1.0
        if abs(ratio) > MAX_LENGTH_DEVIATION * LENGTH_STDS.get(segment, DEFAULT_LENGTH_STD):
            messages.append(
                f"the {display_name(link)} is {100.0 * length:.0f} cm long, {100.0 * abs(ratio):.0f} % "
                f"{'longer' if ratio > 0.0 else 'shorter'} than that of a person of this stature. Check the stature "
                f"and the labels of {', '.join(evidence.markers_near(link))}"
            )
    for left in (link for link in evidence.lengths if link.startswith("left_")):
        right = left.replace("left_", "right_")
        difference = evidence.lengths[left] / evidence.lengths[right] - 1.0
        if abs(difference) > MAX_SIDE_DIFFERENCE:
            messages.append(
                f"the {display_name(left)} is {100.0 * abs(difference):.0f} % "
                f"{'longer' if difference > 0.0 else 'shorter'} "
                f"than the {display_name(right)}. Check the labels and locations of "
                f"{', '.join(evidence.markers_near(left))}"
            )
    return messages[:MAX_WARNINGS]


def _mm(length: float) -> str:
    return f"{1e3 * length:.0f} mm"
