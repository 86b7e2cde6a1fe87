"""Identified inertials written into a robot's own file change its numbers of mass, centre and inertia alone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue
from solver.formats.model_writer import identified_model_name, write_back, write_identified_model
from solver.rigs import from_mjcf, from_urdf
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from tests.bipeds import Biped
from tests.conftest import SHARED_DATA
from tests.formats.test_opensim_writer import changed
from tests.rigs.test_mjcf import ODD

INERTIAL = re.compile(rb"<inertial[^>]*/>|<inertial>.*?</inertial>", re.DOTALL)
SENSOR = """<!-- <inertial> --><link name="imu"><inertial><mass value='0.1' /><inertia ixx="1e-4" iyy="1e-4"
  izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="imu_fixed" type="fixed"><origin xyz="0 .1 0"
  rpy="0.1 0.2 0.3"/><parent link="left_shank"/><child link="imu"/></joint>
<gazebo reference="imu"><sensor name="imu" type="imu"><link name="imu"/></sensor></gazebo></robot>"""


def _urdf(folder: Path) -> Path:
    path = Biped().write(folder)
    before, mass, after = path.read_text().replace("</robot>", SENSOR).partition("<mass ")
    path.write_text(f'{before[: before.rindex("<inertial>")]}<inertial><origin rpy="0.3 -0.2 0.1"/>{mass}{after}')
    return path


def _mjcf(folder: Path) -> Path:
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    path = folder / "odd.xml"
    stated = '<inertial mass="3" pos="0 0 -.2" quat="1 .1 0 0" diaginertia=".05 .05 .01"/><geom type="capsule" '
    path.write_text(ODD.replace('<geom type="capsule" ', stated))
    return path


def _brought(folder: Path) -> Path:
    source = SHARED_DATA / "brought" / "reports" / "urdf_mimic_and_imu.urdf"
    if not source.exists():
        pytest.skip(f"the file that a user brought is not here: {source}")
    (folder / source.name).write_bytes(source.read_bytes())
    return folder / source.name


def _read(path: Path) -> Rig:
    return from_urdf(path) if path.suffix == ".urdf" else from_mjcf(path)


@pytest.mark.parametrize("file", [_urdf, _mjcf, _brought])
def test_only_inertials_change(tmp_path: Path, file: object) -> None:
    """The parameters come back, also those of a link with fixed bodies; every other byte stays, rotations included."""
    path = file(tmp_path)  # type: ignore[operator]
    rig, out = _read(path), tmp_path / identified_model_name(path)
    wanted = changed(rig)
    write_identified_model(rig, out, wanted)
    assert np.abs(_read(out).prior.values - wanted.values).max() < 1e-12
    before, after = path.read_bytes(), out.read_bytes()
    assert INERTIAL.sub(b"", before) == INERTIAL.sub(b"", after)
    assert re.findall(rb'rpy="[^"]*"', before) == re.findall(rb'rpy="[^"]*"', after)
    write_identified_model(rig, out, rig.prior)
    assert out.read_bytes() == before


def test_an_encoding_of_two_bytes_is_named_and_a_rig_without_its_file_writes_none(tmp_path: Path) -> None:
    """UTF-16 is read and not written back, with the way out; a rig whose file nobody knows is written nowhere."""
    path = Biped().write(tmp_path)
    path.write_text(f'<?xml version="1.0" encoding="UTF-16"?>{path.read_text()}', encoding="utf-16")
    rig, reasons = from_urdf(path), list[str]()
    write_back(rig, tmp_path, rig.prior, "consistent", reasons.append)
    assert "Save it as UTF-8" in reasons[0]
    write_back(replace(rig, provenance={"kind": "urdf"}), tmp_path, rig.prior, "consistent", reasons.append)
    assert len(reasons) == len(list(tmp_path.iterdir())) == 1


def test_what_cannot_be_written_back_is_named(tmp_path: Path) -> None:
    """A file that changed, bodies that another file or MuJoCo computes, and parameters of no body leave no file."""
    path, out = _mjcf(tmp_path), tmp_path / "out.xml"
    rig = from_mjcf(path)
    text = path.read_text()
    path.write_text(text.replace("<compiler ", '<compiler inertiafromgeom="true" '))
    with pytest.raises(InputError, match="has changed since"):
        write_identified_model(rig, out, rig.prior)
    with pytest.raises(InputError, match="does not state the inertias of all bodies"):
        write_identified_model(from_mjcf(path), out, rig.prior)
    path.write_text(text)
    values = rig.prior.values.copy()
    values[1, 1] += 10.0
    with pytest.raises(InvalidValue, match="that no body can have"):
        write_identified_model(rig, out, InertialParameters(rig.links, values))
    assert not out.exists()
