"""Pictures and tables of results.  Drawing needs matplotlib, which is loaded when something is drawn."""

from __future__ import annotations

from obliv.view.animation import animate
from obliv.view.compare import plot_comparison
from obliv.view.dispatch import plot
from obliv.view.files import require_format, save
from obliv.view.network import draw_loads, draw_topology
from obliv.view.paths import draw_paths
from obliv.view.pictures import plot_loads, plot_topology
from obliv.view.schedule import plot_schedule
from obliv.view.schedule_charts import deflection_ages, delivery_times, makespans
from obliv.view.schedule_phase import one_phase
from obliv.view.schedule_round import one_round
from obliv.view.space_time import space_time
from obliv.view.tables import table, to_csv
from obliv.view.throughput import plot_throughput
from obliv.view.worst_case import plot_worst

__all__ = [
    "animate",
    "deflection_ages",
    "delivery_times",
    "draw_loads",
    "draw_paths",
    "draw_topology",
    "makespans",
    "one_phase",
    "one_round",
    "plot",
    "plot_comparison",
    "plot_loads",
    "plot_schedule",
    "plot_throughput",
    "plot_topology",
    "plot_worst",
    "require_format",
    "save",
    "space_time",
    "table",
    "to_csv",
]
