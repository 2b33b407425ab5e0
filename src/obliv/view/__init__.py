"""Pictures and tables of results.  Drawing needs matplotlib, which is loaded when something is drawn."""

from __future__ import annotations

from obliv.view.compare import plot_comparison
from obliv.view.dispatch import plot
from obliv.view.files import require_format, save
from obliv.view.network import draw_loads, draw_topology
from obliv.view.paths import draw_paths
from obliv.view.pictures import plot_loads, plot_topology
from obliv.view.tables import table, to_csv
from obliv.view.throughput import plot_throughput
from obliv.view.worst_case import plot_worst

__all__ = [
    "draw_loads",
    "draw_paths",
    "draw_topology",
    "plot",
    "plot_comparison",
    "plot_loads",
    "plot_throughput",
    "plot_topology",
    "plot_worst",
    "require_format",
    "save",
    "table",
    "to_csv",
]
