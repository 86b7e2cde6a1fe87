# %% [markdown]
# # A robot with its own data
#
# A robot has no markers: encoders measure the joint angles, and force sensors or a plate the forces. Any URDF with two
# feet works. Here HOAP-3 is written as URDF, and the true masses differ from it; replace URDF and tables by your own.

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
# A short dance within the robot's limits, as a table of joint angles like an encoder log.

# %%
options = solver.DanceOptions(postures={"both": 4}, pool=20, rounds=1, workers=1)
solver.design(robot, options).write(folder / "dance")
motion = solver.export(folder / "dance" / "dance.npz", folder / "performed.mot", rate=100.0)

# %% [markdown]
# The wrench that a plate measures under the true robot (simulated, with noise): force and moment about the world's
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
# Two files of one name are one trial. The columns belong to the joints of the rig.

# %%
recordings = solver.load([folder / "performed.mot", folder / "performed_wrenches.csv"])
settings = solver.Settings(no_cross_validation=True)
study = solver.identify(recordings, rig=robot, settings=settings)
found = study.identification
print(f"\n{'link':18}{'URDF':>8}{'found':>8}{'true':>8}  kg")
for link in found.parameters.links:
    prior, identified, true = (values[link].mass for values in (found.prior, found.parameters, truth))
    print(f"{link:18}{prior:8.3f}{identified:8.3f}{true:8.3f}")


# %% [markdown]
# External wrenches do not determine every single mass; the rest is the prior's. The forces on the floor are still
# predicted, and the report gives for each number the share of the data.


# %%
def force_error(parameters):
    """Root mean square error [N] of the predicted force."""
    error = solver.dynamics.predicted_wrench(robot, motion, parameters, axes="world") - wrench
    return np.sqrt(np.mean(error[:, :3] ** 2))


before, after = force_error(found.prior), force_error(found.parameters)
print(f"\nforce error: {before:.3f} N with the URDF's masses, {after:.3f} N with the identified ones")
study.write(folder / "results", title="A robot from URDF", simulated=True)
