"""The engines ``minimal`` and ``two-turn``: several routes between two hosts of a grid, one for each LID of a host.

A host with 2^LMC LIDs has as many trees of routes (`plans`), which sources use evenly. Those of ``minimal`` correct the
dimensions in several orders, and go both ways halfway round a ring. Those of ``two-turn`` go to a column first, in the
column to the destination's row, and in the row to the destination; each tree has its own column, and leaves out one
link of each ring, so that its routes are those of a mesh. With all columns, and two opposite links left out in each,
no permutation loads a channel of a k x k torus by more than k/4, which is the best of all oblivious routings.

Lanes (`lanes`) rise on the way: with every change of direction that dimension order forbids, and behind the dateline of
a ring. Which lane a channel has follows from the tree and the place alone, so every tree needs one service level. The
columns for a few LIDs are found by a search on the exact worst case (`search`).
"""
