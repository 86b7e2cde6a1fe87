from .authoring import CompleteOptions as CompleteOptions
from .authoring import RepairOptions as RepairOptions
from .authoring import RetargetOptions as RetargetOptions
from .checks import DANCE_CHECKS as DANCE_CHECKS
from .checks import CheckOptions as CheckOptions
from .dances import DanceOptions as DanceOptions
from .dances import human_options as human_options
from .dances import paper_options as paper_options
from .declared import Declaration as Declaration
from .declared import Option as Option
from .declared import Options as Options
from .declared import Range as Range
from .declared import declarations as declarations
from .exciting import ExcitingOptions as ExcitingOptions
from .plates import PlateOptions as PlateOptions
from .reading import ReadOptions as ReadOptions
from .study import CohortOptions as CohortOptions
from .study import LoadOptions as LoadOptions
from .study import Settings as Settings

__all__: list[str]
