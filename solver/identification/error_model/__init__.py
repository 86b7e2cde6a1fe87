"""The error model: what a tracked motion gets wrong, estimated with the help of the measured wrenches.

A tracked motion differs from the true motion because skin moves and joint centres are not exactly known. The wrench
that is reconstructed from it therefore contains errors, mostly between 3 and 10 Hz, that force plates do not show.
`frequency_weights` holds, for each link, wrench axis and frequency band, the fraction of the motion that is used, and
the wrench of links that move with their own markers beyond the rigid joints (skin compliance). `weight_estimation`
estimates both from the difference between measured and reconstructed wrenches. `refit` applies both to the equations of
a trial and repeats the fit. `blocks.PostureErrors` holds the errors that follow posture. Identified parameters
and prior each have their own frequency weights, so that neither is favoured in a comparison.
"""
