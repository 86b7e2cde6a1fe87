"""Plain values that everything exchanges: joints, inertias, shapes, motions, wrenches, persons."""
