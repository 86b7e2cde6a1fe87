from .causal_filter import CausalFilter as CausalFilter
from .causal_filter import LiveSample as LiveSample
from .estimate import estimate_centroidal as estimate_centroidal
from .estimate import write_estimates as write_estimates
from .inputs import centroidal_data as centroidal_data
from .values import CentroidalData as CentroidalData
from .values import CentroidalEstimate as CentroidalEstimate
from .values import InertialModes as InertialModes
