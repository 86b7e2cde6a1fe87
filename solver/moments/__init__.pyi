from .contact_links import ContactLinks as ContactLinks
from .contact_links import assign_wrenches as assign_wrenches
from .inverse_dynamics import compute_moments as compute_moments
from .values import JointMoments as JointMoments
