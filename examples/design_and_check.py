# %% [markdown]
# # Design a dance and check it
#
# A short dance for HOAP-3: postures that show where masses are, transitions that show inertias, everything inside the
# robot's limits, in balance, and free of collisions. A real one has 60 postures and takes minutes.

# %%
import numpy as np

import solver

robot = solver.hoap3(torque="peak")
options = solver.DanceOptions(postures={"both": 2}, pool=20, starts=1, rounds=1, seed=1, workers=1)
designed = solver.design(robot, options)
print(designed.message)

# %% [markdown]
# The dance as files: for this software, for Blender, and joint angles and speeds for a robot.

# %%
designed.write("out/dance")
motion = solver.export("out/dance/dance.npz", "out/dance.csv", rate=100.0)
print(f"joint table: {len(motion.times)} samples, {motion.times[-1]:.1f} s")

# %% [markdown]
# Every check in every sample, from the file alone: margins where it holds, the first failure where it does not.

# %%
verdict = solver.check("out/dance/dance.npz")
print(verdict.report)

# %% [markdown]
# Ask for more than the dance was designed for, and see what gives way first: a floor of ice.

# %%
ice = solver.check("out/dance/dance.npz", solver.CheckOptions(friction=0.01))
print(ice.message)

# %% [markdown]
# What the centre of mass does meanwhile, from the library's own dynamics.

# %%
com = solver.dynamics.com_trajectory(robot, motion, robot.prior)
print(f"the centre of mass moves within {np.round(1e3 * np.ptp(com, axis=0)).astype(int)} mm (x, y, z)")
