"""Identification: inertial parameters of every link from motion and measured wrenches."""
