from ..options.exciting import ExcitingOptions as ExcitingOptions
from .exciting_motions import exciting_motion as exciting_motion
from .identify import FixedBaseOptions as FixedBaseOptions
from .identify import FixedBaseTrial as FixedBaseTrial
from .identify import identify_fixed_base as identify_fixed_base
from .robot import FixedBaseRobot as FixedBaseRobot
