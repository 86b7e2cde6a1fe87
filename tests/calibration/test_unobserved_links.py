"""A segment is shown where turning it about its joint moves markers."""

from __future__ import annotations

import numpy as np

from solver.calibration.calibration import find_unobserved_links
from solver.calibration.marker_set import load_marker_set
from solver.rigs import human
from solver.tracking.tasks import Attachment

PERSON = human(1.75, 70.0, "female")
JOINTS = {link: joint.position for link, joint in zip(PERSON.links, PERSON.joints)}


def attached(*without: str) -> list[Attachment]:
    """Plug-in Gait's markers at their places, but for those whose names contain a part."""
    places = load_marker_set("plug_in_gait").locations
    return [
        Attachment(name, place.link, place.position(JOINTS, 1.75))
        for name, place in places.items()
        if not any(part in name for part in without)
    ]


def test_a_whole_set_observes_every_link() -> None:
    """With markers on head and hands nothing is left to the prior; without any marker nothing is judged."""
    assert find_unobserved_links(PERSON, attached()) == ()
    assert find_unobserved_links(PERSON, []) == ()


def test_links_without_markers_are_unobserved() -> None:
    """Without markers on the head its rotation is unobserved; two markers in line with the wrist do not observe a
    hand's flexion.
    """
    assert find_unobserved_links(PERSON, attached("HD")) == ("head",)
    assert find_unobserved_links(PERSON, attached("FIN")) == ("right_hand", "left_hand")


def test_markers_further_out_count() -> None:
    """An upper arm without a marker of its own is shown by those of the forearm and hand, unless its length is also the
    axis that they all lie on.
    """
    assert "right_upper_arm" not in find_unobserved_links(PERSON, attached("RUPA"))
    line = [Attachment(str(k), "right_forearm", np.array([0.0, 0.0, -0.1 * k])) for k in range(3)]
    assert "right_upper_arm" in find_unobserved_links(PERSON, line)
