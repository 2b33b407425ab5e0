"""The hash lottery: the largest load where flows draw their paths at random."""
