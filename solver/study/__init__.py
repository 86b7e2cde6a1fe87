"""A subject's or a robot's recordings as one piece of work: from files to identified inertial parameters."""
