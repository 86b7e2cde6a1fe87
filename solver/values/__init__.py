"""Plain values of bodies and motions: joints, inertias, shapes, motions and wrenches; they compute little."""
