"""Kernels of pair loads."""
