"""Specs: the texts that name topologies, routings and traffic, and the registries behind them."""
