"""The engine ``dor-dateline``: dimension order on tori, whose packets change the lane where they change the dimension.

A ring needs two lanes: one for packets that cross its dateline, the link from the last coordinate to the first, and one
for the others. A packet crosses or does not cross in each dimension; its service level (SL) has a bit for each of them,
and switches choose the lane by the bit of the dimension in which the packet leaves. So two lanes suffice on any number
of dimensions, where one lane along a route would take two to the number of dimensions.

Where dimension order misses a switch or a cable, packets take a detour (`detours`), whose service level is found by
search (`levels`): the first one by which channels with their lanes wait for each other in no cycle.
"""
