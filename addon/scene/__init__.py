"""Objects, actions and custom properties of the scene, from and to plain values of the solver."""
