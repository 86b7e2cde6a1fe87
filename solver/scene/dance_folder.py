"""Names of the files in the folder that a job with a dance writes."""

from __future__ import annotations

SUMMARY_FILE, REPORT_FILE = "summary.json", "report.txt"
"""Summary for a scene, and report for people."""
DANCE_FILE, AUTHORED_FILE = "dance.npz", "keyed.json"
"""A designed dance, and an authored one."""
NUMBERS_FILE = "dance.json"
"""Figures of a designed dance."""
RIG_FILE, MOTION_FILE = "rig.json", "dance.motion.npz"
"""The rig, and its motion."""
JOINTS_FILE, STORAGE_FILE = "dance.joints.csv", "dance.joints.mot"
"""Joint coordinates for robots and viewers."""
PERFORMANCE_FILE = "performance.json"
"""Comparison of a performance with its plan."""
TIMELINE_END = ".timeline.npz"
TIMELINE_FILE, BODY_FILE = f"scene{TIMELINE_END}", "body.json"
"""Input of a job from a scene: its timeline, and its rig."""
