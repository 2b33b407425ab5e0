"""Pictures and tables of results."""

from obliv.bufferless.pictures.draw import animate as animate
from obliv.bufferless.pictures.draw import plot_schedule as plot_schedule
from obliv.bufferless.pictures.histograms import deflection_ages as deflection_ages
from obliv.bufferless.pictures.histograms import delivery_times as delivery_times
from obliv.bufferless.pictures.histograms import makespans as makespans
from obliv.bufferless.pictures.rounds import one_phase as one_phase
from obliv.bufferless.pictures.rounds import one_round as one_round
from obliv.bufferless.pictures.space_time import space_time as space_time
from obliv.fabric.charts import plot_job as plot_job
from obliv.results.numbers import table as table
from obliv.results.numbers import to_csv as to_csv
from obliv.view.axes import INK as INK
from obliv.view.axes import MARKERS as MARKERS
from obliv.view.axes import SERIES as SERIES
from obliv.view.axes import dark as dark
from obliv.view.axes import plot as plot
from obliv.view.charts.base import light_frame as light_frame
from obliv.view.charts.base import plot_bars as plot_bars
from obliv.view.charts.base import plot_lines as plot_lines
from obliv.view.charts.comparison import plot_comparison as plot_comparison
from obliv.view.interactive.fragment import write_network as write_network
from obliv.view.network.channels import draw_loads as draw_loads
from obliv.view.network.channels import draw_paths as draw_paths
from obliv.view.network.channels import draw_topology as draw_topology
from obliv.view.network.channels import plot_deadlock as plot_deadlock
from obliv.view.network.worst_case import plot_loads as plot_loads
from obliv.view.network.worst_case import plot_plane as plot_plane
from obliv.view.network.worst_case import plot_topology as plot_topology
from obliv.view.network.worst_case import plot_worst as plot_worst
from obliv.view.report.page import write_report as write_report
from obliv.view.saving import require_format as require_format
from obliv.view.saving import save as save

# Other names of functions that draw any result of a kind
plot_average = plot_bars
plot_collisions = plot_lines
plot_failures = plot_bars
plot_ratio = plot_worst
plot_throughput = plot_bars
plot_worst_channels = plot_plane
