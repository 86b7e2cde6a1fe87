# %% [markdown]
# # A robot with its own data
#
# A robot has no markers: its encoders tell the joint angles, its sensors or a plate under it tell the forces. Any URDF
# with two feet will do. Here a HOAP-3 is written as URDF first, and its masses are changed behind the identification's
# back; put your own URDF and tables in their place.

# %%
from pathlib import Path

import numpy as np

import solver
from solver.demo.truth import perturb_inertials
from solver.formats.csv_tables import write_wrenches_csv
from solver.formats.urdf_writer import write_urdf

folder = Path("out/robot")
folder.mkdir(parents=True, exist_ok=True)
write_urdf(solver.hoap3(torque="peak"), folder / "robot.urdf")
robot = solver.from_urdf(folder / "robot.urdf")
print(f"{robot.name}: {len(robot.links)} links, {robot.prior.total_mass:.2f} kg")

# %% [markdown]
# A short dance that the robot's limits allow, as a table of its joint angles: what an encoder log looks like.

# %%
options = solver.DanceOptions(postures={"both": 4}, pool=20, starts=1, rounds=1, hold=0.2, workers=1)
solver.design(robot, options).write(folder / "dance")
motion = solver.export(folder / "dance" / "dance.npz", folder / "performed.mot", rate=100.0)

# %% [markdown]
# What a plate would have measured under the true robot (a simulation, with noise): force and moment about the world's
# origin, one CSV column each, the unit in the header.

# %%
truth = perturb_inertials(robot, 3)
wrench = solver.dynamics.predicted_wrench(robot, motion, truth, axes="world")
wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
noise = np.array([0.2, 0.2, 0.2, 0.02, 0.02, 0.02]) * np.random.default_rng(1).standard_normal(wrench.shape)
measured = solver.Wrenches(motion.times, ("plate",), (wrench + noise)[:, None])
write_wrenches_csv(folder / "performed_wrenches.csv", measured)
print((folder / "performed_wrenches.csv").read_text().partition("\n")[0])

# %% [markdown]
# Two files of one name are one trial. The rig says whose joints the columns are.

# %%
recordings = solver.load([folder / "performed.mot", folder / "performed_wrenches.csv"])
settings = solver.Settings(bootstrap=0, cross_validate=False)
study = solver.identify(recordings, rig=robot, settings=settings)
found = study.identification
print(f"\n{'link':18}{'URDF':>8}{'found':>8}{'true':>8}  kg")
for link in found.parameters.links:
    drawn, here, true = (values[link].mass for values in (found.prior, found.parameters, truth))
    print(f"{link:18}{drawn:8.3f}{here:8.3f}{true:8.3f}")


# %% [markdown]
# Single masses are not all visible from outside: part of them stays the URDF's. What the robot does to the floor is
# explained all the same, and the study's report says of each number who decided it.


# %%
def unexplained(parameters):
    """Root mean square [N] of the force that the true robot exerts and this one would not."""
    missed = solver.dynamics.predicted_wrench(robot, motion, parameters, axes="world") - wrench
    return np.sqrt(np.mean(missed[:, :3] ** 2))


before, after = unexplained(found.prior), unexplained(found.parameters)
print(f"\nforce left unexplained: {before:.3f} N with the URDF's masses, {after:.3f} N with the identified ones")
solver.write_study(folder / "results", study, title="A robot from URDF", simulated=True)
