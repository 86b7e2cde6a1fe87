"""A robot that is bolted down: motions that excite it, and its inertials from joint torques or a sensor at its base."""

from .bench import BASE, DRIVES, TORQUES, Bench



