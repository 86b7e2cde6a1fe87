# %% [markdown]
# # Design a dance and check it
#
# A short dance for HOAP-3: a phrase and its mirror image that excite masses and inertias, within the robot's limits, in
# balance and free of collisions. A real one has 60 of them, on either foot too, and takes a minute.

# %%
import numpy as np

import solver

robot = solver.hoap3(torque="peak")
options = solver.DanceOptions(postures={"both": 2}, pool=20, rounds=1, seed=1, workers=1)
designed = solver.design(robot, options)
print(designed.message)

# %% [markdown]
# Write the dance for this software and Blender, and its joint angles and speeds for a robot.

# %%
designed.write("out/dance")
motion = solver.export("out/dance/dance.npz", "out/dance.csv", rate=100.0)
print(f"joint table: {len(motion.times)} samples, {motion.times[-1]:.1f} s")

# %% [markdown]
# Evaluate every check in every sample, from the file alone: margins if a check passes, the first failure if not.

# %%
result = solver.check("out/dance/dance.npz")
print(result.report)

# %% [markdown]
# Check the dance under other conditions than it was designed for: on ice.

# %%
ice = solver.check("out/dance/dance.npz", solver.CheckOptions(friction=0.01))
print(ice.message)

# %% [markdown]
# The path of the centre of mass, from the library's dynamics.

# %%
com = solver.dynamics.com_trajectory(robot, motion, robot.prior)
print(f"the centre of mass moves within {np.round(1e3 * np.ptp(com, axis=0)).astype(int)} mm (x, y, z)")
