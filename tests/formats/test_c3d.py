"""C3D files: all plate types by hand-computed wrenches, the real files, and damaged ones."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.faults.c3d import compare_readers
from solver.base.errors import InputError
from solver.formats.axes_and_units import to_z_up
from solver.formats.c3d import read_c3d
from solver.formats.c3d_channels import find_plateau
from solver.formats.c3d_format import read_c3d_data
from solver.formats.c3d_plates import read_platforms
from solver.formats.force_plates import ForcePlate
from solver.formats.recording import read_recording
from solver.formats.wrench_checks import centres_of_pressure
from solver.options.reading import ReadOptions
from solver.signals import resample
from tests.formats.c3d_files import COUNTERS, LAYOUTS, LONG, MIPS, Layout, counted_file, laid_out, long_file, meant
from tests.formats.recording_files import FRAMES, MARKERS, RATE, STANDING, c3d_bytes, to_y_up

# A plate 0.6 m by 0.4 m whose z axis points down, in millimetres; its centre at (0.1, -0.1, 0).
CORNERS = np.array([[400.0, 100.0, 0.0], [-200.0, 100.0, 0.0], [-200.0, -300.0, 0.0], [400.0, -300.0, 0.0]])
CORNERS_DOWN = CORNERS[[3, 2, 1, 0]]
CENTRE = np.array([0.1, -0.1, 0.0])
TO_PLATE = np.diag([1.0, -1.0, -1.0])
"""World axes to the axes of that plate."""
FORCE, POINT, FREE = np.array([20.0, -10.0, 690.0]), np.array([0.15, -0.05, 0.0]), 1.2
VERTICAL = np.array([0.0, 0.0, 1.0])
WRENCH = np.concatenate([FORCE, np.cross(POINT, FORCE) + FREE * VERTICAL])
DEPTH, HALF_X, HALF_Y = 0.04, 0.2, 0.12


def plates_of(path: Path) -> tuple[ForcePlate, ...]:
    """Geometry of the plates of a file in millimetres."""
    return read_platforms(path, read_c3d_data(path).parameters, 1e-3).plates


def plate_axes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, moment about the centre of the surface and centre of pressure in plate axes [N, N m, m]."""
    moment = np.cross(POINT - CENTRE, FORCE) + FREE * VERTICAL
    return TO_PLATE @ FORCE, TO_PLATE @ moment, TO_PLATE @ (POINT - CENTRE)


def channels(kind: int) -> tuple[np.ndarray, np.ndarray, list[str], dict[str, object]]:
    """Channels of that load in file units, ORIGIN [mm], units, further parameters."""
    force, moment, point = plate_axes()
    if kind == 1:
        return (
            np.array([*force, *(1000.0 * point[:2]), 1000.0 * -FREE]),
            np.zeros(3),
            ["N"] * 3 + ["mm"] * 2 + ["Nmm"],
            {},
        )
    sensor = np.array([0.002, -0.001, DEPTH])  # below the surface: along the plate's own z, which points down
    at_sensor = moment - np.cross(sensor, force)
    units = ["N"] * 3 + ["Nmm"] * 3
    if kind == 2:
        return np.array([*force, *(1000.0 * at_sensor)]), 1000.0 * sensor, units, {}
    if kind == 4:
        calibration = np.eye(6) * [2.0, 3.0, 4.0, 500.0, 600.0, 700.0] + 0.01 * np.arange(36).reshape(6, 6)
        raw = np.linalg.solve(calibration, np.array([*force, *(1000.0 * at_sensor)]))
        return raw, 1000.0 * sensor, ["V"] * 6, {"CAL_MATRIX": calibration[:, :, None].astype(float)}
    shifted = moment - np.cross([0.0, 0.0, DEPTH], force)
    share = np.linalg.lstsq(
        np.array([[1, 1, 1, 1], [HALF_Y, HALF_Y, -HALF_Y, -HALF_Y], [-HALF_X, HALF_X, HALF_X, -HALF_X]]),
        np.array([force[2], shifted[0], shifted[1]]), rcond=None,
    )[0]  # fmt: skip
    twist = 0.5 * (shifted[2]) / HALF_X
    pairs = [0.5 * force[0], 0.5 * force[0], 0.5 * force[1] + twist, 0.5 * force[1] - twist]
    return np.array([*pairs, *share]), 1000.0 * np.array([HALF_X, HALF_Y, DEPTH]), ["N"] * 8, {}


def plate_file(
    path: Path,
    kind: int,
    *,
    sign: float = 1.0,
    processor: int = 84,
    zero: tuple[int, int] = (1, 0),
    up: str = "z",
    frames: int = FRAMES,
) -> Path:
    """Someone standing still on one plate, ten samples a frame; the laboratory's vertical axis is z or y."""
    values, origin, units, more = channels(kind)

    def turned(vectors: np.ndarray) -> np.ndarray:
        return to_y_up(vectors) if up == "y" else np.asarray(vectors)

    points = np.ones((frames, len(MARKERS), 4))
    points[:, :, :3] = 1000.0 * turned(STANDING)
    points[:, :, 3] = 0.0
    points[4:5, 2, 3] = -1.0
    signs = np.full(len(values), sign)
    if kind == 1:
        signs[3:5] = 1.0  # where the push acts does not depend on who pushes whom
    analogs = np.tile(signs * values, (frames, 10, 1))
    count = len(values)
    groups: dict[str, dict[str, object]] = {
        "POINT": {"USED": [len(MARKERS)], "SCALE": np.array([-1.0]), "RATE": np.array([RATE]), "UNITS": "mm",
                  "LABELS": [f"Someone:{name}" for name in MARKERS], "X_SCREEN": "+X", "Y_SCREEN": f"+{up.upper()}"},
        "ANALOG": {"USED": [count], "GEN_SCALE": np.array([1.0]), "RATE": np.array([10.0 * RATE]),
                   "SCALE": np.ones(count), "OFFSET": np.zeros(count, int), "UNITS": units},
        "FORCE_PLATFORM": {"USED": [1], "TYPE": [kind], "CORNERS": turned(CORNERS_DOWN).T[:, :, None],
                           "ZERO": list(zero),
                           "ORIGIN": origin[:, None], "CHANNEL": np.arange(1, count + 1)[:, None], **more},
        "PROCESSING": {"Bodymass": np.array([70.5]), "Height": np.array([1750.0])},
    }  # fmt: skip
    integers = {"USED", "TYPE", "ZERO"}
    ready = {g: {n: np.array(v) if n in integers else v for n, v in ps.items()} for g, ps in groups.items()}
    path.write_bytes(c3d_bytes(ready, points, analogs, processor))
    return path


def test_one_frame_of_a_standing_person_is_a_recording(tmp_path: Path) -> None:
    """A static trial of one frame has its markers, no forces, and a warning that it is not tracked."""
    whole, one = (read_recording(plate_file(tmp_path / f"{n}.c3d", 2, frames=n)) for n in (FRAMES, 1))
    assert whole.wrenches is not None
    assert one.wrenches is None
    np.testing.assert_array_equal(one.markers.positions[0], whole.markers.positions[0])
    assert any("one frame calibrates a body" in warning for warning in one.warnings)


@pytest.mark.parametrize(("processor", "up"), [(84, "z"), (85, "z"), (84, "y")])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_every_plate_type_gives_the_wrench_by_hand(tmp_path: Path, kind: int, processor: int, up: str) -> None:
    """The same push measured by plates of type 1 to 4 is the same wrench about the world origin, on Intel and DEC, and
    in a laboratory whose y axis points up. Its centre of pressure is where the foot pushes, between the corners.
    """
    content = read_c3d(plate_file(tmp_path / "plate.c3d", kind, processor=processor, up=up))
    assert content.up == up
    np.testing.assert_allclose(content.markers.positions[0], STANDING, atol=1e-6)
    np.testing.assert_allclose(content.wrenches.values[:, 0], np.tile(WRENCH, (10 * FRAMES, 1)), rtol=2e-5, atol=2e-4)
    assert content.wrenches.rate == pytest.approx(10.0 * RATE)
    points = centres_of_pressure(content.wrenches)  # type: ignore[arg-type]
    np.testing.assert_allclose(points[:, 0], np.tile(POINT, (len(points), 1)), atol=1e-5)
    corners = plates_of(tmp_path / "plate.c3d")[0].corners @ to_z_up(up).T
    assert (corners[:, :2].min(axis=0) < POINT[:2]).all()
    assert (POINT[:2] < corners[:, :2].max(axis=0)).all()


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_action_is_turned_into_reaction(tmp_path: Path, kind: int) -> None:
    """A plate that recorded the push on itself gives the push on the body, and says so; a stated sign is obeyed."""
    messages: list[str] = []
    path = plate_file(tmp_path / "action.c3d", kind, sign=-1.0)
    content = read_c3d(path, warn=messages.append)
    np.testing.assert_allclose(content.wrenches.total[0], WRENCH, rtol=2e-5, atol=2e-4)
    assert any("reaction" in message for message in messages)
    with pytest.raises(InputError, match="sign is reversed"):
        read_c3d(plate_file(tmp_path / "reaction.c3d", kind), ReadOptions(forces_on_plates=True))


def test_moments_in_another_unit_than_stated_are_not_used(tmp_path: Path) -> None:
    """Newton metres labelled newton millimetres would gather all load at the sensor's axis: reported, not measured."""
    messages: list[str] = []
    path = plate_file(tmp_path / "honest.c3d", 2)
    honest = read_c3d(path, warn=messages.append).wrenches
    assert honest.measured.all()
    assert not messages
    groups = path.read_bytes()
    path = tmp_path / "labelled.c3d"
    values, _, _, _ = channels(2)
    small = np.array([*values[:3], *(values[3:] / 1000.0)])
    path.write_bytes(groups.replace(values.astype("<f4").tobytes(), small.astype("<f4").tobytes()))
    content = read_c3d(path, warn=messages.append).wrenches
    assert content.measured[:, :3].all()
    assert not content.measured[:, 3:].any()
    assert [words for words in messages if "plate_1" in words and "ANALOG:UNITS" in words]


def test_markers_metadata_and_clock(tmp_path: Path) -> None:
    """Millimetres become metres, a negative residual a gap, the subject's prefix goes, mass and height stay."""
    content = read_c3d(plate_file(tmp_path / "a.c3d", 2))
    markers = content.markers
    assert markers.names == MARKERS
    np.testing.assert_allclose(markers.positions[0], STANDING, atol=1e-6)
    assert np.argwhere(~markers.seen).tolist() == [[4, 2]]
    assert dict(content.metadata) == {"mass": pytest.approx(70.5), "height": pytest.approx(1.75)}


def test_a_zero_taken_under_load_is_not_taken_off(tmp_path: Path) -> None:
    """FORCE_PLATFORM:ZERO must not remove the weight of someone who is on the plate throughout."""
    messages: list[str] = []
    content = read_c3d(plate_file(tmp_path / "zero.c3d", 2, zero=(1, 3)), warn=messages.append)
    np.testing.assert_allclose(content.wrenches.total[0, :3], FORCE, rtol=1e-5)
    assert any("zero" in message for message in messages)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda whole: whole.replace(b"\x02\x50", b"\x02\x51", 1), "not a C3D file"),
        (lambda whole: whole, None),
        (lambda whole: whole.replace(b"OFFSET", b"OFFSEX", 1), "ANALOG:OFFSET"),
        (lambda whole: whole.replace(b"GEN_SCALE", b"GEN_SCALX", 1), "GEN_SCALE"),
        (lambda whole: whole.replace(b"Nmm", b"Nqq", 1), None),
        (lambda whole: bytes([200]) + whole[1:], "damaged.c3d"),  # parameters beyond the end
        (lambda whole: bytes([0]) + whole[1:], "damaged.c3d"),  # no parameters
        (lambda whole: b"", "damaged.c3d"),
        (lambda whole: whole[:512], "damaged.c3d"),  # a header alone
        (
            lambda whole: whole.replace(b"RATE", b"RATE\xff\x7f", 1),
            "damaged.c3d",
        ),  # a record that leads out of its section
    ],
)
def test_damaged_records_are_refused(tmp_path: Path, damage: Callable[[bytes], bytes], words: str | None) -> None:
    """What is lost is one error that names the file and says what to do; harmless changes are read."""
    path = plate_file(tmp_path / "damaged.c3d", 2)
    path.write_bytes(damage(path.read_bytes()))
    if words is None:
        assert read_c3d(path).markers is not None
        return
    with pytest.raises(InputError, match=words) as caught:
        read_c3d(path)
    assert caught.value.path == path
    assert caught.value.remedy


Change = Callable[[dict[str, dict[str, object]]], None]


def two_plates(path: Path, second: np.ndarray, change: Change = lambda groups: None, markers: bool = True) -> Path:
    """Someone on the first of two plates of type 2; the second one holds vertical forces (N,) [N] and is changed."""
    values, origin, units, _ = channels(2)
    other = np.zeros((len(second), 6))
    other[:, 2] = second
    analogs = np.concatenate([np.tile(values, (len(second), 1)), other], axis=1).reshape(FRAMES, -1, 12)
    points = np.zeros((FRAMES, len(MARKERS) * markers, 4))
    points[:, :, :3] = 1000.0 * STANDING[: len(MARKERS) * markers]
    beside = CORNERS_DOWN + np.array([0.0, 500.0, 0.0])
    groups: dict[str, dict[str, object]] = {
        "POINT": {"USED": np.array([len(MARKERS) * markers]), "SCALE": np.array([-1.0]), "RATE": np.array([10.0]),
                  "UNITS": "mm", "LABELS": list(MARKERS)},
        "ANALOG": {"USED": np.array([12]), "GEN_SCALE": np.array([1.0]), "RATE": np.array([100.0]),
                   "SCALE": np.ones(12), "OFFSET": np.zeros(12, int), "UNITS": units * 2},
        "FORCE_PLATFORM": {"USED": np.array([2]), "TYPE": np.array([2, 2]),
                           "CORNERS": np.stack([CORNERS_DOWN.T, beside.T], axis=2),
                           "ORIGIN": np.stack([origin, origin], axis=1), "CHANNEL": np.arange(1, 13).reshape(2, 6).T},
    }  # fmt: skip
    change(groups)
    path.write_bytes(c3d_bytes(groups, points, analogs))
    return path


def test_loaded_plates_at_one_place_are_refused(tmp_path: Path) -> None:
    """Two plates with the same corners are named if both carry load; one that carries none costs nothing."""

    def stacked(groups: dict[str, dict[str, object]]) -> None:
        groups["FORCE_PLATFORM"]["CORNERS"] = np.stack([CORNERS_DOWN.T, CORNERS_DOWN.T], axis=2)

    assert read_c3d(two_plates(tmp_path / "idle.c3d", 0.0 * STEP, stacked)).wrenches is not None
    with pytest.raises(InputError, match="plate_1 and plate_2 cover the same place"):
        read_c3d(two_plates(tmp_path / "loaded.c3d", STEP, stacked))


def changed(name: str, value: Callable[[np.ndarray], object] | None) -> Change:
    """Replaces or removes a parameter of the plates."""

    def change(groups: dict[str, dict[str, object]]) -> None:
        old = groups["FORCE_PLATFORM"].pop(name)
        if value is not None:
            groups["FORCE_PLATFORM"][name] = value(np.array(old))

    return change


SECOND = np.array([1.0, 0.0])
BROKEN = {
    "corners in one point": changed("CORNERS", lambda c: np.where(SECOND, c, c[:, :1])),
    "corners in a line": changed("CORNERS", lambda c: c * np.stack([np.ones(3), [1.0, 0.0, 0.0]], axis=1)[:, None]),
    "a plate of half a millimetre": changed("CORNERS", lambda c: c * [1.0, 1e-3]),
    "no size": changed("CORNERS", lambda c: c * SECOND),
    "corners that are no numbers": changed("CORNERS", lambda c: np.where(SECOND, c, np.nan)),
    "corners of one plate": changed("CORNERS", lambda c: c[:, :, :1]),
    "origin of one plate": changed("ORIGIN", lambda c: c[:, :1]),
}
"""Ways to lose the geometry of the second plate."""
STEP = np.repeat([0.0, 400.0, 0.0], [30, 50, 10 * FRAMES - 80])


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plate_costs_what_it_carried_and_no_more(tmp_path: Path, kind: str) -> None:
    """Markers stay; free, the plate is left out; while it carries load no sample of the sum is a number."""
    whole = read_c3d(two_plates(tmp_path / "whole.c3d", 0.0 * STEP))
    for load in (0.0, 1.0):
        messages: list[str] = []
        content = read_c3d(two_plates(tmp_path / "broken.c3d", load * STEP, BROKEN[kind]), warn=messages.append)
        np.testing.assert_array_equal(content.markers.positions, whole.markers.positions)
        assert [plate.name for plate in plates_of(tmp_path / "broken.c3d")] == ["plate_1"]
        total = content.wrenches.total
        free = (load * STEP == 0.0) & ((load == 0.0) | (np.abs(np.arange(len(STEP)) - 54.5) > 31.0))
        np.testing.assert_array_equal(np.isnan(total).any(axis=1), ~free)  # and 6 samples on either side
        np.testing.assert_allclose(total[free], whole.wrenches.total[free], atol=1e-9)
        said = "62 of 110 samples around its loads are left out" if load else "never carried 20 N"
        assert any("plate_2 cannot be read" in words and said in words for words in messages)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (changed("TYPE", lambda t: np.array([2, 7])), "type 7"),
        (changed("TYPE", lambda t: np.array([2, 4])), "CAL_MATRIX|calibration"),
        (changed("CHANNEL", lambda c: c[:, :1]), "CHANNEL does not name"),
        (changed("CHANNEL", lambda c: c + np.array([0, 1])), "channel 13, the file has 12"),
        (changed("CHANNEL", None), "CHANNEL does not name"),
        (lambda groups: groups["ANALOG"].update(UNITS=["N"] * 8 + ["V"] + ["N"] * 3), "unit 'V'"),
    ],
)
def test_a_plate_of_unknown_load_takes_the_forces_and_leaves_the_markers(
    tmp_path: Path, change: Change, words: str
) -> None:
    """Of an unknown type, or without its channels, it may carry anything: no force is read, and why is reported."""
    messages: list[str] = []
    content = read_c3d(two_plates(tmp_path / "unknown.c3d", STEP, change), warn=messages.append)
    assert content.markers is not None
    assert content.wrenches is None
    assert any(re.search(f"{words}.*unknown: no forces", line) for line in messages)
    with pytest.raises(InputError, match=f"holds no markers.*({words})"):
        read_c3d(two_plates(tmp_path / "bare.c3d", STEP, change, markers=False), ReadOptions(up="z"))


def test_analog_parameters_continue_under_a_numbered_name(tmp_path: Path) -> None:
    """A file of more than 255 channels has the others' scales and offsets in SCALE2, OFFSET2: the same forces."""

    def split(groups: dict[str, dict[str, object]]) -> None:
        analog = groups["ANALOG"]
        for name, value in (("SCALE", np.ones(12)), ("OFFSET", np.zeros(12, int))):
            analog |= {name: value[:5], f"{name}2": value[5:9], f"{name}3": value[9:]}

    whole, parted = (
        read_c3d(two_plates(tmp_path / "a.c3d", STEP)),
        read_c3d(two_plates(tmp_path / "b.c3d", STEP, split)),
    )
    np.testing.assert_array_equal(parted.wrenches.values, whole.wrenches.values)


def test_an_idle_plate_of_unknown_type_costs_nothing(tmp_path: Path) -> None:
    """Channels that are zero throughout carry no load, whatever they mean."""
    change = changed("TYPE", lambda t: np.array([2, 7]))
    content = read_c3d(two_plates(tmp_path / "idle.c3d", 0.0 * STEP, change))
    np.testing.assert_allclose(content.wrenches.total[0], WRENCH, rtol=2e-5, atol=2e-4)


def test_a_channel_at_the_end_of_its_range_is_no_load(tmp_path: Path) -> None:
    """A jump cut flat at 300 N leaves the flat samples out and says so; the same jump below the range is untouched."""
    jump = 500.0 * np.maximum(np.sin(np.linspace(0.0, 3.0 * np.pi, 10 * FRAMES)), 0.0)
    messages: list[str] = []
    free = read_c3d(two_plates(tmp_path / "free.c3d", jump), warn=messages.append).wrenches
    cut = read_c3d(two_plates(tmp_path / "cut.c3d", np.minimum(jump, 300.0)), warn=messages.append).wrenches
    assert np.isfinite(free.total).all()
    flat = np.flatnonzero(jump > 300.0)
    beside = np.abs(np.arange(len(jump))[:, None] - flat).min(axis=1) <= 6  # 0.06 s at 100 Hz
    np.testing.assert_array_equal(np.isnan(cut.total).any(axis=1), beside)
    assert [line for line in messages if "end of a channel's range" in line and "plate_2" in line]


def test_random_damage_never_escapes_as_anything_but_an_input_error(tmp_path: Path) -> None:
    """Cut anywhere, or with bytes of header and parameters changed, a file is read or refused."""
    whole = plate_file(tmp_path / "whole.c3d", 4).read_bytes()
    dice, refused = random.Random(7), 0
    for _ in range(300):
        damaged = bytearray(whole[: dice.randrange(len(whole))] if dice.random() < 0.3 else whole)
        for _ in range(dice.randrange(1, 6)):
            damaged[dice.randrange(len(damaged[:2048]))] = dice.randrange(256)
        (tmp_path / "damaged.c3d").write_bytes(damaged)
        try:
            read_c3d(tmp_path / "damaged.c3d")
        except InputError:
            refused += 1
    assert 100 < refused < 300


@pytest.mark.parametrize(
    "name", ["type2", "type3", "type4", "plugin_gait_static", "plugin_gait_motion", "sprint_8plates"]
)
def test_our_reader_agrees_with_ezc3d(shared_data: Path, name: str) -> None:
    """Points, gaps, analog samples and first frame equal those of an independent reader, bit for bit.

    type1 is left out: there ezc3d skips the analog samples and takes them for points.
    """
    ezc3d = pytest.importorskip("ezc3d")
    path = shared_data / f"c3d/{name}.c3d"
    theirs, ours = ezc3d.c3d(str(path)), read_c3d_data(path)
    points = theirs["data"]["points"][:3].transpose(2, 1, 0)
    np.testing.assert_array_equal(np.isnan(ours.points()), np.isnan(points))
    np.testing.assert_allclose(np.nan_to_num(ours.points()), np.nan_to_num(points), rtol=1e-12)
    np.testing.assert_allclose(ours.analogs(), theirs["data"]["analogs"][0].T, rtol=1e-12)
    assert ours.frames.first == theirs["header"]["points"]["first_frame"] + 1


@pytest.mark.parametrize(
    "name", ["type1", "type2", "type4", "plugin_gait_static", "plugin_gait_motion", "sprint_8plates"]
)
def test_centres_of_pressure_lie_on_the_plates(shared_data: Path, name: str) -> None:
    """Where a real plate carries load, its centre of pressure lies inside its corners."""
    content = read_c3d(shared_data / f"c3d/{name}.c3d")
    assert content.wrenches is not None
    points = centres_of_pressure(content.wrenches)
    rotation = {"z": np.eye(3), "y": np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])}[content.up]
    loaded = np.flatnonzero((content.wrenches.values[:, :, 2] > 100.0).any(axis=0))
    assert loaded.size
    for k in loaded:
        on = points[:, k][np.isfinite(points[:, k]).all(axis=1), :2]
        assert len(on) > 10
        corners = (plates_of(shared_data / f"c3d/{name}.c3d")[k].corners @ rotation.T)[:, :2]
        inside = ((on > corners.min(axis=0) - 0.01) & (on < corners.max(axis=0) + 0.01)).all(axis=1)
        assert inside.mean() > 0.98


def test_plugin_gait_static_carries_the_mass_in_its_header(shared_data: Path) -> None:
    """Two plates together hold the 47.5 kg of the header to within 3 %."""
    content = read_c3d(shared_data / "c3d/plugin_gait_static.c3d")
    assert content.metadata["mass"] == pytest.approx(47.5)
    assert content.wrenches.total[:, 2].mean() / 9.81 == pytest.approx(47.5, rel=0.03)


@pytest.mark.parametrize("screen", ["+Z", "-Z"])
def test_no_body_is_read_upside_down(tmp_path: Path, screen: str) -> None:
    """Markers stay above the floor whatever the header says of the screen; a header that contradicts them is named."""
    path = plate_file(tmp_path / "screen.c3d", 2)
    content = path.read_bytes()
    assert content.count(b"+Z") == 1
    path.write_bytes(content.replace(b"+Z", screen.encode()))
    warnings: list[str] = []
    markers = read_c3d(path, warn=warnings.append).markers
    np.testing.assert_allclose(markers.positions[0], STANDING, atol=1e-6)
    assert any("by the header" in words for words in warnings) == (screen == "-Z")


def test_a_vertical_that_nothing_shows_has_to_be_stated(tmp_path: Path) -> None:
    """Eight nameless markers in a cube, without plates and header: an error with the option; stated, it is read."""
    corners = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    points = np.ones((FRAMES, 8, 4))
    points[:, :, :3], points[:, :, 3] = 1000.0 * corners, 0.0
    groups: dict[str, dict[str, object]] = {
        "POINT": {"USED": np.array([8]), "SCALE": np.array([-1.0]), "RATE": np.array([RATE]), "UNITS": "mm",
                  "LABELS": [f"P{k}" for k in range(8)]},
        "ANALOG": {"USED": np.array([0])},
    }  # fmt: skip
    path = tmp_path / "cube.c3d"
    path.write_bytes(c3d_bytes(groups, points, np.zeros((FRAMES, 1, 0))))
    with pytest.raises(InputError, match="--up"):
        read_c3d(path)
    markers = read_c3d(path, ReadOptions(up="y")).markers
    assert markers.positions.shape == (FRAMES, 8, 3)


def test_poses_of_segments_alone_are_not_called_damaged(tmp_path: Path) -> None:
    """A file of a markerless system: the error says what is there and what to export instead."""
    groups: dict[str, dict[str, object]] = {
        "POINT": {"USED": np.array([0]), "SCALE": np.array([-1.0]), "RATE": np.array([RATE]), "UNITS": "mm"},
        "ANALOG": {"USED": np.array([0])},
        "ROTATION": {"USED": np.array([1]), "RATE": np.array([RATE])},
    }
    path = tmp_path / "segments.c3d"
    path.write_bytes(c3d_bytes(groups, np.zeros((FRAMES, 0, 4)), np.zeros((FRAMES, 1, 0))))
    assert read_c3d_data(path).points().shape[1:] == (0, 3)
    with pytest.raises(InputError, match=r"neither markers nor plate forces.*poses of segments.*Export the markers"):
        read_c3d(path)


@pytest.mark.parametrize("kind", COUNTERS)
def test_every_frame_of_a_long_trial_is_read(tmp_path: Path, kind: str) -> None:
    """Counters of 16 bits end after five and a half minutes at 200 Hz; the trial does not."""
    points = read_c3d_data(long_file(tmp_path / "long.c3d", kind)).points()
    counted = points[:LONG, 0, 0]
    np.testing.assert_array_equal(counted, np.arange(LONG))
    assert len(points) - LONG < 512 // 16  # without any counter the padding of the last block looks like frames


def test_counters_that_contradict_the_size_are_refused(tmp_path: Path) -> None:
    """A wrapped counter alone would cut the trial to 4464 frames: the file's size says that there are more."""
    path = counted_file(tmp_path / "long.c3d", LONG & 0xFFFF, {})
    with pytest.raises(InputError, match=r"disagree.*4464.*by size"):
        read_c3d_data(path)
    path = counted_file(tmp_path / "short.c3d", 0xFFFF, {"POINT": {"LONG_FRAMES": np.array([LONG + 1000.0])}})
    with pytest.raises(InputError, match=r"only \d+ are present"):
        read_c3d_data(path)


@pytest.mark.parametrize("layout", LAYOUTS[::5], ids=str)
def test_every_layout_gives_what_was_written(tmp_path: Path, layout: Layout) -> None:
    """Processors, integers or reals, samples a frame, offsets and signs, every fifth of them."""
    path = tmp_path / "layout.c3d"
    path.write_bytes(laid_out(layout))
    content, (points, samples) = read_c3d_data(path), meant(layout)
    assert content.frames.first == layout.first
    np.testing.assert_allclose(content.points(), points, atol=2e-4)
    np.testing.assert_allclose(content.analogs(), samples, atol=5e-3)
    if layout.processor != MIPS:  # which the common library does not read
        pytest.importorskip("ezc3d")
        assert compare_readers(path) == "equal"


def test_frames_counted_from_zero_begin_at_zero_seconds(tmp_path: Path) -> None:
    """Some software numbers the first frame 0: it is the first all the same, not one frame before the start."""
    path = plate_file(tmp_path / "zero.c3d", 2)
    content = bytearray(path.read_bytes())
    content[6:10] = struct.pack("<HH", 0, FRAMES - 1)
    path.write_bytes(bytes(content))
    read = read_c3d(path)
    assert read.markers is not None
    assert len(read.markers) == FRAMES
    assert read.markers.times[0] == read.wrenches.times[0] == 0.0


def test_a_short_peak_beyond_the_range_is_not_bridged(tmp_path: Path) -> None:
    """Cut for 0.09 s, less than a gap that is bridged, it would come back as whatever a spline makes of its sides."""
    peak = np.clip(585.0 - 30.0 * np.abs(np.arange(10 * FRAMES) - 50.0), 0.0, 450.0)
    wrenches = read_c3d(two_plates(tmp_path / "peak.c3d", peak)).wrenches
    assert wrenches is not None
    assert (peak == 450.0).sum() == 9
    assert np.isnan(resample(wrenches, wrenches.times).total[peak == 450.0, 2]).all()


def test_two_rates_of_one_file_are_reported(tmp_path: Path) -> None:
    """The header's frame rate against POINT:RATE: the parameter counts, and the other is named."""
    path = two_plates(tmp_path / "rates.c3d", STEP)
    content = bytearray(path.read_bytes())
    for rate, count in ((10.0, 0), (20.0, 1), (0.0, 0), (np.nan, 0)):
        content[20:24] = struct.pack("<f", rate)
        path.write_bytes(content)
        messages: list[str] = []
        read = read_c3d(path, warn=messages.append)
        assert read.markers.rate == pytest.approx(10.0)
        assert sum("POINT:RATE" in line for line in messages) == count


def test_samples_are_as_fast_as_their_frames(tmp_path: Path) -> None:
    """Ten samples a frame at 10 Hz are 100 Hz: an ANALOG:RATE that says otherwise is reported and not used."""
    messages: list[str] = []

    def change(groups: dict[str, dict[str, object]]) -> None:
        groups["ANALOG"]["RATE"] = np.array([96.0])

    content = read_c3d(two_plates(tmp_path / "rate.c3d", STEP, change), warn=messages.append)
    assert content.wrenches.rate == pytest.approx(100.0)
    assert content.wrenches.times[-1] == pytest.approx(content.markers.times[-1] + 0.09)
    assert any("ANALOG:RATE is 96 Hz" in line for line in messages)


@pytest.mark.parametrize("level", [3.0, 1e30, -1e300])
def test_a_channel_that_never_changes_has_one_level(level: float) -> None:
    """However large it is: a number that one does not change is no reason to find no level at all."""
    assert not find_plateau(np.full(100, level)).any()


def scaled_file(path: Path, integers: bool, stated: float | None, header: float) -> Path:
    """A standing person in tenths of millimetres as integers, or in millimetres as reals; with these two scales."""
    positions = np.tile(1e3 * STANDING, (FRAMES, 1, 1)) / (0.1 if integers else 1.0)
    points = np.concatenate([positions, np.zeros((FRAMES, len(MARKERS), 1))], axis=2)
    scale = np.array([0.1 if integers else -0.1])
    group = {"USED": np.array([len(MARKERS)]), "SCALE": scale, "RATE": np.array([RATE]), "LABELS": list(MARKERS),
             "UNITS": "mm", "FRAMES": np.array([FRAMES])}  # fmt: skip
    content = bytearray(
        c3d_bytes({"POINT": group, "ANALOG": {"USED": np.array([0])}}, points, np.zeros((FRAMES, 0, 0)))
    )
    content[12:16] = struct.pack("<f", header)
    place = content.index(b"SCALE")
    if stated is None:
        content[place : place + 5] = b"SCALX"
    else:
        value = place + content[place:].index(struct.pack("<f", float(scale[0])))
        content[value : value + 4] = struct.pack("<f", stated)
    path.write_bytes(bytes(content))
    return path


@pytest.mark.parametrize(
    ("integers", "stated", "header"),
    [
        (integers, stated, header)
        for integers in (False, True)
        for stated in (None, 0.0, float("nan"), 0.1, -0.1)
        for header in (0.1, -0.1)
    ]
    + [(False, None, 0.0), (False, 0.0, 0.0), (False, -1e-30, -1.0), (False, 7.0, 7.0)],
)
def test_the_size_of_the_file_shows_how_its_points_are_stored(
    tmp_path: Path, integers: bool, stated: float | None, header: float
) -> None:
    """Integers and reals are read whatever one of the two scales says; reals need no scale at all."""
    found = read_c3d(scaled_file(tmp_path / "scale.c3d", integers, stated, header)).markers
    np.testing.assert_allclose(found.positions[0], STANDING, atol=1e-4)


def test_integers_without_a_scale_are_refused(tmp_path: Path) -> None:
    """Nothing else in the file says how long its unit is."""
    with pytest.raises(InputError, match="POINT:SCALE: the scale of the points is missing or zero"):
        read_c3d(scaled_file(tmp_path / "unknown.c3d", True, 0.0, 0.0))


@pytest.mark.parametrize(
    ("labels", "descriptions", "names"),
    [
        ("RKNE RKNE_2 RKNE - LKNE", "- - - - -", "RKNE RKNE_2 RKNE_3 unnamed_4 LKNE"),
        ("RKNE C7 RKNE LKNE LKNE", "R.Knee.Medial C7 R.Knee L L", "R.Knee.Medial C7 RKNE LKNE LKNE_2"),
        ("RKNE C7 RKNE LKNE LKNE", "in C7 out LKNE L.Knee", "in C7 out LKNE LKNE_2"),
    ],
    ids=["none", "one describes", "one of them is a label"],
)
def test_repeated_labels_are_told_apart_by_descriptions_or_numbers(
    tmp_path: Path, labels: str, descriptions: str, names: str
) -> None:
    """Each point keeps its place; the first one of a label keeps it, or that whose description begins the others', and
    no number is given twice."""
    points, texts = (
        np.arange(20.0).reshape(1, 5, 4),
        [text.replace("-", "").split(" ") for text in (labels, descriptions)],
    )
    group = {"USED": np.array([5]), "SCALE": np.array([-1.0]), "RATE": np.array([RATE]), "LABELS": texts[0],
             "DESCRIPTIONS": texts[1], "UNITS": "mm", "FRAMES": np.array([1])}  # fmt: skip
    path = tmp_path / "labels.c3d"
    path.write_bytes(c3d_bytes({"POINT": group, "ANALOG": {"USED": np.array([0])}}, points, np.zeros((1, 0, 0))))
    messages: list[str] = []
    found = read_c3d(path, ReadOptions(up="z"), warn=messages.append).markers
    assert found.names == tuple(names.split())
    np.testing.assert_allclose(found.positions[0, :, 0], 1e-3 * points[0, :, 0])
    assert any("several points are labelled" in message and "RKNE; " in message for message in messages)
