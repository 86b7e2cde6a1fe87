"""A stated option of reading is used or refused, whatever the format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.csv_tables import write_markers_csv, write_wrenches_csv
from solver.formats.npz import write_recording_npz
from solver.formats.recording import find_recordings, read_recording
from solver.options.reading import ReadOptions
from solver.signals.trial import Recording
from solver.values.motion import JointCoordinates
from tests.formats import test_acclaim, test_bids, test_mvnx, test_qtm_forces
from tests.formats.recording_files import qtm_text, standing_mot, standing_trc, write_mot
from tests.formats.skeletons import LAFAN1, bvh_text, quaternion_rows, storage_text
from tests.formats.test_c3d import plate_file
from tests.formats.test_segments import TIMES, body, moved, units

ODD: dict[str, Any] = {"up": "-x", "force_up": "-x", "units": "inch", "force_units": "cm", "forces_on_plates": True,
       "keep_missing": True, "ragged": True, "angle_units": "deg", "frame_rate": 33.0}  # fmt: skip
"""A value of each option that no file here would be read with."""
TOLERATES = {"keep_missing": {"storage, forces", "CSV, forces", "QTM, forces", "C3D", "npz, forces"}, "ragged": {"TRC"}}
"""Options that matter only to damaged files, and who uses them."""
STEPS = np.linspace(0.1, 0.6, 20)
JOINTS = JointCoordinates(STEPS, ("a",), STEPS[:, None], ("rad",))


def text(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def archive(path: Path, recording: Recording) -> Path:
    write_recording_npz(path, recording)
    return path


def csv(folder: Path, kind: str) -> Path:
    if kind == "joints":
        return text(folder / "a.csv", "time [s],a [rad]\n" + "\n".join(f"{t:.3f},{t:.3f}" for t in STEPS) + "\n")
    if kind == "poses":
        rows = "\n".join(f"{t:.3f},0,1,0,0,0,1,{t:.3f}" for t in STEPS)
        return text(folder / "walk_30hz.csv", rows + "\n")
    if kind == "orientations":
        return text(folder / "a.csv", quaternion_rows(TIMES[:3], *units()))
    if kind == "markers":
        write_markers_csv(folder / "a.csv", read_recording(standing_trc(folder / "walk.trc")).markers)  # type: ignore[arg-type]
    else:
        write_wrenches_csv(folder / "a.csv", read_recording(standing_mot(folder / "walk.mot")).wrenches)  # type: ignore[arg-type]
    return folder / "a.csv"


def smpl(folder: Path) -> Path:
    np.savez(folder / "a.npz", **body())  # type: ignore[arg-type]
    return folder / "a.npz"


FILES: dict[str, Callable[[Path], Path]] = {
    "TRC": lambda folder: standing_trc(folder / "a.trc"),
    "storage, forces": lambda folder: standing_mot(folder / "a.mot"),
    "storage, joints": lambda folder: write_mot(folder / "a.mot", ["a"], STEPS, STEPS[:, None], "inDegrees=no"),
    "storage, orientations": lambda folder: text(folder / "a.sto", storage_text(TIMES[:3], *units())),
    **{f"CSV, {kind}": partial(csv, kind=kind)
       for kind in ("markers", "forces", "joints", "poses", "orientations")},
    "QTM": lambda folder: text(folder / "a.tsv", qtm_text()),
    "QTM, forces": lambda folder: text(folder / "a_f_1.tsv", test_qtm_forces.plate_text(on_plate=False)),
    "BIDS": test_bids.write,
    "BVH": lambda folder: text(folder / "a.bvh", bvh_text(LAFAN1, *moved(LAFAN1))),
    "Acclaim": test_acclaim.write,
    "MVN": lambda folder: text(folder / "a.mvnx", test_mvnx.TEXT),
    "C3D": lambda folder: plate_file(folder / "a.c3d", 2),
    "npz, markers": lambda folder: archive(folder / "b.npz", read_recording(standing_trc(folder / "a.trc"))),
    "npz, forces": lambda folder: archive(folder / "b.npz", read_recording(standing_mot(folder / "a.mot"))),
    "npz, joints": lambda folder: archive(folder / "b.npz", Recording("b", None, None, joints=JOINTS)),
    "npz, segments": lambda folder: archive(
        folder / "b.npz", read_recording(text(folder / "a.bvh", bvh_text(LAFAN1, *moved(LAFAN1))))
    ),
    "npz, body model": smpl,
}  # fmt: skip


def content(recording: Recording) -> list[object]:
    """Everything that a recording holds."""
    parts = (recording.markers, recording.joints, recording.segments, recording.wrenches)
    values = [getattr(part, field.name) for part in parts if part is not None for field in fields(part)]
    return [value.tobytes() if isinstance(value, np.ndarray) else value for value in values]


@pytest.mark.parametrize("option", ODD)
@pytest.mark.parametrize("kind", FILES)
def test_a_stated_option_is_used_or_refused(kind: str, option: str, tmp_path: Path) -> None:
    """An option that contradicts a file is refused, or what is read differs; nothing that is stated is ignored."""
    path = FILES[kind](tmp_path)
    tolerates = kind in TOLERATES.get(option, ())
    try:
        is_used = content(read_recording(path, ReadOptions(**{option: ODD[option]}))) != content(read_recording(path))
    except InputError:
        is_used = True
        assert not tolerates
    assert is_used != tolerates


def test_files_read_together_share_their_options(tmp_path: Path) -> None:
    """An option that one file of several needs is not refused for the others', alone it is."""
    (tmp_path / "walks").mkdir()
    standing_trc(tmp_path / "walks" / "walk.trc")
    forces = standing_mot(tmp_path / "walks" / "walk.mot")
    assert find_recordings([tmp_path / "walks"], ReadOptions(ragged=True))[0].wrenches is not None
    with pytest.raises(InputError, match="--ragged would change nothing"):
        find_recordings([forces], ReadOptions(ragged=True))
