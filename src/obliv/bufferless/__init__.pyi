"""Packets on leveled networks without buffers: instances, schedules, and the check of every move."""

from obliv.bufferless.api import ALGORITHMS as ALGORITHMS
from obliv.bufferless.api import schedule as schedule
from obliv.bufferless.api import schedules as schedules
from obliv.bufferless.problems import instance as instance
from obliv.bufferless.problems import instances as instances
from obliv.bufferless.problems import load_instance as load_instance
from obliv.checker.verify import verify as verify
