"""OpenSim's own inverse dynamics: run by an interpreter that has the package ``opensim``, and by it alone.

``python benchmarks/opensim_judge.py TASK.json`` reads a list of tasks (``model``, ``coordinates``, ``wrench``,
``cutoff``, ``output``, ``bodies``), runs InverseDynamicsTool for each and prints the total mass of each model as JSON.
The wrench is a storage file with a force (BODY_force_vx, vy, vz), its point (BODY_force_px, py, pz) and a moment
(BODY_moment_mx, my, mz), ground axes, for each body on which it acts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def run_task(opensim, task: dict) -> float:  # type: ignore[no-untyped-def,type-arg]
    """Run one task, and return the mass of its model [kg]."""
    model = opensim.Model(task["model"])
    state = model.initSystem()
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
    return float(model.getTotalMass(state))


def main(arguments: list[str]) -> int:
    """Run all tasks of a file."""
    import opensim

    opensim.Logger.setLevelString("Error")
    tasks = json.loads(Path(arguments[0]).read_text())
    print(json.dumps([run_task(opensim, task) for task in tasks]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
