from .examples import simulated_person as simulated_person
from .examples import simulated_robot as simulated_robot
from .run import run_demo as run_demo
