"""Trajectories in flat coordinates: splines, planted feet, limits, and their optimisation."""
