"""How well motions excite the inertial parameters, and the deviations to expect of them."""
