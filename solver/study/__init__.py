"""A study: from the recordings of a subject or robot to identified inertial parameters."""
