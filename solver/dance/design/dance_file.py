"""Dances on disk: one NumPy archive without loss.

The archive holds plain arrays and one JSON text; the JSON says what the arrays cannot: names, kinds, notes. Loading it
needs no rig.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...check_options import CheckOptions
from ...contacts.schedule import Anchor
from ...errors import InputError, SolverError
from ...formats.archive import read_archive
from ...formats.atomic import write_atomically
from ...formats.value_tree import from_tree, to_tree
from ...trajectory.segment import DanceSegment
from .dance import Dance, TraceEntry

FORMAT = "exciting dance 1"
REMEDY = "Design the dance again, or load the file with the version that wrote it"


def write_dance(path: str | Path, dance: Dance) -> None:
    """A dance as .npz; `read_dance` gives the same dance.

    Raises:
        InputError: the file cannot be written.
    """
    anchors: dict[tuple[object, ...], int] = {}
    poses: list[np.ndarray] = []
    records = []
    arrays: dict[str, np.ndarray] = {}
    for number, segment in enumerate(dance.segments):
        planted = []
        for anchor in segment.anchors:
            pose = np.column_stack([anchor.rotation, anchor.position])
            key = (anchor.patch, pose.tobytes())
            if key not in anchors:
                anchors[key] = len(poses)
                poses.append(pose)
            planted.append([anchor.patch, anchors[key]])
        arrays[f"control_{number}"] = np.asarray(segment.control)
        records.append({
            "name": segment.name, "kind": segment.kind, "duration": segment.duration, "solved": list(segment.solved),
            "anchors": planted,
        })  # fmt: skip
    text = {
        "format": FORMAT, "rig": dict(dance.rig), "checks": to_tree(dance.checks), "step": dance.step,
        "postures": list(dance.postures), "criterion": dance.criterion, "seed": dance.seed, "complete": dance.complete,
        "notes": list(dance.notes), "report": dict(dance.report), "segments": records,
        "trace": [[s.segment, s.configuration, s.criterion, s.straight, s.kind] for s in dance.trace],
    }  # fmt: skip
    arrays["anchors"] = np.array(poses).reshape(-1, 3, 4)
    arrays["dance"] = np.array(json.dumps(text))
    memory = io.BytesIO()
    np.savez_compressed(memory, **arrays)  # type: ignore[arg-type]
    with write_atomically(path, binary=True) as stream:
        stream.write(memory.getvalue())


def read_dance(path: str | Path) -> Dance:
    """A dance written by `write_dance`.

    Raises:
        InputError: missing, damaged, or no dance.
    """
    arrays = read_archive(path)[0]
    if "dance" not in arrays:
        raise InputError(path, f"holds no dance, only {', '.join(sorted(arrays)) or 'nothing'}", remedy=REMEDY)
    try:
        text = json.loads(str(arrays["dance"]))
        if text["format"] != FORMAT:
            raise InputError(path, f"has format {text['format']!r}, expected {FORMAT!r}", remedy=REMEDY)
        segments = tuple(_segment(record, arrays, number) for number, record in enumerate(text["segments"]))
        trace = tuple(TraceEntry(int(s), str(g), float(c), float(p), str(k)) for s, g, c, p, k in text["trace"])
        checks = from_tree(CheckOptions, text["checks"])
        return Dance(
            text["rig"], segments, checks, text["step"], tuple(text["postures"]), trace,
            float(text["criterion"]), int(text["seed"]), bool(text["complete"]), tuple(text["notes"]), text["report"],
        )  # fmt: skip
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, SolverError) as error:
        raise InputError(path, f"is a damaged dance: {' '.join(str(error).split())}", remedy=REMEDY) from error


def _segment(record: Mapping[str, object], arrays: Mapping[str, np.ndarray], number: int) -> DanceSegment:
    anchors = []
    for patch, place in record["anchors"]:  # type: ignore[attr-defined]
        pose = arrays["anchors"][place]
        anchors.append(Anchor(str(patch), pose[:, :3], pose[:, 3]))
    return DanceSegment(
        str(record["name"]), str(record["kind"]), float(record["duration"]), arrays[f"control_{number}"],  # type: ignore[arg-type]
        tuple(record["solved"]), tuple(anchors),  # type: ignore[arg-type]
    )  # fmt: skip
