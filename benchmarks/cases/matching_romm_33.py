"""One focus channel of ROMM on torus:33x33, the assignment alone."""

from common import FOCUS_OTHERS, focus_channel

TARGET = "40 times as fast as scipy"
OTHERS = FOCUS_OTHERS


def setup(folder):
    return focus_channel(33)


def run(made):
    return made[0]()
