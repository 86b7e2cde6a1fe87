"""The step that identifies inertial parameters from prepared trials."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.arrays import list_names
from ..base.errors import InvalidValue
from ..base.progress import Progress
from ..identification.identify import IdentifyOptions, identify_trials
from ..identification.published_masses import describe_masses_outside_tables
from ..identification.result import Identification
from ..options.study import Settings
from ..scene.determined import TABLES
from ..skeleton.rig import Rig
from ..values.inertials import MASS
from .flights import identify_flights
from .values import Flights, StudyData

ADULT_HEIGHT = 1.4
"""[m] Least height of a person whom tables of adults describe. Derived: 3.5 standard deviations of 6.5 cm below the
1.63 m of women."""


def identify_prepared(
    prepared: StudyData, stated_mass: float | None, progress: Progress
) -> tuple[Identification, Flights | None]:
    """Identify from all frames that count, or from flight phases alone if the settings say so.

    Args:
        prepared: trials, and settings.
        stated_mass: [kg] scales an identification from flights if no plate weighs the body.
        progress: receives progress.

    Raises:
        InvalidValue: no frame counts; for flights alone: no flight that can be used, or an unknown mass.
    """
    options = build_identify_options(prepared)
    if prepared.settings.flight_only:
        options = replace(options, total_mass=_find_total_mass(prepared, stated_mass))
        return identify_flights(prepared, options, progress)
    flights = {r.name: r.windows.flight & r.trial.counted for r in prepared.records if r.windows and r.trial}
    found = identify_trials(prepared.rig, prepared.trials, options, flights=flights, progress=progress)
    if prepared.mass is None or not found.determined:
        return found, None
    total, *others = found.determined  # the total mass was weighed before
    total = replace(total, half_width=np.array([prepared.mass.half_width]))
    return replace(found, determined=(total, *others)), None


def warn_of_result(prepared: StudyData, identified: Identification, flights: Flights | None) -> tuple[str, ...]:
    """Warnings that follow from the comparison of the result with the trials and the prior."""
    if flights is not None:
        supplied = sum(each.source == TABLES for each in identified.determined)
        shared = f"the prior supplied {supplied} of {len(identified.determined)} masses and first moments"
        return (f"{flights.null_space.summary}; {shared}", *flights.warnings)
    unused: dict[str, list[str]] = {}
    for trial in prepared.trials:
        if trial.name not in identified.trials:
            unused.setdefault(list_names(reason for reason, _ in trial.excluded), []).append(trial.name)
    height = prepared.rig.provenance.get("height")
    is_small = "tables" in prepared.rig.provenance and isinstance(height, float) and height < ADULT_HEIGHT
    children = (
        "children's heads are 10 to 18 % of the body, their trunks up to 7 % of it more or less, and the intervals do "
        "not contain this"
    )
    return (
        *(
            (f"a height of {height:.2f} m is a child's, but the prior is {prepared.rig.prior_source}: {children}",)
            if is_small
            else ()
        ),
        *(
            f"{list_names(names)}: no frame counts, left out of the identification ({reasons}); forces of another body "
            "count as an unmeasured support"
            for reasons, names in unused.items()
        ),
        *((identified.undecided_reason,) if identified.undecided_reason else ()),
        *describe_masses_outside_tables(prepared.rig, identified.parameters, identified.half_widths[:, MASS]).values(),
    )


def list_assumptions(prepared: StudyData, stated_mass: float | None) -> tuple[str, ...]:
    """What an identification assumed where settings and body specify nothing."""
    settings, person = prepared.settings, prepared.rig.is_person
    assumptions = []
    if settings.base is None:
        base = choose_base_link(prepared.rig, settings)
        assumptions.append(f"base link {base}: the rig's choice, none was specified")
    if settings.symmetric is None and settings.method == "consistent":
        alike = "assumed alike, as of a healthy person" if person else "not assumed alike, as of a robot"
        other = " (in Python, symmetric=False of Settings is for an amputee or a load on one side)" if person else ""
        assumptions.append(f"left and right were {alike}: nothing was specified{other}")
    if settings.planted_foot is not None and any(r.given for r in prepared.records):
        assumptions.append(f"{settings.planted_foot} was assumed to stay still where no pose of the root was recorded")
    if prepared.mass is not None and stated_mass is None:
        assumptions.append(f"the masses sum to the {prepared.mass.mass:.2f} kg that the plates weigh")
    return tuple(assumptions)


def choose_base_link(rig: Rig, settings: Settings) -> str:
    return settings.base or str(rig.provenance.get("base_link", rig.links[0]))


def build_identify_options(prepared: StudyData) -> IdentifyOptions:
    settings = prepared.settings
    return IdentifyOptions(
        method=settings.method,
        base=choose_base_link(prepared.rig, settings),
        total_mass=prepared.mass.mass if prepared.mass is not None else None,
        symmetric=settings.symmetric,
        cross_validate=not settings.no_cross_validation,
    )


def _find_total_mass(prepared: StudyData, stated: float | None) -> float:
    """Total mass [kg] of a body that is identified from flight phases alone.

    Raises:
        InvalidValue: it is unknown.
    """
    if prepared.mass is not None:
        return prepared.mass.mass
    if stated is None:
        raise InvalidValue("flight alone determines masses only up to a common factor: state the body's mass")
    return stated
