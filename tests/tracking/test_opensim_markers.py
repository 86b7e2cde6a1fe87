"""Laws of tracking an OpenSim model by its own markers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import solver
from solver.cli import main
from solver.rigs.opensim.document import OpenSimModel, read_opensim
from solver.rigs.opensim.joint_poses import body_poses
from solver.tracking.opensim_markers import coordinates_from_markers
from solver.values.motion import Markers
from tests.rigs.opensim_files import AT, FREE, KNEE, WIDE, Link, Model

FRAMES = 40
CORNERS = ("0.1 0 0.05", "0 0.1 -0.1", "-0.1 0.02 0", "0.03 -0.1 0.1")
COUPLER = (
    '<CoordinateCouplerConstraint name="c"><coupled_coordinates_function><LinearFunction><coefficients>0.5 0.1'
    "</coefficients></LinearFunction></coupled_coordinates_function><independent_coordinate_names>bend"
    "</independent_coordinate_names><dependent_coordinate_name>lag</dependent_coordinate_name>"
    "</CoordinateCouplerConstraint>"
)
LOCKED = "<default_value>0.25</default_value><locked>true</locked>"
LINKS = (
    Link("pelvis", "ground", "FreeJoint", FREE, states=WIDE),
    Link("thigh", "pelvis", "GimbalJoint", ("h1", "h2", "h3"), AT),
    Link("shank", "thigh", "CustomJoint", ("bend",), AT, inside=KNEE),
    Link("kneecap", "thigh", "PinJoint", ("lag",), AT),
    Link("foot", "shank", "PinJoint", ("fixed",), AT, states=LOCKED),
    Link("toe", "foot", "PinJoint", ("unseen",), AT),
)
MARKERS = tuple(
    (f"{body}{k}", body, corner) for body in ("pelvis", "thigh", "shank", "kneecap") for k, corner in enumerate(CORNERS)
)


@pytest.fixture
def model(tmp_path: Path) -> OpenSimModel:
    """A leg with a moving knee axis, a follower, a locked joint, and a toe without markers."""
    path = tmp_path / "leg.osim"
    path.write_text(Model(LINKS, COUPLER, MARKERS).text(4))
    return read_opensim(path)


def swing(model: OpenSimModel) -> dict[str, np.ndarray]:
    """Coordinates of a large motion that turns around once."""
    times = np.linspace(0.0, 1.0, FRAMES)
    values = {name: np.zeros(FRAMES) for name in model.coordinates}
    for k, name in enumerate(("rx", "rz", "tx", "ty", "tz", "h1", "h2", "h3", "bend")):
        values[name] = 0.8 * np.sin((3.0 + 0.6 * k) * times + k)
    values["ry"] = np.linspace(0.0, 2.0 * np.pi, FRAMES)
    values["lag"], values["fixed"] = 0.5 * values["bend"] + 0.1, np.full(FRAMES, 0.25)
    return values


def place(model: OpenSimModel, values: dict[str, np.ndarray]) -> np.ndarray:
    """Positions (N, M, 3) [m] of the model's markers."""
    poses = body_poses(model, values)
    found = [poses.positions[body] + poses.rotations[body] @ offset for body, offset in model.markers.values()]
    return np.stack(found, axis=1)


def record(model: OpenSimModel, positions: np.ndarray) -> Markers:
    """As recorded."""
    return Markers(0.01 * np.arange(len(positions)), tuple(model.markers), positions)


def test_coordinates_that_moved_the_markers_are_found(model: OpenSimModel) -> None:
    """With a moving axis, a follower and a full turn; a locked coordinate and an unseen one keep their defaults."""
    values = swing(model)
    found = coordinates_from_markers(model, record(model, place(model, values)))
    assert np.abs(found.residuals).max() < 1e-6
    assert found.undetermined == ("unseen",)
    for name in set(values) - {"ry"}:
        assert found.values[name] == pytest.approx(values[name], abs=1e-5), name
    assert np.exp(1j * found.values["ry"]) == pytest.approx(np.exp(1j * values["ry"]), abs=1e-5)


def test_noisy_markers_give_the_least_sum_of_squares(model: OpenSimModel) -> None:
    """No small change of any free coordinate, within its range, brings the markers nearer."""
    generator = np.random.default_rng(3)
    measured = place(model, swing(model)) + 0.01 * generator.standard_normal((FRAMES, len(MARKERS), 3))
    measured[5:15, 6] = np.nan
    found = coordinates_from_markers(model, record(model, measured))

    def error(values: dict[str, np.ndarray]) -> np.ndarray:
        values = values | {"lag": 0.5 * values["bend"] + 0.1}
        return np.asarray(np.nansum((measured - place(model, values)) ** 2, axis=(1, 2)))

    least = error(found.values)
    for name in (*FREE, "h1", "h2", "h3", "bend"):
        for step in (-1e-3, 1e-3):
            assert (error(found.values | {name: found.values[name] + step}) > least).all()


def test_clamped_coordinates_stay_within_their_ranges(model: OpenSimModel) -> None:
    """Markers of a knee bent beyond its range leave it at the bound, which others need not reach."""
    values = swing(model)
    values["bend"] = np.linspace(1.5, 2.4, FRAMES)
    values["lag"] = 0.5 * values["bend"] + 0.1
    found = coordinates_from_markers(model, record(model, place(model, values)))
    assert found.values["bend"].max() == 2.0
    inside = values["bend"] < 2.0
    assert found.values["bend"][inside] == pytest.approx(values["bend"][inside], abs=1e-5)


def test_frames_with_too_few_markers_take_the_nearest_pose(model: OpenSimModel) -> None:
    """They are not solved; names may differ in capitals and by a subject's prefix."""
    measured = place(model, swing(model))
    measured[10:13, 3:] = np.nan
    markers = Markers(0.01 * np.arange(FRAMES), tuple(f"Ann:{name.upper()}" for name in model.markers), measured)
    found = coordinates_from_markers(model, markers)
    assert np.flatnonzero(~found.solved).tolist() == [10, 11, 12]
    assert found.values["bend"][10] == found.values["bend"][9]
    assert found.values["bend"][12] == found.values["bend"][13]


@pytest.mark.parametrize(
    ("names", "count", "message"),
    [
        (("a", "b"), 16, "none of the 16 markers.*name the recorded markers as the model does"),
        (("pelvis0", "b"), 16, "too few.*name the recorded markers as the model does"),
        (("a", "b"), 0, "has no markers; place them on the model"),
    ],
)
def test_markers_of_another_set_are_refused(
    model: OpenSimModel, names: tuple[str, ...], count: int, message: str
) -> None:
    """The error says how many are missing, and what to do."""
    other = replace(model, markers=dict(list(model.markers.items())[:count]))
    with pytest.raises(solver.InvalidValue, match=message):
        coordinates_from_markers(other, Markers(np.arange(3) / 100.0, names, np.zeros((3, 2, 3))))


def test_a_model_is_tracked_by_the_command_line(
    model: OpenSimModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a marker file alone, with the error of each marker."""
    measured = place(model, swing(model))
    out = tmp_path / "out"
    write_trc(tmp_path / "swing.trc", tuple(model.markers), measured)
    files = [str(model.path), str(tmp_path / "swing.trc"), "--up", "z", "--progress", "none"]
    assert main(["track", *files, "--output", str(out)]) == 0
    printed = capsys.readouterr()
    assert "no marker shows unseen" in printed.err
    assert "swing" in printed.out
    assert (out / "swing.motion.npz").exists()


def write_trc(path: Path, names: tuple[str, ...], positions: np.ndarray) -> None:
    """A file of markers at 100 Hz."""
    head = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"100\t100\t{len(positions)}\t{len(names)}\tm\t100\t1\t{len(positions)}",
        "Frame#\tTime\t" + "\t\t\t".join(names),
        "\t\t" + "\t".join(f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ"),
        "",
    ]
    rows = [
        "\t".join([str(k + 1), f"{0.01 * k:.2f}", *(f"{value:.9f}" for value in frame.ravel())])
        for k, frame in enumerate(positions)
    ]
    path.write_text("\n".join([*head, *rows]) + "\n")
