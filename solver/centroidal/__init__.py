"""Centre of mass and rate of angular momentum from kinematics and contact wrenches: bailly2019 and other estimators."""
