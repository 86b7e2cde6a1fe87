"""The section of an added load."""

from __future__ import annotations

import numpy as np

from ..content import Content
from ..document import Numbering
from ..svg import DASH
from ..tables import format_number, format_with_std, link_name, render_table


def render_load(content: Content, numbering: Numbering) -> str:
    if not content.loads:
        return ""
    if not content.loads[0].link:
        return "<p>The recordings with and without load do not differ: no load was found.</p>"
    caption = (
        "Load that is carried in the later recordings but not in the earlier ones, on the most likely of the smallest "
        "sets of links that explain it, ± one standard deviation from the residuals; and the probability of each link "
        "if a single link carries all of it. "
        "A constant offset of the plates between both would look the same."
    )
    listed = "".join(f"<li>{link_name(name)}</li>" for name in content.loads[0].alternatives)
    others = f"<p>Not excluded by the data at 95 %, the whole load on:</p><ul>{listed}</ul>"
    only = "<p>No other link, and no other two that share it, explain the data as well.</p>"
    return numbering.add_caption("Table", load_table(content), caption) + (others if listed else only)


def load_table(content: Content) -> str:
    """Added loads with their links."""
    rows = [
        [
            link_name(load.link),
            format_with_std(load.mass, load.mass_std, 2),
            *(format_number(1e3 * float(x), 0) for x in load.com),
            f"{format_number(100.0 * load.probability, 0)}&nbsp;%" if np.isfinite(load.probability) else DASH,
        ]
        for load in content.loads
    ]
    above = [("", 2), ("centre of mass, link frame [mm]", 3), ("", 1)]
    return render_table(
        ["link", "added mass [kg]", "x", "y", "z", "if one link carries all"], rows, spanning_titles=above
    )
