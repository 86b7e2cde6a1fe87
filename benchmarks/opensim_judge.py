"""OpenSim's own inverse dynamics and kinematics: run by an interpreter that has the package ``opensim``.

``python benchmarks/opensim_judge.py TASK.json`` reads a list of tasks (``model``, ``coordinates``, ``wrench``,
``cutoff``, ``output``, ``bodies``) and runs InverseDynamicsTool for each.
The wrench is a storage file with a force (BODY_force_vx, vy, vz), its point (BODY_force_px, py, pz) and a moment
(BODY_moment_mx, my, mz), ground axes, for each body on which it acts.
A task with ``markers`` runs InverseKinematicsTool instead, all markers weighing alike.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def run_task(opensim, task: dict) -> None:  # type: ignore[no-untyped-def,type-arg]
    """Run one task."""
    model = opensim.Model(task["model"])
    model.initSystem()
    if "markers" in task:
        run_inverse_kinematics(opensim, model, task)
        return
    output = Path(task["output"])
    loads = opensim.ExternalLoads()
    for body in task["bodies"]:
        force = opensim.ExternalForce()
        force.setName(f"contact_of_{body}")
        force.set_applied_to_body(body)
        force.set_force_expressed_in_body("ground")
        force.set_point_expressed_in_body("ground")
        force.set_force_identifier(f"{body}_force_v")
        force.set_point_identifier(f"{body}_force_p")
        force.set_torque_identifier(f"{body}_moment_m")
        loads.cloneAndAppend(force)
    loads.setDataFileName(task["wrench"])
    setup = output.with_suffix(".xml")
    loads.printToXML(str(setup))
    tool = opensim.InverseDynamicsTool()
    tool.setModel(model)
    tool.setCoordinatesFileName(task["coordinates"])
    tool.setLowpassCutoffFrequency(task["cutoff"])
    tool.setExternalLoadsFileName(str(setup))
    tool.setStartTime(task["start"])
    tool.setEndTime(task["stop"])
    tool.setResultsDir(str(output.parent))
    tool.setOutputGenForceFileName(output.name)
    forces = opensim.ArrayStr()
    forces.append("Muscles")
    tool.setExcludedForces(forces)
    if not tool.run():
        raise SystemExit(f"inverse dynamics of {task['model']} failed")


def run_inverse_kinematics(opensim, model, task: dict) -> None:  # type: ignore[no-untyped-def,type-arg]
    """Coordinates of a model from a marker file, into the task's output."""
    tool = opensim.InverseKinematicsTool()
    tool.setModel(model)
    tool.setMarkerDataFileName(task["markers"])
    tool.setOutputMotionFileName(task["output"])
    tool.setResultsDir(str(Path(task["output"]).parent))
    tool.set_accuracy(1e-7)
    tool.set_report_errors(False)
    tool.setStartTime(task["start"])
    tool.setEndTime(task["stop"])
    tasks, markers = opensim.IKTaskSet(), model.getMarkerSet()
    for index in range(markers.getSize()):
        one = opensim.IKMarkerTask()
        one.setName(markers.get(index).getName())
        one.setApply(True)
        one.setWeight(1.0)
        tasks.cloneAndAppend(one)
    tool.set_IKTaskSet(tasks)
    if not tool.run():
        raise SystemExit(f"inverse kinematics of {task['model']} failed")


def main(arguments: list[str]) -> int:
    """Run all tasks of a file."""
    import opensim

    opensim.Logger.setLevelString("Error")
    for task in json.loads(Path(arguments[0]).read_text()):
        run_task(opensim, task)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
