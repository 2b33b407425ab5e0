"""Routes on layers: forwarding tables for any fabric within a number of virtual lanes.

The data are three arrays. ``routes[d, v]`` is the channel by which switch v forwards packets for host d; the channels
to a host form a tree. ``layers.of[d, v]`` is the virtual lane of packets from hosts at switch v to host d: it is the
same along the whole route, so that the service level of a pair determines it. ``load[c]`` is the exact worst load of
channel c.

Routes start from several tables (`starts`), are put on layers whose channels wait for each other in no cycle
(`assign`), and are then changed one entry at a time as long as loads become smaller (`improve`).
"""
