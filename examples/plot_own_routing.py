"""A network and a routing of your own
===================================

A topology is a function that returns links; a routing needs one method, ``paths`` or ``next_hops``. Everything else
follows: pair loads, worst cases, proofs, pictures.
"""

from fractions import Fraction

import obliv

links = [(v, (v + step) % 12) for v in range(12) for step in (1, -1, 3, -3)]
chords = obliv.build("chords", 12, links)


class Balanced:
    """Chords first, then the ring; the two ways round share the packets where they are equally long."""

    def __init__(self, topology):
        self.topology = topology

    def next_hops(self, node, destination):
        """Return the channels toward a destination, with the share of packets that take them."""
        offset = (destination - node) % 12
        ahead = [+3] if offset > 1 and offset < 6 else [+1] if offset == 1 else []
        back = [-3] if 6 < offset < 11 else [-1] if offset == 11 else []
        steps = ahead + back or [+3, -3]
        return [(self.topology.channel(node, (node + step) % 12), Fraction(1, len(steps))) for step in steps]


result = obliv.worst_case(obliv.routing(Balanced(chords), chords), certificate=True)
print(result)
result.plot()

# %%
# The pairs that load the worst channel:

for pair in result.crossing_pairs():
    print(pair.source, "->", pair.destination, pair.channel_load)
