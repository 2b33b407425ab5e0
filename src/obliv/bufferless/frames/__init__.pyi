"""The centralized and the distributed frame algorithm, in parts: constants, plans, rides, and runs step by step."""

from obliv.bufferless.frames.boats import CrowdedError as CrowdedError
from obliv.bufferless.frames.boats import Rides as Rides
from obliv.bufferless.frames.boats import ride as ride
from obliv.bufferless.frames.constants import Constants as Constants
from obliv.bufferless.frames.constants import Places as Places
from obliv.bufferless.frames.constants import assign as assign
from obliv.bufferless.frames.constants import centralized_constants as centralized_constants
from obliv.bufferless.frames.constants import distributed_constants as distributed_constants
from obliv.bufferless.frames.constants import draw_sets as draw_sets
from obliv.bufferless.frames.constants import group_frames as group_frames
from obliv.bufferless.frames.constants import lg as lg
from obliv.bufferless.frames.planning import PlanningError as PlanningError
from obliv.bufferless.frames.planning import PlanOptions as PlanOptions
from obliv.bufferless.frames.planning import delivery_times as delivery_times
from obliv.bufferless.frames.planning import plan as plan
from obliv.bufferless.frames.rounds import Rounds as Rounds
from obliv.bufferless.frames.rounds import simulate_rounds as simulate_rounds
from obliv.bufferless.frames.stepped import Kernels as Kernels
from obliv.bufferless.frames.stepped import Stepped as Stepped
from obliv.bufferless.frames.stepping import Outcome as Outcome
from obliv.bufferless.frames.stepping import simulate as simulate
from obliv.bufferless.frames.wave_clock import Waves as Waves
from obliv.bufferless.frames.wave_clock import waves as waves
