"""Where and when a body touches the ground: anchors, contact schedules, support polygons."""
