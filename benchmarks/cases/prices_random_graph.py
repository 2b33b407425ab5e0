"""Checking the prices of 8,000 channels of a random graph, 10.1 million loads, as the checker does."""

import numpy as np

TARGET = "at most 10 ns a load, 101 ms"


def setup(folder):
    import obliv
    from obliv.checker._kernels import PriceTable
    from obliv.checker.linear import Excess
    from obliv.flows.sources import source_flows
    from obliv.loads.base import search_channels

    routing = obliv.ECMP(obliv.random_regular(1000, 8, seed=1))
    loads, channels = routing.pair_loads(), np.arange(routing.topology.channels)
    n, prices = loads.terminals, np.zeros((loads.terminals, len(channels)), np.int64)
    for channel, price in search_channels(loads, channels, prices=True).prices.items():
        prices[:, channel] = price
    flow_of = source_flows(routing, loads.denominator)
    flows = [flow_of(i) for i in range(n)]
    none = np.zeros(len(channels), bool)
    return lambda: Excess(loads.denominator, PriceTable(channels, prices), np.ones(n, np.int64), none), flows


def run(made):
    excess = made[0]()
    for source, flow in enumerate(made[1]):
        excess.add(source, flow)
    return excess.total
