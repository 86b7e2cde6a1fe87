"""Options of a study, of a cohort, and of the search for an added load."""

from dataclasses import dataclass, field
from typing import Annotated

from ..values.filter_presets import PRESETS
from ..values.identification_methods import method_names
from ..values.person import SHOULDERS, TRUNKS
from .declared import COUNT, JOBS, NOT_NEGATIVE, Option, Options
from .plates import PlateOptions
from .reading import ReadOptions


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """Settings of a study: every choice that a method section must name.

    Attributes:
        method: identification method; a name of `identification_methods.IDENTIFICATION_METHODS`.
        filter: low-pass filter of motion and wrenches; 8 Hz suits people, and the cut-off is lowered where the motion
            is noise. A name of `signals.PRESETS`.
        base: link at whose origin the external wrench is written; to compare residual moments. None: the rig's own
            choice.
        symmetric: left and right agree within 10 %, consistent method only; None: True for people, False for robots.
        smooth: track each recording as a whole instead of frame by frame, for less noise and to bridge gaps; markers
            only.
        no_cross_validation: do not test on trials left out in turn; with a single trial on half of it. The test shows
            whether the result generalises.
        jobs: processes at once, -1 for all; None: joblib's configuration.
        planted_foot: contact patch fixed to the floor, for recordings without the pose of the root; or its link. Forces
            are then about its centre.
        plates: options of the plate checks.
        flight_only: identify from flight phases of the motion, with force plates for the body mass only; without any,
            give the mass.
    """

    method: Annotated[str, Option(choices=method_names, label="Method", common=True)] = method_names()[0]
    filter: Annotated[str, Option(choices=PRESETS)] = "human_8hz"
    base: Annotated[str | None, Option(usual="the rig's")] = None
    symmetric: Annotated[bool | None, Option(in_code_only=True)] = None
    smooth: Annotated[bool, Option(label="Smooth", common=True)] = False
    no_cross_validation: Annotated[bool, Option()] = False
    jobs: Annotated[int | None, Option(JOBS, usual="joblib's", common=True)] = None
    planted_foot: Annotated[str | None, Option(common=True)] = None
    plates: PlateOptions = field(default_factory=PlateOptions)
    flight_only: Annotated[bool, Option(label="Flight Only", common=True)] = False


@dataclass(frozen=True, slots=True)
class CohortOptions(Options):
    """Options for every subject: reading, identification, and the body model's trunk and shoulders.

    Attributes:
        read: of all recordings.
        settings: of every study.
        trunk: trunk above the pelvis, one segment, or three (with abdomen and thorax).
        shoulders: upper arms fixed on the torso, or on clavicle and scapula.
    """

    read: ReadOptions = field(default_factory=ReadOptions)
    settings: Settings = field(default_factory=Settings)
    trunk: Annotated[str, Option(choices=TRUNKS, label="Trunk")] = TRUNKS[0]
    shoulders: Annotated[str, Option(choices=SHOULDERS, label="Shoulders")] = SHOULDERS[0]


@dataclass(frozen=True, slots=True)
class LoadOptions(Options):
    """Options of the load estimation.

    Attributes:
        margin: [m] distance by which a load may extend beyond the box of the link that carries it.
        max_links: largest number of links that carry a load.
        candidates: links that may carry the load; empty for all.
        base: base link of the wrench equation.
    """

    margin: Annotated[float, Option(NOT_NEGATIVE)] = 0.05
    max_links: Annotated[int, Option(COUNT)] = 3
    candidates: Annotated[tuple[str, ...], Option(usual="all")] = ()
    base: str | int = 0
