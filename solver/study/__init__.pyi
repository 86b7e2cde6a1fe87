from .joint_motion import joints_of as joints_of
from .joint_motion import poses_of as poses_of
from .tracking import track_all as track_all
from .values import TrialRecord as TrialRecord
