"""How many virtual channels does a routing need?
==============================================

Virtual channels are buffers side by side at one channel. A rule that moves packets to the next one at the right
moment breaks cycles of waiting packets. Which rule needs the fewest?
"""

import matplotlib.pyplot as plt

import obliv

mesh, torus = obliv.topology("mesh:4x4"), obliv.topology("torus:4x4")
result = obliv.fewest_virtual_channels(obliv.routing("romm", torus))
print(result)

# %%
# Each scheme is a rule for the virtual channel of a hop. The fewest virtual channels of any scheme, for several
# routings on a mesh and on a torus:

names = ["dor", "o1turn", "romm", "valiant", "u2turn"]
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for shift, network, color in ((-0.2, mesh, obliv.view.SERIES[0]), (0.2, torus, obliv.view.SERIES[1])):
    counts = [obliv.fewest_virtual_channels(obliv.routing(name, network)).fewest for name in names]
    bars = ax.bar([place + shift for place in range(len(names))], counts, 0.38, label=network.spec, color=color)
    ax.bar_label(bars)
ax.set_xticks(range(len(names)), names)
ax.set(ylabel="virtual channels", ylim=(0, 6))
ax.legend(frameon=False, loc="upper left")
