"""The error model: what a tracked motion gets wrong, estimated with the help of the measured wrenches.

A tracked motion differs from the true motion because skin moves and joint centres are not exactly known. The wrench
that is reconstructed from it therefore contains errors, mostly between 3 and 10 Hz, that force plates do not show.
`frequency_weights` holds a linear filter for each region of the body and each axis of the wrench. `weight_estimation`
learns it from the difference between measured and reconstructed wrenches. `refit` applies it to the equations of a
trial and repeats the fit. `posture_wrenches` computes the errors that follow posture. Identified parameters
and prior each have their own frequency weights, so that neither is favoured in a comparison.
"""
