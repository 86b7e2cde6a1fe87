"""Centre of mass and rate of angular momentum from kinematics and contact wrenches together: bailly2019 and peers."""
