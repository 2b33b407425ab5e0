"""Studies: many cells of topologies, routings and measures, in a store that loses nothing."""

from obliv.study.measures import Cell as Cell
from obliv.study.measures import schema as schema
from obliv.study.reading import Plan as Plan
from obliv.study.reading import read as read
from obliv.study.running import impossible as impossible
from obliv.study.running import run as run
from obliv.study.tables import diff as diff
from obliv.study.tables import export as export
from obliv.study.tables import show as show
from obliv.study.tables import verify as verify
from obliv.study.tables import write_parquet as write_parquet
