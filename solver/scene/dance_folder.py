"""Names of the files in the folder that a verb makes of a dance, for who writes it and for who reads it."""

from __future__ import annotations

SUMMARY_FILE, REPORT_FILE = "summary.json", "report.txt"
"""What the verb says to a scene, and to people."""
DANCE_FILE, AUTHORED_FILE = "dance.npz", "keyed.json"
"""A designed dance, and an authored one."""
NUMBERS_FILE = "dance.json"
"""What a designed dance achieves, in numbers."""
RIG_FILE, MOTION_FILE = "rig.json", "dance.motion.npz"
"""Who dances, and how."""
JOINTS_FILE, STORAGE_FILE = "dance.csv", "dance.mot"
"""Joint coordinates for robots and viewers."""
PERFORMANCE_FILE, PERFORMANCE_TABLE = "performance.json", "performance.csv"
"""How a recording performs a dance: numbers, and a row for every joint."""
TIMELINE_END = ".timeline.npz"
TIMELINE_FILE, BODY_FILE = f"scene{TIMELINE_END}", "body.json"
"""What a scene gives to a verb: its timeline, and its rig."""
