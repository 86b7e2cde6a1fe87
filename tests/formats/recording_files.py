"""Small recordings written by hand, so that each test damages one thing."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

MARKERS = ("C7", "L_Shoulder", "R_Shoulder", "L_ASIS", "R_ASIS", "L_knee", "R_knee", "L_toe", "R_toe", "R_calc")
"""Z-up positions [m] of someone who stands at the origin and looks along x."""
STANDING = np.array(
    [[-0.05, 0.0, 1.45], [0.0, 0.2, 1.4], [0.0, -0.2, 1.4], [0.1, 0.12, 0.95], [0.1, -0.12, 0.95],
     [0.03, 0.12, 0.5], [0.03, -0.12, 0.5], [0.15, 0.12, 0.05], [0.15, -0.12, 0.05], [-0.05, -0.12, 0.05]]
)  # fmt: skip
FRAMES, RATE = 11, 100.0


def times(frames: int = FRAMES, rate: float = RATE) -> np.ndarray:
    """(N,) [s]."""
    return np.arange(frames) / rate


def to_y_up(vectors: np.ndarray) -> np.ndarray:
    """Z up (x, y, z) as a y-up file has it: (x, z, -y)."""
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], axis=-1)


def trc_rows(positions: np.ndarray, start: float = 0.0, decimals: int = 4) -> list[list[str]]:
    """Cells of a TRC's data rows from positions (N, M, 3) in the file's axes and unit."""
    stamps = times(len(positions)) + start
    return [
        [str(i + 1), f"{t:.{decimals}f}", *(f"{value:.6f}" for value in frame.reshape(-1))]
        for i, (t, frame) in enumerate(zip(stamps, positions))
    ]


def write_trc(
    path: Path, rows: Sequence[Sequence[str]], units: str = "m", names: Sequence[str] = MARKERS, rate: float = RATE
) -> Path:
    """A TRC file of these rows."""
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate:g}\t{rate:g}\t{len(rows)}\t{len(names)}\t{units}\t{rate:g}\t1\t{len(rows)}",
        "Frame#\tTime\t" + "\t\t\t".join(names) + "\t\t",
        "\t\t" + "\t".join(f"{axis}{i + 1}" for i in range(len(names)) for axis in "XYZ"),
        "",
        *("\t".join(row) for row in rows),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def standing_trc(path: Path, *, y_up: bool = True, scale: float = 1.0, units: str = "m", start: float = 0.0) -> Path:
    """Someone standing still."""
    still = np.tile(STANDING, (FRAMES, 1, 1))
    return write_trc(path, trc_rows((to_y_up(still) if y_up else still) * scale, start), units)


def qtm_text(leading: bool = True, titles: bool = True, changes: Mapping[str, str] = MappingProxyType({})) -> str:
    """Someone standing still, in a .tsv of Qualisys Track Manager.

    Args:
        leading: with frame number and time.
        titles: with column titles.
        changes: of the header's entries.
    """
    header = {
        "NO_OF_FRAMES": str(FRAMES), "NO_OF_CAMERAS": "8", "NO_OF_MARKERS": str(len(MARKERS)), "FREQUENCY": f"{RATE:g}",
        "DESCRIPTION": "--", "TIME_STAMP": "2022-06-03, 10:47:36.627\t94247.45402301", "DATA_INCLUDED": "3D",
        "EVENT": "start\t1\t0.00000", "MARKER_NAMES": "\t".join(MARKERS) + "\t",
        "TRAJECTORY_TYPES": "\t".join(["Measured"] * len(MARKERS)), **changes,
    }  # fmt: skip
    lines = [f"{key}\t{value}" for key, value in header.items()]
    if titles:
        lines.append("\t".join([*["Frame", "Time"][: 2 * leading], *(f"{n} {a}" for n in MARKERS for a in "XYZ")]))
    for number, time in enumerate(times()):
        cells = [f"{1e3 * value:.3f}" for value in STANDING.reshape(-1)]
        lines.append("\t".join([*[str(number + 1), f"{time:.5f}"][: 2 * leading], *cells]) + "\t")
    return "\r\n".join(lines) + "\r\n"


def write_mot(path: Path, names: Sequence[str], stamps: np.ndarray, values: np.ndarray, header: str = "") -> Path:
    """A storage file."""
    lines = [f"{path.name}", "version=1", f"nRows={len(stamps)}", f"nColumns={len(names) + 1}"]
    lines += [*([header] if header else []), "endheader", "\t".join(["time", *names])]
    lines += ["\t".join([f"{t:.6g}", *(f"{v:.10g}" for v in row)]) for t, row in zip(stamps, values)]
    path.write_text("\n".join(lines) + "\n")
    return path


def force_names(style: str = "ground_force_{}_{}", plate: object = 1) -> list[str]:
    """Nine column names of one plate."""
    return [style.format(plate, what + axis) for what in "vpm" for axis in "xyz"]


def standing_mot(
    path: Path,
    *,
    weight: float = 700.0,
    point: Sequence[float] = (0.05, 0.0, 0.0),
    y_up: bool = True,
    start: float = 0.0,
) -> Path:
    """One plate under someone standing still; force and centre of pressure given z up [N, m]."""
    frame = np.array([[3.0, -2.0, weight], list(point), [0.0, 0.0, 1.5]])
    frame = to_y_up(frame) if y_up else frame
    stamps = times(10 * FRAMES, 10 * RATE) + start
    return write_mot(path, force_names(), stamps, np.tile(frame.reshape(-1), (len(stamps), 1)))


def c3d_bytes(
    groups: Mapping[str, Mapping[str, object]],
    points: np.ndarray,
    analogs: np.ndarray,
    processor: int = 84,
    first: int = 1,
) -> bytes:
    """A C3D file as Intel (84), DEC (85) or MIPS (86) write it.

    Args:
        groups: parameters. A positive POINT:SCALE makes the data integers of 16 bits, a negative one reals.
        points: (N, M, 4) as stored.
        analogs: (N, r, C) as stored.
        first: number of the first frame.
    """
    order = _order(processor)
    records = b""
    for number, (group, parameters) in enumerate(groups.items(), 1):
        records += struct.pack("<bb", len(group), -number) + group.encode() + struct.pack(f"{order}hb", 3, 0)
        for name, value in parameters.items():
            body = _encoded(value, processor)
            records += struct.pack("<bb", len(name), number) + name.encode()
            records += struct.pack(f"{order}h", 2 + len(body) + 1) + body + b"\0"
    records += b"\0\0"
    blocks = -(-(4 + len(records)) // 512)
    section = (struct.pack("<BBBB", 1, 0x50, blocks, processor) + records).ljust(blocks * 512, b"\0")
    frames, per_frame = len(points), analogs.shape[1] * analogs.shape[2]
    scale = float(np.asarray(groups["POINT"].get("SCALE", -1.0), float).flat[0])
    counts = (points.shape[1], per_frame, first, (first + frames - 1) & 0xFFFF, 10)
    header = struct.pack("<BB", 2, 0x50) + struct.pack(f"{order}5H", *counts)
    header += _reals([scale], processor) + struct.pack(f"{order}HH", 2 + blocks, analogs.shape[1])
    header += _reals([RATE], processor)
    table = np.concatenate([points.reshape(frames, -1), analogs.reshape(frames, -1)], axis=1)
    if scale > 0.0:
        data = np.round(table).astype(np.int64).astype(f"{order}u2").tobytes()
    else:
        data = _reals(table.reshape(-1), processor)
    return header.ljust(512, b"\0") + section + data


def _order(processor: int) -> str:
    return ">" if processor == 86 else "<"


def _encoded(value: object, processor: int) -> bytes:
    if isinstance(value, list | str):
        texts = [value] if isinstance(value, str) else value
        width = max([len(text) for text in texts], default=0)
        data = b"".join(text.ljust(width).encode() for text in texts)
        return struct.pack("<bbBB", -1, 2, width, len(texts)) + data
    array = np.asarray(value)
    kind = 4 if array.dtype.kind == "f" else 2
    flat = array.reshape(-1, order="F")
    data = _reals(flat, processor) if kind == 4 else flat.astype(np.int64).astype(f"{_order(processor)}u2").tobytes()
    return struct.pack(f"<bb{array.ndim}B", kind, array.ndim, *array.shape) + data


def _reals(values: object, processor: int) -> bytes:
    """Four-byte reals; DEC's are four times as large, words swapped."""
    if processor != 85:
        return np.asarray(values, f"{_order(processor)}f4").tobytes()
    words = (4.0 * np.asarray(values, float)).astype("<f4").view("<u2").reshape(-1, 2)[:, ::-1]
    return np.ascontiguousarray(words).tobytes()
