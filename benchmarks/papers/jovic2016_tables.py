"""Tables I to IV as printed in jovic2016."""

from __future__ import annotations

TABLE_1 = {
    "Fz": (37.20, 52.50, 0.65, 0.63),
    "Fy": (13.40, 17.90, 0.88, 0.77),
    "Fx": (14.60, 15.80, 0.75, 0.65),
    "Mz": (1.70, 2.10, 0.75, 0.69),
    "My": (5.00, 9.40, 0.95, 0.87),
    "Mx": (7.00, 11.40, 0.85, 0.71),
}
"""HRP-2, by axis: RMSE identified, RMSE CAD, correlation identified, correlation CAD; [N], [N m]."""

_LEG = (102.94, 151.23, 77.42, 95.00, 95.00, 84.99)
_ARM = (95.00, 95.00, 95.00, 104.99, 135.00, 134.99, 135.00)
TABLE_2 = (111.03, 135.00, 135.00, *_LEG, *_LEG, 135.00, 135.00, *_ARM, *_ARM)
"""HRP-2, identified masses of segments 1 ... 31 in percent of the CAD masses."""

TABLE_3 = {
    "Fz": (8.65, 9.62, 0.94, 0.92),
    "Fx": (0.18, 0.18, 0.40, 0.40),
    "Fy": (2.95, 2.95, 0.68, 0.68),
    "Mz": (9.0, 9.0, 0.52, 0.40),
    "Mx": (26.80, 51.40, 0.43, -0.09),
    "My": (19.40, 58.0, 0.78, 0.58),
}
"""Human, by axis, as `TABLE_1` with the Dumas table instead of CAD."""

TABLE_4 = {
    "pelvis": (9.70, 12.20, 10.00, 10.00),
    "torso": (17.20, 17.40, 17.40, 17.40),
    "right_thigh": (11.30, 11.20, 11.30, 11.00),
    "left_thigh": (12.40, 12.30, 12.50, 12.00),
    "right_shank": (3.80, 3.50, 3.70, 3.50),
    "left_shank": (3.80, 3.90, 3.90, 3.50),
    "right_foot": (1.20, 0.90, 1.10, 0.90),
    "left_foot": (1.20, 1.00, 1.00, 3.20),
    "right_upper_arm": (1.60, 1.60, 1.60, 1.60),
    "left_upper_arm": (1.70, 1.60, 1.60, 1.60),
    "right_forearm": (0.85, 0.70, 0.80, 1.10),
    "left_forearm": (0.85, 0.90, 0.80, 1.10),
    "right_hand": (0.40, 0.50, 1.90, 0.50),
    "left_hand": (0.40, 0.40, 0.40, 0.40),
    "head": (3.60, 3.70, 3.70, 4.00),
}
"""Human, identified masses [kg]: bare, belt on the pelvis, on the right hand, on the left foot."""
BELT_ESTIMATES = {"pelvis": 2.5, "right_hand": 1.5, "left_foot": 2.0}  # [kg], last row of Table IV
