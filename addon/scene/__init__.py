"""Values of the solver in, objects, actions and custom properties of the scene out, and back."""
