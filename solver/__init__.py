"""Exciting dances, tracking and identification of a body's inertial parameters.

Units are SI, angles radians, z points up, quaternions are (x, y, z, w).
"""
