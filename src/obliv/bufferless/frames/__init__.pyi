"""The centralized and the distributed frame algorithm, in parts: constants, plans, rides, and runs step by step."""

from obliv.bufferless.frames.centralized import Outcome as Outcome
from obliv.bufferless.frames.centralized import PlanningError as PlanningError
from obliv.bufferless.frames.centralized import PlanOptions as PlanOptions
from obliv.bufferless.frames.centralized import delivery_times as delivery_times
from obliv.bufferless.frames.centralized import plan as plan
from obliv.bufferless.frames.centralized import simulate as simulate
from obliv.bufferless.frames.constants import Constants as Constants
from obliv.bufferless.frames.constants import Places as Places
from obliv.bufferless.frames.constants import Waves as Waves
from obliv.bufferless.frames.constants import assign as assign
from obliv.bufferless.frames.constants import centralized_constants as centralized_constants
from obliv.bufferless.frames.constants import distributed_constants as distributed_constants
from obliv.bufferless.frames.constants import draw_sets as draw_sets
from obliv.bufferless.frames.constants import group_frames as group_frames
from obliv.bufferless.frames.constants import lg as lg
from obliv.bufferless.frames.constants import waves as waves
from obliv.bufferless.frames.rounds import CrowdedError as CrowdedError
from obliv.bufferless.frames.rounds import Kernels as Kernels
from obliv.bufferless.frames.rounds import Rides as Rides
from obliv.bufferless.frames.rounds import Rounds as Rounds
from obliv.bufferless.frames.rounds import Stepped as Stepped
from obliv.bufferless.frames.rounds import ride as ride
from obliv.bufferless.frames.rounds import simulate_rounds as simulate_rounds
