"""Subject calibration: simulated people whose joints are known, and real recordings whose joints are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue
from solver.calibration import Calibration, fit_calibration, load_marker_set
from solver.calibration.calibration import weight_by_mass
from solver.calibration.fit import CalibrationFrame, SubjectFit
from solver.calibration.marker_set import MarkerSet
from solver.calibration.subject import is_static
from solver.dynamics import integrate
from solver.formats.trc import read_trc
from solver.rigs import human
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.tracking import Attachment, track_markers
from solver.values.motion import Markers
from solver.values.person import TRUNK_AND_LEGS
from tests.simulated_walk import HEIGHT, simulated_walker
from tests.tracking.bodies import seen_from, swinging

MARKER_SET = "bony_landmarks"


def subject(stature: float, name: str = MARKER_SET) -> tuple[Rig, list[Attachment], MarkerSet]:
    """A person of other proportions than the table's, with markers exactly on the landmarks of the set."""
    default = human(stature, 70.0, "male")
    marker_set = load_marker_set(name)
    joints = {link: default.joints[default.index(link)].position for link in default.links}
    joints = {link: np.array(centre) for link, centre in joints.items()}
    for side in ("left", "right"):
        joints[f"{side}_shank"][2] *= 1.04
        joints[f"{side}_foot"][2] *= 0.96
        joints[f"{side}_forearm"][2] *= 1.05
    attachments = [
        Attachment(name, place.link, place.position(joints, stature), anatomical=True)
        for name, place in marker_set.locations.items()
    ]
    overrides = {link: centre.tolist() for link, centre in joints.items() if link not in ("pelvis", "torso")}
    return human(stature, 70.0, "male", joints=overrides), attachments, marker_set


def recordings_of(rig: Rig, attachments: list[Attachment], scale: float = 1.0) -> list[Recording]:
    """Standing for 0.3 s, then moving for 2 s, with 1 mm of noise."""
    rng = np.random.default_rng(7)
    standing = seen_from(rig, attachments, np.repeat(rig.neutral[None], 30, axis=0))
    moving = seen_from(rig, attachments, swinging(rig, 200, amplitude=0.4))
    noisy = []
    for name, markers, size in (("static", standing, 1.0), ("moving", moving, scale)):
        noise = 1e-3 * rng.normal(size=markers.positions.shape) * (name == "moving")
        noisy.append(Recording(name, Markers(markers.times, markers.names, size * (markers.positions + noise))))
    return noisy


@pytest.fixture(scope="module")
def calibrated() -> tuple[Rig, list[Attachment], Calibration]:
    rig, attachments, _ = subject(1.8)
    recordings = recordings_of(rig, attachments)
    return rig, attachments, fit_calibration(recordings, mass=70.0, sex="male", height=1.8)


def test_limb_lengths_are_recovered(calibrated: tuple[Rig, list[Attachment], Calibration]) -> None:
    """Shanks 4 % shorter and upper arms 5 % longer than the table's come out within 5 mm."""
    rig, _, found = calibrated
    for link in ("shank", "upper_arm"):
        for side in ("left", "right"):
            child = {"shank": "foot", "upper_arm": "forearm"}[link]
            true = np.linalg.norm(rig.joints[rig.index(f"{side}_{child}")].position)
            assert found.lengths[f"{side}_{link}"] == pytest.approx(true, abs=0.005)


def test_weights_grow_with_the_mass_per_marker(calibrated: tuple[Rig, list[Attachment], Calibration]) -> None:
    """Weights keep their sum, a link weighs more the heavier it is beside the number of its markers, and a marker that
    is left out stays so."""
    rig, _, found = calibrated
    alike = [replace(attachment, weight=1.0) for attachment in found.attachments]
    again = weight_by_mass(rig, [*alike, replace(alike[0], marker="left out", weight=0.0)])
    assert sum(each.weight for each in again) == pytest.approx(len(alike))
    assert again[-1].weight == 0.0
    order = np.argsort([rig.prior.masses[rig.index(a.link)] / sum(b.link == a.link for b in alike) for a in alike])
    assert np.all(np.diff(np.array([each.weight for each in again])[order]) >= -1e-12)
    assert again[order[-1]].weight > 1.5 * again[order[0]].weight


def test_stature_is_estimated_when_unknown() -> None:
    """Without a height the segment lengths give it within 4 cm."""
    rig, attachments, _ = subject(1.62)
    found = fit_calibration(recordings_of(rig, attachments)[:1], mass=70.0, sex="male")
    assert found.height == pytest.approx(1.62, abs=0.04)


def test_two_subjects_cause_a_warning() -> None:
    """A second recording of a person 7 % larger causes a warning, and most of the difference is found."""
    rig, attachments, _ = subject(1.75)
    found = fit_calibration(recordings_of(rig, attachments, scale=1.07), mass=70.0, sex="male", height=1.75)
    assert any("different subjects" in warning for warning in found.warnings)
    assert 1.04 < found.size_ratios["moving"] / found.size_ratios["static"] < 1.09


def test_the_equations_are_the_derivatives_of_the_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Along any curve of joint centres, marker places and poses, first and second differences of the cost are those of
    the exact equations. Starts a third and half a radian off end in one minimum, the nearer one after six steps.
    """
    rig, attachments, _ = subject(1.7)
    links, rng = np.array([rig.index(a.link) for a in attachments]), np.random.default_rng(8)
    q = swinging(rig, 40)[::10]
    positions = seen_from(rig, attachments, q).positions + 0.01 * rng.normal(size=(4, len(links), 3))
    positions[1, 3] = np.nan
    size = 3 * (len(rig.links) - 1 + len(links))
    information = 1e4 * np.eye(size)
    fit = SubjectFit(rig, links, information, np.zeros(size), 0.0)
    start = fit.stack_unknowns(np.array([a.position for a in attachments]))
    fit.information_vector, fit.constant = information @ start, float(start @ information @ start)
    samples = [CalibrationFrame(p, 0.02, configuration) for p, configuration in zip(positions, q)]

    def cost(step: np.ndarray, turns: np.ndarray, share: float) -> float:
        turned = [replace(s, q=integrate(rig, s.q, share * turn)) for s, turn in zip(samples, turns)]
        return fit.cost(start + share * step, turned)

    usual, fit.posture_stiffness = fit.posture_stiffness, 0.0  # whose second derivative is not exact
    blocks = fit.linearise(samples, fit.set_joint_centres(start), exact=True).build_equations(fit.unknowns, exact=True)
    for _ in range(3):
        step, turns = rng.normal(size=size), rng.normal(size=(4, rig.nv))
        below, here, above = (cost(step, turns, share) for share in (-1e-5, 0.0, 1e-5))
        slope = step @ blocks.theta_gradient + (turns * blocks.cross[:, :, -1]).sum()
        bend = step @ (blocks.theta_hessian + information) @ step + np.einsum(
            "fi,fij,fj->", turns, blocks.pose_hessian, turns
        )
        bend += 2.0 * np.einsum("fi,fit,t->", turns, blocks.cross[:, :, :-1], step)
        assert (above - below) / 2e-5 == pytest.approx(-2.0 * slope, rel=1e-4)
        assert (above - 2.0 * here + below) / 1e-10 == pytest.approx(2.0 * bend, rel=1e-4)
    fit.posture_stiffness = usual
    steps: list[str] = []
    linearise = fit.linearise
    monkeypatch.setattr(
        fit,
        "linearise",
        lambda *rest, exact: (steps.append("ge"[exact]), linearise(*rest, exact=exact))[1],  # type: ignore[func-returns-value]
    )
    ends = []
    for size_of_turn, seed in ((0.3, 0), (0.5, 1)):
        rng = np.random.default_rng(seed)
        far = [replace(s, q=integrate(rig, s.q, size_of_turn * rng.normal(size=rig.nv))) for s in samples]
        ends.append(fit.solve(start + 0.02 * rng.normal(size=size), far)[1])
    assert ends == pytest.approx([82.66816, 82.66816], abs=1e-5)
    assert "".join(steps[:6]) == "ggggee"
    assert len(steps) - 6 < 30  # the second passes a saddle point, with damping


def test_unknown_markers_cause_a_warning() -> None:
    """A marker in no set causes a warning; the calibration goes on without it."""
    rig, attachments, _ = subject(1.75)
    static = recordings_of(rig, attachments)[0]
    assert static.markers is not None
    positions = np.concatenate([static.markers.positions, np.ones((len(static.markers), 1, 3))], axis=1)
    markers = Markers(static.markers.times, (*static.markers.names, "wand"), positions)
    found = fit_calibration([Recording("static", markers)], mass=70.0, sex="male", height=1.75)
    assert any("wand" in warning for warning in found.warnings)
    assert "wand" not in {a.marker for a in found.attachments}


def without(recordings: list[Recording], *links: str) -> list[Recording]:
    """The same recordings, without the markers on some links."""
    places = load_marker_set(MARKER_SET).locations
    result = []
    for recording in recordings:
        markers = recording.markers
        kept = [k for k, name in enumerate(markers.names) if places[name].link not in links]
        names = tuple(markers.names[k] for k in kept)
        result.append(Recording(recording.name, Markers(markers.times, names, markers.positions[:, kept])))
    return result


@pytest.mark.parametrize("link", TRUNK_AND_LEGS)
def test_a_link_of_trunk_or_legs_without_markers_is_an_error(link: str) -> None:
    """Without any marker on a link of the trunk or the legs there is no calibration; the error names the link."""
    rig, attachments, _ = subject(1.75)
    recordings = without(recordings_of(rig, attachments)[:1], link)
    with pytest.raises(InputError, match=rf"no marker is known on {link} \("):
        fit_calibration(recordings, mass=70.0, sex="male", height=1.75)


def test_head_and_arms_may_have_no_markers() -> None:
    """Head, arms and hands may go without markers: they are fixed to the prior."""
    rig, attachments, _ = subject(1.75)
    recordings = without(recordings_of(rig, attachments)[:1], "head", "left_forearm", "right_hand")
    assert fit_calibration(recordings, mass=70.0, sex="male", height=1.75).rmse < 0.01


def test_no_markers_no_calibration() -> None:
    """Recordings of forces alone cannot be calibrated on."""
    with pytest.raises(InvalidValue, match="markers"):
        fit_calibration([Recording("forces only")], mass=70.0, sex="male")


def test_the_sex_is_one_of_the_tables_or_unknown() -> None:
    """Any other word is refused with the choices, whether the height is stated or not."""
    for height in (None, 1.75):
        with pytest.raises(InvalidValue, match="'male' or 'female' or 'unknown', not 'man'"):
            fit_calibration([Recording("forces only")], mass=70.0, sex="man", height=height)


def test_a_static_trial_carries_over_to_a_walk() -> None:
    """Calibrated on standing alone, a simulated person's walk is tracked within 5 mm, the height within 5 cm."""
    walker = simulated_walker()
    found = fit_calibration(walker.recordings[:1], mass=walker.rig.prior.total_mass, sex="male")
    assert found.height == pytest.approx(HEIGHT, abs=0.05)
    markers = walker.recordings[1].markers
    thinned = Markers(markers.times[::4], markers.names, markers.positions[::4])
    assert track_markers(found.rig, found.attachments, thinned).rmse < 0.005


def test_real_static_trial_carries_over_to_squats_and_jumps(shared_data: Path) -> None:
    """Calibrated on standing alone, the real subject's squats stay within 15 mm and the drop jump within 25 mm."""
    folder = shared_data / "subject_a" / "markers"
    found = fit_calibration([Recording("static1", read_trc(folder / "static1.trc")[0])], mass=63.5, sex="female")
    assert 1.5 < found.height < 1.85
    assert not any(name.endswith("HJC") for name in found.marker_errors)
    for name, bound in (("squats1", 0.015), ("DJ1", 0.025)):
        markers = read_trc(folder / f"{name}.trc")[0]
        thinned = Markers(markers.times[::4], markers.names, markers.positions[::4])
        tracked = track_markers(found.rig, found.attachments, thinned)
        assert tracked.rmse < bound
        assert not any("HJC" in marker for marker in tracked.names)


def test_a_static_trial_is_recognised_despite_camera_noise() -> None:
    """Two millimetres of noise move a marker at 0.4 m/s; standing is recognised as static, slow swaying is not."""
    rng = np.random.default_rng(3)
    times = np.arange(200) / 100.0
    place = rng.normal(size=(1, 12, 3)) + 2e-3 * rng.normal(size=(200, 12, 3))
    names = tuple(f"m{index}" for index in range(12))
    swaying = place + (0.1 * np.sin(2.0 * np.pi * 0.5 * times))[:, None, None]
    assert is_static(Markers(times, names, place))
    assert not is_static(Markers(times, names, swaying))


@pytest.mark.parametrize("write", [str.lower, "Subject01:{}".format, "Subject01_{}".format])
def test_trials_may_write_marker_names_differently(write: Callable[[str], str]) -> None:
    """A moving trial in other capitals, or behind a subject's name, fits and is tracked as if all wrote alike."""
    rig, attachments, marker_set = subject(1.75)
    still, moving = recordings_of(rig, attachments)
    names = [write(name) for name in moving.markers.names]
    other = Markers(
        moving.markers.times,
        ("*100", *names),
        np.concatenate([moving.markers.positions[:, :1] + 0.3, moving.markers.positions], axis=1),
    )
    usual = fit_calibration([still, moving], mass=70.0, sex="male", height=1.75, marker_set=marker_set)
    for given in ([still, Recording("moving", other)], [Recording("moving", other), still]):
        found = fit_calibration(given, mass=70.0, sex="male", height=1.75, marker_set=marker_set)
        assert len(found.attachments) == len(attachments)
        assert abs(found.lengths["left_thigh"] - usual.lengths["left_thigh"]) < 1e-3
        tracked = track_markers(found.rig, found.attachments, other)
        assert tracked.rmse < 0.005
        assert [text for text in tracked.warnings if "not attached" in text] == [
            "1 recorded markers are not attached and are not used: *100"
        ]
    with pytest.raises(
        InvalidValue, match=r"none of the recorded markers \(M0, M1\) is attached .*, whose markers are"
    ):
        track_markers(found.rig, found.attachments, Markers(other.times, ("M0", "M1"), other.positions[:, :2]))
