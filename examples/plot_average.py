"""Average instead of worst case
=============================

How much does a routing carry of a random permutation? Estimates carry their standard error.
"""

import obliv

torus = obliv.topology("torus:5x5")
results = [obliv.average_case(obliv.routing(name, torus), samples=200, rng=1) for name in ("dor", "romm", "valiant")]
for result in results:
    print(result)

# %%
# The mean and the largest of what was drawn, beside the exact worst case: of 200 permutations none is as bad as the
# worst one of ROMM.

results[1].plot()
