"""How flows whose paths are hashed collide: the distribution of the largest load."""
