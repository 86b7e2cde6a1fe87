"""Robots with a fixed base: exciting motions, and inertials from joint torques or from a force sensor at the base.

No other package imports this one; the command line finds its verbs (`cli.extensions`).
"""
