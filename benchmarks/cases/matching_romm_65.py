"""One focus channel of ROMM on torus:65x65, the assignment alone."""

from common import FOCUS_OTHERS, focus_channel

TARGET = "80 times as fast as scipy"
OTHERS = FOCUS_OTHERS


def setup(folder):
    return focus_channel(65)


def run(made):
    return made[0]()
