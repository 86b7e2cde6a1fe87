"""Numbers printed in bonnet2016, to compare with ours."""

from __future__ import annotations

import numpy as np

PLANAR_TOTAL, PLANAR_CRITERION, PLANAR_START = 105.0, 62.0, 5e16
"""cond(W_b) after the first 2 s in Fig. 4: minimised itself, and by way of the criterion; and at its start (III.C)."""
TRUNK_FIRST, TRUNK_LAST, TRUNK_TRANSITIONS = 1702.0, 13.0, 28
"""Criterion of head, arms and trunk: from, to, over how many transitions (III.E). The legs' are drawn, not printed."""
IDENTIFIED = 42
"""Base parameters of HOAP-3 with a relative standard deviation below 10 % (IV.D)."""
DESIGN_SECONDS = 900.0
"""The whole optimisation took less (V)."""
TABLE_II = {
    "HOAP-3": {
        "identified": (np.array([1.1, 0.5, 0.9, 0.2, 0.7, 0.4]), np.array([0.998, 0.997, 0.944, 0.997, 0.998, 0.27])),
        "prior": (np.array([1.9, 0.6, 3.5, 0.7, 0.8, 0.4]), np.array([0.998, 0.997, 0.93, 0.993, 0.994, 0.23])),
    },
    "human": {
        "identified": (np.array([5.8, 13.0, 18.9, 4.9, 3.4, 1.5]), np.array([0.54, 0.64, 0.98, 0.99, 0.81, 0.43])),
        "prior": (np.array([9.5, 16.4, 41.9, 14.0, 6.6, 3.1]), np.array([0.37, 0.60, 0.96, 0.99, 0.79, 0.17])),
    },
}
"""Table II: RMS [N, N m] and correlation of the wrench by identified and by CAD or anthropometric parameters."""
LOAD, LOAD_FOUND = 2.4, 1.9
"""[kg] on the volunteer's left arm, and the difference of the arm's mass between both identifications (IV.B)."""
OTHERS_MEAN, OTHERS_SPREAD, OTHERS_MOST = 0.25, 0.17, 0.42
"""[kg] mean, deviation and largest (the trunk's) difference of the segments' masses between both (IV.B)."""
PERSON_FIT = {"identified": (7.8, 4.3), "prior": (12.0, 9.67)}
"""[N], [N m] mean residual over the whole dance of the person (IV.B)."""
