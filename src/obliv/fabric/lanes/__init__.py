"""Virtual lanes of a fabric: SL-to-VL tables, the service levels of pairs, and deadlock over channels and lanes.

The service level (SL, 0 to 15) of a packet is chosen by its source and never changes. The virtual lane (VL) is that of
one link: a switch takes it from its SL-to-VL table by the port by which the packet came in, the port by which it
leaves, and its SL. Three kinds of data are kept apart:

* :class:`obliv.fabric.lanes.sl2vl.LaneTables`: a fabric has up to millions of rows, but few distinct ones. So there
  is one small array of distinct rows, 16 VLs each, and one packed array of row numbers, at ``first[v] + entry * ports +
  exit`` for switch v. Row 0 stands for a row that is missing.
* :class:`obliv.fabric.lanes.pairs.PairLevels`: the SLs of a pair are a mask of 16 bits; an engine may give several. The
  masks have shape (1, 1), (1, LIDs) or (sources, LIDs): one SL for all, by destination, or by pair. Only the last,
  which needs a file with a line for each pair, takes memory that grows with the square of the number of hosts.
* :mod:`obliv.fabric.lanes.graph`: routes to one LID form a tree, so all sources are followed together. Sources at a
  leaf switch whose ports have equal rows are one origin. A hop is followed once for each LID, SL and VL.
"""
