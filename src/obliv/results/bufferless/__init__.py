"""Schedules of packets without buffers, and the plans behind them."""
