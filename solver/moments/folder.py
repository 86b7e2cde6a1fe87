"""Joint moments of a study's trials: from the study's folder to a table of each trial and a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..centroidal.folder import read_study_trials
from ..errors import InvalidValue
from ..formats.atomic import write_atomically
from ..formats.csv_tables import write_table
from ..formats.output_folder import write_folder
from ..progress import Progress, silent
from ..scene.joint_moments import MOMENTS, SceneMoments
from ..scene.study_folder import MOMENTS_END, MOMENTS_PAGE, MOMENTS_TABLE_END
from .contact_links import assign_wrenches
from .inverse_dynamics import compute_moments
from .page import render_moments
from .values import JointMoments

RESIDUAL = ("fx", "fy", "fz", "mx", "my", "mz")
NO_INTERVALS = "no intervals: the study has no covariance of its inertial parameters"
PRIOR_USED = "inertial parameters are those of the prior"


def moments_of_study(
    folder: str | Path,
    *,
    trials: Sequence[str] = (),
    prior: bool = False,
    feet: Sequence[str] = (),
    progress: Progress = silent,
) -> dict[str, JointMoments]:
    """Joint moments of a study's trials with forces.

    Args:
        folder: that `identify` wrote.
        trials: names; all with forces by default.
        prior: with the prior's inertial parameters instead of the identified ones.
        feet: links that touch the plates; found by default.
        progress: receives progress.

    Raises:
        InputError: no such folder, or no trial with forces in it.
        UnknownName: no such trial.
        InvalidValue: moments of a trial cannot be computed; it is named.

    Example:
        >>> from solver.moments import moments_of_study, write_moments
        >>> found = moments_of_study("results")  # doctest: +SKIP
        >>> write_moments("moments", found)  # doctest: +SKIP
    """
    records, body = read_study_trials(folder, trials, prior=prior)
    found = {}
    for number, (name, record) in enumerate(records.items()):
        progress(number / len(records), f"inverse dynamics of {name}")
        assert record.trial is not None
        assert record.wrenches is not None
        parameters, root = (None, None) if body is None else body
        try:
            contacts = assign_wrenches(record.rig, record.motion, record.wrenches, feet)
            result = compute_moments(record.rig, record.trial, parameters, covariance_root=root, contacts=contacts)
        except InvalidValue as error:
            raise InvalidValue(f"trial {name!r}: {error}") from None
        extra = (PRIOR_USED,) * (body is None) + (NO_INTERVALS,) * (root is None)
        found[name] = result.with_notes(extra)
    progress(1.0, "computed")
    return found


def write_moments(folder: str | Path, found: Mapping[str, JointMoments]) -> tuple[str, ...]:
    """``NAME.moments.csv`` and ``.npz`` of every trial and ``moments.html``, complete or not at all; the files' names.

    Raises:
        InputError: the folder cannot be written.

    Example:
        >>> from solver.moments import moments_of_study, write_moments
        >>> write_moments("moments", moments_of_study("results"))  # doctest: +SKIP
    """
    with write_folder(folder) as building:
        for name, moments in found.items():
            titles, values = _columns(moments)
            write_table(building / f"{name}{MOMENTS_TABLE_END}", moments.times, titles, values)
            MOMENTS.write(building / f"{name}{MOMENTS_END}", build_scene_moments(moments))
        with write_atomically(building / MOMENTS_PAGE) as stream:
            stream.write(render_moments(tuple(found.values())))
        return tuple(sorted(file.name for file in building.iterdir()))


def build_scene_moments(found: JointMoments) -> SceneMoments:
    """The moments as a scene keys and draws them."""
    half = found.half_width / found.mass
    vectors = found.vectors / found.mass
    return SceneMoments(found.times, found.mass, found.names, found.lengths, found.per_kg, half, found.links, vectors,
                        found.places, found.notes)  # fmt: skip


def _columns(found: JointMoments) -> tuple[list[str], np.ndarray]:
    """Titles and values (N, 4 C + 6): of each coordinate the moment, it per kilogram and its interval; the residual."""
    titles: list[str] = []
    for name, unit in zip(found.names, found.units):
        titles += [f"{name} [{unit}]", f"{name}_per_kg [{unit}/kg]"]
        titles += [f"{name}_lower [{unit}]", f"{name}_upper [{unit}]"]
    titles += [f"residual_{axis} [{'N' if axis[0] == 'f' else 'N m'}]" for axis in RESIDUAL]
    ends = found.values - found.half_width, found.values + found.half_width
    columns = np.stack([found.values, found.per_kg, *ends], axis=2).reshape(len(found), -1)
    return titles, np.concatenate([columns, found.residual], axis=1)
