"""Routings on meshes, tori and other Cartesian networks: by dimensions, by turn models, with two turns."""
