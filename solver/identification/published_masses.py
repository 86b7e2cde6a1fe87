"""Compares a person's masses with those of published tables of body segments."""

from __future__ import annotations

import numpy as np

from ..base.assets import read_asset
from ..scene.labels import display_name, join_names
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from ..values.person import LINKS


def describe_masses_outside_tables(rig: Rig, parameters: InertialParameters, half_widths: np.ndarray) -> dict[str, str]:
    """A sentence, by link, for each part of a person whose mass is outside every published table, with the reason.

    Data determine a limb's mass, or the trunk's, better than how its links share it: the sentence says whether links
    together are within the tables, and whether the link's interval reaches them; of two sides the one further out.
    Empty for robots, and for people without a head or hands of their own.

    Args:
        rig: of the person.
        parameters: identified.
        half_widths: (L,) [kg] half of the 95 % intervals of the masses; NaN if unknown.
    """
    if rig.provenance.get("kind") != "human" or not set(LINKS) <= set(rig.links):
        return {}
    table, percent = read_asset("published_masses"), 100.0 / parameters.total_mass
    shares, widths = (dict(zip(rig.links, percent * each)) for each in (parameters.masses, half_widths))
    shares["torso"] += sum(share for link, share in shares.items() if link not in LINKS)  # of a divided trunk
    found = {}
    for part, (low, lowest, high, highest) in table["parts"].items():
        beyond, link = max(
            (max(low - shares[link], shares[link] - high), link) for link in LINKS if link.endswith(part)
        )
        if beyond <= 0.0:
            continue
        side, share = link.removesuffix(part), shares[link]
        limit = (
            f"above {high:g} %, the highest ({highest})" if share > high else f"below {low:g} %, the lowest ({lowest})"
        )
        reaches = f"its 95 % interval, ± {widths[link]:.1f} %, reaches them"
        reasons = [reaches] if widths[link] >= beyond else []
        for parts, (least, most) in table["together"]:
            if part in parts:
                together = sum(shares[side + each] for each in parts)
                where = "within" if least <= together <= most else "outside"
                names = join_names([display_name(side + each) for each in parts])
                reasons.append(
                    f"{names} together are {together:.1f} %, {where} {least:g} to {most:g} %, and the prior splits them"
                )
        found[link] = (
            f"the mass of the {display_name(link)} is {share:.1f} % of the body, {limit} of published tables; "
            + "; ".join(reasons or ["the prior splits the mass at its joint"])
        )
    return found
