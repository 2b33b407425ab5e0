"""The tables and figures of papers."""

from obliv.papers.paper import draw as draw
from obliv.papers.paper import figures as figures
from obliv.papers.paper import known as known
from obliv.papers.paper import reproduce as reproduce
from obliv.papers.paper import tables as tables
from obliv.papers.paper import verdict as verdict
