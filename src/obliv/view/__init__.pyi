"""Pictures and tables of results."""

from obliv.results.tables import table as table
from obliv.results.tables import to_csv as to_csv
from obliv.view.charts.base import light_frame as light_frame
from obliv.view.charts.comparison import plot_comparison as plot_comparison
from obliv.view.charts.throughput import plot_throughput as plot_throughput
from obliv.view.dispatch import plot as plot
from obliv.view.network.channels import draw_loads as draw_loads
from obliv.view.network.channels import draw_topology as draw_topology
from obliv.view.network.paths import draw_paths as draw_paths
from obliv.view.network.pictures import plot_loads as plot_loads
from obliv.view.network.pictures import plot_topology as plot_topology
from obliv.view.network.pictures import plot_worst_channels as plot_worst_channels
from obliv.view.network.worst_case import plot_worst as plot_worst
from obliv.view.saving import require_format as require_format
from obliv.view.saving import save as save
from obliv.view.schedules.animation import animate as animate
from obliv.view.schedules.histograms import deflection_ages as deflection_ages
from obliv.view.schedules.histograms import delivery_times as delivery_times
from obliv.view.schedules.histograms import makespans as makespans
from obliv.view.schedules.phase import one_phase as one_phase
from obliv.view.schedules.pictures import plot_schedule as plot_schedule
from obliv.view.schedules.rounds import one_round as one_round
from obliv.view.schedules.space_time import space_time as space_time
from obliv.view.style import INK as INK
from obliv.view.style import MARKERS as MARKERS
from obliv.view.style import SERIES as SERIES
